#!/usr/bin/env bash
# build.sh - the kernel of the nodes in the page, from Debian's source package
#
# usage: web/kernel/build.sh OUT
#
# Fetches Debian 12's linux-source-6.1 (140 MB), configures it for i386 as the file config says,
# and builds OUT/bzImage. That takes about five minutes of two processors. What is
# there already and made of the same source and configuration is kept.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$here/../../scripts/lib/cli.sh"
# shellcheck source=web/apt.sh
source "$here/../apt.sh"
cli_help "$@"
[[ $# -eq 1 ]] || cli_misuse "OUT must be given"
cli_checked
mkdir -p "$1"
out=$(realpath "$1")

# A configuration drops without a word what depends on something that is not on.
check_config() {
	local line name missing=0

	while read -r line; do
		name=${line%%=*}
		if [[ $line == *=n ]]; then
			! grep -q "^$name=y" .config && continue
		else
			grep -qxF "$line" .config && continue
		fi
		echo "kernel: the configuration has no $line" >&2
		missing=1
	done < <(grep '^CONFIG' "$here/config")
	return "$missing"
}

debian12 "$out/apt"
# Debian 12's own compiler, on every release.
compiler=(CC=gcc-12 HOSTCC=gcc-12)
uri=$(apt-get --print-uris download linux-source-6.1) || {
	echo "kernel: apt-get finds no linux-source-6.1: is the network there, and" \
		"the package debian-archive-keyring?" >&2
	exit 1
}
digest=$({ echo "$uri" && cat "$here/config" "$here/build.sh" && gcc-12 -dumpversion; } |
	sha256sum)
if [[ -e $out/bzImage && $(cat "$out/digest" 2>/dev/null) == "$digest" ]]; then
	exit 0
fi
echo "kernel: building Linux, which takes some minutes, once" >&2
work=$(mktemp -d -p "$out")
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q -q download linux-source-6.1
dpkg -x linux-source-6.1_*.deb package
mkdir linux
tar -C linux --strip-components=1 -xf package/usr/src/linux-source-6.1.tar.xz
cd linux
make -s ARCH=i386 "${compiler[@]}" tinyconfig >/dev/null 2>&1
cat "$here/config" >>.config
make -s ARCH=i386 "${compiler[@]}" olddefconfig 2>/dev/null
check_config
nice -n 19 make -s -j"$(nproc)" ARCH=i386 "${compiler[@]}" KBUILD_BUILD_TIMESTAMP=2026-01-01 \
	KBUILD_BUILD_USER=web KBUILD_BUILD_HOST=web bzImage
cp arch/x86/boot/bzImage "$out"
echo "$digest" >"$out/digest"
