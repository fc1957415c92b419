# shellcheck shell=bash
# shellcheck disable=SC2154 # bad and births are carry_forward_lib.sh's
#
# carry_forward_reborn.sh - what carry_forward.sh knows of the files that a
# chapter has borne anew, and how it keeps that; sourced by it
#
# Such a file has grown out of one of an earlier chapter, its ancestor, and what
# is mended there may have to be mended here too. For each of them,
# scripts/maint/carry_forward.reborn names the ancestor, and the version of it
# that somebody last compared it with. A version is git's hash of the content:
# every clone can compute it, and one that has the history finds the content.

: "${root:?is set by carry_forward.sh}"

# By CHAPTER/FILE: the ancestor, or "new"; its version; the comment.
declare -A ancestor_of=() version_of=() note_of=()
# Lines that the tree has outlived: --check names them.
outlived=()
# Set by read_reborn, which knows the tree.
record='' every_chapter=()

has_ancestor() {
	[ "${ancestor_of[$1]:-new}" != new ]
}

# All files that have an ancestor.
with_ancestor() {
	local path

	for path in "${!ancestor_of[@]}"; do
		! has_ancestor "$path" || echo "$path"
	done | LC_ALL=C sort
}

version() {
	git hash-object --no-filters "$root/$1"
}

# original CHAPTER/FILE: where a carried file was born; of any other, itself.
original() {
	local n=${line_of["${1#*/} ${1%%/*}"]:-}

	if [ -n "$n" ]; then
		echo "${births[n]}/${1#*/}"
	else
		echo "$1"
	fi
}

# likely_ancestor CHAPTER/FILE: the last one of that name in earlier chapters.
likely_ancestor() {
	local chapter latest=''

	for chapter in "${every_chapter[@]}"; do
		if [[ $chapter < ${1%%/*} ]] && [ -f "$root/$chapter/${1#*/}" ]
		then
			latest=$chapter/${1#*/}
		fi
	done
	[ -z "$latest" ] || original "$latest"
}

# The code that a chapter bears anew, and what has a line all the same.
reborn_files() {
	local chapter file

	for chapter in "${every_chapter[@]}"; do
		while IFS= read -r file; do
			case $file in
			exercises/* | long/*) continue ;;
			*.[ch] | *.sh | Makefile | */Makefile) ;;
			*) continue ;;
			esac
			if [ "$(original "$chapter/$file")" = "$chapter/$file" ] &&
				[ -n "$(likely_ancestor "$chapter/$file")" ]
			then
				echo "$chapter/$file"
			fi
		done < <(chapter_files "$chapter")
	done | sort -u - <(printf '%s\n' "${!ancestor_of[@]}") |
		grep .
}

outlive() {
	outlived+=("$*")
}

# check_ancestor WHERE CHAPTER/FILE ANCESTOR VERSION
check_ancestor() {
	if [ $# -ne 4 ] || [[ ! $4 =~ ^[0-9a-f]{40,64}$ ]]; then
		complain "$1: give CHAPTER/FILE ANCESTOR VERSION, or" \
			"CHAPTER/FILE new # and why"
	elif [[ ! ${3%%/*} < ${2%%/*} ]]; then
		complain "$1: $3 is not of an earlier chapter than $2"
	elif [ ! -f "$root/$3" ]; then
		outlive "$1: there is no $3 any more, from which $2 was born;" \
			"see --reconciled in -h"
	fi
}

# read_reborn_line WHERE COMMENT WORD...
read_reborn_line() {
	local where=$1 note=$2 path=$3 from=${4:-}

	if [ -n "${ancestor_of[$path]:-}" ]; then
		complain "$where: $path is in two lines"
	elif [ ! -f "$root/$path" ] || [ "$(original "$path")" != "$path" ]; then
		outlive "$where: $path is not there any more, or is a copy" \
			"now; take the line out"
		return
	fi
	if [ "${*:4}" != new ]; then
		check_ancestor "$where" "${@:3}"
		# It may have become a copy, of the same content.
		from=$(original "$from")
	elif [ -z "$note" ]; then
		complain "$where: $path: say after a # why it has no ancestor"
	fi
	ancestor_of[$path]=$from version_of[$path]=${5:-} note_of[$path]=$note
}

read_reborn() {
	local line words number=0 note

	record=$root/scripts/maint/carry_forward.reborn
	mapfile -t every_chapter < <(chapters)
	[ -e "$record" ] || return 0
	while IFS= read -r line || [ -n "$line" ]; do
		number=$((number + 1))
		read -ra words <<< "${line%%#*}"
		note=''
		[[ $line != *'#'* ]] || read -r note <<< "${line#*#}"
		[ ${#words[@]} -eq 0 ] ||
			read_reborn_line "carry_forward.reborn:$number" \
				"$note" "${words[@]}"
	done <"$record"
	[ "$bad" -eq 0 ] || exit 1
}

# Writes what is known now; the comment at the top stays.
write_reborn() {
	local path

	{
		[ ! -e "$record" ] || sed -n '/^#/p; /^[^#]/q' "$record"
		echo
		for path in "${!ancestor_of[@]}"; do
			printf '%-28s %-26s %s%s\n' "$path" \
				"${ancestor_of[$path]}" "${version_of[$path]}" \
				"${note_of[$path]:+ # ${note_of[$path]}}"
		done | LC_ALL=C sort
	} >"$record.new"
	mv -f "$record.new" "$record"
}

# reconcile CHAPTER/FILE: it has been compared with its ancestor as that is now.
reconcile() {
	local ancestor=${ancestor_of[$1]}

	version_of[$1]=$(version "$ancestor")
	# The content too: it may be changed again before it is committed.
	git -C "$root" hash-object -w --no-filters "$root/$ancestor" \
		>/dev/null 2>&1 || :
	rm -f "$root/build/carry_forward/$1"
	write_reborn
}

# born_file ARGUMENT: the CHAPTER/FILE that it stands for, such as 05/tls.c.
born_file() {
	local path=${1#./} chapter

	chapter=$(chapter_named "${path%%/*}") || return 1
	path=$chapter/${path#*/}
	if [ ! -f "$root/$path" ]; then
		echo "carry_forward.sh: there is no $path" >&2
		return 1
	elif [ "$(original "$path")" != "$path" ]; then
		echo "carry_forward.sh: $path is a copy of" \
			"$(original "$path")" >&2
		return 1
	fi
	echo "$path"
}

# note_reconciled CHAPTER/FILE[=ANCESTOR]: with the ancestor that it has; at
# first, the last file of that name.
note_reconciled() {
	local path from=''

	path=$(born_file "${1%%=*}") || exit 1
	case $1 in
	*=*)
		from=$(born_file "${1#*=}") || exit 1
		check_ancestor --reconciled "$path" "$from" "$(version "$from")"
		;;
	*)
		! has_ancestor "$path" || from=${ancestor_of[$path]}
		: "${from:=$(likely_ancestor "$path")}"
		[ -f "$root/$from" ] || complain "no earlier chapter has a" \
			"${path#*/}; name what $path was born from:" \
			"$path=CHAPTER/FILE"
		;;
	esac
	[ "$bad" -eq 0 ] || exit 1
	has_ancestor "$path" || note_of[$path]=''
	ancestor_of[$path]=$from
	reconcile "$path"
	echo "$path has been compared with $from"
}

# note_new CHAPTER/FILE WHY
note_new() {
	local path

	path=$(born_file "$1") || exit 1
	ancestor_of[$path]=new version_of[$path]='' note_of[$path]=$2
	write_reborn
}
