#!/usr/bin/env bash
# programs.sh - each chapter as the nodes in the page get it: its files, built
#
# usage: web/rootfs/programs.sh ROOTFS OUT
#
# ROOTFS is what build.sh has made. OUT gets CHAPTER.tar.gz for each chapter.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
cli_help "$@"
[[ $# -eq 2 ]] || cli_misuse "ROOTFS and OUT must be given"
cli_checked
system=$(realpath "$1")/sysroot
mkdir -p "$2"
out=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

crt=$(dirname "$system"/usr/lib/gcc/i686-linux-gnu/*/crtbegin.o)
gcc="gcc -m32 --sysroot=$system -B$crt -isystem $system/usr/include/i386-linux-gnu"

for makefile in "$top"/[0-9][0-9]_*/Makefile; do
	chapter=$(basename "$(dirname "$makefile")")
	cd "$top"
	find "$chapter" \( -name '*.[ch]' -o -name Makefile -o -name '*.sh' \) \
		! -path '*/break/*' ! -path '*/exercises/*' -print0 |
		cpio --quiet -0 -pdm "$work"
	make -s -C "$work/$chapter" CC="$gcc" CFLAGS=-O2 LDFLAGS=-s server client
	rm -f "$work/$chapter"/*.o
	tar -C "$work" --sort=name --owner=0 --group=0 --mtime=@0 -cf - "$chapter" |
		gzip -9n >"$out/$chapter.tar.gz"
done
