#!/usr/bin/env bats
#
# fuzz.bats - decoders, fed with anything for about ten seconds, while
# tests/long/fuzz.bats takes longer. What a peer may never get past them is in
# tests/fuzz/fuzz_msg.c.

bats_require_minimum_version 1.5.0

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
}

# finds_out TARGET SED: with one check taken out of a copy of the chapter's
# decoder, the fuzzer finds out, in about the time that it is given to find
# nothing.
finds_out() {
	local copy=$BATS_TEST_TMPDIR/chapter chapter=02_write_read

	[[ $1 == msg ]] || chapter=03_pure_verbs
	[[ $1 != params_04 ]] || chapter=04_tls_psn
	[[ $1 != dgram ]] || chapter=06_rds
	mkdir "$copy"
	cp "$top/$chapter"/*.[ch] "$copy"
	sed -i "$2" "$copy/${1%_04}.c"
	run -1 cmp -s "$top/$chapter/${1%_04}.c" "$copy/${1%_04}.c"
	FUZZ_DIR=$BATS_TEST_TMPDIR/fuzz run ! \
		"$top/tests/fuzz/run.sh" "$1" 20 "$copy"
	[[ $output == *"SUMMARY: "* ]]
}

# finds_nothing TARGET SECONDS: nothing breaks the decoder, of many inputs.
finds_nothing() {
	run "$top/tests/fuzz/run.sh" "$1" "$2"
	echo "$output"
	[[ $status -eq 0 ]]
	[[ $output =~ stat::number_of_executed_units:\ +([0-9]+) ]]
	[[ ${BASH_REMATCH[1]} -gt 10000 ]]
}

@test "02: no message breaks the decoder, and what it accepts is canonical" {
	finds_nothing msg 8
}

@test "02: a decoder that does not look at the reserved byte is found out" {
	finds_out msg 's/if (w.reserved)/if (0)/'
}

@test "02: a decoder that reads beyond a short message is found out" {
	finds_out msg 's/if (length != MSG_SIZE)/if (length > MSG_SIZE)/'
}

@test "02: a decoder that lets memory wrap around is found out" {
	finds_out msg 's/if (mem->addr + mem->length < mem->addr)/if (0)/'
}

@test "03: no line breaks the decoder, and what it accepts is canonical" {
	finds_nothing params 8
}

@test "03: a decoder that takes another spelling is found out" {
	finds_out params 's/return !strcmp(again, line);/return true;/'
}

@test "03: a decoder that takes more than 24 bits for a PSN is found out" {
	finds_out params 's/params->psn > 0xffffff/0/'
}

@test "03: a decoder that does not see a zero byte is found out" {
	finds_out params 's/ || memchr(wire, 0, length)//'
}

@test "04: no message breaks the decoder, and what it accepts is canonical" {
	finds_nothing params_04 5
}

@test "04: a decoder that reads a body of any length is found out" {
	finds_out params_04 's/if (length != sizeof(w))/if (length > 60)/'
}

@test "04: a decoder that does not look at the reserved bytes is found out" {
	finds_out params_04 's/if (w.reserved)/if (0)/'
}

@test "04: a header of another length than its type's is found out" {
	finds_out params_04 's/ || be32toh(w.length) != length_of(type)//'
}

@test "04: a decoder that takes a QPN of management is found out" {
	finds_out params_04 's/params->qpn < 2 || //'
}

@test "06: no datagram breaks the decoder, and what it accepts is canonical" {
	finds_nothing dgram 5
}

@test "06: a decoder that takes a text of any length is found out" {
	finds_out dgram 's/dgram->length > DGRAM_TEXT_MAX/0/'
}

@test "06: a decoder that does not look at the reserved bytes is found out" {
	finds_out dgram 's/ || wire.zero//'
}

@test "06: a decoder that reads beyond a short datagram is found out" {
	finds_out dgram 's/if (length < DGRAM_HEADER)/if (length < 4)/'
}
