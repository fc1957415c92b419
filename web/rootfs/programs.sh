#!/usr/bin/env bash
# programs.sh - each chapter as the nodes in the page get it: its files, built
#
# usage: web/rootfs/programs.sh ROOTFS OUT
#
# ROOTFS is what build.sh has made. OUT gets CHAPTER.tar.gz for each chapter, and
# checker.tar.gz, with what checks exercises and repairs. What is there already
# and made of the same is kept.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
cli_help "$@"
[[ $# -eq 2 ]] || cli_misuse "ROOTFS and OUT must be given"
cli_checked
rootfs=$(realpath "$1")
system=$rootfs/sysroot
mkdir -p "$2"
out=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$top"

crt=$(dirname "$system"/usr/lib/gcc/i686-linux-gnu/*/crtbegin.o)
gcc="gcc-12 -m32 --sysroot=$system -B$crt -isystem $system/usr/include/i386-linux-gnu"
# Objects that tcc can link with its own: on a node, make only compiles what the
# reader has changed.
gcc+=' -fno-pie -no-pie -fno-stack-protector'

# pack NAME: what is in $work/NAME, or all of it, as NAME.tar.gz. The times are the
# same, so that make finds nothing to do.
pack() {
	tar -C "$work" --sort=name --owner=0 --group=0 --mtime=@0 -cf - "${2:-$1}" |
		gzip -9n >"$out/$1.tar.gz.new"
	mv "$out/$1.tar.gz.new" "$out/$1.tar.gz"
}

files() {
	find "$1" \( -name '*.[ch]' -o -name Makefile -o -name '*.sh' \) \
		! -path '*/break/*' ! -path '*/exercises/*' \
		! -path '*/repair/*' -print0 | sort -z
}

# On a node, tcc links these objects with those that it makes. It has to have what they
# call of gcc's own library: library() in build.sh puts that in.
linkable() {
	local tcc=$rootfs/root/usr/lib/i386-linux-gnu/tcc/libtcc1.a lacking

	defined() { nm --defined-only "$1" 2>/dev/null | awk '$2 == "T" { print $3 }' | sort -u; }
	lacking=$(nm -u ./*.o | awk '$1 == "U" { print $2 }' | sort -u |
		comm -12 - <(defined "$($gcc -print-libgcc-file-name)") |
		comm -23 - <(defined "$tcc") | paste -sd ' ')
	[[ -z $lacking ]] || {
		echo "programs: $1 calls what gcc's library has and ${tcc##*/} has not:" \
			"$lacking; add it to library() in web/rootfs/build.sh" >&2
		return 1
	}
}

build() {
	local chapter=$1 programs=(server client) file

	for file in first loopback; do
		[[ ! -f $chapter/$file.c ]] || programs+=("$file")
	done
	for file in load bench; do
		[[ ! -d $chapter/$file ]] || programs+=("$file/$file")
	done
	files "$chapter" | cpio --quiet -0 -pdm "$work"
	make -s -j"$(nproc)" -C "$work/$chapter" CC="$gcc" CFLAGS=-O2 LDFLAGS=-s \
		"${programs[@]}"
	(cd "$work/$chapter" && linkable "$chapter" && threads "$chapter")
	pack "$chapter"
}

# tcc neither compiles nor links variables that each thread has one of. It takes a
# library in the place of such an object; where that is, the library itself says.
threads() {
	local source object

	while read -r source; do
		object=$(basename "${source%.c}.o")
		$gcc -O2 -fPIC -shared -s -I. -Icarried -Iplumbing -Wl,-soname,"/root/$1/$object" \
			-o "$object" "$source"
	done < <(grep -lw _Thread_local -- *.c */*.c)
}

# The scripts of the checkers as they are; on a node, setup_rxe.sh has only to say
# where its device is, RDS is there, and no Python.
checker() {
	local top=$work/checker

	mkdir -p "$top"
	cp --parents scripts/{exercise,pair,repair}.sh scripts/lib/{calls.c,chapter.sh,cli.sh} \
		scripts/lib/{device,judge,progress,task}.sh "$top"
	cp --parents [0-9][0-9]_*/exercises/*.{md,sh,patch} \
		[0-9][0-9]_*/repair/{order,*/task.md,*/judge.sh} \
		[0-9][0-9]_*/expected/*/commands [0-9][0-9]_*/break/*/{commands,patch} "$top"
	cp web/rootfs/compare_logs.sh "$top/scripts"
	printf '#!/bin/sh\necho 192.0.2.1\n' >"$top/scripts/setup_rxe.sh"
	printf '#!/bin/sh\n' >"$top/scripts/setup_rds.sh"
	# Of it, the check of a repair asks for the names of a chapter's tasks.
	# shellcheck disable=SC2016 # the script that is written expands it
	printf '#!/bin/sh\ncat "$3/repair/order"\n' >"$top/scripts/lib/python.sh"
	chmod +x "$top"/scripts/setup_{rxe,rds}.sh "$top/scripts/lib/python.sh"
	pack checker
}

for makefile in [0-9][0-9]_*/Makefile; do
	chapter=${makefile%/Makefile}
	digest=$({ cat "$rootfs/digest" web/rootfs/programs.sh && files "$chapter" |
		xargs -0 sha256sum; } | sha256sum)
	[[ -e $out/$chapter.tar.gz &&
		$(cat "$rootfs/$chapter.digest" 2>/dev/null) == "$digest" ]] && continue
	build "$chapter"
	echo "$digest" >"$rootfs/$chapter.digest"
done
checker
