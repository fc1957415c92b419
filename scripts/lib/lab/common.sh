# shellcheck shell=bash disable=SC2034 # not every program uses everything
# What every part of the lab shares: names and places, the architecture,
# messages. Sourced by ../../lab.sh, keeper.sh and worker.sh.

LAB_REPO=$(cd -- "${BASH_SOURCE[0]%/*}/../../.." && pwd -P) || exit 1
LAB_PARTS=$LAB_REPO/scripts/lib/lab

# A lab is known by its name; two clones of the repository get two labs.
if [ -z "${LAB_NAME:-}" ]; then
	LAB_NAME=$(printf %s "${LAB_REPO##*/}" | tr -c 'A-Za-z0-9' - | cut -c 1-20)
	LAB_NAME+=-$(printf %s "$LAB_REPO" | cksum | cut -d ' ' -f 1)
fi
LAB_CACHE=${LAB_CACHE:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/rdma-lab}
# One that is asked for by number is not for every engine.
LAB_CPUS_ASKED=${LAB_CPUS_ASKED-${LAB_CPUS:-}}
export LAB_CPUS_ASKED
LAB_CPUS=${LAB_CPUS:-2}
LAB_MEMORY=${LAB_MEMORY:-1024}
LAB_SILENCE=${LAB_SILENCE:-120}
LAB_ENGINE=${LAB_ENGINE:-}
LAB_KERNEL=${LAB_KERNEL:-}
LAB_MODULES=${LAB_MODULES:-}
LAB_DEVICE=${LAB_DEVICE:-}
LAB_ROOT=${LAB_ROOT:-/}
LAB_TIME=${LAB_TIME:-}
LAB_PINNED=${LAB_PINNED:-$LAB_PARTS/kernel.pinned}
# The keeper works in another directory.
for name in LAB_CACHE LAB_KERNEL LAB_MODULES LAB_PINNED LAB_ROOT; do
	case ${!name} in
	'' | /*) ;;
	*) export "$name=$PWD/${!name}" ;;
	esac
done
# Short and fixed, because unix socket paths may have 107 bytes only, and
# because `status` must find it from any terminal.
LAB_STATE=/tmp/rdma-lab.$(id -u).$LAB_NAME

# The parts in Python: "${lab_python[@]}" lab.MODULE ARGUMENT... They have the settings from the
# environment.
export LAB_NAME LAB_STATE LAB_REPO LAB_CACHE LAB_ROOT LAB_MEMORY LAB_TIME
lab_python=(env PYTHONPATH="$LAB_REPO/scripts/lib" /usr/bin/python3 -B -s -m)

# What the lab reads of other programs' output is in English then, and numbers
# have a decimal point.
export LC_ALL=C

# The one place that knows about processors. aarch64 has been run emulated only,
# on x86_64 (scripts/maint/arm64.sh).
LAB_ARCH=${LAB_ARCH:-$(uname -m)}
LAB_QEMU_MACHINE=() LAB_EMULATED=''
case $LAB_ARCH in
x86_64)
	LAB_QEMU=qemu-system-x86_64
	LAB_QEMU_PACKAGE=qemu-system-x86
	LAB_QEMU_MACHINE=(-machine q35 -cpu max)
	LAB_CONSOLE=ttyS0
	# Emulated on a busy machine, the kernel's check of the timer fails
	# now and then, and the TSC, the one clock that can be read without
	# leaving the guest, is distrusted or taken for a much slower one. So
	# the clock is hpet, until guest-setup.sh knows that the TSC is right.
	LAB_EMULATED='no_timer_check tsc=reliable clocksource=hpet'
	LAB_KERNEL_PACKAGE=linux-image-amd64
	;;
aarch64)
	LAB_QEMU=qemu-system-aarch64
	LAB_QEMU_PACKAGE=qemu-system-arm
	LAB_QEMU_MACHINE=(-machine virt -cpu max)
	LAB_CONSOLE=ttyAMA0
	# What is slow to emulate, and of no use here.
	LAB_EMULATED='arm64.nopauth arm64.nosve'
	LAB_KERNEL_PACKAGE=linux-image-arm64
	;;
*)
	LAB_QEMU='' LAB_QEMU_PACKAGE='' LAB_CONSOLE='' LAB_KERNEL_PACKAGE=''
	;;
esac

# The kernels that have been fetched, one folder each.
LAB_KERNELS=$LAB_CACHE/kernel
[ "$LAB_ARCH" = "$(uname -m)" ] || LAB_KERNELS+=.$LAB_ARCH

# The driver of the nodes' device.
lab_driver=${LAB_DEVICE:-rxe}

# lab_error WHAT [DETAIL...]: one message, a part a line, on stderr.
lab_error()
{
	printf 'lab.sh: %s\n' "$1" >&2
	shift
	[ $# -eq 0 ] || printf '        %s\n' "$@" >&2
}

# lab_warning TEXT: in place of a line that is being rewritten, if there is one.
lab_warning()
{
	[ ! -t 2 ] || printf '\r\033[K' >&2
	echo "lab: warning: $1" >&2
}

# lab_quote ARG...: the arguments as one line of shell, for any POSIX shell.
lab_quote()
{
	local arg out=''

	for arg; do
		out+=" '${arg//\'/\'\\\'\'}'"
	done
	printf %s "${out# }"
}

# lab_check: refuse settings that cannot work.
lab_check()
{
	case $LAB_NAME in
	*[!A-Za-z0-9._-]* | .* | -*)
		lab_error "LAB_NAME '$LAB_NAME' cannot be used" \
			"It becomes part of a path: letters, digits, '.', '_' and '-'; a letter or digit first."
		return 1
		;;
	esac
	if [ ${#LAB_NAME} -gt 40 ]; then
		lab_error "LAB_NAME '$LAB_NAME' is too long: at most 40 characters"
		return 1
	fi
	case $LAB_DEVICE in
	'' | rxe | siw) ;;
	*)
		lab_error "LAB_DEVICE '$LAB_DEVICE' is unknown: rxe or siw"
		return 1
		;;
	esac
	case $LAB_ENGINE in
	'' | kvm | uml | tcg) ;;
	*)
		lab_error "LAB_ENGINE '$LAB_ENGINE' is unknown: kvm, uml or tcg"
		return 1
		;;
	esac
	case $LAB_TIME in
	'' | own) ;;
	*)
		lab_error "LAB_TIME '$LAB_TIME' is unknown: own, or nothing for this machine's"
		return 1
		;;
	esac
	case $LAB_CPUS$LAB_MEMORY in
	*[!0-9]*)
		lab_error "LAB_CPUS '$LAB_CPUS' and LAB_MEMORY '$LAB_MEMORY' must be numbers (MB)"
		return 1
		;;
	esac
	if [ "$LAB_CPUS" -lt 1 ] || [ "$LAB_MEMORY" -lt 256 ]; then
		lab_error "a node needs at least 1 processor and 256 MB: LAB_CPUS, LAB_MEMORY"
		return 1
	fi
	case $LAB_SILENCE in
	'' | 0* | *[!0-9]*)
		lab_error "LAB_SILENCE '$LAB_SILENCE' must be a number of seconds, 1 or more"
		return 1
		;;
	esac
}

# lab_nodes NUMBER: in words.
lab_nodes()
{
	local words=('' 'one node' 'two nodes' 'three nodes' 'four nodes')

	echo "${words[$1]}"
}

# lab_program NAME: the path of a program that the nodes run, as they see it.
lab_program()
{
	local dir

	if [ "$LAB_ROOT" = / ]; then
		realpath "$(command -v "$1")"
		return
	fi
	for dir in usr/sbin usr/bin sbin bin; do
		[ -x "$LAB_ROOT/$dir/$1" ] || continue
		echo "/$dir/$1"
		return
	done
	return 1
}

# lab_same FD: is the open directory FD still the state directory?
lab_same()
{
	[ "/proc/self/fd/$1" -ef "$LAB_STATE" ]
}

# lab_alive: is there a keeper for this lab? It holds a lock on the state
# directory as long as it lives, so no reboot and no kill leaves a false yes.
# What a keeper that was killed left behind is removed here.
lab_alive()
{
	local fd rc=1

	[ -d "$LAB_STATE" ] && [ -O "$LAB_STATE" ] || return 1
	{ exec {fd}<"$LAB_STATE"; } 2>/dev/null || return 1
	if ! flock -n "$fd"; then
		rc=0
	elif lab_same "$fd"; then
		rm -rf "$LAB_STATE"
		[ "${1:-}" != tell ] ||
			echo "lab.sh: removed what a lab that did not end by 'down' left behind" >&2
	fi
	exec {fd}<&-
	return "$rc"
}

# lab_read: the running lab's own notes, into the array lab.
declare -A lab=()
lab_read()
{
	local key value

	lab=()
	[ -r "$LAB_STATE/notes" ] || return 0
	while IFS='=' read -r key value; do
		lab[$key]=$value
	done <"$LAB_STATE/notes"
}

# lab_dead: the nodes that have died.
lab_dead()
{
	local node dead=''

	for node in a b c d; do
		[ ! -e "$LAB_STATE/dead-$node" ] || dead+=" $node"
	done
	printf %s "${dead# }"
}

# lab_end FILE: the lines of a log that tell most: what looks like a reason,
# and the end.
lab_end()
{
	tr -cd '\11\12\40-\176' <"$1" | awk '
		/lab: failed|Kernel panic|BUG:|Oops|Out of memory/ { why[++n] = $0; at[n] = NR }
		{ line[NR] = $0 }
		END {
			for (i = 1; i <= n && i <= 3; i++)
				if (at[i] <= NR - 12)
					print why[i]
			for (i = NR > 12 ? NR - 11 : 1; i <= NR; i++)
				print line[i]
		}'
}
