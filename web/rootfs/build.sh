#!/usr/bin/env bash
# build.sh - the root file system of the nodes in the page
#
# usage: web/rootfs/build.sh OUT
#
# Fetches the i386 packages of Debian 12 that the file packages names. OUT gets
# initrd.gz, with what the nodes need of them; sysroot/, all of it, for gcc; and
# versions, a line a package. What is there already and made of the same is kept.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$here/../../scripts/lib/cli.sh"
# shellcheck source=scripts/lib/apt.sh
source "$here/../../scripts/lib/apt.sh"
cli_help "$@"
[[ $# -eq 1 ]] || cli_misuse "OUT must be given"
cli_checked
mkdir -p "$1"
out=$(realpath "$1")

names() {
	grep -v '^#' "$here/packages" | cut -f 1 | grep .
}

# Where each package is, its file's name and its hash.
locate() {
	names | xargs apt-get --print-uris download
}

# unpack: every package into sysroot/, and what the table says into root/.
unpack() {
	local name patterns archive pattern scratch

	rm -rf "$out"/{root,sysroot,one}
	mkdir -p "$out"/{root,sysroot}
	while IFS=$'\t' read -r name patterns; do
		[[ -n $name && $name != \#* ]] || continue
		archive=("$out/packages/${name}"_*.deb)
		dpkg -x "${archive[0]}" "$out/sysroot"
		[[ $patterns != - ]] || continue
		scratch=$out/one
		rm -rf "$scratch"
		dpkg -x "${archive[0]}" "$scratch"
		(
			cd "$scratch"
			set -f
			for pattern in $patterns; do
				set +f
				# shellcheck disable=SC2086
				cp -a --parents $pattern "$out/root"
			done
		)
	done <"$here/packages"
	rm -rf "$out/one"
}

compiler() {
	gcc-12 -m32 --sysroot="$out/sysroot" \
		-B"$(dirname "$out"/sysroot/usr/lib/gcc/i686-linux-gnu/*/crtbegin.o)" \
		-isystem "$out/sysroot/usr/include/i386-linux-gnu" "$@"
}

# The C library's headers take every __attribute__ from a program, constructors too,
# if they do not know its compiler. tcc knows attributes.
attributes() {
	local header=$out/root/usr/include/i386-linux-gnu/sys/cdefs.h
	local known='^#if !(defined __GNUC__ || defined __clang__)$'

	if ! grep -q "$known" "$header"; then
		echo "rootfs: ${header##*/} has another line about attributes" >&2
		return 1
	fi
	sed -i "/$known/s/)$/ || defined __TINYC__)/" "$header"
}

# What gcc's objects of the chapters call of gcc's own library, and tcc's lacks.
library() {
	local scratch=$out/one

	mkdir "$scratch"
	(
		cd "$scratch"
		ar x "$(compiler -print-libgcc-file-name)" _ctzdi2.o _divmoddi4.o _udivmoddi4.o
		ar rs "$out/root/usr/lib/i386-linux-gnu/tcc/libtcc1.a" ./*.o
	)
	rm -r "$scratch"
}

assemble() {
	local program

	for program in tell stir; do
		compiler -std=gnu11 -O2 -Wall -Wextra -Werror -s \
			-o "$out/root/bin/$program" "$here/$program.c"
	done
	install -m 755 "$here/init" "$out/root/init"
	install -m 755 "$here"/{build,cc} "$out/root/bin"
	install -m 644 "$here/stdatomic.h" "$out/root/usr/lib/i386-linux-gnu/tcc/include"
	attributes
	library
	mkdir -p "$out"/root/{dev,proc,sys,tmp,page,root,etc,var,run}
	cp "$here/profile" "$out/root/root/.bashrc"
	echo 'root:x:0:0:root:/root:/bin/bash' >"$out/root/etc/passwd"
	(
		cd "$out/root"
		find . -mindepth 1 | LC_ALL=C sort |
			cpio --quiet -o -H newc -R 0:0 --reproducible
	) | gzip -9n >"$out/initrd.gz"
}

debian12 i386 "$out/apt"
uris=$(locate)
digest=$(
	{
		echo "$uris"
		cat "$here"/{build.sh,packages,init,build,cc,stdatomic.h,profile,tell.c,stir.c}
	} | sha256sum
)
if [[ -e $out/initrd.gz && $(cat "$out/digest" 2>/dev/null) == "$digest" ]]; then
	exit 0
fi
mkdir -p "$out/packages"
rm -f "$out"/packages/*.deb "$out/digest"
(cd "$out/packages" && names | xargs apt-get -q -q download)
unpack
assemble
for package in "$out"/packages/*.deb; do
	# shellcheck disable=SC2016 # dpkg-deb puts them in
	dpkg-deb -W --showformat='${Package} ${Version} ${source:Package} ${source:Version}\n' \
		"$package"
done >"$out/versions"
echo "$digest" >"$out/digest"
du -sh "$out/initrd.gz"
