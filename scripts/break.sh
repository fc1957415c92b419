#!/usr/bin/env bash
# break.sh - break a chapter's code on purpose and see what both ends say
#
# usage: scripts/break.sh CHAPTER [CASE [OUT]]      (make break CH=01 CASE=no_recv)
#
# CHAPTER is a number such as 01, or the folder. Without CASE, lists the cases.
# The chapter is copied to build/break/, CASE.patch is applied to the copy
# (where there is one: some cases only run differently), it is built, run as
# break/CASE/commands says, and the logs of both ends are compared with those
# of the recorded run. With OUT, the logs are only left there; with --prepare
# before CHAPTER, the copy is only built.
#
# Exit status: 0 it broke as promised, 1 it did not, 2 usage, 3 it cannot be run
# on this kernel (and is said why).
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
prepare=no
if [[ ${1:-} == --prepare ]]; then
	prepare=yes
	shift
fi
[[ $# -ge 1 && $# -le 3 && $1 == [0-9]* ]] || {
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
	exit 2
}
chapter=$(cd "$top" && compgen -G "${1%/}*/Makefile" | head -n 1) || {
	echo "break: no chapter $1; see \`make help\`" >&2
	exit 2
}
chapter=${chapter%/Makefile}
cases=$top/$chapter/break

if [[ $# -eq 1 ]]; then
	echo "Cases of $chapter, each told in its README.md:"
	for commands in "$cases"/*/commands; do
		name=$(basename "$(dirname "$commands")")
		printf '  make break CH=%s CASE=%s\n' "${chapter%%_*}" "$name"
	done
	exit 0
fi
name=$2
if [[ ! -r $cases/$name/commands ]]; then
	echo "break: $chapter has no case $name; \`make break CH=${chapter%%_*}\`" \
		"lists them" >&2
	exit 2
fi

copy=$top/build/break/$chapter/$name
out=${3:-$copy/run}
rm -rf "$copy"
mkdir -p "$copy"
cp -p "$top/$chapter"/*.[ch] "$top/$chapter/Makefile" "$copy"
# With what is built already, and its age: make builds what the patch changes.
for extra in "$top/$chapter"/*.{o,sh} "$cases/$name".sh \
	"$top/$chapter"/{server,client}; do
	[[ -e $extra ]] && cp -p "$extra" "$copy"
done
if [[ -e $cases/$name.patch ]]; then
	echo "break: $chapter with $name.patch"
	patch -s -d "$copy" -p1 <"$cases/$name.patch"
else
	echo "break: $chapter as it is, run as in break/$name/commands"
fi
make -s -C "$copy"
[[ $prepare == no ]] || exit 0
if [[ $# -eq 3 ]]; then
	exec "$top/scripts/pair.sh" -d "$copy" "$cases/$name/commands" "$out"
fi
"$top/scripts/pair.sh" -v -d "$copy" "$cases/$name/commands" "$out"
"$top/scripts/compare_logs.sh" "$out" "$cases/$name"
