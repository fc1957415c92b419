# cli.sh - what the command lines of all scripts have in common; to be sourced
#
#   cli_help "$@"           with -h or --help among them: the usage, and the end
#   cli_usage               the usage: the comment that the script begins with
#   cli_misuse TEXT         says what is wrong, where it is explained; ends with 2
#   cli_chapter NAME        1, 01 and 01_send_recv are the same: sets chapter
#   cli_chapters [NAME…]    the same for several, or for all: sets chapters
#   cli_case NAME           a case of the chapter's break/: sets name
#   cli_run NAME            a logged run of the chapter's: sets folder
#   cli_checked             ends here, if that is all that was asked for
#
# Whatever does not exist ends with status 2 and a list of what does.
# shellcheck shell=bash disable=SC2034 # what is set is for the script

# Whatever is read of what other programs say is in English then, and a number
# has a decimal point.
export LC_ALL=C

cli_top=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
cli_name=${0##*/}

# From the second line to the first that is no comment.
cli_usage() {
	awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"
}

cli_help() {
	local argument

	for argument; do
		case $argument in
		-h | --help)
			cli_usage
			exit 0
			;;
		esac
	done
}

cli_misuse() {
	echo "${cli_name%.sh}: $1; -h explains" >&2
	exit 2
}

# cli_none WHAT NAME CHOICE…: there is none of that name.
cli_none() {
	local what=$1 name=$2

	shift 2
	echo "${cli_name%.sh}: there is no $what '$name'; there is: $*" >&2
	exit 2
}

# The folders of all chapters; with an argument only those that have this file.
cli_all_chapters() {
	(cd "$cli_top" && compgen -G "[0-9][0-9]_*/${1:-Makefile}") |
		sed 's|/.*||' | sort -u
}

# cli_chapter NAME [FILE]: one that has FILE.
cli_chapter() {
	local all one wanted=${1%/}

	mapfile -t all < <(cli_all_chapters "${2:-}")
	[[ -n $wanted ]] || cli_misuse "which chapter? There is: ${all[*]}"
	# 10#: 08 is no number to base 8.
	[[ ! $wanted =~ ^[0-9]{1,3}$ ]] ||
		wanted=$(printf '%02d' "$((10#$wanted))")
	for one in "${all[@]}"; do
		if [[ $one == "$wanted" || ${one%%_*} == "$wanted" ]]; then
			chapter=$one
			return
		fi
	done
	cli_none chapter "${1%/}" "${all[@]}"
}

cli_chapters() {
	local name

	mapfile -t chapters < <(cli_all_chapters)
	[[ $# -gt 0 ]] || return 0
	chapters=()
	for name; do
		cli_chapter "$name"
		chapters+=("$chapter")
	done
}

# cli_folders DIR: those in the chapter's DIR that have a file `commands`.
cli_folders() {
	(cd "$cli_top/$chapter/$1" 2>/dev/null &&
		compgen -G '*/commands') | sed 's|/commands$||' | sort
}

# cli_known WHAT DIR NAME
cli_known() {
	local all

	mapfile -t all < <(cli_folders "$2")
	[[ -n $3 && " ${all[*]} " == *" $3 "* ]] ||
		cli_none "$1 of $chapter" "$3" "${all[@]}"
}

cli_case() {
	cli_known case break "$1"
	name=$1
}

cli_run() {
	cli_known run expected "$1"
	folder=$chapter/expected/$1
}

# The Makefile looks at the arguments before it installs or builds anything.
cli_checked() {
	[[ -z ${CLI_CHECK:-} ]] || exit 0
}
