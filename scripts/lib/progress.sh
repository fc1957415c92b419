# progress.sh - notes what a reader has done; to be sourced, after top is set
#
#   progress_note KIND NAME [VALUE]   such as: repair 01_send_recv/deaf
#
# The notes are the lines of one file, build/progress, which is never sent anywhere.
# What was said first of a thing counts. PROGRESS is another file; if it is empty,
# nothing is noted, as when the tests run what a reader might.
# shellcheck shell=bash disable=SC2154

progress_file=${PROGRESS-$top/build/progress}

progress_note() {
	[[ -n $progress_file ]] || return 0
	mkdir -p "$(dirname "$progress_file")"
	grep -qs "^$1 $2\( \|\$\)" "$progress_file" || echo "$*" >>"$progress_file"
}
