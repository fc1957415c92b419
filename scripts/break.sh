#!/usr/bin/env bash
# break.sh - break a chapter's code on purpose and see what both ends say
#
# usage: scripts/break.sh CHAPTER [CASE [OUT]]      (make break CH=01 CASE=no_recv)
#
# CHAPTER is 1, 01 or 01_send_recv. Without CASE, lists the cases.
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
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
# shellcheck source=scripts/lib/chapter.sh
source "$top/scripts/lib/chapter.sh"

cli_help "$@"
prepare=no
if [[ ${1:-} == --prepare ]]; then
	prepare=yes
	shift
fi
[[ $# -le 3 && ${1:-} != -* ]] || cli_misuse "which CHAPTER and CASE?"
cli_chapter "${1:-}"
cases=$top/$chapter/break
[[ $# -lt 2 ]] || cli_case "$2"
cli_checked

if [[ $# -eq 1 ]]; then
	echo "Cases of $chapter, each told in its README.md:"
	for commands in "$cases"/*/commands; do
		name=$(basename "$(dirname "$commands")")
		printf '  make break CH=%s CASE=%s\n' "${chapter%%_*}" "$name"
	done
	exit 0
fi

copy=$top/build/break/$chapter/$name
out=${3:-$copy/run}
rm -rf "$copy"
chapter_update "$top/$chapter" "$copy"
# With what is built already, and its age: make builds what the patch changes.
for folder in plumbing load; do
	[[ ! -d $top/$chapter/$folder ]] || cp -rp "$top/$chapter/$folder" "$copy"
done
for extra in "$top/$chapter"/*.{[cho],sh} "$cases/$name".sh \
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
