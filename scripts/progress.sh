#!/usr/bin/env bash
# progress.sh - how far you are, and what comes next
#
# usage: scripts/progress.sh [--next]          (make next)
#        scripts/progress.sh --read CHAPTER    (make next READ=02)
#
# Shows for each chapter whether you have read it, and how many of its runs matched, of its
# cases you have guessed, and of its exercises and repairs you have solved. --next names one
# step, and says why. Only you know what you have read: --read notes it.
#
# All of it is in one file, build/progress, which is never sent anywhere; remove it to
# start over. PROGRESS names another one.
#
# Exit status: 0 done, 2 usage.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
# shellcheck source=scripts/lib/progress.sh
source "$top/scripts/lib/progress.sh"

cli_help "$@"
what=show
case ${1:-} in
--next)
	what=next
	[[ $# -eq 1 ]] || cli_misuse "$1 stands alone"
	;;
--read)
	[[ $# -eq 2 ]] || cli_misuse "which CHAPTER have you read?"
	cli_chapter "$2"
	cli_checked
	progress_note read "$chapter"
	;;
'') ;;
*) cli_misuse "$1 is no option of it" ;;
esac
cli_checked
"$top/scripts/lib/python.sh" progress "$what" "$top" "${progress_file:-/dev/null}"
