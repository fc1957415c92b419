#!/usr/bin/env bash
# break.sh - break a chapter's code on purpose and see what both ends say
#
# usage: scripts/break.sh CHAPTER [CASE [OUT]]      (make break CH=01 CASE=no_recv)
#
# CHAPTER is 1, 01 or 01_send_recv. Without CASE, lists the cases and what each
# asks. With it, shows what is changed (CHAPTER/break/CASE/patch; some cases only run
# differently) and, on a terminal, lets you guess what will happen. Then it copies the
# chapter to build/break/, and patches, builds and runs the copy as the case's
# `commands` says. It shows what each end said, in order of time, compares that with the
# recorded logs, and explains what happened and why. If you have guessed, it asks
# whether you were right, and says for how many cases you were (build/progress).
# HOSTS=user@a,user@b runs it on two real hosts, as demo.sh -h explains.
# With OUT, the logs are only left there; with --prepare before CHAPTER, the copy is
# only built.
#
# Exit status: 0 it broke as the case says, 1 it did not, 2 usage, 3 it cannot run on
# this kernel (the output says why).
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
# shellcheck source=scripts/lib/progress.sh
source "$top/scripts/lib/progress.sh"
# shellcheck source=scripts/lib/chapter.sh
source "$top/scripts/lib/chapter.sh"

cli_help "$@"
prepare=no
if [[ ${1:-} == --prepare ]]; then
	prepare=yes
	shift
fi
[[ $# -le 3 && ${1:-} != -* ]] || cli_misuse "which CHAPTER and CASE?"
cli_chapter "${1:-}" break
cases=$top/$chapter/break
[[ $# -lt 2 ]] || cli_case "$2"
cli_checked
number=${chapter%%_*}

if [[ $# -eq 1 ]]; then
	echo "What can be broken in $chapter, and what each case asks."
	printf 'make break CH=%s CASE=NAME shows it, runs it and explains it.\n\n' "$number"
	"$top/scripts/lib/python.sh" cases list "$top/$chapter"
	exit 0
fi

case=$cases/$name
copy=$top/build/break/$chapter/$name
out=${3:-$copy/run}
terminal=no
[[ ! -t 0 || ! -t 1 ]] || terminal=yes

# show_change: what is broken, and how it is run.
show_change() {
	local colour=never

	[[ ! -t 1 ]] || colour=always
	"$top/scripts/lib/python.sh" cases question "$case"
	if [[ -e $case/patch ]]; then
		printf '\nWhat is changed (%s):\n\n' "$chapter/break/$name/patch"
		GREP_COLORS='mt=01' grep --color="$colour" -E '^[-+].*|' "$case/patch"
	else
		printf '\nNothing is changed in the code.\n'
	fi
	printf '\nHow it is run:\n\n'
	grep -v '^#' "$case/commands" | sed 's/^/  /'
	echo
}

# prepare_copy: the chapter with the patch, built.
prepare_copy() {
	local file files=()

	rm -rf "$copy"
	mkdir -p "$copy"
	# With what is built already, and its age: make builds what the patch
	# changes.
	for file in "$top/$chapter"/{Makefile,carried,plumbing,load,bench,*.{[cho],sh},server,client,first,loopback} \
		"$case"/*.sh; do
		[[ ! -e $file ]] || files+=("$file")
	done
	cp -rp -- "${files[@]}" "$copy"
	[[ ! -e $case/patch ]] || patch -f -s -F0 -d "$copy" -p1 <"$case/patch" >&2 || {
		echo "break: the case's patch does not fit the files of $chapter as they are" >&2
		exit 1
	}
	make -s -C "$copy"
}

# ask: the guess of a reader who has a terminal.
ask() {
	echo "Before it runs: what will each end say, and with which status will it end?"
	read -rp 'Your guess in a line (Enter: none): ' guess || echo
	echo
}

# keep_score: whether the guess was right is the reader's to say. What was said
# first counts, since after the story it is no guess.
keep_score() {
	local right

	if ! grep -qs "^guess $chapter/$name " "$progress_file"; then
		read -rp $'\nWere you right? [y/N] ' right || echo
		[[ $right == [yY]* ]] && right=yes || right=no
		progress_note guess "$chapter/$name" "$right"
	fi
	echo "You were right in $(grep -c '^guess .* yes$' "$progress_file" || true)" \
		"of the $(grep -c '^guess ' "$progress_file") cases for which you" \
		"have guessed."
}

# report: what two hosts said.
report() {
	# shellcheck source=scripts/lib/device.sh
	source "$top/scripts/lib/device.sh"
	(cd "$copy" && tail -n +1 compared run/*.{log,err} 2>/dev/null) |
		hosts_report "make break of $chapter, $name" || true
}

if [[ $prepare == yes || $# -eq 3 ]]; then
	prepare_copy
	[[ $prepare == no ]] || exit 0
	exec "$top/scripts/pair.sh" -d "$copy" "$case/commands" "$out"
fi
guess=
differs=no
chapter_edited 'and the case runs with that' "$chapter"
show_change
[[ $terminal == no ]] || ask
echo "break: building $chapter/break/$name and running it ..."
prepare_copy
"$top/scripts/pair.sh" -t -d "$copy" "$case/commands" "$out"
echo
"$top/scripts/lib/python.sh" cases ends "$case" "$out"
printf 'Compared with the logs of the recorded run: '
"$top/scripts/compare_logs.sh" "$out" "$case" >"$copy/compared" || differs=yes
cat "$copy/compared"
[[ -z ${HOSTS:-} ]] || report
[[ $differs == no ]] || {
	echo "break: this run differs from the one that $chapter/break/$name/README.md describes" >&2
	exit 1
}
[[ -z $guess ]] || printf '\nYour guess was: %s\n' "$guess"
printf '\nWhat happened, and why:\n\n'
"$top/scripts/lib/python.sh" cases story "$case"
[[ -z $guess ]] || keep_score
