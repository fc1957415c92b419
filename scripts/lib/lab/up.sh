# shellcheck shell=bash
# lab.sh up, status and down. Sourced by ../../lab.sh; the work is keeper.sh's.

# The programs that the lab needs, and Debian's packages of them.
up_programs=(
	busybox:busybox-static
	cpio:cpio
	modprobe:kmod
	ssh:openssh-client
	dropbear:dropbear-bin
	dropbearkey:dropbear-bin
	ss:iproute2
	rdma:iproute2
	setpriv:util-linux
	flock:util-linux
)

# up_check: is everything there that starting a lab needs?
up_check()
{
	local pair missing='' packages=''

	if [ -z "$LAB_QEMU" ]; then
		lab_error "the lab does not know the processor $LAB_ARCH" \
			"It is written for x86_64 and aarch64: see scripts/lib/lab/common.sh."
		return 1
	fi
	for pair in "$LAB_QEMU:$LAB_QEMU_PACKAGE" "${up_programs[@]}"; do
		PATH=$PATH:/usr/sbin:/sbin command -v "${pair%:*}" >/dev/null && continue
		missing+=" ${pair%:*}"
		case " $packages " in
		*" ${pair#*:} "*) ;;
		*) packages+=" ${pair#*:}" ;;
		esac
	done
	if [ -z "$missing" ]; then
		up_check_root
		return
	fi
	lab_error "not installed:$missing" \
		"The lab needs them to start its virtual machines." \
		"On Debian, as root: apt-get install$packages"
	return 1
}

# up_check_root: the nodes' files may be others than this machine's.
up_check_root()
{
	local name

	[ "$LAB_ROOT" != / ] || return 0
	for name in busybox dropbear rdma; do
		lab_program "$name" >/dev/null && continue
		lab_error "there is no $name in LAB_ROOT=$LAB_ROOT" \
			"The nodes run it. Its packages there: busybox-static dropbear-bin iproute2."
		return 1
	done
}

lab_up()
{
	local nodes='' tries=0 rc

	while [ $# -gt 0 ]; do
		case $1 in
		--nodes=*) nodes=${1#*=} ;;
		--nodes)
			[ $# -gt 1 ] || misuse "--nodes needs a number: 1 to 4"
			nodes=$2
			shift
			;;
		--engine=*) LAB_ENGINE=${1#*=} ;;
		--engine)
			[ $# -gt 1 ] || misuse "--engine needs a name: kvm, uml or tcg"
			LAB_ENGINE=$2
			shift
			;;
		--device=*) LAB_DEVICE=${1#*=} ;;
		--device)
			[ $# -gt 1 ] || misuse "--device needs a name: rxe or siw"
			LAB_DEVICE=$2
			shift
			;;
		--time=*) LAB_TIME=${1#*=} ;;
		--time)
			[ $# -gt 1 ] || misuse "--time needs a word: own"
			LAB_TIME=$2
			shift
			;;
		-h | --help) usage && return ;;
		*) misuse "up: unknown argument '$1'" ;;
		esac
		shift
	done
	case $nodes in
	'' | [1-4]) ;;
	*) misuse "--nodes $nodes: the lab has 1 to 4 nodes" ;;
	esac
	case $LAB_ENGINE in
	'' | kvm | uml | tcg) export LAB_ENGINE ;;
	*) misuse "--engine $LAB_ENGINE: the lab has kvm, uml and tcg" ;;
	esac
	case $LAB_DEVICE in
	'' | rxe | siw) export LAB_DEVICE ;;
	*) misuse "--device $LAB_DEVICE: the lab has rxe or siw" ;;
	esac
	up_time
	[ -z "${CLI_CHECK:-}" ] || return 0
	up_check || return 1
	while :; do
		rc=0
		up_running "${nodes:-1}" || rc=$?
		[ "$rc" -eq 3 ] || return "$rc"
		rc=0
		up_start "${nodes:-2}" || rc=$?
		# 3: another `up` of the same lab was faster.
		[ "$rc" -eq 3 ] && [ "$tries" -lt 5 ] || return "$rc"
		tries=$((tries + 1))
	done
}

