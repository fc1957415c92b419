#!/usr/bin/env bats
#
# logged_lines.bats - what each chapter is to show is in its logged runs
#
# That a run says what was logged is the demo's to compare. What was logged must
# have these lines, to the letter: a line whose words change, or that is lost while
# runs are recorded anew, is missed here. No device is needed.
# shellcheck disable=SC2030,SC2031 # output is run's

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
	logs=.
}

# as_regex LINE: an expression for it; {hex} is a pointer, a key or such, {24} six
# digits of it, a QPN or PSN, {n} a number and {any} any text.
as_regex() {
	sed -E 's/[][().*+?^$|\\{}]/\\&/g; s/\\\{hex\\}/0x[0-9a-f]+/g
		s/\\\{24\\}/0x[0-9a-f]{6}/g; s/\\\{n\\}/[0-9]+/g; s/\\\{any\\}/.*/g' \
		<<<"$1"
}

# What follows notes in wrong what is not so, and goes on.
note() {
	printf '%s\n' "$1"
	wrong=1
}

# has LOG: each line on stdin is one of that log.
has() {
	local line

	while IFS= read -r line; do
		grep -qxE -- "$(as_regex "$line")" "$logs/$1" ||
			note "$1 has no line: $line"
	done
}

# times COUNT LOG LINE: the log has the line so often.
times() {
	local count

	count=$(grep -cxE -- "$(as_regex "$3")" "$logs/$2") || true
	[ "$count" -eq "$1" ] ||
		note "$2 has $count times, and should have $1 times: $3"
}

# in_order LOG: each line on stdin stands below the one before it.
in_order() {
	local line at=0 next

	while IFS= read -r line; do
		next=$(tail -n "+$((at + 1))" "$logs/$1" |
			grep -nxEm 1 -- "$(as_regex "$line")" | cut -d : -f 1)
		[ -n "$next" ] || note "$1 has below line $at no line: $line"
		at=$((at + ${next:-0}))
	done
}

# only_forwards NAME LAST LOG: send_state or recv_state begins at 0, comes at least
# to LAST, and never goes back.
only_forwards() {
	local states

	states=$(grep -oP "$1=\\K[0-9]+" "$logs/$3")
	if [ "$(sort -n <<<"$states")" != "$states" ] ||
		[ "$(head -n 1 <<<"$states")" -ne 0 ] ||
		[ "$(tail -n 1 <<<"$states")" -lt "$2" ]; then
		note "$3: $1 does not go from 0 to $2 or more: ${states//$'\n'/ }"
	fi
}

# differ COUNT WHAT: so many lines on stdin, no two of them the same.
differ() {
	[ "$(sort -u | wc -l)" -eq "$1" ] || note "not $1 different: $2"
}

# field LOG LINE: the text that stands for {any} in the only such line of the log.
field() {
	local regex

	regex=$(as_regex "$2")
	sed -nE "s/^${regex/.\*/(.*)}\$/\\1/p" "$logs/$1"
}

# shows CHAPTER: its logs have what they must.
shows() {
	wrong=0
	"what_$1_shows"
	return "$wrong"
}

what_01_shows() {
	in_order 01_send_recv/expected/default/client.log <<-'END'
		address resolved.
		route resolved.
		connected. posting send...
		wc->status = 0 (success)
		send completed successfully.
		wc->status = 0 (success)
		received message: message from passive/server side with pid {n}
		disconnected.
	END
	in_order 01_send_recv/expected/default/server.log <<-'END'
		listening on port 20886.
		received connection request.
		connected. posting send...
		peer disconnected.
	END
	has 01_send_recv/expected/default/server.log <<-'END'
		wc->status = 0 (success)
		received message: message from active/client side with pid {n}
		send completed successfully.
	END
	# A text that the user gives, in any language.
	has 01_send_recv/expected/text/server.log <<-'END'
		received message: 你好，我在测试RDMA SEND DEMO，可以看到我的消息吗？
	END
	# And what the client gets if the server never sends.
	in_order 01_send_recv/break/no_send/client.log <<-'END'
		connected. posting send...
		wc->status = 0 (success)
		send completed successfully.
		wc->status = 5 (Work Request Flushed Error)
	END
	times 0 01_send_recv/break/no_send/server.log 'connected. posting send...'
}

