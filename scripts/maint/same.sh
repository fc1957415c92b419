#!/usr/bin/env bash
# same.sh - keep the files that chapters share the same
#
# usage: scripts/maint/same.sh [--write]
#
# What is in plumbing/ is the same in each chapter that has it, as in the first of them.
# What is in carried/ is as in the chapter from which this one starts (chapters.tsv);
# and a file that is as there stands in carried/. Says what differs; --write copies.
#
# Exit status: 0 all is so, 1 not, 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
# shellcheck source=scripts/lib/chapter.sh
source "$top/scripts/lib/chapter.sh"
cli_help "$@"
[[ $# -eq 0 || "$*" == --write ]] || cli_misuse 'there is only --write'
cli_checked
cd "$top"
write=${1:-} bad=0

# same FILE AS: they are, or are made so.
same() {
	cmp -s "$1" "$2" && return
	if [[ ${write:-} ]]; then
		cp "$2" "$1" && echo "$1: copied from $2"
	else
		echo "$1 is not as $2; to differ, it must stand at the top level of its chapter"
		bad=1
	fi
}

while read -r chapter start; do
	for file in "$chapter"/plumbing/*.[ch]; do
		first=([0-9]*_*/"plumbing/${file##*/}")
		[[ ! -e $file ]] || same "$file" "${first[0]}"
	done
	before=$(compgen -G "${start}_*") || continue
	for file in "$chapter"/carried/*; do
		name=${file##*/} old=$before/carried/${file##*/}
		[[ -e $old ]] || old=$before/$name
		[[ ! -e $file ]] || same "$file" "$old"
	done
	for file in "$chapter"/*.[ch]; do
		name=${file##*/}
		if cmp -s "$file" "$before/$name" || cmp -s "$file" "$before/carried/$name"; then
			echo "$file is as in $before: it belongs into $chapter/carried"
			bad=1
		fi
	done
done < <(chapters_where 'devices != ""' 'chapter " " start')
exit "$bad"
