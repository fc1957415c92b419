#!/usr/bin/env bats
#
# compare_logs.sh: where many clients tell their stories into one log, each is
# compared by itself, if that is declared. What is compared here is the logged
# run of 05_multiclient with thirteen clients, as it is and with changes.

load compare

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
	cp -r 05_multiclient/expected/thirteen "$EXPECTED"
	cp -r "$EXPECTED" "$RUN"
}

# All of a client's lines together; those of a client in their order.
by_client() {
	sort -s -t: -k1,1 "$1" >"$BATS_TEST_TMPDIR/sorted"
	! cmp -s "$1" "$BATS_TEST_TMPDIR/sorted"
	cp "$BATS_TEST_TMPDIR/sorted" "$1"
}

@test "the lines of clients may mix in any way" {
	matches
	grep '^Client' "$RUN/server.log" >"$BATS_TEST_TMPDIR/clients"
	grep -v '^Client' "$RUN/server.log" >"$BATS_TEST_TMPDIR/others"
	by_client "$BATS_TEST_TMPDIR/clients"
	cat "$BATS_TEST_TMPDIR/clients" "$BATS_TEST_TMPDIR/others" \
		>"$RUN/server.log"
	matches
}

@test "the lines of one client may not" {
	edit "$RUN/server.log" -E '/^Client 4: both sides are READY/d'
	edit "$RUN/server.log" -E \
		's/^(Client 4: received connection.*)/\1\nClient 4: both sides are READY./'
	differs '--- expected server.log of 4'
	[[ $output != *'server.log of 5'* ]]
}

@test "a client that is missing, or one too many, is found" {
	edit "$RUN/client.log" -E '/^Client 7:/d'
	differs 'client.log of 7: the log of the run is empty'
	cp "$EXPECTED/client.log" "$RUN"
	echo 'Client 11: exchange connected.' >>"$RUN/client.log"
	differs 'client.log of 11: extra line'
}

@test "each client's numbers must be the ones that the other end has" {
	edit "$RUN/server.log" -E \
		's/^(Client 5: Local PSN: .*, Remote PSN: ).*/\10x000abc/'
	differs 'token identity broken'
	[[ $output == *'server.log of 5'* ]]
	[[ $output != *'server.log of 6:'* ]]
}

@test "what one client had, another may have later; but not within its lines" {
	local address

	# All at one address: in the logged run each had its own.
	edit "$RUN/server.log" -E 's/conn=0x[0-9a-f]+/conn=0x7f0011223344/'
	run -0 compare
	address=$(sed -n 's/^Client 4: .*wr_id=\(0x[0-9a-f]*\),.*/\1/p' \
		"$RUN/server.log" | head -n 1)
	edit "$RUN/server.log" -E "s/^(Client 4: .*conn=).*/\\1$address/"
	differs 'token identity broken'
}

@test "what is counted is counted for each client" {
	edit "$RUN/server.log" -E \
		's/^(Client 9: .*opcode=1, send_state=)0/\12/'
	differs 'Client 9'
}

@test "lines that mean another are one client's, whatever is between them" {
	local late='s/^(Client 4: )(.*status=)0 \(success\), opcode=0, (.*)/\1\2'
	local came="MSG_DONE was not acknowledged, but the peer's goodbye says that"

	late+='5 (Work Request Flushed Error), \3'
	# Declared here, since no run of many clients has such lines.
	echo "server.log: Client {c}: [on_completion] {wr}, status=5 (Work Request Flushed" \
		"Error), {states} + Client {c}: $came it has come. means Client {c}:" \
		'[on_completion] {wr}, status=0 (success), opcode=0, {states}' \
		>>"$EXPECTED/races"
	edit "$RUN/server.log" -E "$late\nClient 5: of another\n\1$came it has come./"
	edit "$EXPECTED/server.log" -E 's/^(Client 4: .* opcode=0, .*)/\1\nClient 5: of another/'
	matches
	edit "$RUN/server.log" -E 's/^Client 4(: MSG_DONE)/Client 5\1/'
	differs '--- expected server.log of 5'
}

@test "a declaration without a name, or that fits no line, is refused" {
	edit "$EXPECTED/races" -E 's/^(.*: Client )\{n\}(: \* apart)/\1*\2/'
	run -2 compare
	[[ $output == *'with a name in braces apart'* ]]
	echo '*.log: Customer {n}: * apart' >"$EXPECTED/races"
	run -2 compare
	[[ $output == *'no line of'* ]]
}
