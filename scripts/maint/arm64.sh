#!/usr/bin/env bash
# arm64.sh - build and run the chapters for arm64 on another machine
#
# usage: scripts/maint/arm64.sh root
#        scripts/maint/arm64.sh build
#        scripts/maint/arm64.sh unit
#        scripts/maint/arm64.sh demo [CHAPTER...]
#
# root   makes build/arm64/root: Debian 12's arm64 packages, unpacked, not installed;
#        the libraries to build with, and the files that a node of the lab sees.
# build  copies the repository to build/arm64/tree, and builds all chapters there.
# unit   builds the unit tests as well, and runs them under qemu-user; those that
#        ask the kernel for what qemu-user does not do, in the lab.
# demo   boots the lab with an arm64 kernel, emulated, and runs the logged runs
#        (of all chapters if none is named) in it, as make demo does.
#
# Each makes those above that it needs. Debian only, without root; it needs
# gcc-aarch64-linux-gnu, qemu-user-static and qemu-system-arm. Exit status: that
# of what was run, 1 something is missing, 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
# shellcheck source=scripts/lib/apt.sh
source "$top/scripts/lib/apt.sh"
cli_help "$@"

place=$top/build/arm64
root=$place/root
tree=$place/tree
cross=aarch64-linux-gnu

# What a node runs, and what the programs are built with.
packages=(base-files base-passwd bash busybox-static coreutils dash
	findutils grep ibverbs-providers ibverbs-utils iproute2 kmod libc-bin libcmocka-dev
	libibverbs-dev librdmacm-dev libssl-dev mawk openssl procps python3 rdmacm-utils
	sed util-linux)

# What sets the kernel's limits.
in_the_lab=(test_05_admission)

complain() {
	printf 'arm64: %s\n' "$@" >&2
	exit 1
}

need() {
	command -v "$1" >/dev/null ||
		complain "$1 is not installed; on Debian, as root: apt-get install $2"
}

make_root() {
	local package

	[[ ${packages[*]} != "$(cat "$root/packages" 2>/dev/null)" ]] || return 0
	need apt-get apt
	(
		debian12 arm64 "$place/apt"
		apt-get -qy --no-install-recommends --download-only install "${packages[@]}"
	)
	rm -rf "$root"
	# As Debian lays it out; some packages still name the old places.
	mkdir -p "$root"/{usr/{bin,sbin,lib},dev,proc,sys,tmp,run,root,var/tmp}
	ln -s usr/bin usr/sbin usr/lib "$root"
	for package in "$place"/apt/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" \
			--no-same-owner --keep-directory-symlink
	done
	# What the packages' own scripts would do, as far as it is needed.
	ln -sf bash "$root/usr/bin/sh"
	ln -sf mawk "$root/usr/bin/awk"
	cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
	cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
	echo "${packages[*]}" >"$root/packages"
}

# The repository as it is here, and its chapters built in it.
build() {
	need $cross-gcc gcc-$cross
	make_root
	rm -rf "$tree"
	mkdir -p "$tree"
	(
		cd "$top"
		if [[ -e .git ]]; then
			git ls-files -z --cached --others --exclude-standard
		else
			find . -path ./build -prune -o ! -type d -print0
		fi | tar -c --null --files-from - --ignore-failed-read
	) | tar -x -C "$tree"
	make -s -C "$tree" CC="$cross-gcc --sysroot=$root" all
}

# unit_test RUN... PROGRAM: says what it said if it fails.
unit_test() {
	local test=${*: -1}

	echo "unit, arm64: ${test##*/}"
	"$@" >"$test.out" 2>&1 && return
	cat "$test.out"
	echo "failed: ${test##*/}"
	return 1
}

unit() {
	local test failed=0

	need qemu-aarch64-static qemu-user-static
	need qemu-system-aarch64 qemu-system-arm
	build
	# No sanitizer's library, which would need the processor itself: what is
	# undefined is a trap.
	make -s -C "$tree/tests/unit" CC="$cross-gcc --sysroot=$root" \
		SANITIZE='-fsanitize=undefined -fsanitize-undefined-trap-on-error' \
		all
	cd "$tree"
	export QEMU_LD_PREFIX=$root LAB_ARCH=aarch64 LAB_ROOT=$root
	for test in build/unit/test_*; do
		[[ -x $test && " ${in_the_lab[*]} " != *" ${test##*/} "* ]] ||
			continue
		unit_test timeout -k 5 300 qemu-aarch64-static "$test" ||
			failed=1
	done
	scripts/lab.sh up
	for test in "${in_the_lab[@]}"; do
		unit_test scripts/lab.sh exec -- "build/unit/$test" || failed=1
	done
	scripts/lab.sh down
	return "$failed"
}

demo() {
	need qemu-system-aarch64 qemu-system-arm
	build
	export LAB_ARCH=aarch64 LAB_ROOT=$root DEVICE=lab
	(cd "$tree" && scripts/demo.sh "$@")
}

command=${1:-}
[[ $# -eq 0 ]] || shift
case $command in
root | build | unit)
	[[ $# -eq 0 ]] || cli_misuse "$command takes no argument"
	;;
demo) ;;
*) cli_misuse "root, build, unit or demo must be given" ;;
esac
[[ $command != root ]] || command=make_root
"$command" "$@"
