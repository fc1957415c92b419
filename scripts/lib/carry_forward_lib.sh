# shellcheck shell=bash
#
# carry_forward_lib.sh - what carry_forward.sh knows of the chapters and of the
# manifest; sourced by it, with the tree to work on in $root

: "${root:?is set by carry_forward.sh}"

# The manifest, line by line, and which line has a chapter's file:
# line_of["log.c 02_write_read"].
names=() births=() carriers=()
declare -A line_of=()

# 1 as soon as something was complained about.
bad=0

complain() {
	echo "carry_forward.sh: $*" >&2
	bad=1
}

# The chapters that exist, in order.
chapters() {
	local dir

	for dir in "$root"/[0-9][0-9]_*/; do
		[ ! -d "$dir" ] || basename "$dir"
	done
}

# chapter_files CHAPTER: its files, without built and recorded ones.
chapter_files() {
	local file

	if git -C "$root" rev-parse --git-dir >/dev/null 2>&1; then
		git -C "$root/$1" ls-files -co --exclude-standard
	else
		(cd "$root/$1" && find . -type f ! -name '*.o' -printf '%P\n')
	fi | sort | while IFS= read -r file; do
		case $file in
		expected/* | break/*) ;;
		*) [ ! -f "$root/$1/$file" ] || echo "$file" ;;
		esac
	done
}

# chapter_named NAME: 03 or 03_pure_verbs or 03_pure_verbs/.
chapter_named() {
	local found=("$root/${1%/}"*/)

	if [ -z "$1" ] || [ ${#found[@]} -ne 1 ] || [ ! -d "${found[0]}" ]; then
		echo "carry_forward.sh: no one chapter is named $1" >&2
		return 2
	fi
	basename "${found[0]}"
}

# read_line WHERE FILE CHAPTER...: one line of the manifest.
read_line() {
	local where=$1 file=$2 chapter last='' n=${#names[@]}

	shift 2
	if [ $# -lt 2 ]; then
		complain "$where: $file: name where it was born and who carries it"
		return
	fi
	for chapter; do
		if [ ! -d "$root/$chapter" ]; then
			complain "$where: no chapter $chapter"
		elif [[ ! $chapter > $last ]]; then
			complain "$where: $chapter comes before $last"
		elif [ -n "${line_of["$file $chapter"]:-}" ]; then
			complain "$where: $file of $chapter is in two lines"
		fi
		line_of["$file $chapter"]=$n
		last=$chapter
	done
	names+=("$file")
	births+=("$1")
	carriers+=("${*:2}")
}

read_manifest() {
	local manifest=$root/scripts/maint/carry_forward.manifest line words number=0

	if [ ! -r "$manifest" ]; then
		echo "carry_forward.sh: cannot read $manifest" >&2
		exit 2
	fi
	while IFS= read -r line || [ -n "$line" ]; do
		number=$((number + 1))
		read -ra words <<< "${line%%#*}"
		[ ${#words[@]} -eq 0 ] ||
			read_line "carry_forward.manifest:$number" "${words[@]}"
	done <"$manifest"
	[ "$bad" -eq 0 ] || exit 1
}

# same A B: equal in content and in the right to execute.
same() {
	cmp -s "$1" "$2" || return 1
	if [ -x "$1" ]; then
		[ -x "$2" ]
	else
		[ ! -x "$2" ]
	fi
}
