#!/usr/bin/env bats
#
# fuzz.bats - decoders, fed with anything for about ten seconds, while
# tests/long/fuzz.bats takes longer. What a peer may never get past them is in
# tests/fuzz/fuzz_*.c.

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
}

# finds_out TARGET SED [FILE]: with one check taken out of a copy of the chapter's
# decoder, the fuzzer finds out, in about the time that it is given to find
# nothing. With seconds=0 it has only what is kept, and that is enough.
finds_out() {
	local copy=$BATS_TEST_TMPDIR/chapter chapter file=${3:-${1#*_}.c}

	chapter=$(echo "$top/${1%%_*}"_*)
	[[ -e $chapter/$file ]] || file=carried/$file
	[[ -e $chapter/$file ]] || file=plumbing/${file#*/}
	mkdir "$copy"
	cp -r "$chapter/." "$copy"
	sed -i "$2" "$copy/$file"
	run -1 cmp -s "$chapter/$file" "$copy/$file"
	FUZZ_DIR=$BATS_TEST_TMPDIR/fuzz run ! \
		"$top/tests/fuzz/run.sh" "$1" "${seconds:-20}" "$copy"
	[[ $output == *"SUMMARY: "* ]]
}

# finds_nothing TARGET SECONDS [LEAST]: nothing breaks the decoder, of many inputs, and
# of those that are kept, with which it begins.
finds_nothing() {
	run "$top/tests/fuzz/run.sh" "$1" "$2"
	echo "$output"
	[[ $status -eq 0 ]]
	[[ $output =~ seed\ corpus:\ files:\ ([0-9]+) ]]
	[[ ${BASH_REMATCH[1]} -ge $(grep -c '^[^#]' "$top/tests/fuzz/corpus/$1") ]]
	[[ $output =~ stat::number_of_executed_units:\ +([0-9]+) ]]
	[[ ${BASH_REMATCH[1]} -gt ${3:-10000} ]]
}

@test "02: no message breaks the decoder, and what it accepts is canonical" {
	finds_nothing 02_msg 8
}

@test "02: a decoder that does not look at the reserved byte is found out" {
	finds_out 02_msg 's/if (w.reserved)/if (0)/'
}

@test "02: a decoder that reads beyond a short message is found out" {
	finds_out 02_msg 's/if (length != MSG_SIZE)/if (length > MSG_SIZE)/'
}

@test "02: a decoder that lets memory wrap around is found out" {
	finds_out 02_msg 's/if (mem->addr + mem->length < mem->addr)/if (0)/'
}

@test "03: no message breaks the decoder, and what it accepts is canonical" {
	finds_nothing 03_msg 4
}

@test "03: a decoder that does not look at both reserved bytes is found out" {
	finds_out 03_msg 's/ || w.reserved\[1\]//'
}

@test "03: a decoder that takes any type of message is found out" {
	finds_out 03_msg 's/if (w.type != MSG_DONE)/if (0)/'
}

@test "03: no line breaks the decoder, and what it accepts is canonical" {
	finds_nothing 03_params 8
}

@test "03: a decoder that takes another spelling is found out" {
	finds_out 03_params 's/return !strcmp(again, line);/return true;/'
}

@test "03: a decoder that takes more than 24 bits for a PSN is found out" {
	finds_out 03_params 's/params->psn > 0xffffff/0/'
}

@test "03: a decoder that does not see a zero byte is found out" {
	finds_out 03_params 's/ || memchr(wire, 0, length)//'
}

@test "04: no message breaks the decoder, and what it accepts is canonical" {
	finds_nothing 04_params 5
}

@test "04: a decoder that reads a body of any length is found out" {
	finds_out 04_params 's/if (length != sizeof(w))/if (length > 60)/'
}

@test "04: a decoder that does not look at the reserved bytes is found out" {
	finds_out 04_params 's/if (w.reserved)/if (0)/'
}

@test "04: a header of another length than its type's is found out" {
	finds_out 04_params 's/ || be32toh(w.length) != length_of(type)//'
}

@test "04: a decoder that takes a QPN of management is found out" {
	finds_out 04_params 's/params->qpn < 2 || //'
}

@test "05: no message breaks the decoder, and what it accepts is canonical" {
	finds_nothing 05_params 5
}

@test "05: a header of another length than its type's is found out" {
	finds_out 05_params 's/ || be32toh(w.length) != length_of(type)//'
}

@test "05: a decoder that takes more than 24 bits for a PSN is found out" {
	finds_out 05_params 's/params->psn > 0xffffff/0/'
}

@test "06: no datagram breaks the decoder, and what it accepts is canonical" {
	finds_nothing 06_dgram 5
}

@test "06: a decoder that takes a text of any length is found out" {
	finds_out 06_dgram 's/dgram->length > DGRAM_TEXT_MAX/0/'
}

@test "06: a decoder that does not look at the reserved bytes is found out" {
	finds_out 06_dgram 's/ || wire.zero//'
}

@test "06: a decoder that reads beyond a short datagram is found out" {
	finds_out 06_dgram 's/if (length < DGRAM_HEADER)/if (length < 4)/'
}

@test "07: no message breaks the decoder, and what it accepts is canonical" {
	finds_nothing 07_msg 4
}

@test "07: a decoder that takes files of any length is found out" {
	finds_out 07_msg 's/if (mem->length == 0 || mem->length > MSG_MAX_LENGTH)/if (0)/'
}

@test "07: no header of a stream breaks the decoder, nor speaks of what is not there" {
	finds_nothing 07_head 4
}

@test "07: a header that speaks of more than is there is found out" {
	finds_out 07_head 's/if (size - HEAD_SIZE == due)/if (size - HEAD_SIZE <= due)/'
}

@test "07: a decoder that does not look at the reserved bytes is found out" {
	finds_out 07_head 's/w.reserved)/0)/'
}

@test "07: whatever a peer says before files, what is agreed on makes sense" {
	finds_nothing 07_hello 4
}

@test "07: a sender that is offered more parts than it asked for is found out" {
	seconds=0 finds_out 07_hello 's,msg.mem.length / channel->bytes > channel->depth,0,'
}

@test "07: a sender that is offered another way than its own is found out" {
	seconds=0 finds_out 07_hello 's/msg.mode != channel->mode || //'
}

@test "07: a receiver that takes too few parts is found out" {
	seconds=0 finds_out 07_hello 's/depth >= FLOW_LEAST && //'
}

@test "07: a receiver that takes parts beyond all memory is found out" {
	seconds=0 finds_out 07_hello 's/ && depth \* bytes <= MSG_MAX_LENGTH//'
}

@test "07: a message that comes out of turn is found out" {
	seconds=0 finds_out 07_hello 's/msg->type != type/0/'
}

@test "07: a message that is read before its completion is looked at is found out" {
	seconds=0 finds_out 07_hello 's/wc->status != IBV_WC_SUCCESS/0/'
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
@test "04, 05: whatever a peer says in TLS, the exchange comes to an end" {
	finds_nothing 04_exchange 5 20
	finds_nothing 05_exchange 5 20
}

@test "04: an exchange that does not see that its peer has left is found out" {
	finds_out 04_exchange 's/return OOB_GONE;/return OOB_THERE;/' oob.c
}

@test "05: an exchange that believes what it has not checked is found out" {
	finds_out 05_exchange 's/params_decode(params, body, length, roce))/0)/' oob.c
}
