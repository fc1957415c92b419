# tell.sh - how setup_rxe.sh and setup_rds.sh say what they do, and what they have found
#
# Sourced by both before anything else.
# shellcheck shell=bash disable=SC2034,SC2154 # variables cross the files

say() {
	printf '%s: %s\n' "$NAME" "$*"
}

# fail WHAT TRY: always fails, so that a caller can return with it.
fail() {
	printf '%s: %s. Try: %s\n' "$NAME" "$1" "$2" >&2
	return 1
}

bad_usage() {
	printf '%s: %s; -h explains\n' "$NAME" "$1" >&2
	exit 64
}

# What has been found so far: 0 usable, 1 can be set up, 2 cannot.
verdict=0
by_hand=no
topic_width=13
# Where docs/troubleshooting.md tells more of a topic.
declare -A entry=()

# tell LEVEL TOPIC TEXT [FIX]. Levels: ok; note (good to know, in nobody's way); todo
# (the script does it); fix (a person must); no (not here).
tell() {
	local word=$1

	case $1 in
	todo) ((verdict == 2)) || verdict=1 ;;
	fix)
		((verdict == 2)) || verdict=1
		by_hand=yes
		word=MISSING
		;;
	no)
		verdict=2
		word=MISSING
		;;
	esac
	printf '%-8s %-*s %s\n' "$word" "$topic_width" "$2" "$3"
	[[ -z ${4:-} ]] || printf '%*s fix: %s\n' $((topic_width + 9)) '' "$4"
	[[ $word == MISSING || $1 == note ]] || return 0
	[[ -z ${entry[$2]:-} ]] || printf '%*s more: %s\n' $((topic_width + 9)) '' \
		"docs/troubleshooting.md#${entry[$2]}"
}
