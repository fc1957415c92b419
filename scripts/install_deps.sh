#!/bin/bash
# install_deps.sh - install what this tutorial needs and this machine lacks
#
# The table beside it (install_deps.tsv) says what is needed, for what, and what it is
# called in Debian, Ubuntu and Fedora. The distribution's package manager does the work.
# If nothing is missing, this only looks at its database.
set -euo pipefail
export LC_ALL=C
# Where an ordinary user's PATH may not lead: modprobe, tcpdump.
PATH=$PATH:/usr/sbin:/sbin

NAME=${0##*/}
TABLE=${BASH_SOURCE[0]%/*}/lib/install_deps.tsv
OS_RELEASE=${OS_RELEASE:-/etc/os-release}
APT_LISTS=${APT_LISTS:-/var/lib/apt/lists}
LOCK_WAIT=${LOCK_WAIT:-300}

# shellcheck source=scripts/lib/install_query.sh
. "${BASH_SOURCE[0]%/*}/lib/install_query.sh"

usage() {
	cat <<EOF
usage: $NAME [--size] [build] [lab] [wire] [check] [hosts] [kernel] [web] [long]
       [others]

Installs the packages that are missing, after saying which and why. Uses sudo
if you are not root. Without an argument: the first four sets.

  build   compile the chapters
  lab     run them on real Soft-RoCE in a throwaway virtual machine
  wire    show the packets of a run
  check   run the tests
  hosts   run pairs on two real hosts, by ssh
  kernel  build a kernel for the lab that is an ordinary process
  web     build these pages for a browser, with machines that run in it
  long    run those that take long: on other Debians, on another processor
  others  run rdma-core's own tests, perftest and other tools in the lab
  --size  only say in one line how many are missing and how big they are

Environment:
  NO_INSTALL=1   only list what is missing; exit 1 if something is
  LOCK_WAIT=300  seconds to wait while another package manager works
  OS_RELEASE, APT_LISTS   instead of /etc/os-release, /var/lib/apt/lists

Tested on Debian 12 and 13. Knows the names of Ubuntu and Fedora, untested there.
Exit status: 0 all is there, 1 something is missing, 2 usage.

Example: NO_INSTALL=1 scripts/$NAME build lab
EOF
}

say() { printf '%s: %s\n' "$NAME" "$*"; }
complain() { say "$@" >&2; }

# Sets family (apt, dnf or none), os (for people) and tested (yes or no).
find_distribution() {
	local id='' like='' version='' pretty='' word

	family=none
	tested=no
	os='an unknown distribution'
	[[ -r $OS_RELEASE ]] || return 0
	IFS='|' read -r id like version pretty <<<"$(
		set +u
		# shellcheck disable=SC1090 # a path that is not known here
		. "$OS_RELEASE"
		echo "$ID|$ID_LIKE|$VERSION_ID|$PRETTY_NAME"
	)"
	os=${pretty:-${id:-$os}}
	# Its own name first, then those it says it is like, nearest first.
	for word in $id $like; do
		case $word in
		debian | ubuntu) family=apt ;;
		fedora) family=dnf ;;
		*) continue ;;
		esac
		break
	done
	[[ $id == debian && $version =~ ^1[23]$ ]] && tested=yes
	return 0
}

# Fills missing (names to install, without duplicates), listing (a line each,
# for people) and total, for the sets given.
find_missing() {
	local set deb rpm probe purpose pkg have line machine
	local wanted=() lines=()
	local -A seen=()

	machine=$(uname -m)
	while IFS=$'\t' read -r set deb rpm probe purpose; do
		[[ $set == *@* && ${set#*@} != "$machine" ]] && continue
		[[ " $* " == *" ${set%@*} "* ]] || continue
		case $family in
		apt) pkg=$deb ;;
		dnf) pkg=$rpm ;;
		none) pkg=$probe ;;
		esac
		[[ -n ${seen[$pkg]:-} ]] && continue
		seen[$pkg]=1
		wanted+=("$pkg")
		lines+=("$purpose")
	done <<<"$(grep -v '^#' "$TABLE")"

	have=$("installed_$family" "${wanted[@]}")

	total=${#wanted[@]}
	missing=()
	listing=
	for line in "${!wanted[@]}"; do
		pkg=${wanted[line]}
		[[ $'\n'$have$'\n' == *$'\n'"$pkg"$'\n'* ]] && continue
		missing+=("$pkg")
		listing+=$(printf '  %-20s %s' "$pkg" "${lines[line]}")$'\n'
	done
}

# Prints the command that installs the missing packages, for people.
install_command() {
	case $family in
	apt) echo "apt-get install --no-install-recommends -y ${missing[*]}" ;;
	dnf) echo "dnf install --setopt=install_weak_deps=False -y ${missing[*]}" ;;
	esac
}

# Decides how to become root: sets root to a command prefix, or explains why
# it cannot and what an administrator would type.
find_root() {
	local why

	root=()
	[[ $(id -u) == 0 ]] && return 0
	if ! command -v sudo >/dev/null; then
		why='sudo is not installed'
	elif sudo -n true 2>/dev/null || { : </dev/tty; } 2>/dev/null; then
		root=(sudo)
		return 0
	else
		why='sudo wants a password and there is no terminal to ask on'
	fi
	complain "cannot install: that takes root, you are not root, and $why."
	complain "Ask an administrator to run:"
	[[ $family == apt ]] && echo "  apt-get update" >&2
	echo "  $(install_command)" >&2
	return 1
}

# Waits for another package manager instead of failing; asks no question.
apt_get() {
	"${root[@]}" env LC_ALL=C DEBIAN_FRONTEND=noninteractive \
		apt-get -q -o "DPkg::Lock::Timeout=$LOCK_WAIT" "$@"
}

# The option above covers the package database, not the lists: while another
# apt-get update runs, this one fails at once, so try until LOCK_WAIT is over.
apt_update() {
	local deadline=$((SECONDS + LOCK_WAIT)) out

	say "getting the lists of packages (apt-get update)"
	until out=$(apt_get update 2>&1); do
		if [[ $out != *'Could not get lock'* ]] ||
			((SECONDS >= deadline)); then
			printf '%s\n' "$out" >&2
			return 1
		fi
		say "another package manager is at work, waiting for it"
		sleep 2
	done
	# It calls a server that does not answer a warning, and succeeds.
	grep '^[WE]:' <<<"$out" >&2 || true
}

install_dnf() {
	"${root[@]}" dnf install --setopt=install_weak_deps=False -y \
		"${missing[@]}"
}

install_apt() {
	local fresh=no

	if ! compgen -G "$APT_LISTS/*_Packages*" >/dev/null; then
		apt_update || return 1
		fresh=yes
	fi
	apt_get install --no-install-recommends -y "${missing[@]}" && return 0
	[[ $fresh == yes ]] && return 1
	# Old lists name versions that the servers no longer have.
	say "that failed; trying once more with fresh lists"
	apt_update || return 1
	apt_get install --no-install-recommends -y "${missing[@]}"
}

report_missing() {
	if [[ $family == none ]]; then
		say "this is $os, whose package names are not known here."
		say "not found of the $total things that are needed:"
	else
		say "missing on $os: ${#missing[@]} of $total packages"
	fi
	printf '%s' "$listing"
	! size=$(install_size) || say "together $size, with what they need"
	if [[ $family == none ]]; then
		complain "install these by hand, then try again"
	elif [[ $tested == no ]]; then
		say "tested on Debian 12 and 13 only: untested on $os, names may differ"
	fi
}

main() {
	local set manager=apt-get sets=() size_only=no size

	for set in "$@"; do
		case $set in
		build | lab | wire | check | hosts | kernel | web | long | others) sets+=("$set") ;;
		-h | --help) usage && exit 0 ;;
		--size) size_only=yes ;;
		*)
			complain "no such set of packages: '$set'." \
				"There are build, lab, wire, check, hosts, kernel, web, long and others; -h explains."
			exit 2
			;;
		esac
	done
	((${#sets[@]})) || sets=(build lab wire check)

	find_distribution
	find_missing "${sets[@]}"
	if [[ $size_only == yes ]]; then
		print_size
		exit 0
	fi
	if ((${#missing[@]} == 0)); then
		say "all $total packages for ${sets[*]} are installed"
		exit 0
	fi
	report_missing
	[[ $family == none ]] && exit 1
	if [[ ${NO_INSTALL:-0} != 0 ]]; then
		say "to install them, as root: $(install_command)"
		exit 1
	fi

	[[ $family == dnf ]] && manager=dnf
	if ! command -v "$manager" >/dev/null; then
		complain "there is no $manager here, although $OS_RELEASE says" \
			"$os. Install the above by hand."
		exit 1
	fi
	find_root || exit 1
	say "installing: ${root[*]:+sudo }$(install_command)"
	if ! "install_$family"; then
		complain "$manager failed, for the reason it gives above. Common" \
			"ones: no network, a full disk, a name unknown to this release."
		complain "Try by hand, as root: $(install_command)"
		exit 1
	fi
	find_missing "${sets[@]}"
	if ((${#missing[@]})); then
		complain "$manager reported success, but these are still not" \
			"installed: ${missing[*]}. Try: $(install_command)"
		exit 1
	fi
	say "all $total packages for ${sets[*]} are installed now"
}

main "$@"
