# hosts.sh - two real hosts, reached by ssh, on which pairs run as on nodes of the lab
#
# Sourced by device.sh if HOSTS=user@a,user@b is set: servers run on the first host, all
# else on the second. SSH_CONFIG names a file for ssh -F, DEVICE the RDMA device, or two
# of them with a comma between. What is needed there is put into one folder in /tmp, in
# which all programs run. hosts_close ends what runs there and takes the folder away.
#
#   hosts_open            connect, find the devices, see that the client reaches the server
#   hosts_send DIR…       these folders, with programs that run there; then their paths there
#   hosts_path DIR        are these
#   hosts_run NODE CMD…   on host a or b
#   hosts_close           nothing is left there
#   hosts_report WHAT     stdin, without names and addresses, as the report to send back
#
# HOSTS_STATE, a folder here, is exported by who opens; scripts that it starts use it.
# shellcheck shell=bash disable=SC2154 # device_top is device.sh's

hosts_out=$device_top/build/hosts
IFS=, read -ra hosts_names <<<"$HOSTS"
IFS=, read -ra hosts_devices <<<"${DEVICE:-}"
[[ ${hosts_devices[1]:-} || ! ${DEVICE:-} ]] || hosts_devices[1]=${hosts_devices[0]}
# What puts the time before the lines of programs, if pair.sh is to note it.
hosts_timed=()

# hosts_fail WHAT WHY TRY
hosts_fail() {
	printf 'hosts: %s\n  why: %s\n  try: %s\n' "$@" >&2
	return 1
}

# hosts_number NODE: its place in the lists.
hosts_number() {
	[[ $1 == a ]] && echo 0 || echo 1
}

# The connection that hosts_open made, or a new one if that was lost.
hosts_ssh() {
	local node=$1

	shift
	"${hosts_timed[@]}" ssh ${SSH_CONFIG:+-F "$SSH_CONFIG"} -S "$HOSTS_STATE/$node" -o BatchMode=yes \
		-o ConnectTimeout=10 "${hosts_names[$(hosts_number "$node")]}" "$@"
}

# By stdin, since the login shell there may be any.
hosts_run() {
	local node=$1

	shift
	hosts_ssh "$node" exec bash -s <<<"{ exec </dev/null; cd ${hosts_place@Q}
		export TMPDIR=\$PWD; exec ${*@Q}; }"
}

hosts_path() {
	echo "$hosts_place${1#"$device_top"}"
}

hosts_address() {
	echo "$(<"$HOSTS_STATE/$1.address")"
}

hosts_kernel() {
	hosts_run a uname -r
}

# hosts_connect NODE NAME
hosts_connect() {
	local said=$HOSTS_STATE/said

	# It stays in the background, and asks for a password at the terminal if it must.
	ssh ${SSH_CONFIG:+-F "$SSH_CONFIG"} -M -S "$HOSTS_STATE/$1" -fN -o ConnectTimeout=10 \
		-o ServerAliveInterval=15 "$2" </dev/null >/dev/null 2>"$said" || {
		hosts_fail "host $1: ssh does not reach $2" \
			"$(tail -n 1 "$said" | tr -d '\r')" \
			"ssh ${SSH_CONFIG:+-F $SSH_CONFIG }$2 true, until it says nothing; a name, a port, a user and a key can be in a file that SSH_CONFIG= names"
		return
	}
	tar -C "$device_top" -c scripts/setup_rxe.sh scripts/lib/machine.sh scripts/lib/rxe_device.sh |
		hosts_ssh "$1" "mkdir -m 700 $hosts_place && tar -x -C $hosts_place" 2>"$said" ||
		hosts_fail "host $1 ($2): no folder could be made in /tmp there" \
			"$(tail -n 1 "$said")" "the same by hand; bash and tar must be there, and 20 MB"
}

# hosts_find NODE NAME DEVICE: the address of its device.
hosts_find() {
	local look=(scripts/setup_rxe.sh ${3:+-n "$3"})

	hosts_run "$1" "${look[@]}" --quiet-check >"$HOSTS_STATE/$1.address" && return
	hosts_fail "host $1 ($2) has no RDMA device${3:+ $3} that can be used" \
		"$(hosts_run "$1" "${look[@]}" --status 2>&1 | sed -nE \
			's/^address +none: //p; s/^setup_rxe.sh: (.*)\. Try: .*/\1/p' |
			sed '1!d')" \
		"there: sudo scripts/setup_rxe.sh makes one of software; for a card, its driver and ibverbs-providers; DEVICE=name or DEVICE=name_on_a,name_on_b says which one"
}

