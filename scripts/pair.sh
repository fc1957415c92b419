#!/usr/bin/env bash
# pair.sh - run a client/server pair and keep what both ends said
#
# usage: scripts/pair.sh [-v|-t] [-n NODES] [-d DIR] COMMANDS OUT
#
# COMMANDS is a file with one line per program, as in 01_send_recv/expected/default:
#
#   server: ./server -1
#   client: ./client -a 192.0.2.1
#
# The server is started first; the others follow, one after another, as soon as
# it says that it listens. A line whose label ends in & does not wait for the
# one before it to end. 192.0.2.1 stands for the server's address and is
# replaced by the real one. DIR (default: two levels above COMMANDS) is where
# the commands run; there ../01_send_recv is that chapter's folder, wherever DIR is, and
# what that builds is built. OUT is emptied first, and gets LABEL.log (stdout), LABEL.err
# (stderr, where there was any) and status.log, with the exit status of each, and
# kernel, the release of the one they ran on.
#
# Two kinds of lines are not programs. `nodes: 2` asks for that many nodes.
# `setup: COMMAND` runs first, on each node, in the repository's top folder: it must
# succeed, and its output is not part of the logs. If it exits with status 3, the run
# cannot succeed on this kernel, and its output says why.
#
#   -v        show both ends' lines as they come, each with its label
#   -t        note the time of each line as well: OUT/LABEL.times has both streams of
#             LABEL in the order in which they were written, each line with the time
#             in seconds and with `|`, or `!` if it was on stderr
#   -n NODES  2: the servers run on node a, everything else on node b (default:
#             what COMMANDS asks for, or 1; two hosts, with HOSTS=user@a,user@b)
#
# Exit status: 0 all ran (whatever their status), 1 could not be run, 2 usage, 3 it
# cannot succeed on this kernel, 4 a server that somebody left running has the port.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/cli.sh
source "$top/scripts/lib/cli.sh"
# shellcheck source=scripts/lib/device.sh
source "$top/scripts/lib/device.sh"

# No program of ours may run longer than this: its own deadlines are shorter.
limit=${PAIR_LIMIT:-120}
verbose=no
timed=no
nodes=
dir=
looked=no

