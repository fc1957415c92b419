#!/bin/bash
# build.sh - the module siw for a kernel of Debian's, which comes without it
#
# usage: scripts/lib/siw/build.sh RELEASE OUT     (lab.sh runs it)
#
# Makes OUT/siw.ko for the kernel RELEASE, as uname -r says it, from the source
# package and the headers of that very kernel. Nothing is installed: apt fetches
# the packages (150 MB), and they are unpacked in OUT, which has 350 MB then. One
# module takes ten seconds to compile. accept.patch mends what loses a connection's
# first message; OUT gets a copy of it, which says that it is in the module.
set -euo pipefail

# shellcheck source=scripts/lib/cli.sh
source "$(dirname "$0")/../cli.sh"
cli_help "$@"
[[ $# -eq 2 ]] || cli_misuse "RELEASE and OUT must be given"
cli_checked
release=$1
mend=$(realpath "$(dirname "$0")/accept.patch")
headers=linux-headers-$release

need() {
	local name missing=''

	for name in apt-get dpkg make patch xz strip; do
		command -v "$name" >/dev/null || missing+=" $name"
	done
	[[ -z $missing ]] || {
		echo "not installed:$missing"
		return 1
	}
}

# choose: sets packages to all that is needed, each of the headers' version.
choose() {
	local version line source

	version=$(apt-cache show --no-all-versions "$headers" 2>/dev/null |
		sed -n "s/^Version: //p") || true
	[[ -n $version ]] || {
		echo "apt has no package $headers, or no lists of packages"
		echo "If the kernel $release is old, take it out of the lab's cache: a new one is fetched."
		return 1
	}
	# 6.1.192-2 is in linux-source-6.1.
	[[ $version =~ ^([0-9]+\.[0-9]+) ]]
	source=linux-source-${BASH_REMATCH[1]}
	packages=("$source=$version" "$headers=$version")
	while read -r line; do
		packages+=("$line=$version")
	done < <(apt-cache depends -i "$headers" |
		sed -n 's/^ *Depends: \(linux-headers-.*\|linux-kbuild-.*\)/\1/p')
}

# The headers' own Makefile names where they would be installed.
unpack() {
	local package

	for package in ./*.deb; do
		dpkg -x "$package" tree
		rm "$package"
	done
	grep -rlZ '/usr/src' "tree/usr/src/$headers/Makefile" |
		xargs -0 sed -i "s|/usr/src|$PWD/tree/usr/src|g"
	mkdir siw
	tar -C siw --wildcards --strip-components=5 \
		-xf tree/usr/src/linux-source-*.tar.xz '*/drivers/infiniband/sw/siw'
	patch -p1 -s -d siw <"$mend" || {
		echo "this kernel's siw is another one than accept.patch is for: is it still needed?"
		return 1
	}
}

need
choose
mkdir -p "$2"
out=$(realpath "$2")
# What was interrupted before is in nobody's way.
rm -rf "$out"/build.*
work=$(mktemp -d "$out/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q -q download "${packages[@]}"
unpack
make -s -C "tree/usr/src/$headers" M="$work/siw" CONFIG_RDMA_SIW=m \
	CONFIG_DEBUG_INFO_BTF_MODULES= modules
strip --strip-debug siw/siw.ko
mv siw/siw.ko "$out/"
cp "$mend" "$out/"