# hosts_facts NODE NAME [DEVICE]: what the report says of it, and a script for sed that
# takes out what it must not say.
hosts_facts() {
	# shellcheck disable=SC2016 # expanded there
	hosts_run "$1" bash -c '
		[[ ! -r /etc/os-release ]] || . /etc/os-release
		echo "host $0: Linux $(uname -r), $(uname -m), ${PRETTY_NAME:-unknown system}"
		for dir in /sys/class/infiniband/${1:-*}; do
			cd "$dir" || continue
			driver=$(readlink device/driver) || driver=$(<node_desc)
			printf "  device: %s" "${driver##*/}"
			for file in node_type hca_type board_id fw_ver ports/*/{state,link_layer,rate}; do
				[[ ! -s $file ]] || value=$(<"$file") 2>/dev/null
				[[ -z ${value:-} ]] || printf ", %s %s" "${file##*/}" "$value"
				value=
			done
			echo
		done' "$1" "${3:-}" >>"$hosts_out/facts"
	# shellcheck disable=SC2016
	{
		tr '@' '\n' <<<"$2"
		hosts_run "$1" bash -c 'cd /sys/class && ls -1 infiniband && ls -1 net
			uname -n; uname -n | cut -d. -f1; id -un'
	} | grep -E '...' | grep -vxE 'root|server|client' | sort -u |
		sed 's/[].[*^$\/\\]/\\&/g; s/.*/s\/\\b&\\b\/NAME\/g/' >>"$hosts_out/redact.sed"
}

# First of all, so that nobody waits for many clients that cannot come.
hosts_reach() {
	local address ping='' try=$HOSTS_STATE/try

	make -s -C "$device_top/01_send_recv" >&2
	printf '%s\n' 'server: ./server -1' 'client: ./client -a 192.0.2.1 -t 5' >"$HOSTS_STATE/commands"
	PAIR_LIMIT=8 "$device_top/scripts/pair.sh" -d "$device_top/01_send_recv" "$HOSTS_STATE/commands" \
		"$try" && grep -qx 'client: exit status 0' "$try/status.log" && return
	address=$(hosts_address a)
	hosts_run b ping -c 1 -W 2 "$address" >/dev/null 2>&1 || ping='not '
	hosts_fail "the client on host b does not reach the server on host a ($address)" \
		"$(cat "$try"/{client,server}.err 2>/dev/null | sed 1q); that address is ${ping}answering ping. Most often a firewall drops UDP port 4791, which RoCE v2 uses, or the two devices are on different networks" \
		"on both hosts: sudo ufw allow 4791/udp, or sudo firewall-cmd --add-port=4791/udp (iWARP: TCP ports 20886 and 22222 to 22229); DEVICE= for a device on the same network"
}

