#!/usr/bin/env bash
# run.sh - put faults in, one at a time, and see whether a test notices
#
# usage: tests/mutants/run.sh [OPTION] [NAME...]     (make check-mutants)
#
# A mutant is a patch, tests/mutants/CH/NAME.patch, that puts one fault into the
# project. Above the patch stand two lines:
#
#   Fault: what is wrong with it, and what it would cost
#   Noticed-by: unit test_03_params
#   Noticed-by: bats tests/03_pure_verbs.bats REGEX      (one of the two)
#
# The test that is named there must pass without the patch and fail with it:
# then the mutant was killed. If the test passes all the same, the mutant lived,
# and the test is not worth much. A patch that does not apply, a program that no
# longer compiles, and a test that fails without any patch prove nothing: such a
# mutant is broken.
#
# Works in copies of the tree, below build/mutants/. If a test needs a device
# and this host has none, a lab is booted from the copy and taken down again.
#
# NAME is CH/NAME, or CH alone for all of that folder; without any, all run.
#
#   -l, --list     print the names and what notices them, and run nothing
#   --sample N     only N of them, chosen by the hash of the commit: the same
#                  for the same commit
#   --seed TEXT    chosen by TEXT instead
#   -k, --keep     leave the copies where they are
#   -h, --help     print this
#
# Prints a line for each mutant and "N killed, N lived, N broken". Exit status:
# 0 all were killed, 1 some were not, 2 usage.
set -euo pipefail
export LC_ALL=C

top=$(cd "$(dirname "$0")/../.." && pwd -P)
cd "$top"
# shellcheck source=tests/mutants/one.bash
source tests/mutants/one.bash

