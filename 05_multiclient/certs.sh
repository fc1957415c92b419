#!/usr/bin/env bash
# certs.sh - certificates for trying this chapter out: `make certs`
#
# usage: ./certs.sh [--if-needed] [--names NAMES] [--days DAYS]
#                   [--client NAME]... [client NAME]... [DIR]
#
# Makes in DIR (default: certs) a CA and, signed by it, a certificate for a
# server and one for a client, each with its private key, for 30 days and for
# the names and addresses of the lab and of this machine. The key of the CA is
# deleted at once, so that we cannot sign anything more with it either. What
# is in DIR from an earlier run is replaced, all of it, and that is said; a DIR
# with anything else in it is left alone.
#
# --if-needed    only if one of the files is not there, does not belong to the
#                others, or expires within an hour
# --names NAMES  for these only, such as DNS:host.example,IP:192.0.2.7
# --days DAYS    valid for so many days; -1: expired yesterday
# --client NAME  one more client, with a key of its own: client-NAME.pem and
#                .key, for the identity spiffe://rdma.example/client/NAME. Each
#                client should have one, since whoever has the key is that client
# client NAME    the same, but replaces nothing: if DIR has certificates already, it
#                says what to do. It cannot add one to them. For that, the CA's key
#                would have to be kept, and whoever got it could be any client, and
#                the server. So all are made at once, and each host gets new files
#
# A real deployment does it differently: its CA's key is on another machine or
# in hardware, each host makes its own key, which never leaves it, and sends
# only a request to be signed; certificates are renewed by a service and live
# for hours or days; and there is a way to revoke one.
set -euo pipefail

needed=no
names=
clients=()
days=30
domain=spiffe://rdma.example
while [[ ${1:-} == -* ]]; do
	case $1 in
	-h | --help)
		sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
		exit 0
		;;
	--if-needed) needed=yes ;;
	--names) names=${2?a list of names must follow --names} && shift ;;
	--days) days=${2?a number of days must follow --days} && shift ;;
	--client) clients+=("${2?a name must follow --client}") && shift ;;
	*) echo "certs.sh: $1: no such option" >&2 && exit 2 ;;
	esac
	shift
done
beside=
while [[ ${1:-} == client ]]; do
	beside=${2?a name must follow client}
	clients+=("$beside")
	shift 2
done
dir=${1:-$(dirname "$0")/certs}

for name in "${clients[@]}"; do
	[[ $name =~ ^[A-Za-z0-9][A-Za-z0-9_.-]*$ ]] && continue
	echo "certs.sh: client $name: letters, digits, _, . and - please" >&2
	exit 2
done

# usable: whether the CA and each certificate are valid, now and in an hour, and each
# has its key.
usable() (
	certificates=(server client "${clients[@]/#/client-}")
	cd "$dir" || return
	for moment in $((EPOCHSECONDS)) $((EPOCHSECONDS + 3600)); do
		openssl verify -attime "$moment" -CAfile ca.pem \
			"${certificates[@]/%/.pem}" >/dev/null || return
	done
	for name in "${certificates[@]}"; do
		[[ $(openssl pkey -in "$name.key" -pubout) == \
			"$(openssl x509 -in "$name.pem" -noout -pubkey)" ]] ||
			return
	done
)

# The lab's addresses, and this machine's.
names() {
	local address

	if [[ -n $names ]]; then
		echo "$names"
		return
	fi
	printf '%s' "DNS:localhost,DNS:a,DNS:b,DNS:node-a,DNS:node-b"
	printf ',DNS:%s' "$(hostname)"
	printf ',IP:%s' 127.0.0.1 ::1 192.0.2.1 192.0.2.2 \
		2001:db8::1 2001:db8::2
	for address in $(hostname -I 2>/dev/null); do
		printf ',IP:%s' "$address"
	done
}

key() {
	openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 \
		-out "$1" 2>/dev/null
}

