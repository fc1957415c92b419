#!/usr/bin/env bats
#
# logged_lines.bats - what each chapter is to show is in its logged runs
#
# That a run says what was logged is the demo's to compare. What was logged must
# have the lines of logged_lines.txt, to the letter: a line whose words change, or that
# is lost while runs are recorded anew, is missed here. No device is needed.
# shellcheck disable=SC2030,SC2031 # output is run's

setup() {
	rules=$BATS_TEST_DIRNAME/logged_lines.txt
	logs=$BATS_TEST_DIRNAME/..
	cd "$logs" || return
}

# regex LINE: sets regex to an expression for it.
regex() {
	local special

	regex=$1
	for special in '\' '[' ']' '(' ')' '.' '*' '+' '?' '^' '$' '|' '{' '}'; do
		regex=${regex//"$special"/"\\$special"}
	done
	regex=${regex//'\{hex\}'/'0x[0-9a-f]+'} regex=${regex//'\{24\}'/'0x[0-9a-f]{6}'}
	regex=${regex//'\{n\}'/'[0-9]+'} regex=${regex//'\{any\}'/'.*'}
}

# What follows notes in wrong what is not so, and goes on.
note() {
	printf '%s\n' "$1"
	wrong=1
}

# where LOG LINE: sets at to the lines of LOG that are so, each behind its number and
# a colon.
where() {
	regex "$2"
	mapfile -t at < <(grep -nxE -- "$regex" "$1")
}

# Each of these is for one log, and its lines are in the array lines.
has() {
	local line at

	for line in "${lines[@]}"; do
		where "$1" "$line"
		[ ${#at[@]} -gt 0 ] || note "$1 has no line: $line"
	done
}

times() {
	local line at

	for line in "${lines[@]}"; do
		where "$2" "$line"
		[ ${#at[@]} -eq "$1" ] ||
			note "$2 has ${#at[@]} times, and should have $1 times: $line"
	done
}

in_order() {
	local line at below=0 number

	for line in "${lines[@]}"; do
		where "$1" "$line"
		for number in "${at[@]%%:*}" none; do
			[[ $number == none || $number -le $below ]] || break
		done
		if [[ $number == none ]]; then
			note "$1 has below line $below no line: $line"
		else
			below=$number
		fi
	done
}

forwards() {
	local states

	states=$(grep -oP "$1=\\K[0-9]+" "$3")
	if [ "$(sort -n <<<"$states")" != "$states" ] ||
		[ "$(head -n 1 <<<"$states")" -ne 0 ] ||
		[ "$(tail -n 1 <<<"$states")" -lt "$2" ]; then
		note "$3: $1 does not go from 0 to $2 or more: ${states//$'\n'/ }"
	fi
}

# apply CHAPTER RULE: to the logs of the chapter that it is for.
apply() {
	local words log pattern=${2##* } numbers

	numbers=${2%" $pattern"}
	eval "words=($pattern)"
	for log in "${words[@]}"; do
		# shellcheck disable=SC2086 # several words
		[[ $log != "$1"_* ]] || {
			$numbers "$log"
			applied=$((applied + 1))
		}
	done
}

# shows CHAPTER: its logs have what they must.
shows() (
	local line rule='' lines=() applied=0 wrong=0

	# Bats follows each command, which takes longer than all else here.
	trap - DEBUG
	cd "$logs" || return
	while IFS= read -r line; do
		case $line in
		'#'*) ;;
		$'\t'*) lines+=("${line#$'\t'}") ;;
		*)
			[[ -z $rule ]] || apply "$1" "$rule"
			rule=$line lines=()
			;;
		esac
	done < <(cat "$rules" && echo end)
	[[ $1 != 0[34] ]] || psns "$1"
	[[ $1 != 05 ]] || numbers_differ
	[[ $applied -gt 0 && $wrong -eq 0 ]]
)

# differ COUNT WHAT: so many lines on stdin, no two of them the same.
differ() {
	[ "$(sort -u | wc -l)" -eq "$1" ] || note "not $1 different: $2"
}

# psns CHAPTER: each end is what the other one thinks it is.
psns() {
	local run end mine peer lines

	for run in "$1"_*/expected/{write,read}; do
		for end in client server; do
			read -r mine peer < <(sed -nE \
				's/^Local PSN: (.*), Remote PSN: (.*)$/\1 \2/p' "$run/$end.log")
			differ 2 "PSNs in $run/$end.log" <<<"$mine"$'\n'"$peer"
			lines=("INIT -> RTR: dest_qp_num={24}, rq_psn=$peer, path_mtu={n}, sgid_index={n}"
				"RTR -> RTS: sq_psn=$mine, timeout={n}, retry_cnt={n}, rnr_retry={n}")
			has "$run/$end.log"
		done
		# The last end was the server.
		lines=("Local PSN: $peer, Remote PSN: $mine")
		has "$run/client.log"
	done
}

# A queue pair and a PSN for each client of 05.
numbers_differ() {
	local log=05_multiclient/expected/read/server.log

	differ 3 'QPNs of the server' < <(grep -oP \
		'^Client [0-9]+: local:  QPN \K\w+' "$log")
	differ 3 'PSNs of the server' < <(grep -oP \
		'^Client [0-9]+: Local PSN: \K\w+' "$log")
}

@test "01: a message each way is in the logged runs, and the flush if none comes" {
	shows 01
}

@test "02: both modes, their completions and states are in the logged runs" {
	shows 02
}

@test "03: the states by hand, and each end's PSN at the other, are in the logged runs" {
	shows 03
}

@test "04: the same, after both have shown who they are, is in the logged runs" {
	shows 04
}

@test "05: one device for all clients, 13 and 25 of them, are in the logged runs" {
	shows 05
}

@test "06: one socket for all peers, and a full queue, are in the logged runs" {
	shows 06
}

@test "08: a crowd is served, and a client gets answers and writes" {
	shows 08
}

# spoil LOG SCRIPT: a copy of the logs in which sed has changed one of them.
spoil() {
	logs=$BATS_TEST_TMPDIR/logs
	[[ -d $logs ]] || {
		mkdir "$logs"
		find 0[1-8]_*/{expected,break} \( -name '*.log' -o -name '*.err' \) \
			-exec cp --parents -t "$logs" {} +
	}
	sed -E "$2" "$1" >"$logs/$1"
	! cmp -s "$1" "$logs/$1"
}

# missed CHAPTER LOG SCRIPT SAID: that is noticed, and named.
missed() {
	echo "$2: $3"
	spoil "$2" "$3"
	run -1 shows "$1"
	[[ $output == *"$4"* ]]
	cp "$2" "$logs/$2"
}

@test "a logged line whose words have changed, or that is gone, is missed" {
	local chapter

	spoil 01_send_recv/expected/default/client.log '1i one more line'
	for chapter in 01 02 03 04 05 06 08; do
		shows "$chapter"
	done
	missed 01 01_send_recv/expected/default/client.log 's/^route/path/' \
		'no line: route resolved.'
	missed 01 01_send_recv/break/no_send/client.log 's/status = 5/status = 0/' \
		'wc->status = 5 (Work Request Flushed Error)'
	missed 02 02_write_read/expected/write/client.log 's/wr_id=/wr=/' \
		'no line: [on_completion] wr_id={hex}'
	missed 02 02_write_read/expected/write/server.log 's/send_state=2/send_state=0/' \
		'send_state does not go from 0 to 2'
	missed 02 02_write_read/expected/read/server.log 's/Both DONE/both are done/' \
		'no line: [LOG] READ: Both DONE'
	missed 03 03_pure_verbs/expected/write/client.log '/^RTR -> RTS/d' 'RTR -> RTS'
	missed 03 03_pure_verbs/expected/write/server.log \
		's/^(Local PSN: )(\w+)(, Remote PSN: )(\w+)/\1\4\3\2/' \
		'no line: RTR -> RTS: sq_psn='
	missed 03 03_pure_verbs/expected/read/server.log 's/PSN: 0x/PSN: /' 'Local PSN'
	missed 04 04_tls_psn/expected/read/client.log '/^authenticated peer/d' \
		'authenticated peer'
	missed 05 05_multiclient/expected/read/server.log \
		's/^Client 2: Using shared/Client 2: Opened shared/' \
		'Client 2: Using shared RDMA device rxe0'
	missed 05 05_multiclient/expected/read/server.log \
		'/^Opened shared/p' 'has 2 times'
	missed 05 05_multiclient/expected/thirteen/server.log 's/refused: 3/refused: 2/' \
		'refused: 3'
	missed 05 05_multiclient/expected/read/server.log \
		's/^(Client [0-9]: local:  QPN )\w+/\10x000011/' \
		'not 3 different: QPNs of the server'
	missed 06 06_rds/expected/many/client.log 's/^(RDS sockets on .*): 1/\1: 3/' \
		'RDS sockets'
}
