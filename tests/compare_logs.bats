#!/usr/bin/env bats
#
# compare_logs.sh: two runs of one story match, whatever they drew; everything
# else does not, and the reader is told what and why. The fixtures are written
# for these tests: expected/ is a run with both ends on one host, run/ the same
# on two hosts whose pids, queue pair numbers and keys count from the same start.

load compare

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
	cp -r tests/fixtures/compare_logs/. "$BATS_TEST_TMPDIR"
}

@test "a run matches itself, and another run on two hosts, both ways round" {
	run -0 scripts/compare_logs.sh "$EXPECTED" "$EXPECTED"
	[ "$output" = matches ]
	matches
	run -0 scripts/compare_logs.sh "$EXPECTED" "$RUN"
	[ "$output" = matches ]
}

@test "-v says what each name stands for in either run" {
	run -0 compare -v
	[ "${lines[0]}" = matches ]
	says "PSN1 = 0x0003dc (run), 0x3ef333 (expected)"
	says "QPN2 = 0x000011 (run), 0x000012 (expected), the client's"
}

# A row each: the end whose log is edited, how, and what is said then.
faults() {
	cat <<-'END'
	# A line is missing, or there is one more; or an event has another value.
	client|/^send completed/d|--- expected client.log|-send completed successfully.|client.log: missing line: expected as line 7: "send completed
	server|3i surprise|+surprise|server.log: extra line: line 3: "surprise"
	server|s/status=0 (success)/status=5 (Work Request Flushed Error)/|server.log: line 7: the same event with a different value|expected "status=0 (success),", got "status=5 (Work
	server|8{h;d};9{G}|another order: "send completed successfully."
	# One character is enough.
	client|s/^disconnected\./ disconnected./|got " disconnected."
	client|s/^disconnected\./disconnected/|got "disconnected"
	client|s/^disconnected/Disconnected/|got "Disconnected."
	# What one end says of the other's is not what that says of its own.
	client|s/Remote PSN: 0x0003dc/Remote PSN: 0x0003dd/|token identity broken|the client calls PSN 0x0003dd its peer's, but the server never|PSN3 = 0x0003dd (run)|PSN1 = 0x0003dc (run), 0x3ef333 (expected)
	server|/^Local PSN/s/0x0003dc\(.*\)0xfffe00/0xfffe00\10x0003dc/|the server calls PSN 0xfffe00 its own, which is PSN2
	client|s/peer_mr.rkey=0x00011e/peer_mr.rkey=0x000177/|the client calls the key 0x000177 its peer's, which is KEY2
	client|s/peer_mr.addr=0xaaab01feab10/peer_mr.addr=0xaaab01fe8630/|token identity broken
	server|/local address/s/::ffff:192.0.2.1/fe80::5054:ff:fe12:3456/|the server calls address fe80::5054:ff:fe12:3456 its own
	client|/remote address/s/QPN 0x000011/QPN 0x000012/|the client calls QPN 0x000012 its peer's, but the server never
	client|s/conn=0xaaab01facf00/conn=0xaaab01facf08/|the client calls the address 0xaaab01facf08 its own
	# No such tokens: a null pointer, another number base, a documented port.
	client|s/conn=0x[0-9a-f]*/conn=0x0/|got "conn=0x0,"
	client|/local address/s/QPN 0x000011/QPN 17/|got "QPN2/decimal,"
	client|s/port 18515/port 4433/|got "4433."
	END
}

