#!/usr/bin/env bats
#
# fuzz.bats - decoders, fed with anything for about ten seconds, while
# tests/long/fuzz.bats takes longer. What a peer may never get past them is in
# tests/fuzz/fuzz_msg.c.

bats_require_minimum_version 1.5.0

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
}

# finds_out SED: with one check taken out of a copy of the chapter's decoder,
# the fuzzer finds out, in about the time that it is given to find nothing.
finds_out() {
	local copy=$BATS_TEST_TMPDIR/chapter

	mkdir "$copy"
	cp "$top"/02_write_read/{msg.[ch],log.h} "$copy"
	sed -i "$1" "$copy/msg.c"
	run -1 cmp -s "$top/02_write_read/msg.c" "$copy/msg.c"
	FUZZ_DIR=$BATS_TEST_TMPDIR/fuzz run ! \
		"$top/tests/fuzz/run.sh" msg 20 "$copy"
	[[ $output == *"SUMMARY: "* ]]
}

@test "02: no message breaks the decoder, and what it accepts is canonical" {
	run "$top/tests/fuzz/run.sh" msg 8
	echo "$output"
	[[ $status -eq 0 ]]
	[[ $output =~ stat::number_of_executed_units:\ +([0-9]+) ]]
	[[ ${BASH_REMATCH[1]} -gt 10000 ]]
}

@test "02: a decoder that does not look at the reserved byte is found out" {
	finds_out 's/if (w.reserved)/if (0)/'
}

@test "02: a decoder that reads beyond a short message is found out" {
	finds_out 's/if (length != MSG_SIZE)/if (length > MSG_SIZE)/'
}

@test "02: a decoder that lets memory wrap around is found out" {
	finds_out 's/if (mem->addr + mem->length < mem->addr)/if (0)/'
}
