#!/usr/bin/env bats
#
# fuzz.bats - decoders, fed with what is kept in tests/fuzz/corpus and with some thousands
# of inputs made from it; tests/long/fuzz.bats takes longer. What a peer may never get past
# them is in tests/fuzz/fuzz_*.c. The corpus alone finds each fault that was found once.

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
}

# finds_nothing TARGET [COUNT]: nothing breaks the decoder, of many inputs, and of those
# that are kept, with which it begins.
finds_nothing() {
	run "$top/tests/fuzz/run.sh" "$1" "${2:-20000}x"
	echo "$output"
	[[ $status -eq 0 ]]
	[[ $output =~ seed\ corpus:\ files:\ ([0-9]+) ]]
	[[ ${BASH_REMATCH[1]} -ge $(grep -c '^[^#]' "$top/tests/fuzz/corpus/$1") ]]
	[[ $output =~ stat::number_of_executed_units:\ +([0-9]+) ]]
	[[ ${BASH_REMATCH[1]} -ge ${2:-20000} ]]
}

@test "02: whatever a peer says, each request is posted once, to memory that it has named" {
	finds_nothing 02_transfer
}

@test "03: no line breaks the decoder, and what it accepts is canonical" {
	finds_nothing 03_params
}

@test "06: no datagram breaks the decoder, and what it accepts is canonical" {
	finds_nothing 06_dgram
}

@test "07: no header of a stream breaks the decoder, nor speaks of what is not there" {
	finds_nothing 07_head
}

@test "07: whatever the first message says, what is agreed on makes sense" {
	finds_nothing 07_hello
}

@test "each decoder is fuzzed here, and for long; and no input is kept of another" {
	local targets=$BATS_TEST_TMPDIR/targets

	(cd "$top/tests/fuzz/corpus" && printf '%s\n' *) >"$targets"
	diff "$targets" <(sed -n 's/^\tfinds_nothing \([^ ]*\).*/\1/p' \
		"$BATS_TEST_FILENAME" | sort)
	diff "$targets" <(sed -n 's/^\tfinds_nothing_for_long //p' \
		"$top/tests/long/fuzz.bats" | sort)
}

# Each input is a handshake, so there are few.
@test "04: whatever a peer says in TLS, the exchange comes to an end" {
	finds_nothing 04_exchange 100
}