cli_help "$@"
while getopts vtn:d: option; do
	case $option in
	v) verbose=yes ;;
	t) timed=yes ;;
	n) nodes=$OPTARG ;;
	d) dir=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[[ $# -eq 2 ]] || cli_misuse "COMMANDS and OUT must be given"
[[ -r $1 && -f $1 ]] || cli_misuse "$1 is no file that can be read"
commands=$(realpath "$1")
out=$2
[[ -n $dir ]] || dir=$(realpath "$(dirname "$commands")/../..")
dir=$(realpath "$dir")
[[ -n $nodes ]] || nodes=$(device_nodes "$commands")
[[ -z ${HOSTS:-} ]] || nodes=2

# stdin to stdout and, with -v, to the terminal with the label before it.
show() {
	if [[ $verbose == yes ]]; then
		tee >(sed -u "s/^/$1 | /" >&"$screen")
	else
		cat
	fi
}

# Says "listening" on fd 9 once; passes everything through.
notice_listening() {
	local line told=no

	while IFS= read -r line; do
		printf '%s\n' "$line"
		if [[ $told == no && $line == *listening* ]]; then
			told=yes
			echo listening >&9
		fi
	done
	[[ $told == yes ]] || echo ended >&9
}

# One program on its node; its status goes to OUT/.LABEL.status.
run_program() {
	local label=$1 command=$2 node=a status=0 stamp=() hosts_timed=()
	# What to run it under, such as env with a library; LABEL stands for the label.
	local wrap=${PAIR_WRAP:-}

	wrap=${wrap//LABEL/$label}
	[[ $timed == no ]] ||
		stamp=(/usr/bin/python3 -BIS "$top/scripts/lib/timed.py" "$out/$label.times")
	if [[ $device_where == hosts ]]; then
		# Two hosts have two clocks: the time is that at which a line comes here.
		# shellcheck disable=SC2034 # hosts.sh uses it
		hosts_timed=("${stamp[@]}") stamp=()
	fi

	[[ $nodes -eq 1 || $label == server* ]] || node=b
	# 192.0.2.1 is also the address of a program that is alone.
	[[ $device_where != hosts || $looked == yes ]] || node=a
	{
		device_run "$node" bash -c \
			"cd ${there@Q} && exec ${stamp[*]@Q} timeout -k 1 $limit $wrap $command" \
			</dev/null 2> >(show "$label!" >"$out/$label.err") ||
			status=$?
		echo "$status" >"$out/.$label.status"
	} | if [[ $label == server* ]]; then
		notice_listening
	else
		cat
	fi | show "$label " >"$out/$label.log"
}

# in_the_way LABEL: the first server could not have its port, which another one has. The
# clients would talk with that, and both ends' logs would tell another story.
in_the_way() {
	local pid words kill=kill

	grep -q 'address-in-use\|Address already in use' "$out/$1.err" || return
	[[ $device_where != lab ]] || kill='scripts/lab.sh exec a -- kill'
	[[ $verbose == yes ]] || cat "$out/$1.err" >&2
	while read -r pid words; do
		echo "pair: a server was left running, process $pid ($words); end it with" \
			"Ctrl-C in its terminal, or: $kill $pid" >&2
	done < <(device_run a pgrep -ax server </dev/null)
}

start_server() {
	local answer

	run_program "$1" "$2" &
	if ! read -r -t "$limit" answer <&9; then
		echo "pair: the server said nothing within $limit s" >&2
		return 1
	fi
	if [[ $looked == no && $answer == ended ]]; then
		wait $! || true
		! in_the_way "$1" || exit 4
	fi
	# Those after it may share its port on purpose.
	looked=yes
	# A server that ended instead has reported why; the clients will notice.
	[[ $answer == listening || $answer == ended ]]
}

# On each node, before all else; said only if it fails.
run_setup() {
	local node said status

	if [[ $device_where == hosts ]]; then
		echo "pair: this run loads modules into the kernel ($1), which is left" \
			"to those whose hosts they are; the lab runs it without HOSTS=" >&2
		exit 3
	fi
	for node in a b; do
		[[ $node == a || $nodes -gt 1 ]] || break
		status=0
		said=$(device_run "$node" bash -c "cd ${top@Q} && $1" \
			</dev/null 2>&1) || status=$?
		case $status in
		0) ;;
		3)
			echo "pair: on Linux $(<"$out/kernel") this run cannot" \
				"succeed: $said" >&2
			exit 3
			;;
		*)
			echo "pair: on node $node, $1: $said" >&2
			return 1
			;;
		esac
	done
}

# Statuses in the order of COMMANDS, and no empty .err files.
finish() {
	local label status

	while IFS=: read -r label _; do
		label=${label%&}
		[[ -e $out/.$label.status ]] || continue
		read -r status <"$out/.$label.status"
		echo "$label: exit status $status"
		rm "$out/.$label.status"
		[[ -s $out/$label.err ]] || rm "$out/$label.err"
	done < <(grep -v '^#' "$commands") >"$out/status.log"
}

mapfile -t others < <(grep -oE '\.\./0[0-9]_\w+' "$commands" | sort -u)
others=("${others[@]/#../$top}")
for other in "${others[@]}"; do
	make -s -C "$other" >&2
done
exec {screen}>&1
rm -rf "$out"
mkdir -p "$out"
out=$(realpath "$out")
fifo=$(mktemp -u)
mkfifo -m 600 "$fifo"
exec 9<>"$fifo"
rm "$fifo"
trap 'jobs -p | xargs -r kill 2>/dev/null || true; device_close' EXIT
# ssh, when it is interrupted, ends as if that were an answer.
trap 'trap - INT; kill -INT $$' INT

device_open "$nodes"
device_send "$dir" "${others[@]}"
there=$(device_path "$dir")
address=$(device_address a)
device_kernel >"$out/kernel"
while IFS= read -r line <&3; do
	[[ $line == \#* ]] && continue
	label=${line%%:*}
	command=${line#*: }
	command=${command//192.0.2.1/$address}
	command=${command//..\/0/$(device_path "$top")/0}
	case $label in
	nodes) ;;
	setup) run_setup "$command" ;;
	server*) start_server "$label" "$command" ;;
	*'&') run_program "${label%&}" "$command" & ;;
	*) run_program "$label" "$command" ;;
	esac
done 3<"$commands"
wait
finish