usage() { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$top/tests/mutants/run.sh"; }

misuse() {
	echo "run.sh: $1; see tests/mutants/run.sh -h" >&2
	exit 2
}

# All mutants as CH/NAME, one a line.
all_names() {
	find tests/mutants -mindepth 2 -name '*.patch' |
		sed 's,^tests/mutants/,,; s,\.patch$,,' | sort
}

# chosen NAME…: the mutants that are meant, or a complaint.
chosen() {
	local name

	[[ $# -gt 0 ]] || all_names
	for name; do
		name=${name#tests/mutants/} name=${name%.patch} name=${name%/}
		if [[ -f tests/mutants/$name.patch ]]; then
			echo "$name"
		elif [[ $name != */* ]] && all_names | grep "^$name/"; then
			:
		else
			misuse "$name: no such mutant"
		fi
	done
}

# sample N SEED: N of the names on standard input, in an order that is the same
# for the same seed, and another for another. One program reads all of them: with
# "sort | head" the first might write to nobody, and fail.
sample() {
	perl -MDigest::SHA=sha256_hex -e '
		my ($size, $seed) = @ARGV;
		chomp(my @names = <STDIN>);
		my %rank = map { $_ => sha256_hex("$seed $_") } @names;
		@names = sort { $rank{$a} cmp $rank{$b} } @names;
		splice(@names, $size) if @names > $size;
		print "$_\n" for sort @names;' "$1" "$2"
}

# The files that git would commit, uncommitted changes and all.
tree_files() {
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files -z -co --exclude-standard
	else
		find . -path ./build -prune -o -type f -print0
	fi | perl -0ne 'chomp; print "$_\0" if -f'
}

# copy_tree DIR: those files, and the objects of the unit tests. It becomes a
# repository of its own, since some tests ask git.
copy_tree() {
	rm -rf "$1"
	mkdir -p "$1"
	tree_files | xargs -0 cp -a --parents -t "$1"
	[[ ! -d build/unit ]] || cp -a --parents -t "$1" build/unit
	git -C "$1" init -q
	git -C "$1" add -A
	git -C "$1" -c user.name=mutants -c user.email=mutants@localhost \
		commit -qm 'a copy'
}

# deal: writes the mutants of each worker to its list. Those that the same test
# notices stay together, so that it is run without a fault only once.
deal() {
	local name command worker unit=0
	local -A of=()

	while read -r name; do
		command=$(noticed_by "tests/mutants/$name.patch")
		worker=${of[$command]:-}
		if [[ -z $worker ]]; then
			worker=bats
			if [[ $command == unit\ * ]]; then
				unit=$(((unit + 1) % 2))
				worker=unit$unit
			fi
			of[$command]=$worker
		fi
		echo "$command	$name" >>"$work/$worker.list"
	done
}

# worker NAME: all the mutants in its list, in a tree of its own.
worker() {
	local tree=$work/$1 name names running='' lab_of='' said=/dev/null
	local -A passes=()

	trap '[[ -z $running ]] || kill "$running"; lab_down' EXIT
	trap 'exit 1' TERM
	copy_tree "$tree"
	# Not read line by line: what is run in between might read them, too.
	mapfile -t names < <(sort "$work/$1.list" | cut -f 2)
	for name in "${names[@]}"; do
		try_mutant "$tree" "$name"
	done
}

list=no size='' seed='' keep=no names=() some=()
while [[ $# -gt 0 ]]; do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	-l | --list) list=yes ;;
	-k | --keep) keep=yes ;;
	--sample | --seed)
		[[ $# -ge 2 ]] || misuse "$1 needs a value"
		[[ $1 == --seed ]] && seed=$2 || size=$2
		shift
		;;
	-*) misuse "$1: no such option" ;;
	*)
		# Several may come as one word, of make.
		read -ra some <<<"$1"
		names+=("${some[@]}")
		;;
	esac
	shift
done
[[ $size =~ ^([1-9][0-9]*)?$ ]] || misuse "--sample $size: give a whole number"
chosen=$(chosen "${names[@]}")
if [[ -n $size ]]; then
	[[ -n $seed ]] || seed=$(git rev-parse HEAD 2>/dev/null) || seed=none
	[[ $list == yes ]] || echo "a sample of $size, by the seed $seed"
	chosen=$(sample "$size" "$seed" <<<"$chosen")
fi
[[ -n $chosen ]] || misuse 'there are no mutants'
if [[ $list == yes ]]; then
	while read -r name; do
		printf '%-40s %s\n' "$name" \
			"$(noticed_by "tests/mutants/$name.patch")"
	done <<<"$chosen"
	exit
fi

work=$top/build/mutants
# Seconds for a build, and for a test that has no fault in it.
deadline=${MUTANTS_DEADLINE:-600}
mkdir -p "$work"
exec {lock}>"$work/lock"
flock -n "$lock" || misuse 'another run.sh is at work in this tree'
rm -rf "$work"/*.list "$work/results"
: >"$work/results"
# A lab and its settings belong to whoever set them, and bats inside of bats
# must not take itself for the outer one.
# shellcheck disable=SC2031 # none of them was set here
unset LAB_NAME EMULATED_LAB "${!TEST_DEVICE_@}" "${!BATS_@}" MAKEFLAGS
workers=()
trap 'kill "${workers[@]}" 2>/dev/null || true; wait' EXIT
trap 'exit 130' INT TERM
deal <<<"$chosen"
for file in "$work"/*.list; do
	worker "$(basename "$file" .list)" {lock}>&- 3>&- </dev/null &
	workers+=($!)
done
wait "${workers[@]}" || true
workers=()
count() { grep -c "^$1 " "$work/results" || true; }
killed=$(count killed) lived=$(count lived) broken=$(count broken)
# One that nobody tells about would otherwise not be missed.
missing=$(($(wc -l <<<"$chosen") - killed - lived - broken))
[[ $missing -eq 0 ]] || echo "$missing were not tried"
[[ $keep == yes ]] || rm -rf "$work"/{bats,unit0,unit1}
echo "$killed killed, $lived lived, $((broken + missing)) broken"
[[ $killed -eq $(wc -l <<<"$chosen") ]]
