# judge_repair.sh - how the check of a repair task judges, beside what judge.sh has
#
# Sourced by repair.sh after judge.sh. A check, CHAPTER/repair/NAME/judge.sh, calls
# recorded() or together() for what a whole chapter does, and then looks at what was
# broken, by what the programs do: with a peer that is slow, broken or another program,
# under loss, with a second client, or by the calls that they make.
# shellcheck shell=bash disable=SC2154,SC2034

# watched RUN LINE…: as run() in judge.sh; and what each program asks of the libraries
# is in $place/RUN/LABEL.calls, a line a call: see calls.c.
watched() {
	local lib=$place/calls.so

	[[ -e $lib ]] || cc -std=gnu11 -O1 -fPIC -shared -o "$lib" \
		"$top/scripts/lib/calls.c" >&2
	PAIR_WRAP="env LD_PRELOAD=../calls.so CALLS=../$1/LABEL.calls ${hold:-}" run "$@"
}

# same WHAT RUN FOLDER: both ends said what the logs in FOLDER say. Where a repair may
# choose a number that is in them, $alike is a command of sed which makes it the same.
alike=
same() {
	local why said file label

	for file in "$place/$2"/*.err; do
		label=${file##*/} label=${label%.err}
		[[ -s $file && ! -e $3/$label.err ]] || continue
		missing "$1" "the $label says an error, and the recorded one none" "$2"
		return
	done
	[[ -z $alike ]] || sed -i -E "$alike" "$place/$2"/*.log
	if said=$("$top/scripts/compare_logs.sh" "$place/$2" "$3" 2>&1); then
		ok "$1"
	else
		why=$(sed -n '/^What differs:/{n; s/^ *//p; q}' <<<"$said")
		why=${why:-${said#*: }}
		missing "$1" "${why:0:240}" "$2"
	fi
}

# honest RUN: no program of it waits for mere time, or tries again for ever.
honest() {
	local calls

	calls=$(cat "$place/$1"/*.calls 2>/dev/null || true)
	if grep -q '^sleep' <<<"$calls"; then
		missing 'no program waits for mere time' \
			'it sleeps, and the peer may take longer' "$1"
	elif grep -qE '^[a-z]+ (.*_|)(retry_count|rnr_retry)=7\>' <<<"$calls"; then
		missing 'nothing is tried again for ever' \
			'7 is no number: it means without end' "$1"
	else
		ok "no program waits for mere time, or tries again for ever"
	fi
}

# lines_of_run RUN: the lines of the chapter's logged run, into the array lines.
lines_of_run() {
	mapfile -t lines < <(grep -v '^#' "$top/$chapter/expected/$1/commands")
}

# ended RUN: nobody had to end a program of it. Otherwise this ends the check, since all
# that follows would take as long.
ended() {
	local label why

	label=$(sed -nE 's/^(.*): exit status (124|137)$/\1/p' "$place/$1/status.log" |
		head -n 1)
	[[ -n $label ]] || return 0
	why="the $label did not, and was ended; what does it wait for after \"$(
		tail -n 1 "$place/$1/$label.log")\"?"
	[[ $(tail -n 1 "$place/$1/$label.calls") != destroy_cq ]] ||
		why="the $label has done its work, and ibv_destroy_cq() does not return: it waits until each event that ibv_get_cq_event() gave is acknowledged"
	missing 'each program ends by itself' "$why" "$1"
	verdict
}

# recorded RUN…: each logged run of the chapter goes as it is recorded.
recorded() {
	local one lines

	for one; do
		lines_of_run "$one"
		watched "$one" "${lines[@]}"
		ended "$one"
		same "the run $one goes as recorded" "$one" \
			"$top/$chapter/expected/$one"
		honest "$one"
	done
}

# together RUN: that run with the chapter as it is at one end, and then at the other.
together() {
	local lines

	lines_of_run "$1"
	run "their_client" "${lines[@]//.\/client/ORIGINAL/client}"
	same "the run $1 with the original client" their_client \
		"$top/$chapter/expected/$1"
	run "their_server" "${lines[@]//.\/server/ORIGINAL/server}"
	same "the run $1 with the original server" their_server \
		"$top/$chapter/expected/$1"
}

# broken_peer CASE PROGRAM: makes $place/peer_CASE, the chapter as it is with what a
# case of `make break` breaks, and builds one of its programs there.
broken_peer() {
	cp -a "$original" "$place/peer_$1"
	patch -f -s -d "$place/peer_$1" -p1 <"$top/$chapter/break/$1/patch"
	make -s -C "$place/peer_$1" CFLAGS='-O1 -g' "$2"
}

# other_peer NAME PROGRAM: the same with the patch on stdin.
other_peer() {
	cp -a "$original" "$place/peer_$1"
	patch -f -s -d "$place/peer_$1" -p1
	make -s -C "$place/peer_$1" CFLAGS='-O1 -g' "$2"
}

# mend: no node loses packets any more, and each has its table of GIDs as it was.
mend() {
	local node

	for node in a b; do
		device_run "$node" "$top/scripts/lib/repair/loss.sh" off
		device_run "$node" "$top/scripts/lib/repair/gids.sh" back
	done
}

# lossy RUN PERCENT LINE…: as watched(), on two nodes whose network loses so many
# packets. A check that calls it asks for two nodes in a comment: `nodes: 2`.
lossy() {
	watched "$1" 'nodes: 2' "setup: scripts/lib/repair/loss.sh $2" "${@:3}"
	mend
}

# as_case CASE…: what a case shows that changes no code, it shows with theirs, too.
as_case() {
	local one lines

	for one; do
		mapfile -t lines < <(grep -v '^#' "$top/$chapter/break/$one/commands")
		run "$one" "${lines[@]}"
		same "the case $one goes as recorded" "$one" "$top/$chapter/break/$one"
	done
}

# files SERVER: as a line of commands, a server of 07 that keeps nothing.
files() {
	printf "bash -c 'd=\$(mktemp -d) && %s -1 -t 3 -d \$d; s=\$?; rm -r \$d; exit \$s'" \
		"$1"
}

# late_server: the server returns from rdma_accept() only when the client has sent.
late_server() {
	hold="CALLS_HOLD=../late/go"
	watched late 'server: ./server -1' \
		"client&: ORIGINAL/client -a 192.0.2.1" \
		"look: $(look late/client.log '^connected' 20)" \
		"go: touch $place/late/go"
	hold=
	well 'the receive is there before the client can send' late client
	well 'and the server gets its message, however late it looks' late server
}
