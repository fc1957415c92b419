#!/usr/bin/env bash
#
# check_chapters.sh - the house rules that a machine can check
#
# A chapter must build when it is copied alone into an empty folder, and everything here
# must look as if one person had written it.

set -euo pipefail
export LC_ALL=C

usage() {
	cat <<'END'
Usage: check_chapters.sh [-r ROOT] [-c CHAPTERS] [CHECK...]

Makes the named checks, or all, and prints a line for what breaks a rule.

  build       each chapter, copied alone into an empty folder, builds with gcc
              and with clang without a warning
  makefile    nothing in a chapter reaches out of it: no ../ in its Makefile or
              in an #include
  length      no C, shell, bats or Python file is over 450 lines
  format      C is as .clang-format has it
  shell       shellcheck has nothing to say
  whitespace  none at the end of a line, none before a tab
  headers     each C file and script says at its top what it is for; a file of
              a chapter also says truly where it was born and last changed
  messages    in a chapter's C, a string does not go on in the next line
  words       nothing left to do, no claim without quotes, no exclamation
              marks in Markdown
  -r ROOT     the tree to check (default: the one this script is in)
  -c CHAPTERS only what is in the folders that this word names, as "01_a 02_b"

Exit status: 0 in order, 1 not, 2 usage or a tool that is missing.
Example: check_chapters.sh format shell
END
}

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$(dirname "$here")")
bad=0
only=''

# report WHERE WHAT
report() {
	echo "$1: $2"
	bad=1
}

# files PATTERN...: the files of the project that match; none that are test
# data. Git's list has what is not yet committed, but nothing that is ignored.
files() {
	local file

	if git -C "$root" rev-parse --git-dir >/dev/null 2>&1; then
		git -C "$root" ls-files -co --exclude-standard -- "$@"
	else
		(cd "$root" && for file; do
			find . -path "./$file" -type f -printf '%P\n'
		done)
	fi | grep -v '^tests/fixtures/' | in_chapters | sort -u | while IFS= read -r file; do
		[ ! -f "$root/$file" ] || echo "$file"
	done
}

# Of the files, those that are asked for.
in_chapters() {
	grep -E "^(${only// /|})${only:+/}" || true
}

# Shell scripts, by name or by first line: each with that line, behind a colon.
shell_files() {
	files '*' | (cd "$root" && xargs -r -d '\n' grep -aHm 1 '') |
		grep -aE '^[^:]*(\.(sh|bats):|:#!.*\bbash)' || true
}

chapters() {
	local makefile

	for makefile in "$root"/[0-9][0-9]_*/Makefile; do
		[ ! -f "$makefile" ] || echo "${makefile#"$root/"}"
	done | in_chapters | sed 's|/.*||'
}

need() {
	local tool

	for tool; do
		command -v "$tool" >/dev/null || {
			echo "check_chapters.sh: no $tool here;" \
				"scripts/install_deps.sh installs it" >&2
			exit 2
		}
	done
}

# build_alone CHAPTER COMPILER
build_alone() {
	local folder=$scratch/$1.$2 output=$scratch/$1.$2.out
	local optimise=-O2

	mkdir "$folder"
	files "$1/*" | (cd "$root" && xargs cp --parents -t "$folder")
	# clang finds the same without optimising; gcc does not. On the command
	# line, so that no CFLAGS = in a Makefile undoes it.
	[ "$2" != clang ] || optimise=-O0
	make -C "$folder/$1" CC="$2" -j2 \
		CFLAGS="$optimise -Wall -Wextra -Werror" >"$output" 2>&1 ||
		report "$1" "does not build alone with $2: $(tail -n 15 "$output")"
	! grep -q 'warning:' "$output" ||
		report "$1" "warnings with $2: $(grep 'warning:' "$output")"
	if [ ! -x "$folder/$1/server" ] || [ ! -x "$folder/$1/client" ]; then
		report "$1" "make with $2 made no server and client"
	fi
	rm -rf "$folder"
}

check_build() {
	local chapter compiler

	need make gcc clang
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	while IFS= read -r chapter; do
		for compiler in gcc clang; do
			build_alone "$chapter" "$compiler"
		done
	done < <(chapters)
}

check_format() {
	local file files hit

	need clang-format
	mapfile -t files < <(files '*.c' '*.h')
	[ ${#files[@]} -gt 0 ] || return 0
	# The first place of each file is enough.
	while IFS= read -r hit; do
		file=${hit%%:*}
		report "${hit%%: *}" "not formatted: run clang-format -i $file"
	done < <(cd "$root" && clang-format --style=file --dry-run -Werror \
		"${files[@]}" 2>&1 | grep 'error:' | sort -t: -s -u -k1,1)
}

# Files that are only sourced are checked with those that name them in a
# `shellcheck source=` line, where the variables they share are known.
check_shell() {
	local file first found sourced scripts=() tests=()

	need shellcheck
	found=$(shell_files)
	cd "$root"
	sourced=$(cut -d : -f 1 <<<"$found" | xargs -r sed -n \
		's/^[[:space:]]*# shellcheck source=//p')
	while IFS=: read -r file first; do
		if [[ $file == *.bats ]]; then
			tests+=("$file")
		elif [[ $first == '#!'* || $'\n'$sourced$'\n' != *$'\n'$file$'\n'* ]]; then
			scripts+=("$file")
		fi
	done <<<"$found"
	# Two at a time, since it is slow.
	printf '%s\n' "${scripts[@]}" |
		xargs -r -P 2 -n 8 shellcheck -x -a -f gcc || bad=1
	# What a test hands to another shell is quoted on purpose.
	printf '%s\n' "${tests[@]}" |
		xargs -r -P 2 -n 8 shellcheck -x -S warning -f gcc || bad=1
}

# In a patch that a file quotes, an empty line is one blank.
check_whitespace() {
	! files '*' | grep -vE '(^|/)patch$|\.(patch|wrong|log|err|svg)$' |
		(cd "$root" && xargs -r -d '\n' grep -nIE $'.[ \t]$|^\t$|\r|^  +\t') || bad=1
}

check_text() {
	need /usr/bin/python3
	files '*' | /usr/bin/python3 "$here/check_text.py" "$1" "$root" || bad=1
}

[ "${1:-}" != --help ] || set -- -h
while getopts r:c:h option; do
	case $option in
	r)
		[ -d "$OPTARG" ] || { usage >&2; exit 2; }
		root=$(cd "$OPTARG" && pwd)
		;;
	c) only=$OPTARG ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] ||
	set -- build makefile length format shell whitespace headers messages words
for check; do
	case $check in
	build) check_build ;;
	format) check_format ;;
	shell) check_shell ;;
	whitespace) check_whitespace ;;
	makefile | length | headers | messages | words)
		check_text "$check" ;;
	*) usage >&2; exit 2 ;;
	esac
done
exit "$bad"
