#!/usr/bin/env bats
#
# 04_certs.bats - the certificates of chapters 04 and 05: who may read them, whom
# they are for, how long they last, and what certs.sh leaves alone

# shellcheck disable=SC2154,SC2030,SC2031 # stderr and output are bats'

setup() {
	chapter=$BATS_TEST_DIRNAME/../04_tls_psn
	dir=$BATS_TEST_TMPDIR/certs
	# What certs.sh makes must not depend on it.
	umask 000
}

certs() {
	"$chapter/certs.sh" "$@"
}

# field ROLE OPTION…: what openssl says of a certificate.
field() {
	openssl x509 -in "$dir/$1.pem" -noout "${@:2}"
}

# sum: changes with whatever is in the folder.
sum() {
	(cd "$dir" && cat -- * | sha256sum)
}

# still_valid_in ROLE SECONDS: whether it is still valid then.
still_valid_in() {
	field "$1" -checkend "$2" >/dev/null
}

@test "04: certs.sh makes five files, which only their owner can read; each key is its certificate's" {
	run -0 certs "$dir"
	[[ $output == "certs.sh: made $dir/"*', for 30 days' ]]
	[[ $(cd "$dir" && echo .[!.]* *) == \
		'.[!.]* ca.pem client.key client.pem server.key server.pem' ]]
	[[ $(stat -c %a "$dir") == 700 ]]
	[[ $(stat -c %a "$dir"/* | sort -u) == 600 ]]
	# Nothing half made is left beside it either, the CA's key least of all.
	[[ $(cd "$BATS_TEST_TMPDIR" && find . -name '.certs*') == '' ]]
	# The keys are on P-256, and each belongs to its certificate.
	for role in server client; do
		openssl pkey -in "$dir/$role.key" -noout -text |
			grep -q 'NIST CURVE: P-256'
		[[ $(openssl pkey -in "$dir/$role.key" -pubout) == \
			"$(field "$role" -pubkey)" ]]
	done
	[[ $(field server -pubkey) != "$(field client -pubkey)" ]]
	# The CA signed both, each for its own role and no other.
	for role in server client; do
		openssl verify -x509_strict -CAfile "$dir/ca.pem" \
			-purpose "ssl$role" "$dir/$role.pem"
		field "$role" -ext basicConstraints | grep -q 'CA:FALSE'
		# Nor can it sign another one.
		run ! openssl verify -CAfile "$dir/$role.pem" -partial_chain \
			"$dir/ca.pem"
	done
	run ! openssl verify -CAfile "$dir/ca.pem" -purpose sslclient \
		"$dir/server.pem"
	run ! openssl verify -CAfile "$dir/ca.pem" -purpose sslserver \
		"$dir/client.pem"
}

@test "04: they are for the lab's and this machine's names and addresses" {
	local address

	certs "$dir"
	for role in server client; do
		for address in 192.0.2.1 192.0.2.2 127.0.0.1 2001:db8::1 ::1 \
			$(hostname -I); do
			field "$role" -checkip "$address" | grep -q 'does match'
		done
		field "$role" -checkhost "$(hostname)" | grep -q 'does match'
		field "$role" -checkhost node-b | grep -q 'does match'
		field "$role" -checkip 192.0.2.3 | grep -q 'does NOT match'
		field "$role" -checkhost elsewhere | grep -q 'does NOT match'
	done
}

@test "04: they last 30 days, or as many as were asked for, and no CA cuts that" {
	local days

	for days in 30 2 60; do
		certs --days "$days" "$dir"
		for role in server client; do
			still_valid_in "$role" $((days * 86400 - 3600))
			run ! still_valid_in "$role" $((days * 86400 + 3600))
		done
		still_valid_in ca $((days * 86400 - 3600))
	done
	run ! still_valid_in ca $((60 * 86400 + 3600))
	certs --days -1 --names IP:192.0.2.9 "$dir"
	run ! still_valid_in client 0
	field client -checkip 192.0.2.9 | grep -q 'does match'
	field client -checkip 192.0.2.1 | grep -q 'does NOT match'
}

# made_again: whether --if-needed makes everything anew.
made_again() {
	local before

	before=$(sum)
	run -0 certs --if-needed "$dir"
	[[ $output == *replaced* && $(sum) != "$before" ]]
	run -0 certs --if-needed "$dir"
	[[ -z $output ]]
}

@test "04: --if-needed misses each file, and sees one that is another's" {
	local file

	certs "$dir"
	certs "$BATS_TEST_TMPDIR/other"
	for file in ca.pem server.pem client.pem server.key client.key; do
		rm "$dir/$file"
		made_again
		# It is there, and is another's.
		cp "$BATS_TEST_TMPDIR/other/$file" "$dir"
		made_again
		echo rubbish >"$dir/$file"
		made_again
	done
}

# expire SECONDS [BEGIN]: another CA, until then, that signs the same keys; valid from
# BEGIN seconds from now on (default: 0).
expire() {
	local config=$BATS_TEST_TMPDIR/ca.cnf begin end work=$BATS_TEST_TMPDIR/work

	begin=$(date -u -d "+${2:-0} seconds" +%Y%m%d%H%M%SZ)
	end=$(date -u -d "+$1 seconds" +%Y%m%d%H%M%SZ)
	mkdir -p "$work"
	: >"$work/index"
	printf '%s\n' '[ca]' 'default_ca = d' '[d]' "database = $work/index" \
		"new_certs_dir = $work" 'rand_serial = yes' 'policy = p' \
		'default_md = sha256' 'unique_subject = no' \
		'x509_extensions = x' '[p]' 'commonName = supplied' '[x]' \
		'basicConstraints = critical, CA:true' >"$config"
	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
		-subj "/CN=a CA" -keyout "$work/ca.key" -out "$work/ca.csr"
	openssl ca -batch -config "$config" -selfsign -keyfile "$work/ca.key" \
		-in "$work/ca.csr" -out "$dir/ca.pem" -notext \
		-startdate "$begin" -enddate "$end"
	for role in server client; do
		openssl req -new -key "$dir/$role.key" -subj "/CN=$role" |
			openssl x509 -req -CA "$dir/ca.pem" \
				-CAkey "$work/ca.key" -days 30 \
				-out "$dir/$role.pem"
	done
}

@test "04: --if-needed looks at now and an hour ahead, at the CA as well" {
	certs "$dir"
	# A CA that ends in 62 minutes is good enough; in 58, it is not.
	expire 3720
	run -0 certs --if-needed "$dir"
	[[ -z $output ]]
	expire 3480
	made_again
	# Nor is one that is not valid yet, as after a clock was set back.
	expire 7200 1800
	made_again
}

@test "04: a client of its own name has a key of its own" {
	run -0 certs --client alice --client host-2 "$dir"
	[[ $(cd "$dir" && echo client*) == 'client-alice.key client-alice.pem '`
		`'client-host-2.key client-host-2.pem client.key client.pem' ]]
	[[ $(field client-alice -subject) =~ CN\ ?=\ ?alice$ ]]
	openssl verify -CAfile "$dir/ca.pem" -purpose sslclient \
		"$dir/client-alice.pem" "$dir/client-host-2.pem"
	[[ $(field client-alice -pubkey) != "$(field client -pubkey)" ]]
	[[ $(field client-alice -pubkey) == \
		"$(openssl pkey -in "$dir/client-alice.key" -pubout)" ]]
	[[ $(stat -c %a "$dir"/* | sort -u) == 600 ]]
	# One that is not there yet is needed; those who are, are not.
	run -0 certs --if-needed --client alice "$dir"
	[[ -z $output ]]
	run -0 certs --if-needed --client carol "$dir"
	[[ $output == *replaced* && -e $dir/client-carol.key ]]
	run -2 certs --client ../x "$dir"
	run -2 certs --client '' "$dir"
}

# What `client NAME` makes, it makes with all others, and never in their place.
@test "04: one client more is never in the place of the others" {
	local before

	run -0 certs client alice client host-2 "$dir"
	[[ $output == "certs.sh: made "* ]]
	field client-alice -ext subjectAltName |
		grep -q 'URI:spiffe://rdma.example/client/alice$'
	openssl verify -CAfile "$dir/ca.pem" -purpose sslclient \
		"$dir/client-alice.pem" "$dir/client-host-2.pem" "$dir/client.pem"
	before=$(sum)
	run --separate-stderr -1 certs client carol "$dir"
	[[ $(sum) == "$before" && $stderr == *'CA was deleted'* ]]
	# What it says to try makes all of them.
	[[ $stderr == *": ./certs.sh --client alice --client carol "`
		`"--client host-2 $dir" ]]
	# shellcheck disable=SC2086 # several words
	run -0 "$chapter"/${stderr##* ./}
	for name in alice carol host-2; do
		openssl verify -CAfile "$dir/ca.pem" "$dir/client-$name.pem"
	done
	run -0 certs --if-needed client carol "$dir"
	run -2 certs client ../x "$dir"
	run ! certs client
}

@test "04: a folder with anything else in it is left as it is" {
	mkdir "$dir"
	echo mine >"$dir/notes"
	run --separate-stderr -1 certs "$dir"
	[[ $stderr == *'not from here'* ]]
	[[ $(cat "$dir"/*) == mine ]]
	echo mine >"$BATS_TEST_TMPDIR/file"
	run -1 certs "$BATS_TEST_TMPDIR/file"
	[[ $(cat "$BATS_TEST_TMPDIR/file") == mine ]]
	run -2 certs --verify=no "$dir"
}

@test "05 has the same script" {
	cmp "$chapter/certs.sh" "$chapter"/../05_*/certs.sh
}

@test "04: git ignores certificates and keys wherever they are made" {
	local top

	top=$(cd "$chapter/.." && pwd)
	for file in certs/server.key certs/ca.pem other/client.key; do
		git -C "$top" check-ignore -q "04_tls_psn/$file" || {
			echo "git would take 04_tls_psn/$file"
			return 1
		}
	done
}
