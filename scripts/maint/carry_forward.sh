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
#
# scripts/maint/carry_forward.reborn says from which file of an earlier chapter
# each of those was born, and which version of that it was last compared with:
#
#	CHAPTER/FILE ANCESTOR VERSION
#	CHAPTER/FILE new # why this one has nothing of the earlier ones

set -euo pipefail
export LC_ALL=C

usage() {
	cat <<'END'
Usage: carry_forward.sh [-r ROOT] [--force] [FILE...]
       carry_forward.sh [-r ROOT] --check | --list | --size CHAPTER CHAPTER
       carry_forward.sh [-r ROOT] --reconciled CHAPTER/FILE[=ANCESTOR]...
       carry_forward.sh [-r ROOT] --new CHAPTER/FILE WHY

Copies FILE (all files without one) from the chapter where it was born to the
chapters that carry it. Refuses, and copies nothing, if a copy has changes that
no committed version of the original has.

A chapter that changes a file bears it anew. What has changed since in the file
that it grew out of, its ancestor, is merged into it three-way, and then carried
on from there. Where that is a conflict, the file is left as it is, the merge
goes to build/carry_forward/, and you are told how to go on.

  --force   copy all the same
  --check   compare only: name what drifted, every ancestor that has changed
            without anybody looking at what was born from it, and what to do
  --list    table of files and chapters: B born, R born again from an earlier
            one, = carried, . absent
  --reconciled  you have compared these files with their ancestors, and they
            have all that belongs there: that is noted down. ANCESTOR is
            another one than the last earlier file of that name
  --new     this file has no ancestor, only an older namesake, and WHY
  --size    the size of the difference between two chapters' C files, as the
            sentence that the second one's README opens with; 03 is enough
            for 03_pure_verbs
  -r ROOT   the tree to work on (default: the one this script is in)

Exit status: 0 done or no drift, 1 drifted, refused or a conflict, 2 usage.
Examples: carry_forward.sh log.c
          carry_forward.sh --reconciled 05/tls.c
END
}

root=$(cd "$(dirname "$0")/../.." && pwd)
mode=copy
force=no

# shellcheck source=scripts/lib/carry_forward_lib.sh
source "$(dirname "$0")/../lib/carry_forward_lib.sh"
# shellcheck source=scripts/lib/carry_forward_reborn.sh
source "$(dirname "$0")/../lib/carry_forward_reborn.sh"
# shellcheck source=scripts/lib/carry_forward_merge.sh
source "$(dirname "$0")/../lib/carry_forward_merge.sh"
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
	check_reborn
	[ "$bad" -ne 0 ] ||
		echo "carried forward: ${#names[@]} files, none has drifted;" \
			"born again: $(with_ancestor | wc -l), all looked at"
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

# wanted PATTERN FILE...: whether PATTERN is among the files, or there are none.
wanted() {
	[ $# -eq 1 ] || [[ " ${*:2} " == *" $1 "* ]]
}

# carry_on FILE...: a chapter after the other, as what is merged into a file is
# carried on from there, and merged into what was born from that.
carry_on() {
	local chapter path n

	for chapter in "${every_chapter[@]}"; do
		while IFS= read -r path; do
			if wanted "${path#*/}" "$@" ||
				wanted "${ancestor_of[$path]#*/}" "$@"; then
				merge_into "$path"
			fi
		done < <(with_ancestor | grep "^$chapter/")
		for n in "${!names[@]}"; do
			if [ "${births[n]}" = "$chapter" ] &&
				wanted "${names[n]}" "$@"; then
				copy_line "$n" really
			fi
		done
	done
}

copy() {
	local n file known

	known=" ${names[*]} $(reborn_files | cut -d/ -f2- | tr '\n' ' ')"
	for file; do
		[[ $known == *" $file "* ]] ||
			complain "$file is not in" \
				"scripts/maint/carry_forward.manifest, and no" \
				"later chapter has one of that name"
	done
	for n in "${!names[@]}"; do
		! wanted "${names[n]}" "$@" || copy_line "$n" try
	done
	if [ "$bad" -ne 0 ]; then
		echo "carry_forward.sh: nothing was copied" >&2
		return
	fi
	carry_on "$@"
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
	--check | --list | --size | --reconciled | --new) set_mode "${1#--}" ;;
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
new.2)
	[ -n "${arguments[1]}" ] || { usage >&2; exit 2; }
	;;
copy.* | check.0 | list.0 | reconciled.[1-9]*) ;;
*) usage >&2; exit 2 ;;
esac
read_manifest
read_reborn
case $mode in
copy) copy "${arguments[@]}" ;;
check) check ;;
list) list | sed 's/ *$//' ;;
reconciled)
	for argument in "${arguments[@]}"; do
		note_reconciled "$argument"
	done
	;;
new) note_new "${arguments[@]}" ;;
esac
exit "$bad"