# How long the certificates last, for openssl x509. For what has expired already,
# OpenSSL takes a negative number up to 3.3, and the two dates from 3.4 on.
lifetime() {
	if ((days >= 0)) || ! openssl x509 -help 2>&1 | grep -q -- '-not_after'
	then
		printf '%s\n' -days "$days"
	else
		printf '%s\n' -not_before "$(utc $((days - 1)))" \
			-not_after "$(utc "$days")"
	fi
}
utc() { date -u -d "$1 days" +%Y%m%d%H%M%SZ; }

# issue FILE ROLE SUBJECT: for that role (server or client) and no other. Its
# identity, for programs, is a URI as SPIFFE has it, of a domain that nobody owns.
issue() {
	local lifetime

	mapfile -t lifetime < <(lifetime)
	key "$work/$1.key"
	openssl req -new -key "$work/$1.key" -subj "/CN=$3" |
		openssl x509 -req -CA "$work/ca.pem" -CAkey "$work/ca.key" \
			"${lifetime[@]}" -out "$work/$1.pem" -extfile <(
				echo "subjectAltName = $(names),URI:$domain/${1/-//}"
				echo "extendedKeyUsage = ${2}Auth"
				echo "keyUsage = critical, digitalSignature"
				echo "basicConstraints = critical, CA:false"
			) 2>/dev/null
}

# What is in DIR and does not come from here.
strangers() {
	[[ ! -e $dir ]] || find "$dir" -mindepth 1 ! -name ca.pem \
		! -name server.pem ! -name server.key \
		! -name client.pem ! -name client.key \
		! -name 'client-*.pem' ! -name 'client-*.key'
}

[[ $needed == yes ]] && usable 2>/dev/null && exit 0
if ! command -v openssl >/dev/null; then
	echo "certs.sh: no openssl command; scripts/install_deps.sh installs" \
		"it" >&2
	exit 1
fi

# all_clients: the options for those that DIR has a certificate of, and for the new.
all_clients() {
	{
		find "$dir" -name 'client-*.pem' | sed 's|.*/client-||; s|\.pem$||'
		printf '%s\n' "${clients[@]}"
	} | sort -u | sed 's/^/--client /' | paste -sd ' '
}

if [[ -n $beside && -e $dir/ca.pem ]]; then
	echo "certs.sh: client $beside: $dir has certificates already, and the" \
		"key of their CA was deleted, so that nothing more can be" \
		"signed with it; make all anew, for each host:" \
		"./certs.sh $(all_clients)${1:+ $1}" >&2
	exit 1
fi

made=made
[[ ! -e $dir ]] || made=replaced
if [[ -n $(strangers) || ( -e $dir && ! -d $dir ) ]]; then
	echo "certs.sh: $dir has something that is not from here, so nothing" \
		"was made; name another folder" >&2
	exit 1
fi

# Only we may read what is made from here on: keys are 0600.
umask 077
work=$(mktemp -d "$(dirname "$dir")/.certs.XXXXXX")
trap 'rm -rf "$work"' EXIT
key "$work/ca.key"
# A CA that ends before what it has signed would end that, too.
openssl req -x509 -key "$work/ca.key" -out "$work/ca.pem" \
	-days "$((days > 30 ? days : 30))" -subj "/CN=RDMA tutorial CA" \
	-addext "basicConstraints = critical, CA:true, pathlen:0" \
	-addext "keyUsage = critical, keyCertSign"
issue server server "RDMA tutorial server"
issue client client "RDMA tutorial client"
for name in "${clients[@]}"; do
	issue "client-$name" client "$name"
done
rm "$work/ca.key"
# All at once: a reader finds the old ones, none, or the new ones.
if [[ -e $dir ]]; then
	old=$(mktemp -d "$(dirname "$dir")/.certs.XXXXXX")
	trap 'rm -rf "$work" "$old"' EXIT
	mv -T "$dir" "$old"
fi
mv -T "$work" "$dir"
echo "certs.sh: $made $dir/{ca,server,client}.pem, for $days days"