hosts_open() {
	local node name i=0

	[[ ${#hosts_names[@]} -eq 2 && ! " ${hosts_names[*]}" =~ ' -' ]] || {
		hosts_fail "HOSTS=$HOSTS does not name two hosts" \
			"the servers run on the first, the clients on the second" \
			"HOSTS=user@host1,user@host2"
		return
	}
	command -v ssh >/dev/null || {
		hosts_fail 'there is no ssh here' 'the hosts are reached by it' \
			'scripts/install_deps.sh hosts'
		return
	}
	[[ -z ${SSH_CONFIG:-} ]] || SSH_CONFIG=$(realpath "$SSH_CONFIG")
	HOSTS_STATE=$(mktemp -d /tmp/rdma-hosts.XXXXXX)
	hosts_place=/tmp/rdma-tutorial.${HOSTS_STATE##*.}
	export SSH_CONFIG HOSTS_STATE
	rm -rf "$hosts_out"
	mkdir -p "$hosts_out"
	: >"$hosts_out/facts"
	: >"$hosts_out/redact.sed"
	for node in a b; do
		name=${hosts_names[i]}
		echo "hosts: host $node is $name" >&2
		hosts_connect "$node" "$name" || return
		hosts_find "$node" "$name" "${hosts_devices[i]:-}" || return
		hosts_facts "$node" "$name" "${hosts_devices[i]:-}" || return
		i=$((i + 1))
	done
	hosts_reach
}

# hosts_programs NODE THERE PROGRAM…: they run there, or are built there.
hosts_programs() {
	local node=$1 there=$2 lacks built
	shift 2

	# ldd says what is not found, a version too, and if the processor is another.
	lacks=$(hosts_run "$node" bash -c "cd ${there@Q} && ldd ${*@Q} 2>&1 | grep -E 'not '") ||
		return 0
	built=$(hosts_run "$node" make -s -C "$there" clean all 2>&1) && return
	hosts_fail "host $node: the programs do not run there, and cannot be built there" \
		"$(head -n 1 <<<"$lacks" | sed 's/^[[:space:]]*//'); $(grep -m 1 . <<<"$built")" \
		"there: sudo apt-get install libibverbs1 librdmacm1 ibverbs-providers libssl3, or the -devel packages, gcc and make to build"
}

hosts_send() {
	local dir node there programs certs certificates

	for dir; do
		there=$(hosts_path "$dir") certs=$HOSTS_STATE/certs/${dir##*/}
		[[ ! -e $certs.sent ]] || continue
		mkdir -p "$certs"
		# Certificates for the hosts' addresses, since a name that differs is refused.
		certificates=()
		if [[ -e $dir/certs.sh ]]; then
			"$dir/certs.sh" --names "IP:$(hosts_address a),IP:$(hosts_address b)" \
				"$certs/certs" >&2
			certificates=(-C "$certs" certs)
		fi
		mapfile -t programs < <(cd "$dir" && find . -type f -perm -u+x \
			-exec sh -c 'head -c 4 "$1" | grep -q ELF' - {} \; -print)
		for node in a b; do
			tar -c -C "$dir" --anchored --exclude='*.o' --exclude=./certs --exclude=./run . \
				"${certificates[@]}" |
				hosts_ssh "$node" "mkdir -p '$there' && tar -x -C '$there'" || return
			[[ ${#programs[@]} -eq 0 ]] ||
				hosts_programs "$node" "$there" "${programs[@]}" || return
		done
		: >"$certs.sent"
	done
}

# Also after Ctrl-C, which is not to end this half-way.
hosts_close() {
	local node

	[[ -n ${HOSTS_STATE:-} ]] || return 0
	trap '' INT TERM HUP PIPE
	for node in a b; do
		[[ -S $HOSTS_STATE/$node ]] || continue
		hosts_ssh "$node" exec bash -s <<-END || echo "hosts: on host $node, $hosts_place may be left; remove it by hand" >&2
			for pid in \$(find /proc/[0-9]*/cwd -maxdepth 0 -lname '$hosts_place*' 2>/dev/null); do
				pid=\${pid#/proc/}
				kill -KILL "\${pid%/cwd}" 2>/dev/null
			done
			rm -rf '$hosts_place'
		END
		hosts_ssh "$node" -O exit 2>/dev/null || true
	done
	rm -rf "$HOSTS_STATE"
}

hosts_report() {
	{
		echo "RDMA tutorial, $1, $(date -u +%F), commit $(git -C "$device_top" \
			rev-parse --short HEAD 2>/dev/null || echo unknown)"
		cat "$hosts_out/facts"
		echo
		cat
	} | sed -f "$hosts_out/redact.sed" | sed -E -e "s|$device_top/||g" \
		-e 's/\b[0-9]{1,3}(\.[0-9]{1,3}){3}\b/ADDRESS/g' \
		-e 's/([0-9a-fA-F]{0,4}:){2,}[0-9a-fA-F:.]*/ADDRESS/g' \
		>"$hosts_out/report.txt"
	echo "The report, without names and addresses, is in build/hosts/report.txt;" \
		"docs/beyond.md says where to send it. Read it before you do."
}

[[ -z ${HOSTS_STATE:-} ]] || hosts_place=/tmp/rdma-tutorial.${HOSTS_STATE##*.}
