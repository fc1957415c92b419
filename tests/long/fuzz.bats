#!/usr/bin/env bats
#
# fuzz.bats - decoders, fed with anything for ten minutes each (or FUZZ_SECONDS)

finds_nothing_for_long() {
	run "$BATS_TEST_DIRNAME/../fuzz/run.sh" "$1" "${FUZZ_SECONDS:-600}"
	echo "$output"
	[[ $status -eq 0 ]]
	[[ $output =~ stat::number_of_executed_units:\ +([0-9]+) ]]
	echo "# ${BASH_REMATCH[1]} inputs" >&3
}

@test "02: no peer breaks a transfer, for long" {
	finds_nothing_for_long 02_transfer
}

@test "03: no line of parameters breaks the decoder, for long" {
	finds_nothing_for_long 03_params
}

@test "06: no datagram breaks the decoder, for long" {
	finds_nothing_for_long 06_dgram
}

@test "04: no peer keeps the exchange from its end, for long" {
	finds_nothing_for_long 04_exchange
}

@test "07: no header of a stream breaks the decoder, for long" {
	finds_nothing_for_long 07_head
}

@test "07: no first message makes what is agreed on make no sense, for long" {
	finds_nothing_for_long 07_hello
}