# what_both_show MODE OPCODE WORDS RUN: what the two ends have in common.
what_both_show() {
	local mode=$1 opcode=$2 verb=$3 run=$4 end

	for end in client server; do
		has "$run/$end.log" <<-END
			[on_completion] wr_id={hex}, status=0 (success), opcode=0, send_state={n}, recv_state={n}
			[on_completion] wr_id={hex}, status=0 (success), opcode=128, send_state={n}, recv_state={n}
			[on_completion] wr_id={hex}, status=0 (success), opcode=$opcode, send_state={n}, recv_state={n}
			send completed successfully.
			[DEBUG] About to post RDMA $mode
			[DEBUG] peer_mr.addr={hex}, peer_mr.rkey={hex}
			[DEBUG] local_region={hex}, lkey={hex}
		END
		in_order "$run/$end.log" <<-END
			{any}. $verb remote memory...
			[DEBUG] About to post RDMA $mode
			[on_completion] wr_id={hex}, status=0 (success), opcode=$opcode, send_state={n}, recv_state={n}
			[LOG] $mode: Both DONE, {any}
			remote buffer: message from {any} side with pid {n}
			{any}disconnected.
			[LOG] closing connection conn={hex}{any}
		END
	done
	in_order "$run/server.log" <<-'END'
		received connection request.
		remote buffer: message from active/client side with pid {n}
		peer disconnected.
	END
	in_order "$run/client.log" <<-'END'
		remote buffer: message from passive/server side with pid {n}
		disconnected.
	END
}

what_02_shows() {
	local run end

	what_both_show WRITE 1 'writing message to' 02_write_read/expected/write
	what_both_show READ 2 'reading message from' 02_write_read/expected/read
	for run in 02_write_read/expected/{write,read}; do
		has "$run/server.log" <<<'listening on port 22222.'
		in_order "$run/client.log" <<-'END'
			address resolved.
			route resolved.
			[LOG] {any}: Both DONE, calling rdma_disconnect(conn->id)
		END
		for end in client server; do
			has "$run/$end.log" <<-'END'
				received MSG_MR. {any} message {any} remote memory...
				[LOG] closing connection conn={hex}, id={hex}
			END
			# Nothing sent or received; the memory region; done, and its message.
			only_forwards send_state 2 "$run/$end.log"
			only_forwards recv_state 1 "$run/$end.log"
		done
	done
}

# what_psns_show RUN: each end is what the other one thinks it is.
what_psns_show() {
	local run=$1 end mine peer

	for end in client server; do
		in_order "$run/$end.log" <<-'END'
			Opened RDMA device: rxe0, port {n}
			RESET -> INIT: port_num={n}, qp_access_flags={hex}
			local:  QPN {24}, PSN {24}, GID {any}, LID {hex}, MTU {n}
			remote: QPN {24}, PSN {24}, GID {any}, LID {hex}, MTU {n}
			INIT -> RTR: dest_qp_num={24}, rq_psn={24}, path_mtu={n}, sgid_index={n}
			RTR -> RTS: sq_psn={24}, timeout={n}, retry_cnt={n}, rnr_retry={n}
			Local PSN: {24}, Remote PSN: {24}
			both sides are READY.
		END
		mine=$(field "$run/$end.log" 'Local PSN: {any}, Remote PSN: {24}')
		peer=$(field "$run/$end.log" 'Local PSN: {24}, Remote PSN: {any}')
		differ 2 "PSNs in $run/$end.log" <<<"$mine"$'\n'"$peer"
		has "$run/$end.log" <<-END
			INIT -> RTR: dest_qp_num={24}, rq_psn=$peer, path_mtu={n}, sgid_index={n}
			RTR -> RTS: sq_psn=$mine, timeout={n}, retry_cnt={n}, rnr_retry={n}
		END
	done
	# The last end was the server.
	has "$run/client.log" <<<"Local PSN: $peer, Remote PSN: $mine"
}

what_03_shows() {
	local run

	what_both_show WRITE 1 'writing message to' 03_pure_verbs/expected/write
	what_both_show READ 2 'reading message from' 03_pure_verbs/expected/read
	for run in 03_pure_verbs/expected/{write,read}; do
		what_psns_show "$run"
		has "$run/server.log" <<<'listening on port 18515.'
		# The CM has no part in it.
		times 0 "$run/client.log" 'address resolved.'
	done
}

what_04_shows() {
	local run end

	what_both_show WRITE 1 'writing message to' 04_tls_psn/expected/write
	what_both_show READ 2 'reading message from' 04_tls_psn/expected/read
	for run in 04_tls_psn/expected/{write,read}; do
		what_psns_show "$run"
		has "$run/server.log" <<<'listening on port 4433.'
		# Who it is comes before all that is told of a queue pair.
		for end in client server; do
			in_order "$run/$end.log" <<-'END'
				authenticated peer: CN={any}
				RESET -> INIT: {any}
				local:  QPN {24}, PSN {24}, {any}
			END
		done
	done
}

