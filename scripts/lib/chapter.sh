# chapter.sh - what chapters.tsv says of the chapters, and the sources of one;
# sourced by what goes through them, and by what builds a copy of one
# shellcheck shell=bash

chapter_table=$(dirname "${BASH_SOURCE[0]}")/../../chapters.tsv

# chapters_where TEST [WHAT]: the chapters for which TEST is true, an expression of
# awk in which the columns have their names, as 'devices ~ /siw/'; or a column of
# theirs.
chapters_where() {
	awk -F'\t' "/^[0-9]/ { chapter = \$1; start = \$2; devices = \$3; port = \$4
		shown = \$5; if ($1) print ${2:-chapter} }" "$chapter_table"
}

# chapter_sources CHAPTER: its source files, a line each, as paths in it. A
# chapter's folder may also be somebody's copy of it.
chapter_sources() (
	cd "$1" || return
	for file in {.,carried,plumbing,load}/{*.[ch],*.sh,Makefile}; do
		[[ ! -f $file ]] || printf '%s\n' "${file#./}"
	done
)

# chapter_update FROM TO: TO has the sources of FROM and no others afterwards.
# Only what differs is copied, so that make builds no more than that.
chapter_update() {
	local file

	mkdir -p "$2"
	while IFS= read -r file; do
		[[ -e $1/$file ]] ||
			rm -f "$2/$file" "$2/$(basename "${file%.?}").o"
	done < <(chapter_sources "$2")
	while IFS= read -r file; do
		mkdir -p "$2/$(dirname "$file")"
		cmp -s "$1/$file" "$2/$file" || cp "$1/$file" "$2/$file"
	done < <(chapter_sources "$1")
}
