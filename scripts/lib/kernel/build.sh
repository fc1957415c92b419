#!/usr/bin/env bash
# build.sh - the kernels that this repository builds, from Debian's source package
#
# usage: scripts/lib/kernel/build.sh page|lab OUT
#
# page is the kernel of the nodes in the page: OUT/bzImage, for i386. lab is that of
# the lab's nodes where they are User-Mode Linux (make lab-kernel): OUT/linux, an
# ordinary program, with OUT/release and what modprobe wants to know. The files
# page.config and lab.config say what is in them.
#
# Fetches the source (140 MB) and a compiler with its linker (30 MB): those of
# Debian 12, so that the page's kernel is the same file on every release; on Debian
# 13, the lab's kernel is of that. It takes some minutes, and nothing is installed.
# What is there already and made of the same source, tools, patch and configuration
# is kept.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$here/../cli.sh"
# shellcheck source=scripts/lib/apt.sh
source "$here/../apt.sh"
cli_help "$@"
[[ $# -eq 2 ]] || cli_misuse "page or lab, and OUT, must be given"
kind=$1
[[ $kind == page || $kind == lab ]] || cli_none kernel "$kind" page lab
cli_checked
mkdir -p "$2"
out=$(realpath "$2")
config=$here/$kind.config

# All that the configuration must have. The last has another name since Linux 6.10.
wanted() {
	grep '^CONFIG' "$config"
	[[ $kind == page ]] || echo "$full"
}

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
	done < <(wanted)
	return "$missing"
}

# RDS keeps the address of this function in a field where an odd one reads as a flag. A
# node with such a kernel hangs or panics as RDS connects over TCP (docs/rds.md).
check_address() {
	local address

	address=$(nm vmlinux | awk '$3 == "sock_def_readable" { print $1 }')
	[[ $address != *[02468ace] ]] || return 0
	echo "kernel: the address of sock_def_readable() is '$address' and must be even:" \
		"else a node hangs in chapter 06, as RDS connects over TCP" \
		"(docs/rds.md#a-kernel-that-calls-itself). A kernel that is built for speed has" \
		"its functions aligned: CONFIG_CC_OPTIMIZE_FOR_PERFORMANCE in $config" >&2
	return 1
}

# The release whose source and tools are taken.
if [[ $kind == lab ]] && grep -qs '^VERSION_CODENAME=trixie$' /etc/os-release; then
	source=linux-source-6.12 gcc=14
	libraries=(libctf0 libisl23 libmpc3 libmpfr6 libgmp10 libjansson4 libsframe1)
	full=CONFIG_BASE_SMALL=n
else
	source=linux-source-6.1 gcc=12
	libraries=(libctf0 libisl23 libmpc3 libmpfr6 libgmp10 libjansson4)
	full=CONFIG_BASE_FULL=y
	debian12 amd64 "$out/apt"
fi
packages=("$source" "gcc-$gcc" "cpp-$gcc" "libgcc-$gcc-dev" binutils
	binutils-x86-64-linux-gnu libbinutils "${libraries[@]}")
[[ $gcc == 12 ]] || packages+=("gcc-$gcc-x86-64-linux-gnu" "cpp-$gcc-x86-64-linux-gnu")
uris=$(apt-get --print-uris download "${packages[@]}") || {
	echo "kernel: apt-get does not find $source and a compiler: is the" \
		"network there, and the package debian-archive-keyring?" >&2
	exit 1
}
# What is mended in it, FOLDER:PATCH. Only the page's is built for size, so that
# functions are not aligned, and only the lab's has siw.
case $kind in
page) mended=(net/core:sock_aligned) ;;
lab) mended=(drivers/infiniband/sw/siw:{siw_accept,siw_sent} .:{hostfs_setuid,vector_down,sanitizers}) ;;
esac
[[ $kind == page || $source != *6.1 ]] || mended+=(.:{faults,registers})
patches=("${mended[@]/#*:/$here/}")
patches=("${patches[@]/%/.patch}")
digest=$({ echo "$uris" && cat "$config" "${patches[@]}" "$here/build.sh"; } | sha256sum)
if [[ $(cat "$out/digest" 2>/dev/null) == "$digest" ]]; then
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
mkdir linux
tar -C linux --strip-components=1 -xf "package/usr/src/$source.tar.xz"
cd linux
for patch in "${mended[@]}"; do
	patch -p1 -s -d "${patch%:*}" <"$here/${patch#*:}.patch"
done

# build ARCH TARGET
build() {
	local make=(make -s ARCH="$1" "CC=gcc-$gcc" "HOSTCC=gcc-$gcc"
		KBUILD_BUILD_TIMESTAMP=2026-01-01 KBUILD_BUILD_USER=rdma
		KBUILD_BUILD_HOST=rdma)

	"${make[@]}" tinyconfig >/dev/null 2>&1
	wanted >>.config
	"${make[@]}" olddefconfig 2>/dev/null
	check_config
	nice -n 19 "${make[@]}" -j"$(nproc)" "$2"
	check_address
}

# The lab's kernel, and what modprobe is to know of all that is built into it.
keep_lab() {
	local release modules

	release=$(<include/config/kernel.release)
	modules=tree/lib/modules/$release
	mkdir -p "$modules"
	cp modules.builtin modules.builtin.modinfo "$modules"
	: >"$modules/modules.order"
	PATH=$PATH:/usr/sbin:/sbin depmod -b tree "$release"
	cp "$modules"/modules.* "$out"
	strip -o "$out/linux" linux
	echo "$release" >"$out/release"
}

rm -f "$out/digest"
case $kind in
page)
	build i386 bzImage
	cp arch/x86/boot/bzImage "$out"
	;;
lab)
	build um linux
	keep_lab
	;;
esac
echo "$digest" >"$out/digest"