# lab_fetch: what `make demo` needs from the network: packages and a kernel.
lab_fetch()
{
	[ $# -eq 0 ] || misuse "fetch takes no argument"
	"$LAB_REPO/scripts/install_deps.sh" build lab || return 1
	up_check || return 1
	# Beside a lab that may be up.
	export LAB_NAME=fetch-$$
	LAB_STATE=/tmp/rdma-lab.$(id -u).$LAB_NAME
	up_start fetch || return 1
	echo "lab: all is here that 'make demo' needs; it asks the network for nothing more"
}

# lab_kernel: the engine uml's kernel in the cache, made of what is here now.
lab_kernel()
{
	local out=$LAB_CACHE/uml parts=$LAB_REPO/scripts/lib/kernel made

	[ $# -eq 0 ] || misuse "kernel takes no argument"
	[ -z "${CLI_CHECK:-}" ] || return 0
	if [ "$LAB_ARCH" != x86_64 ]; then
		lab_error "the engine uml is for x86_64 only, and this is $LAB_ARCH"
		return 1
	fi
	made=$(cat "$parts/build.sh" "$parts/lab.config" "$parts"/*.patch | sha256sum)
	if [ -x "$out/linux" ] && [ "$made" = "$(cat "$out/made" 2>/dev/null)" ]; then
		return 0
	fi
	"$parts/build.sh" lab "$out" || return 1
	echo "$made" >"$out/made"
	echo "lab: its own kernel is Linux $(cat "$out/release"), in $out" >&2
}

# up_running NODES: 0 if that lab is up already, 1 if a smaller one is, 3 if
# none is. Waits for one that is just being started or stopped.
up_running()
{
	local told='' waited=0

	while lab_alive tell; do
		if [ -e "$LAB_STATE/up" ]; then
			lab_read
			if [ -n "$(lab_dead)" ]; then
				lab_error "the lab '$LAB_NAME' is broken: node $(lab_dead) has died" \
					"End it with 'scripts/lab.sh down', then start it anew."
				return 1
			elif [ "${lab[nodes]:-0}" -lt "$1" ]; then
				lab_error "the lab '$LAB_NAME' is up with $(lab_nodes "${lab[nodes]}"), and $1 are asked for" \
					"A node cannot be added: 'scripts/lab.sh down', then 'up --nodes $1'."
				return 1
			fi
			if [ "${LAB_DEVICE:-${lab[device]}}" != "${lab[device]}" ]; then
				up_other "${lab[device]}" "$LAB_DEVICE"
				return 1
			fi
			if [ "${LAB_ENGINE:-${lab[accel]}}" != "${lab[accel]}" ]; then
				up_other "${lab[accel]}" "$LAB_ENGINE"
				return 1
			fi
			if [ "$LAB_TIME" ] && [ "$LAB_TIME" != "${lab[time]:-}" ]; then
				up_other "this machine's time" "a time of its own"
				return 1
			fi
			echo "lab: already up, with $(lab_nodes "${lab[nodes]}"):" \
				"scripts/lab.sh shell is a shell in it" >&2
			return 0
		fi
		[ -n "$told" ] || echo "lab: waiting for another 'up' or 'down' of '$LAB_NAME'" >&2
		told=1
		if [ "$waited" -ge 1200 ]; then
			lab_error "the lab '$LAB_NAME' has been starting for minutes" \
				"End it with 'scripts/lab.sh down', then start it anew."
			return 1
		fi
		waited=$((waited + 1))
		sleep 0.2
	done
	return 3
}

# up_start NODES|fetch: start a keeper, show how it gets on, let it keep the
# lab. 3 if another keeper has the lab.
up_start()
{
	local line='' part word rest rc keeper in out from to
	local signal='' outcome='' shown='' more='' began=$SECONDS up_next=5

	trap 'signal=INT' INT
	trap 'signal=TERM' TERM
	trap 'signal=HUP' HUP
	coproc KEEPER { exec setsid "$LAB_PARTS/keeper.sh" "$1"; }
	keeper=$KEEPER_PID in=${KEEPER[0]} out=${KEEPER[1]}
	# Duplicates, because bash closes the originals when the keeper ends,
	# even if they have not been read to the end. When we are gone, the
	# keeper's input ends, and it takes everything away again.
	exec {from}<&"$in" {to}>&"$out" {in}<&- {out}>&-
	while [ -z "$signal" ]; do
		rc=0
		IFS= read -r -t 1 -u "$from" part || rc=$?
		# The time may be up in the middle of a line.
		line+=$part
		if [ "$rc" -gt 128 ]; then
			up_progress
			continue
		fi
		[ "$rc" -eq 0 ] || break
		word=${line%% *}
		rest=${line#"$word"} rest=${rest# } line=''
		case $word in
		step)
			shown=$rest more=''
			[ -t 2 ] || echo "lab: $shown" >&2
			up_progress
			;;
		detail)
			more=": $rest"
			up_progress
			;;
		warning) lab_warning "$rest" ;;
		error)
			[ "$outcome" = error ] || [ ! -t 2 ] || printf '\r\033[K' >&2
			[ "$outcome" = error ] && printf '        %s\n' "$rest" >&2 ||
				printf 'lab.sh: %s\n' "$rest" >&2
			outcome=error
			;;
		busy) outcome=busy ;;
		fetched)
			outcome=fetched more=${rest#* }
			rest=${rest%% *}
			;;
		ready)
			echo keep >&"$to" || break
			outcome=ready
			;;
		esac
	done
	[ ! -t 2 ] || printf '\r\033[K' >&2
	if [ -n "$signal" ]; then
		kill -TERM "$keeper" 2>/dev/null || true
		wait "$keeper" || true
		echo "lab: interrupted; nothing is left behind" >&2
		trap - "$signal"
		kill "-$signal" $$
	fi
	exec {from}<&- {to}>&-
	trap - INT TERM HUP
	[ "$outcome" != busy ] || return 3
	if [ "$outcome" = fetched ]; then
		echo "lab: the kernel is $rest: $more"
		return 0
	fi
	if [ "$outcome" = ready ] && [ -e "$LAB_STATE/up" ]; then
		lab_read
		printf 'lab: up after %d s: %s, %s%s, kernel %s\n' $((SECONDS - began)) \
			"$(lab_nodes "$1")" "${lab[accel]}" \
			"${lab[time]:+, a time of its own}" "${lab[kernel]}" >&2
		return 0
	fi
	[ "$outcome" = error ] ||
		lab_error "the lab was ended while it was starting" \
			"Somebody said 'down', or killed its keeper."
	return 1
}

# up_progress: on a terminal one line that is rewritten, elsewhere a line after
# 5 s, 10 s, 20 s and so on. Uses up_start's variables.
up_progress()
{
	local now=$((SECONDS - began))

	if [ -t 2 ]; then
		printf '\r\033[Klab: %s%s (%d s)' "$shown" "$more" "$now" >&2
	elif [ "$now" -ge "$up_next" ]; then
		up_next=$((2 * now))
		echo "lab:   after $now s: $shown$more" >&2
	fi
}