@test "each fault in a log is found, and said where it is and nowhere else" {
	local log script texts count=0

	while IFS='|' read -r log script texts; do
		[[ $log != \#* ]] || continue
		echo "$log: $script"
		cp tests/fixtures/compare_logs/run/*.log "$RUN"
		edit "$RUN/$log.log" "$script"
		IFS='|' read -ra texts <<<"$texts"
		differs "${texts[@]}"
		[[ $script == *d || $script == *'{'* ]] || silent_on 'missing line'
		[[ $output == *identity* || $output != *'--- expected '*'--- expected '* ]]
		count=$((count + 1))
	done < <(faults)
	[[ $count -eq 17 ]]
}

@test "an empty log and a log without its last newline do not match" {
	truncate -s -1 "$RUN/server.log"
	differs 'newline at its end'
	: >"$RUN/client.log"
	differs 'client.log: the log of the run is empty'
}

@test "bytes that are no UTF-8 are compared and shown" {
	printf 'received message: \xff\n' >>"$RUN/client.log"
	printf 'received message: \xfe\n' >>"$EXPECTED/client.log"
	differs 'expected "\xfe", got "\xff"'
	printf 'received message: \xfe\n' >>"$RUN/client.log"
	edit "$RUN/client.log" '$!{/\xff/d}'
	run -0 compare
}

@test "one value where two are expected, and two where one is" {
	edit "$RUN/server.log" 's/0x0003dc/0xfffe00/'
	edit "$RUN/client.log" 's/0x0003dc/0xfffe00/'
	differs 'token identity broken'
	run -1 scripts/compare_logs.sh "$EXPECTED" "$RUN"
	says 'token identity broken'
}

@test "addresses of one pair of programs say nothing of those of another" {
	local pair end

	for pair in 1 2; do
		for end in server client; do
			cp "$EXPECTED/$end.log" "$BATS_TEST_TMPDIR/$end$pair.log"
		done
	done
	rm "$RUN"/* "$EXPECTED"/*
	cp "$BATS_TEST_TMPDIR"/{server,client}?.log "$EXPECTED"
	cp "$EXPECTED"/* "$RUN"
	# As where each process has addresses of its own, for both ends of pair 2.
	edit "$RUN/server2.log" 's/=0x56/=0x57/g'
	edit "$RUN/client2.log" 's/=0x56/=0x57/g'
	run -0 compare
	run -0 scripts/compare_logs.sh "$EXPECTED" "$EXPECTED"
	# Within a pair they hang together as ever.
	edit "$RUN/client2.log" 's/peer_mr.addr=0x\w*/peer_mr.addr=0x5738f0da8630/'
	differs 'token identity broken' "the client calls the address 0x5738f0da8630 its peer's"
}

@test "any port that is listened on is compared" {
	edit "$RUN/server.log" 's/^listening on port 18515/listening on port 40000/'
	edit "$EXPECTED/server.log" 's/^listening on port 18515/listening on port 40001/'
	differs 'expected "40001.", got "40000."'
}

@test "each kind of volatile token is recognised, and nothing next to it" {
	local tokens=(
		'pid 7 on' 'pid 8 on'
		'id=0x5' 'id=0x6'
		'buffer 0x7f0011223344.' 'buffer 0x7f0011223345.'
		'rkey=0x100, lkey 0x200' 'rkey=0x101, lkey 0x201'
		'qpn=0x11 qp_num=18' 'qpn=0x31 qp_num=38'
		'sq_psn=0x1 PSN: 0x2' 'sq_psn=0x3 PSN: 0x4'
		'LID 0x0000' 'LID 0x0007'
		'at 192.0.2.1:40000.' 'at 10.1.2.3:50000.'
		'at [2001:db8::1]:40000, ' 'at [fe80::1]:50000, '
		'gid=::ffff:192.0.2.7' 'gid=2001:db8::7'
		'peer port 40000' 'peer port 40001'
		'device rxe0' 'device mlx5_1'
		'0.20 s, 35 MB/s, 12.8 us' '0.48 s, 7.25 MB/s, 1 us')
	local at count=$((${#tokens[@]} / 2))
	for ((at = 0; at < ${#tokens[@]}; at += 2)); do
		echo "${tokens[at]}" >"$EXPECTED/end_$at.log"
		echo "${tokens[at + 1]}" >"$RUN/end_$at.log"
	done
	run -0 compare
	for ((at = 0; at < ${#tokens[@]}; at += 2)); do
		echo "${tokens[at + 1]} x" >"$RUN/end_$at.log"
	done
	run -1 compare
	[ "$(grep -c 'line 1: the same event' <<<"$output")" -eq "$count" ]
	rm "$EXPECTED"/end_* "$RUN"/end_*
	local fixed=(
		'wr_id=1' 'wr_id=2'
		'opcode=0' 'opcode=1'
		'device port 1' 'device port 2'
		'peer port 1021' 'peer port 1022'
		'within 10 s' 'within 11 s'
		'all addresses: 0.0.0.0' 'all addresses: 0.0.0.1'
		'access=0x7' 'access=0x5'
		'the pid of 7' 'the pid of 8')
	count=$((${#fixed[@]} / 2))
	for ((at = 0; at < ${#fixed[@]}; at += 2)); do
		echo "${fixed[at]}" >"$EXPECTED/end_$at.log"
		echo "${fixed[at + 1]}" >"$RUN/end_$at.log"
	done
	run -1 compare
	[ "$(grep -c 'the same event' <<<"$output")" -eq "$count" ]
}

@test "in a table, what stands under a unit is measured and the rest is not" {
	printf '%s\n' '            bytes  count  min us   MB/s' \
		'RDMA write   4096   1000    9.11   35.2' 'done 1' \
		>"$EXPECTED/client.log"
	printf '%s\n' '            bytes  count  min us   MB/s' \
		'RDMA write   4096   1000  119.11  135.2' 'done 1' \
		>"$RUN/client.log"
	run -0 compare
	edit "$RUN/client.log" 's/ 1000 / 1001 /'
	differs 'expected "1000", got "1001"'
	edit "$RUN/client.log" 's/ 1001 / 1000 /; s/done 1/done 2/'
	run -1 compare
	printf 'op,bytes,min_us\nread,64,1.5\n' >"$EXPECTED/client.log"
	printf 'op,bytes,min_us\nread,64,22.5\n' >"$RUN/client.log"
	run -0 compare
	edit "$RUN/client.log" s/64/65/
	run -1 compare
	edit "$RUN/client.log" 's/65/64/; s/22.5/nan/'
	run -1 compare
}

@test "in a table, places in a distribution are measured without a unit" {
	printf '%s\n' 'op     bytes count  min us  median   p99.9     max' \
		'write     64   100     1.5     2.5     9.5    10.5' \
		>"$EXPECTED/client.log"
	printf '%s\n' 'op     bytes count  min us  median   p99.9     max' \
		'write     64   100    11.5    12.5   900.5  1000.5' \
		>"$RUN/client.log"
	run -0 compare
	edit "$RUN/client.log" 's/ 100 / 101 /'
	run -1 compare
	edit "$RUN/client.log" 's/ 101 / 100 /; s/p99.9/p99.8/'
	run -1 compare
}

@test "lines of a declared race may change places, others may not" {
	cat >"$EXPECTED/races" <<-'END'
	# what the server says first
	server.log: received message: * <> send completed successfully.
	END
	run -0 compare
	edit "$RUN/server.log" '8{h;d};9{G}'
	run -0 compare -v
	says 'Lines of this race changed places'
	run -0 scripts/compare_logs.sh "$EXPECTED" "$EXPECTED"
	# The same swap in a log that the race does not name.
	cp "$EXPECTED/server.log" "$EXPECTED/server-2.log"
	cp "$RUN/server.log" "$RUN/server-2.log"
	differs '--- expected server-2.log'
	silent_on '--- expected server.log'
}

@test "a race does not let a line pass a third one" {
	echo 'server.log: received message: * <> send completed successfully.' \
		>"$EXPECTED/races"
	edit "$RUN/server.log" '7{h;d};8{G}'
	run -1 compare
	cp tests/fixtures/compare_logs/run/server.log "$RUN"
	edit "$RUN/server.log" '8{h;d};10{G}'
	run -1 compare
}

@test "tokens stay identities when the lines that have them change places" {
	printf '%s\n' 'a PSN: 0x1' 'b PSN: 0x2' 'end PSN: 0x1' \
		>"$EXPECTED/server.log"
	printf '%s\n' 'b PSN: 0x8' 'a PSN: 0x9' 'end PSN: 0x9' >"$RUN/server.log"
	: >"$EXPECTED/client.log"
	: >"$RUN/client.log"
	echo 'server.log: a * <> b *' >"$EXPECTED/races"
	run -0 compare
	edit "$RUN/server.log" '3s/0x9/0x8/'
	differs 'token identity broken'
}

@test "lines joined by + change places as a block and not one by one" {
	rm "$RUN"/* "$EXPECTED"/*
	printf '%s\n' status received status sent gone >"$EXPECTED/server.log"
	printf '%s\n' status sent status received gone >"$RUN/server.log"
	run -1 compare
	echo 'server.log: status + received <> status + sent' >"$EXPECTED/races"
	run -0 compare
	printf '%s\n' status status sent received gone >"$RUN/server.log"
	run -1 compare
	printf '%s\n' status sent gone status received >"$RUN/server.log"
	differs 'another order'
	echo 'server.log: status + received <> status + lost' >"$EXPECTED/races"
	refused 'no line of server.log'
}

@test "equal lines that race are paired up so that the tokens fit" {
	rm "$RUN"/* "$EXPECTED"/*
	echo 'server.log: conn=* <> conn=*' >"$EXPECTED/races"
	printf '%s\n' conn=0x1 conn=0x2 >"$EXPECTED/server.log"
	printf '%s\n' conn=0x8 conn=0x9 >"$RUN/server.log"
	printf '%s\n' peer.id=0x2 peer.id=0x2 peer.id=0x1 >"$EXPECTED/client.log"
	printf '%s\n' peer.id=0x8 peer.id=0x8 peer.id=0x9 >"$RUN/client.log"
	run -0 compare
	edit "$RUN/client.log" '2s/0x8/0x9/'
	run -1 compare
}

@test "a race that is wrongly written, or that names no line, is refused" {
	echo 'server.log: one line' >"$EXPECTED/races"
	refused 'races:1: not of the form LOG: PATTERN <> PATTERN'
	echo 'server.log: peer gone. <> send completed successfully.' \
		>"$EXPECTED/races"
	refused 'races:1: no line of server.log'
	echo 'sever.log: peer disconnected. <> send completed successfully.' \
		>"$EXPECTED/races"
	run -2 compare
}

@test "a meaning that is wrongly written, or that no line has, is refused" {
	local meaning

	for meaning in 'means *' 'means a + b' 'means {new}' '+ {b} means {b}'; do
		echo "server.log: {a} $meaning" >"$EXPECTED/races"
		refused 'races:1: not of the form'
	done
	echo 'server.log: {a} lost means {a} and gone' >"$EXPECTED/races"
	refused 'races:1: no line of server.log'
}

# story LETTERS: the run's server.log has these lines between its first and last.
story() {
	local letter
	declare -A line=([S]=sent [C]='but it has come' [G]='wr_id=0x7, good, state=1'
		[B]='wr_id=0x7, bad, state=1' [2]='wr_id=0x7, bad, state=2'
		[8]='wr_id=0x8, bad, state=1')

	{
		echo start
		while read -rn 1 letter && [[ $letter ]]; do
			echo "${line[$letter]}"
		done <<<"$1"
		printf '%s\n' conn=0x7 end
	} >"$RUN/server.log"
}

@test "lines that mean another are read as it: together, in their order, once" {
	local letters said

	rm "$RUN"/* "$EXPECTED"/*
	story GS
	sed 's/0x7/0x1/' "$RUN/server.log" >"$EXPECTED/server.log"
	story BCS
	run -1 compare
	echo 'server.log: {a}, bad, {b} + but it has come means {a}, good, {b}' \
		>"$EXPECTED/races"
	# What the names stand for is compared as it would be in the one line.
	while IFS='|' read -r letters said; do
		echo "$letters"
		story "$letters"
		if [[ $said == matches ]]; then matches; else differs "$said"; fi
	done <<-'END'
		BCS|matches
		GS|matches
		BS|expected "good,", got "bad,"
		GCS|server.log: extra line: line 3: "but it has come"
		CS|differs
		CBS|differs
		BSC|differs
		BCCS|differs
		BCBCS|server.log: extra line
		BCGS|differs
		SBC|differs
		2CS|expected "state=1", got "state=2"
		8CS|token identity broken
	END
}

@test "the logged run may be the one that has the lines that mean another" {
	rm "$RUN"/* "$EXPECTED"/*
	printf '%s\n' 'wr_id=0x1, good' sent >"$RUN/server.log"
	printf '%s\n' 'wr_id=0x2, bad' 'but it has come' sent \
		>"$EXPECTED/server.log"
	echo 'server.log: {a}, bad + but it has come means {a}, good' \
		>"$EXPECTED/races"
	run -0 compare
	# In the logs that are named, and in no others.
	sed -i s/server/client/ "$EXPECTED/races"
	cp "$RUN/server.log" "$RUN/client.log"
	cp "$RUN/server.log" "$EXPECTED/client.log"
	run -1 compare
	silent_on '--- expected client.log'
}

@test "of several whole orders one must match, and the closest is named" {
	mkdir "$EXPECTED/peer_first" "$EXPECTED/self_first"
	mv "$EXPECTED"/*.log "$EXPECTED/peer_first"
	cp "$EXPECTED"/peer_first/*.log "$EXPECTED/self_first"
	edit "$EXPECTED/self_first/server.log" '8{h;d};9{G}'
	run -0 compare -v
	says 'The order is that of peer_first.'
	edit "$RUN/server.log" '8{h;d};9{G}'
	run -0 compare -v
	says 'The order is that of self_first.'
	edit "$RUN/client.log" '/^disconnected/d'
	differs 'the closest is self_first' 'client.log: missing line'
	silent_on 'another order'
}

@test "races above several orders hold for each of them" {
	mkdir "$EXPECTED/one"
	mv "$EXPECTED"/*.log "$EXPECTED/one"
	echo 'server.log: received message: * <> send completed successfully.' \
		>"$EXPECTED/races"
	edit "$RUN/server.log" '8{h;d};9{G}'
	run -0 compare
}

@test "stderr is compared where it is expected, and shown where it is not" {
	echo 'error: no route' >"$RUN/client.err"
	run -0 compare
	says "not compared: 1 lines of $RUN/client.err"
	edit "$RUN/client.log" '/^disconnected/d'
	differs 'Not compared, but the run has client.err:' 'error: no route'
	cp tests/fixtures/compare_logs/run/client.log "$RUN"
	echo 'error: no address' >"$EXPECTED/client.err"
	differs '-error: no address' '+error: no route'
	rm "$RUN/client.err"
	differs 'client.err: the log of the run is empty'
	cp "$EXPECTED/client.err" "$RUN/client.err"
	run -0 compare
}

@test "logs of a third program belong to the comparison" {
	cp "$EXPECTED/client.log" "$EXPECTED/client-2.log"
	refused 'no client-2.log in it'
	cp "$RUN/client.log" "$RUN/client-2.log"
	run -0 compare
	rm "$EXPECTED/client-2.log"
	refused "$EXPECTED: no client-2.log in it"
}

@test "wrong usage and folders without logs end with 2 and a reason" {
	run -2 scripts/compare_logs.sh "$RUN"
	says Usage:
	run -2 scripts/compare_logs.sh -x "$RUN" "$EXPECTED"
	run -2 scripts/compare_logs.sh "$RUN" "$BATS_TEST_TMPDIR/none"
	says "none: no such folder"
	mkdir "$BATS_TEST_TMPDIR/empty"
	run -2 scripts/compare_logs.sh "$RUN" "$BATS_TEST_TMPDIR/empty"
	says 'no *.log in it'
	rm "$RUN/server.log"
	refused 'no server.log in it'
	run -0 scripts/compare_logs.sh -h
	says EXPECTED_DIR
}

@test "a thousand clients in any order are compared in seconds" {
	rm "$RUN"/* "$EXPECTED"/*
	echo 'server.log: Client {n}: * apart' >"$EXPECTED/races"
	/usr/bin/python3 - "$EXPECTED/server.log" "$RUN/server.log" <<-'END'
	import random, sys
	random.seed(1)
	for name in sys.argv[1:]:
	    left = [[f'Client {i}: PSN {random.getrandbits(40):#x}',
	             f'Client {i}: served', f'Client {i}: gone']
	            for i in range(1, 1001)]
	    order = [i for i in range(1000) for _ in range(3)]
	    # Up to forty at once, as in a run.
	    order.sort(key=lambda i: i + random.random() * 40)
	    with open(name, 'w') as file:
	        file.writelines(left[i].pop(0) + '\n' for i in order)
	END
	run -0 timeout 20 scripts/compare_logs.sh "$RUN" "$EXPECTED"
	[ "$output" = matches ]
}

# a_megabyte KIND: of digits, of blanks, of escapes, in one line.
a_megabyte() {
	local text

	case $1 in
	digits) text=11111111 ;;
	blanks) text='        ' ;;
	escapes) text=$'\e[31m\e]0' ;;
	esac
	printf -- "$text%.0s" {1..125000}
	echo x
}

@test "a megabyte of digits, of blanks or of escapes costs seconds, and no control character" {
	local kind

	for kind in digits blanks escapes; do
		cp -r tests/fixtures/compare_logs/. "$BATS_TEST_TMPDIR"
		# Where nothing like it is expected, and where something like it is.
		for _ in 1 2; do
			a_megabyte $kind >>"$RUN/client.log"
			# Two seconds on a machine that has nothing else to do.
			run -1 timeout 20 scripts/compare_logs.sh "$RUN" "$EXPECTED"
			run -1 grep -q '[[:cntrl:]]' <<<"${output//$'\t'/}"
			{ a_megabyte $kind; echo y; } >>"$EXPECTED/client.log"
		done
	done
}
