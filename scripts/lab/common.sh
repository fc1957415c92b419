# shellcheck shell=bash disable=SC2034 # sourced: the variables are used elsewhere
# What every part of the lab shares: names and places, the architecture,
# messages. Sourced by ../lab.sh, keeper.sh and worker.sh.

LAB_REPO=$(cd -- "${BASH_SOURCE[0]%/*}/../.." && pwd -P) || exit 1
LAB_PARTS=$LAB_REPO/scripts/lab

# A lab is known by its name; two clones of the repository get two labs.
if [ -z "${LAB_NAME:-}" ]; then
	LAB_NAME=$(printf %s "${LAB_REPO##*/}" | tr -c 'A-Za-z0-9' - | cut -c 1-20)
	LAB_NAME+=-$(printf %s "$LAB_REPO" | cksum | cut -d ' ' -f 1)
fi
LAB_CACHE=${LAB_CACHE:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/rdma-lab}
LAB_CPUS=${LAB_CPUS:-2}
LAB_MEMORY=${LAB_MEMORY:-1024}
LAB_ACCEL=${LAB_ACCEL:-}
LAB_KERNEL=${LAB_KERNEL:-}
LAB_MODULES=${LAB_MODULES:-}
# Short and fixed, because unix socket paths may have 107 bytes only, and
# because `status` must find it from any terminal.
LAB_STATE=/tmp/rdma-lab.$(id -u).$LAB_NAME

# The one place that knows about processors. x86_64 is tested; aarch64 is
# written from the documentation and has never been run.
LAB_ARCH=$(uname -m)
LAB_QEMU_MACHINE=() LAB_KERNEL_ARGS=()
case $LAB_ARCH in
x86_64)
	LAB_QEMU=qemu-system-x86_64
	LAB_QEMU_PACKAGE=qemu-system-x86
	LAB_QEMU_MACHINE=(-machine q35 -cpu max)
	LAB_CONSOLE=ttyS0
	LAB_KERNEL_PACKAGE=linux-image-amd64
	;;
aarch64)
	LAB_QEMU=qemu-system-aarch64
	LAB_QEMU_PACKAGE=qemu-system-arm
	LAB_QEMU_MACHINE=(-machine virt -cpu max)
	LAB_CONSOLE=ttyAMA0
	LAB_KERNEL_PACKAGE=linux-image-arm64
	;;
*)
	LAB_QEMU='' LAB_QEMU_PACKAGE='' LAB_CONSOLE='' LAB_KERNEL_PACKAGE=''
	;;
esac

# lab_error WHAT [DETAIL...]: one message, a part a line, on stderr.
lab_error()
{
	printf 'lab.sh: %s\n' "$1" >&2
	shift
	[ $# -eq 0 ] || printf '        %s\n' "$@" >&2
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

# lab_check_name: refuse names that cannot be part of a path.
lab_check_name()
{
	case $LAB_NAME in
	*[!A-Za-z0-9._-]* | .* | -*)
		lab_error "LAB_NAME '$LAB_NAME' cannot be used" \
			"Only letters, digits, '.', '_' and '-', and a letter or digit first."
		return 1
		;;
	esac
	if [ ${#LAB_NAME} -gt 40 ]; then
		lab_error "LAB_NAME '$LAB_NAME' is too long: at most 40 characters"
		return 1
	fi
}

# lab_alive: is there a keeper for this lab? It holds a lock on the state
# directory for as long as it lives, so a reboot or a kill cannot lie.
lab_alive()
{
	local fd rc=0

	[ -d "$LAB_STATE" ] && [ -O "$LAB_STATE" ] || return 1
	exec {fd}<"$LAB_STATE" || return 1
	flock -n -s "$fd" && rc=1
	exec {fd}<&-
	return "$rc"
}

# lab_get KEY: a value from the running lab's own notes.
lab_get()
{
	local line

	while IFS= read -r line; do
		case $line in
		"$1="*) printf '%s\n' "${line#*=}" ;;
		esac
	done 2>/dev/null <"$LAB_STATE/notes"
}
