# chapter.sh - what chapters.tsv says about the chapters, and the sources of one;
# sourced by what goes through them, and by what builds a copy of one
# shellcheck shell=bash

chapter_table=${BASH_SOURCE[0]%/*}/../../chapters.tsv

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
	for file in {.,carried,plumbing,load,bench}/{*.[ch],*.sh,Makefile}; do
		[[ ! -f $file ]] || printf '%s\n' "${file#./}"
	done
)

# chapter_edited THEN CHAPTER…: says in a sentence which of their files differ from those
# that are committed, what THEN is, and how to bring them back.
chapter_edited() {
	local then=$1 sources='^[0-9]{2}_\w+/((carried|plumbing|load|bench)/)?([^/]+\.([ch]|sh)|Makefile)$'
	local edited

	shift
	mapfile -t edited < <(git -C "$top" diff --relative --name-only HEAD -- "$@" \
		2>/dev/null | grep -E "$sources")
	[[ ${#edited[@]} -eq 0 ]] ||
		echo "${cli_name%.sh}: you have changed ${edited[*]}, $then;" \
			"this brings back what is committed: git checkout HEAD -- ${edited[*]}" >&2
}

# chapter_update FROM TO: TO has the sources of FROM and no others afterwards.
# Only what differs is copied, so that make builds no more than that. A chapter has
# fifty files and tests copy one often, so no process is started for each.
chapter_update() {
	local file to sources differ

	mkdir -p "$2"
	to=$(cd "$2" && pwd)
	while IFS= read -r file; do
		[[ -e $1/$file ]] ||
			rm -f "$2/$file" "$2/$(basename "${file%.?}").o"
	done < <(chapter_sources "$2")
	mapfile -t sources < <(chapter_sources "$1")
	mapfile -t differ < <(cd "$1" && md5sum -- "${sources[@]}" |
		(cd "$to" && LC_ALL=C md5sum -c 2>/dev/null) |
		sed -n 's/: FAILED\( open or read\)\{0,1\}$//p')
	[[ ${#differ[@]} -gt 0 ]] || return 0
	# With --parents, busybox's cp, which the page's nodes have, replaces no file.
	(cd "$to" && rm -f -- "${differ[@]}")
	(cd "$1" && cp --parents -t "$to" -- "${differ[@]}")
}
