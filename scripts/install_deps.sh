#!/bin/bash
# install_deps.sh - install what this tutorial needs and this machine lacks
#
# usage: scripts/install_deps.sh [--size] [build] [lab] [wire] [check] [hosts] [kernel]
#        [web] [long] [others]
#
# Installs the Debian packages that are missing, after saying which and why. Uses sudo
# if you are not root. Without an argument: the first four sets. lib/install_deps.tsv
# has the packages. On another distribution it only lists them, and succeeds: install
# what yours calls them.
#
#   build   compile the chapters
#   lab     run them on real Soft-RoCE in a throwaway virtual machine
#   wire    show the packets of a run
#   check   run the tests
#   hosts   run pairs on two real hosts, by ssh
#   kernel  build a kernel for the lab that is an ordinary process
#   web     build these pages for a browser, with machines that run in it
#   long    run those tests that take long
#   others  run rdma-core's own tests, perftest and other tools in the lab
#   --size  only say in one line how many are missing and how big they are
#
# With NO_INSTALL=1 it only lists what is missing, and exits with 1 if something is.
# Tested on Debian 12 and 13.
#
# Exit status: 0 all is there, 1 something is missing, 2 usage.
set -euo pipefail
export LC_ALL=C

TABLE=${BASH_SOURCE[0]%/*}/lib/install_deps.tsv
all=' build lab wire check hosts kernel web long others '

say() { printf 'install_deps.sh: %s\n' "$*"; }

# Fills missing (names) and listing (a line each, for people), and sets total.
find_missing() {
	local set pkg purpose have machine

	machine=$(uname -m)
	total=0 missing=() listing=''
	# What is installed, or stands for another: nodejs from elsewhere, say, brings npm.
	have=$(dpkg-query -W -f '${db:Status-Abbrev},${Package},${Provides}\n' |
		sed -n 's/^.i *,\(.*\)/ \1 /p' | sed 's/([^)]*)//g; s/,/ /g')
	while IFS=$'\t' read -r set pkg purpose; do
		[[ $set == *@* && ${set#*@} != "$machine" ]] && continue
		[[ " ${sets[*]} " == *" ${set%@*} "* && $listed != *" $pkg "* ]] || continue
		listed+="$pkg "
		total=$((total + 1))
		[[ $have != *" $pkg "* ]] || continue
		missing+=("$pkg")
		listing+=$(printf '  %-20s %s' "$pkg" "$purpose")$'\n'
	done < <(grep -v '^#' "$TABLE")
}

# Prints "98.0 MB to fetch, 400 MB on disk", as far as apt knows it.
size() {
	apt-get install --print-uris --no-install-recommends -y -o Debug::NoLocking=1 \
		"${missing[@]}" 2>/dev/null | awk '
		/^Need to get / { sub(/\/.*/, "", $5); fetch = $4 " " $5 }
		/^After this operation, .* will be used/ { disk = ", " $4 " " $5 " on disk" }
		END { if (fetch) print fetch " to fetch" disk }' | grep . ||
		echo 'how big, nobody here knows yet (build and lab on a bare Debian 12: 98 MB to fetch, 400 MB on disk)'
}

# Waits for another package manager instead of failing; asks no question.
apt_get() {
	"${root[@]}" env LC_ALL=C DEBIAN_FRONTEND=noninteractive \
		apt-get -q -o DPkg::Lock::Timeout=300 "$@"
}

install() {
	compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null &&
		apt_get install --no-install-recommends -y "${missing[@]}" && return
	# Old lists name versions that the servers no longer have.
	say "with fresh lists of packages"
	apt_get update && apt_get install --no-install-recommends -y "${missing[@]}"
}

sets=() size_only=no listed=' ' root=()
for word; do
	case $word in
	-h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" && exit ;;
	--size) size_only=yes ;;
	*)
		[[ $word != *' '* && $all == *" $word "* ]] || {
			say "no such set of packages: '$word'. There is:$all(-h explains)" >&2
			exit 2
		}
		sets+=("$word")
		;;
	esac
done
[[ ${#sets[@]} -gt 0 ]] || sets=(build lab wire check)
debian=yes
command -v dpkg-query >/dev/null || {
	debian=no
	dpkg-query() { :; }
}
find_missing

if [[ ${#missing[@]} -eq 0 ]]; then
	[[ $size_only == no ]] || { echo "all $total packages are there" && exit; }
	say "all $total packages for ${sets[*]} are installed"
	exit
elif [[ $size_only == yes ]]; then
	echo "${#missing[@]} of $total to be installed, $(size)"
	exit
elif [[ $debian == no ]]; then
	say "this is no Debian; what is needed, by Debian's names:"
	printf '%s' "$listing"
	[[ ${NO_INSTALL:-0} == 0 ]]
	exit
fi
command="apt-get install --no-install-recommends -y ${missing[*]}"
say "missing: ${#missing[@]} of $total packages"
printf '%s' "$listing"
say "together $(size)"
if [[ ${NO_INSTALL:-0} != 0 ]]; then
	say "to install them, as root: $command"
	exit 1
fi
if [[ $(id -u) -ne 0 ]]; then
	root=(sudo)
	sudo -n true 2>/dev/null || { command -v sudo && : </dev/tty; } >/dev/null 2>&1 || {
		say "that takes root, and there is no sudo, or no terminal for it to ask on." \
			"Ask an administrator to run: apt-get update; $command" >&2
		exit 1
	}
fi
say "installing: ${root[*]:+sudo }$command"
install || {
	say "apt-get failed, for the reason it gives above. Try by hand, as root: $command" >&2
	exit 1
}
say "all $total packages for ${sets[*]} are installed now"