what_05_shows() {
	local run=05_multiclient/expected/read client

	in_order $run/server.log <<-'END'
		Opened shared RDMA device: rxe0
		listening on port 4433.
		Client {n}: authenticated peer: CN={any}
		[figures] served: 3; refused: 0; failed: 0
		[figures] objects held: 0 PDs, 0 CQs, 0 QPs, 0 MRs
	END
	# Opened once, however many clients use it.
	times 1 $run/server.log 'Opened shared RDMA device: rxe0'
	for client in 1 2 3; do
		times 1 $run/server.log "Client $client: Using shared RDMA device rxe0"
		in_order $run/server.log <<-END
			Client $client: Using shared RDMA device rxe0
			Client $client: RESET -> INIT: {any}
			Client $client: INIT -> RTR: dest_qp_num={24}, rq_psn={24}, {any}
			Client $client: RTR -> RTS: sq_psn={24}, {any}
			Client $client: Local PSN: {24}, Remote PSN: {24}
			Client $client: [LOG] READ: Both DONE, {any}
			Client $client: remote buffer: message from active/client side, client $client
			Client $client: peer disconnected.
		END
	done
	# A queue pair and a PSN for each.
	differ 3 'QPNs of the server' < <(grep -oP \
		'^Client [0-9]+: local:  QPN \K\w+' "$logs/$run/server.log")
	differ 3 'PSNs of the server' < <(grep -oP \
		'^Client [0-9]+: Local PSN: \K\w+' "$logs/$run/server.log")

	# Ten places, thirteen clients: one after another, at once, too many.
	run=05_multiclient/expected/thirteen
	has $run/server.log <<<'[figures] served: 10; refused: 3; failed: 0'
	times 1 $run/server.log 'Opened shared RDMA device: rxe0'
	times 10 $run/server.log 'Client {n}: Using shared RDMA device rxe0'
	times 3 $run/client.err 'error: server full (10 of 10){any}'
	times 10 $run/server.log 'Client {n}: Local PSN: {24}, Remote PSN: {24}'
	# 25 in a hurry, and none too many.
	run=05_multiclient/expected/stress
	times 1 $run/server.log 'Opened shared RDMA device: rxe0'
	times 25 $run/server.log 'Client {n}: peer disconnected.'
	has $run/server.log <<-'END'
		[figures] served: 25; refused: 0; failed: 0
		[figures] objects held: 0 PDs, 0 CQs, 0 QPs, 0 MRs
	END
}

what_06_shows() {
	local run

	for run in many:tcp ib:ib; do
		# One socket for all peers, one connection between two hosts.
		in_order "06_rds/expected/${run%:*}/client.log" <<-END
			bound to {any} over ${run#*:}.
			sent {n} messages to each of 3.
			  {n} messages, all of them, in order
			RDS sockets on {any}: 1.
			connections from {any} to {any} over ${run#*:}: 1.
		END
	done
	in_order 06_rds/expected/congest/client.log <<-'END'
		ENOBUFS for port 4000 after {n} messages.
		poll: POLLIN no, POLLOUT yes.
		news: group {n} of the ports has room again.
	END
	in_order 06_rds/expected/fill/client.log <<-'END'
		EAGAIN after {n} messages of 1000 bytes to {any}: {n} bytes.
		messages queued: {n}; POLLOUT: no.
		RDS_CANCEL_SENT_TO {any} port 4000.
		messages queued: 0; POLLOUT: yes.
	END
	in_order 06_rds/expected/write/client.log <<-'END'
		borrowed: rkey={hex}, offset 0.
		write completed: status=0 (success).
	END
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

# spoil LOG SCRIPT: a copy of the logs in which sed has changed one of them.
spoil() {
	logs=$BATS_TEST_TMPDIR/logs
	rm -rf "$logs"
	mkdir "$logs"
	find 0[1-6]_*/{expected,break} \( -name '*.log' -o -name '*.err' \) \
		-exec cp --parents -t "$logs" {} +
	sed -i -E "$2" "$logs/$1"
	! cmp -s "$1" "$logs/$1"
}

# missed CHAPTER LOG SCRIPT SAID: that is noticed, and named.
missed() {
	echo "$2: $3"
	spoil "$2" "$3"
	run -1 shows "$1"
		[[ $output == *"$4"* ]]
}

@test "a logged line whose words have changed, or that is gone, is missed" {
	local chapter

	for chapter in 01 02 03 04 05 06; do
		spoil 01_send_recv/expected/default/client.log '1i one more line'
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

@test "08: a crowd is served, and a client gets answers and writes" {
	in_order 08_event_loop/expected/default/client.log <<-'END'
		[LOG] WRITE: Both DONE, sending requests
		remote buffer: message from passive/server side with pid {n}
		request 1 of 2: 1024 bytes, the checksum is right, and so is what was written.
		request 2 of 2: 1024 bytes, the checksum is right, and so is what was written.
		disconnected.
	END
	in_order 08_event_loop/expected/default/server.log <<-'END'
		Client 1: received connection request.
		Client 1: [LOG] WRITE: Both DONE, waiting for requests
		Client 1: peer disconnected after 2 requests.
	END
	times 30 08_event_loop/expected/crowd/server.log \
		'Client {n}: peer disconnected after 4 requests.'
	has 08_event_loop/expected/crowd/client.log <<-'END'
		30 connections: 30 served, 0 refused, 0 failed.
	END
	[ -z "$wrong" ]
}
