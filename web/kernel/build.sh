#!/usr/bin/env bash
# build.sh - the kernel of the nodes in the page, from Debian's source package
#
# usage: web/kernel/build.sh OUT
#
# Fetches Debian 12's linux-source-6.1 (140 MB), configures it for i386 as the file
# config says, and builds OUT/bzImage with Debian 12's compiler and linker (30 MB).
# That takes about five minutes of two processors, and makes the same file on every
# release. What is there already and made of the same source, tools and configuration
# is kept.
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
# 6.1.176 hangs, and this does not; those between were not tried.
oldest=6.1.192

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

debian12 amd64 "$out/apt"
# The compiler and linker come from Debian 12, too, so that the file is the same on
# every release.
packages=(linux-source-6.1 gcc-12 cpp-12 libgcc-12-dev binutils
	binutils-x86-64-linux-gnu libbinutils libctf0 libisl23 libmpc3 libmpfr6 libgmp10
	libjansson4)
uris=$(apt-get --print-uris download "${packages[@]}") || {
	echo "kernel: apt-get does not find linux-source-6.1 and a compiler: is the" \
		"network there, and the package debian-archive-keyring?" >&2
	exit 1
}
version=$(sed -n 's/.* linux-source-6.1_\([^_]*\)_.*/\1/p' <<<"$uris")
if dpkg --compare-versions "$version" lt "$oldest"; then
	echo "kernel: Linux $version is too old: a node hangs in chapter 06, as RDS" \
		"connects over TCP. Does apt-get find debian-security, with $oldest?" >&2
	exit 1
fi
digest=$({ echo "$uris" && cat "$here/config" "$here/build.sh"; } | sha256sum)
if [[ -e $out/bzImage && $(cat "$out/digest" 2>/dev/null) == "$digest" ]]; then
	exit 0
fi
echo "kernel: building Linux, which takes some minutes, once" >&2
work=$(mktemp -d -p "$out")
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q -q download "${packages[@]}"
for package in *.deb; do
	dpkg -x "$package" package
done
export PATH=$work/package/usr/bin:$PATH
export LD_LIBRARY_PATH=$work/package/usr/lib/x86_64-linux-gnu
compiler=(CC=gcc-12 HOSTCC=gcc-12)
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
