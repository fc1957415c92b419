# machine.sh - what setup_rxe.sh and setup_rds.sh say, and what they ask this machine
#
# Sourced by both before anything else.
# shellcheck shell=bash disable=SC2034,SC2154 # variables cross the files

NAME=${0##*/}
# Where an ordinary user's PATH may not lead: modprobe.
PATH=$PATH:/usr/sbin:/sbin
release=$(uname -r)
lab='scripts/lab.sh up (the lab, throwaway machines)'

say() {
	printf '%s: %s\n' "$NAME" "$*"
}

# fail WHAT TRY: always fails, so that a caller can return with it.
fail() {
	printf '%s: %s. Try: %s\n' "$NAME" "$1" "$2" >&2
	return 1
}

bad_usage() {
	printf '%s: %s; -h explains\n' "$NAME" "$1" >&2
	exit 64
}

need_root() {
	[[ $EUID == 0 ]] || fail "only root can do this" \
		"sudo scripts/$NAME${arguments:+ $arguments}"
}

# What has been found so far: 0 usable, 1 can be set up, 2 cannot.
verdict=0
by_hand=no
# Where docs/troubleshooting.md tells more of a topic.
declare -A entry=(
	[device]=no-device [module]=module [provider]=provider [memlock]=memlock
)

# tell LEVEL TOPIC TEXT [FIX]. Levels: ok; todo (the script does it); fix (a person must);
# no (not here).
tell() {
	local word=$1

	case $1 in
	todo) ((verdict == 2)) || verdict=1 ;;
	fix)
		((verdict == 2)) || verdict=1
		by_hand=yes
		word=MISSING
		;;
	no)
		verdict=2
		word=MISSING
		;;
	esac
	printf '%-8s %-13s %s\n' "$word" "$2" "$3"
	[[ -z ${4:-} ]] || printf '%22s fix: %s\n' '' "$4"
	[[ $word != MISSING || -z ${entry[$2]:-} ]] ||
		printf '%22s more: %s\n' '' "docs/troubleshooting.md#${entry[$2]}"
}

have() { command -v "$1" >/dev/null; }

# The command that installs a package, by its name in Debian.
how_to_install() {
	echo "sudo apt-get install $1 (elsewhere, what your distribution calls it)"
}

module_here() {
	[[ -d /sys/module/$1 ]] || grep -qs "/$1\.ko" "/lib/modules/$release/modules.builtin"
}

# module_trouble MODULE: why it cannot be loaded here; nothing to say if it is loaded,
# built in or there to be loaded. Sets level (fix: a person can mend it; no: not on this
# kernel), cause and fix.
module_trouble() {
	local space

	level=no cause='' fix='boot a kernel that has it'
	# The number of the initial namespace of process ids is fixed in the kernel.
	space=$(readlink /proc/self/ns/pid)
	if [[ $release != *microsoft* && $space && $space != 'pid:[4026531836]' ]]; then
		cause="this is a container: the kernel and its modules are the host's"
		fix="set it up on the host, and give the container the device"
	elif module_here "$1"; then
		level=''
	elif [[ ! -e /proc/modules ]]; then
		cause="kernel $release has no support for modules at all (there is no"
		cause+=" /proc/modules), and no $1 built in"
	elif modinfo "$1" >/dev/null 2>&1; then
		level=''
	elif [[ $release == *microsoft* ]]; then
		cause="this is WSL2, whose kernel ($release) has no $1"
		fix="build a kernel that has it and name it in .wslconfig"
	elif [[ $release == *-cloud-* ]]; then
		cause="$release is a cloud kernel, which leaves $1 out"
		fix="sudo apt-get install linux-image-${release##*-}, remove the cloud kernel and reboot"
	elif [[ ! -d /lib/modules/$release ]]; then
		level=fix
		cause="the modules of the running kernel ($release) are not in /lib/modules"
		fix="reboot, if it was updated; else boot a kernel that comes with its modules"
	else
		level=fix
		cause="$1 is not among the installed modules of $release"
		fix="install the package that has them (Ubuntu: linux-modules-extra-$release), or boot a kernel that has it"
	fi
}

# load_module MODULE: root only.
load_module() {
	local said

	module_here "$1" && return
	if said=$(modprobe "$1" 2>&1); then
		say "loaded $1"
		return
	fi
	fail "cannot load $1: ${said:-modprobe gave no reason}" "scripts/$NAME --check"
}
