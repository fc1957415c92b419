# shellcheck shell=bash
#
# carry_forward_report.sh - what carry_forward.sh tells of the chapters without
# changing them: the table of --list and the sentence of --size; sourced by it

: "${root:?is set by carry_forward.sh}"

# A line a file, a column a chapter.
# shellcheck disable=SC2154 # births is set by carry_forward_lib.sh
list() {
	local all file chapter n

	mapfile -t all < <(chapters)
	printf '%-16s' file
	printf ' %-14s' "${all[@]}"
	printf '\n'
	while IFS= read -r file; do
		printf '%-16s' "$file"
		for chapter in "${all[@]}"; do
			n=${line_of["$file $chapter"]:-}
			if [ ! -e "$root/$chapter/$file" ]; then
				printf ' %-14s' .
			elif [ -n "$n" ] && [ "${births[n]}" != "$chapter" ]; then
				printf ' %-14s' =
			elif has_ancestor "$chapter/$file"; then
				printf ' %-14s' R
			else
				printf ' %-14s' B
			fi
		done
		printf '\n'
	done < <(for chapter in "${all[@]}"; do
		chapter_files "$chapter"
	done | grep -E '\.[ch]$|^Makefile$' | sort -u)
}

# size CHAPTER CHAPTER: counts what diff -N shows of their *.c and *.h,
# without plumbing/ and whatever else stands aside.
size() {
	local one two file plus minus files=0 added=0 removed=0

	one=$(chapter_named "$1")
	two=$(chapter_named "$2")
	while IFS= read -r file; do
		plus=$(diff -N "$root/$one/$file" "$root/$two/$file" |
			grep -c '^>') || :
		minus=$(diff -N "$root/$one/$file" "$root/$two/$file" |
			grep -c '^<') || :
		[ $((plus + minus)) -eq 0 ] || files=$((files + 1))
		added=$((added + plus))
		removed=$((removed + minus))
	done < <({ chapter_files "$one"; chapter_files "$two"; } |
		grep '^[^/]*\.[ch]$' | sort -u)
	echo "\`diff -r $one $two\` changes $files C files:" \
		"$added lines added, $removed removed."
}
