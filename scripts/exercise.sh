#!/usr/bin/env bash
# exercise.sh - check a reader's own solution of an exercise by what it does
#
# usage: scripts/exercise.sh CHAPTER [EXERCISE [DIR]]
#                                   (make exercise CH=02 EX=1, DIR=my_copy)
#
# CHAPTER is 1, 01 or 01_send_recv, EXERCISE the number or name that the list
# without it gives. DIR is the working copy to check: the chapter's own folder
# by default. It is copied, built and run on a real device, alone and against
# the chapter as it is committed, and what both ends say is compared with what
# the exercise asks for. How it is written does not matter.
#
# Exit status: 0 all that is asked for is there, 1 not, 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
# shellcheck source=scripts/lib/device.sh
source "$top/scripts/lib/device.sh"

cli_help "$@"
[[ $# -le 3 && ${1:-} != -* ]] || cli_misuse "which CHAPTER and EXERCISE?"
cli_chapter "${1:-}" exercises/README.md
number=${chapter%%_*}
folder=$top/$chapter/exercises
# In the order in which the page has them.
mapfile -t names < <(grep -oE '\]\([a-z0-9_]+\.md\)' "$folder/README.md" |
	tr -d ']()' | sed 's/\.md$//')

if [[ $# -eq 1 ]]; then
	cli_checked
	echo "Exercises of $chapter:"
	for i in "${!names[@]}"; do
		title=$(sed -n '1s/^# *//p' "$folder/${names[i]}.md")
		printf '  make exercise CH=%s EX=%d   %-12s %s\n' "$number" \
			$((i + 1)) "${names[i]}" "$title"
	done
	exit 0
fi
name=$2
if [[ $name =~ ^[1-9][0-9]*$ ]]; then
	name=${names[name - 1]:-}
fi
[[ -n $name && " ${names[*]} " == *" $name "* ]] ||
	cli_none "exercise of $chapter" "$2" "1 to ${#names[@]}: ${names[*]}"
theirs=${3:-$top/$chapter}
[[ -r $theirs/Makefile ]] || {
	echo "exercise: there is no Makefile in $theirs; DIR is the folder of" \
		"your copy of $chapter" >&2
	exit 2
}
cli_checked

# Both are built here, so that the reader's folder stays as it is.
place=$top/build/exercise/$chapter/$name
original=$top/build/exercise/$chapter/original
rm -rf "$place"
mkdir -p "$place/mine" "$original"
bad=0 checks=0

# ok WHAT / missing WHAT: one thing that the exercise asks for.
ok() {
	checks=$((checks + 1))
	echo "  ok       $1"
}
missing() {
	checks=$((checks + 1)) bad=$((bad + 1))
	echo "  missing  $1"
}

copy() {
	cp "$1"/*.[ch] "$1/Makefile" "$2"
	cp "$1"/*.sh "$2" 2>/dev/null || true
}

# The chapter as committed; without git, as it is. Only what differs is copied, so
# that it is built once for all exercises.
copy_original() {
	local file from=$place/committed

	mkdir "$from"
	if git -C "$top" rev-parse -q --verify HEAD >/dev/null 2>&1; then
		git -C "$top" archive HEAD "$chapter" |
			tar -x -C "$from" --strip-components=1
	else
		copy "$top/$chapter" "$from"
	fi
	for file in "$original"/*.[ch]; do
		[[ -e $from/${file##*/} ]] || rm -f "$file"
	done
	for file in "$from"/*.[ch] "$from"/Makefile "$from"/*.sh; do
		[[ ! -e $file ]] || cmp -s "$file" "$original/${file##*/}" ||
			cp "$file" "$original"
	done
	rm -rf "$from"
}

# run NAME LINE…: runs programs as the lines say (those of a `commands` file);
# ORIGINAL stands for the folder of the chapter as it is. What they said is
# then in $place/NAME/.
run() {
	local out=$1

	shift
	printf '%s\n' "${@//ORIGINAL/$original}" >"$place/$out.commands"
	# Their own deadlines are 10 s, and a client or two follow each other.
	PAIR_LIMIT=60 "$top/scripts/pair.sh" -d "$place/mine" \
		"$place/$out.commands" "$place/$out" ||
		[[ $? -ne 4 ]] || exit 1
}

# serving COMMAND…: what runs it so that $stopping can end it: in a line of run,
# "server: $(serving ./server)", and in the last one "stop: $stopping".
serving() {
	printf "bash -c 'echo \$\$ >server.pid; exec %s'" "$*"
}
# shellcheck disable=SC2034,SC2016 # the exercises use it, and a shell there
stopping="bash -c 'kill \$(<server.pid)'"

# look FILE REGEX SECONDS: what waits until FILE in $place has such a line, for at most
# so long: in a line of run, "look: $(look own/client.log '^ready' 20)".
look() {
	cat >"$place/mine/look.sh" <<-'END'
		end=$((SECONDS + $3))
		until grep -Eqs "$2" "$1"; do
			((SECONDS < end)) || exit 1
			read -rt 0.05 <> <(:) || true
		done
	END
	printf "bash look.sh '%s' '%s' %d" "$place/$1" "$2" "$3"
}

# count FILE REGEX: how many lines of FILE in $place match.
count() {
	grep -cE -- "$2" "$place/$1" 2>/dev/null || true
}

# want WHAT FILE REGEX [COUNT]: FILE has such a line, or exactly COUNT.
want() {
	local seen

	seen=$(count "$2" "$3")
	seen=${seen:-0}
	if [[ $# -eq 4 && $seen -eq $4 ]] || [[ $# -eq 3 && $seen -gt 0 ]]; then
		ok "$1"
	elif [[ $# -eq 4 ]]; then
		missing "$1 ($2 has $seen lines like \"$3\" instead of $4)"
	else
		missing "$1 ($2 has no line like \"$3\")"
	fi
}

# ends WHAT NAME LABEL STATUS: how a program of a run ended.
ends() {
	if grep -qx "$3: exit status $4" "$place/$2/status.log"; then
		ok "$1"
	else
		missing "$1 ($(grep "^$3:" "$place/$2/status.log"), not $4)"
	fi
}

copy "$theirs" "$place/mine"
copy_original
echo "exercise $number/$name: $(sed -n '1s/^# *//p' "$folder/$name.md")"
make -s -C "$original" CFLAGS=-O1
if ! make -s -C "$place/mine" CFLAGS='-O1 -g' >"$place/build.log" 2>&1; then
	cat "$place/build.log"
	missing "it builds"
	exit 1
fi
trap device_close EXIT
# One device for all runs: pair.sh uses what is up already. A line `nodes: 2` in a
# run asks for two nodes.
nodes=1
[[ $(<"$folder/$name.sh") != *"'nodes: 2'"* ]] || nodes=2
device_open "$nodes"
# shellcheck source=/dev/null
source "$folder/$name.sh"

if [[ $bad -gt 0 ]]; then
	echo "$bad of $checks things are missing; the logs are in" \
		"${place#"$top"/}; scripts/explain.py explains an error"
	exit 1
fi
echo "all $checks things are there"
