# left_over.sh - is a server that somebody left running in the way of another
#
# Sourced by pair.sh, which also runs left_over where the servers run. The clients
# would find the old server, and both ends' logs would tell another story.
# shellcheck shell=bash

# What left_over ends with, and no program of ours does.
left_over_status=113

# default_port FOLDER: that of the chapter whose programs are there; or fails. It
# is the first number in quotes in the row of -p of its table of options, or in
# server.c, where that has the options.
default_port() {
	local line found=no file=$1/options.c

	[[ -e $file ]] || { file=$1/server.c && found=yes; }
	while read -r line; do
		[[ $line != *OPTION_DIGITS* ]] || found=yes
		if [[ $found == yes && $line =~ '"'([0-9]+)'"' ]]; then
			echo "${BASH_REMATCH[1]}"
			return
		fi
	done 2>/dev/null <"$file"
	return 1
}

# port_of FOLDER WORD…: the port that a server, run there with these words, has.
port_of() {
	local folder=$1 port=''

	shift
	while [[ $# -gt 0 ]]; do
		case $1 in
		-p | --port) port=${2:-} ;;
		--port=*) port=${1#*=} ;;
		-p[0-9]*) port=${1#-p} ;;
		esac
		shift
	done
	if [[ -n $port ]]; then
		echo "$port"
	else
		default_port "$folder"
	fi
}

# left_over PORT KILL: names a process `server` that has PORT and how to end it, KILL
# being the command for that, and ends with $left_over_status; or does nothing.
left_over() {
	local comm name folder words

	for comm in /proc/[0-9]*/comm; do
		{ read -r name <"$comm"; } 2>/dev/null || continue
		[[ $name == server ]] || continue
		folder=${comm%/comm}
		{ mapfile -d '' -t words <"$folder/cmdline"; } 2>/dev/null
		[[ $(port_of "$folder/cwd" "${words[@]}") == "$1" ]] || continue
		folder=${folder#/proc/}
		echo "pair: port $1 is taken by a server that was left running," \
			"process $folder (${words[*]}, in $(readlink "/proc/$folder/cwd"));" \
			"end it with Ctrl-C in its terminal, or: $2 $folder" >&2
		exit "$left_over_status"
	done
}
