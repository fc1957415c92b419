#!/usr/bin/env bash
#
# carry_forward.sh - keep what chapters have in common the same, and say what
# they have not
#
# Each chapter is complete in itself, so most of its files are copies of the
# chapter before. scripts/maint/carry_forward.manifest says which: a line a file,
#
#	FILE BORN_IN CARRIED_BY...	# comment
#
# e.g. `log.c 01_send_recv 02_write_read`: the log.c of both is one and the
# same, and is edited in 01_send_recv only. A file that a chapter changes is born
# again there and may be carried on in a further line.

set -euo pipefail

usage() {
	cat <<'END'
Usage: carry_forward.sh [-r ROOT] [--force] [FILE...]
       carry_forward.sh [-r ROOT] --check | --list | --size CHAPTER CHAPTER

Copies FILE (all files of the manifest without one) from the chapter where it
was born to the chapters that carry it. Refuses, and copies nothing, if a copy
has changes that no committed version of the original has.

  --force   copy all the same
  --check   compare only: name what drifted and how to mend it
  --list    table of files and chapters: B born, = carried, . absent
  --size    the size of the difference between two chapters' C files, as the
            sentence that the second one's README opens with; 03 is enough
            for 03_pure_verbs
  -r ROOT   the tree to work on (default: the one this script is in)

Exit status: 0 done or no drift, 1 drifted or refused, 2 usage.
Example: carry_forward.sh log.c
END
}

root=$(cd "$(dirname "$0")/../.." && pwd)
mode=copy
force=no

# shellcheck source=scripts/lib/carry_forward_lib.sh
source "$(dirname "$0")/../lib/carry_forward_lib.sh"
# shellcheck source=scripts/lib/carry_forward_report.sh
source "$(dirname "$0")/../lib/carry_forward_report.sh"

# is_older BIRTH/FILE COPY: the copy is a committed version of the original.
is_older() {
	local commit hash

	hash=$(git -C "$root" hash-object --no-filters "$2" 2>/dev/null) ||
		return 1
	git -C "$root" log --format=%H -- "$1" 2>/dev/null |
		while IFS= read -r commit; do
			git -C "$root" rev-parse -q --verify "$commit:./$1" || :
		done | grep -x "$hash" >/dev/null
}

# drifted LINE CHAPTER: says how its copy differs and what mends it.
drifted() {
	local file=${names[$1]} from=${births[$1]} chapter=$2

	if [ ! -e "$root/$chapter/$file" ]; then
		complain "$chapter/$file is missing; it is carried from" \
			"$from: scripts/maint/carry_forward.sh $file"
		return
	fi
	complain "$chapter/$file has drifted from $from/$file:"
	diff -u --label "$from/$file" --label "$chapter/$file" \
		"$root/$from/$file" "$root/$chapter/$file" >&2 &&
		echo "only one of them is executable" >&2
	if is_older "$from/$file" "$root/$chapter/$file"; then
		echo "It is an older version. To carry the newer one forward:" \
			"scripts/maint/carry_forward.sh $file" >&2
		return
	fi
	cat >&2 <<-END
	To keep its changes, make them in $from/$file; then, and also to lose
	them: scripts/maint/carry_forward.sh --force $file
	If $chapter is to differ, $file is born again there: take $chapter and
	those after it out of the line in scripts/maint/carry_forward.manifest.
	END
}

# Files that two chapters in a row have in common and the manifest has not.
check_unlisted() {
	local one='' two file line

	while IFS= read -r two; do
		while [ -n "$one" ] && IFS= read -r file; do
			if [ "${line_of["$file $one"]:-a}" = \
				"${line_of["$file $two"]:-b}" ] ||
				! same "$root/$one/$file" "$root/$two/$file"
			then
				continue
			fi
			if [ -n "${line_of["$file $one"]:-}" ]; then
				line="$two to its line in"
			else
				line="\`$file $one $two\` to"
			fi
			complain "$file is the same in $one and $two; add" \
				"$line scripts/maint/carry_forward.manifest"
		done < <(chapter_files "$two")
		one=$two
	done < <(chapters)
}

check() {
	local n chapter

	for n in "${!names[@]}"; do
		if [ ! -f "$root/${births[n]}/${names[n]}" ]; then
			complain "no ${births[n]}/${names[n]}, which the" \
				"manifest says was born there"
			continue
		fi
		for chapter in ${carriers[n]}; do
			same "$root/${births[n]}/${names[n]}" \
				"$root/$chapter/${names[n]}" ||
				drifted "$n" "$chapter"
		done
	done
	check_unlisted
	[ "$bad" -ne 0 ] ||
		echo "carried forward: ${#names[@]} files, none has drifted"
}

# copy_line LINE really|try: try complains about copies that would be lost.
copy_line() {
	local file=${names[$1]} from=${births[$1]} chapter
	local source=$root/$from/$file copy

	[ -f "$source" ] || {
		complain "no $from/$file to copy"
		return
	}
	for chapter in ${carriers[$1]}; do
		copy=$root/$chapter/$file
		if [ -e "$copy" ] && same "$source" "$copy"; then
			continue
		elif [ "$2" = really ]; then
			mkdir -p "$(dirname "$copy")"
			cp --preserve=mode "$source" "$copy.carried"
			mv -f "$copy.carried" "$copy"
			echo "$from/$file -> $chapter/$file"
		elif [ "$force" = no ] && [ -e "$copy" ] &&
			! is_older "$from/$file" "$copy"; then
			drifted "$1" "$chapter"
		fi
	done
}

copy() {
	local n pass file known=" ${names[*]} "

	for file; do
		[[ $known == *" $file "* ]] ||
			complain "$file is not in scripts/maint/carry_forward.manifest"
	done
	for pass in try really; do
		for n in "${!names[@]}"; do
			if [ $# -eq 0 ] || [[ " $* " == *" ${names[n]} "* ]]; then
				copy_line "$n" "$pass"
			fi
		done
		[ "$bad" -eq 0 ] || {
			echo "carry_forward.sh: nothing was copied" >&2
			return
		}
	done
}

set_mode() {
	[ "$mode" = copy ] || { usage >&2; exit 2; }
	mode=$1
}

arguments=()
while [ $# -gt 0 ]; do
	case $1 in
	-r)
		if [ $# -lt 2 ] || [ ! -d "$2" ]; then
			usage >&2
			exit 2
		fi
		root=$(cd "$2" && pwd)
		shift
		;;
	--force) force=yes ;;
	--check | --list | --size) set_mode "${1#--}" ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) arguments+=("$1") ;;
	esac
	shift
done
case $mode.${#arguments[@]} in
size.2)
	size "${arguments[@]}"
	exit
	;;
copy.* | check.0 | list.0) ;;
*) usage >&2; exit 2 ;;
esac
read_manifest
case $mode in
copy) copy "${arguments[@]}" ;;
check) check ;;
list) list | sed 's/ *$//' ;;
esac
exit "$bad"
