#!/usr/bin/env bats
#
# packets.bats - what packets.py says of captures: of packets made for this, as no
# device sends them when one wants it
# shellcheck disable=SC2154 # stderr: set by bats

# shellcheck disable=SC2154 # stderr: set by run

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
}

# facts FIELDS LINE…: those fields of each packet that the lines make.
facts() {
	local fields=$1

	shift
	printf '%s\n' "$@" |
		tests/roce_capture.py "$BATS_TEST_TMPDIR/made.pcap"
	scripts/lib/python.sh wire.packets "$BATS_TEST_TMPDIR/made.pcap" |
		awk -F'\t' -v fields="$fields" '
		NR == 1 { for (i = 1; i <= NF; i++) where[$i] = i; next }
		{
			n = split(fields, name, " ")
			for (i = 1; i <= n; i++)
				printf "%s%s", $where[name[i]], i < n ? "|" : "\n"
		}'
}

# shows LINE…: the output is these lines.
shows() {
	diff <(printf '%s\n' "$@") - <<<"$output"
}

@test "an acknowledgement is told by its syndrome, as 9.7.5.2 has it" {
	run -0 facts 'kind text mark' 'client 4 100' \
		'server 17 100 0x00' 'server 17 100 0x1f' 'server 17 100 0x20' \
		'server 17 100 0x2c' 'server 17 100 0x60' 'server 17 100 0x61' \
		'server 17 100 0x62' 'server 17 100 0x63' 'server 17 100 0x64'
	shows 'SEND Only|SEND Only|' 'ACK|ACK MSN 1|' 'ACK|ACK MSN 1|' \
		'RNR NAK|RNR NAK (timer 0) MSN 1|nak' \
		'RNR NAK|RNR NAK (timer 12) MSN 1|nak' \
		'NAK|NAK (PSN Sequence Error) MSN 1|nak' \
		'NAK|NAK (Invalid Request) MSN 1|nak' \
		'NAK|NAK (Remote Access Error) MSN 1|nak' \
		'NAK|NAK (Remote Operational Error) MSN 1|nak' \
		'NAK|NAK (code 4) MSN 1|nak'
}

# after READ BYTES: the packets sent behind it, with PSNs from that of the READ on;
# which of them are told to be sent again.
marks_after() {
	local psn

	run -0 facts 'rel mark' "client 12 $1 $2" \
		"$(for psn in "${@:3}"; do
			echo "client 4 $(((psn + $1) % 0x1000000))"
		done)"
}

@test "a READ takes a PSN for each packet of its answer, the last one included" {
	local bytes

	# A READ of 2,049 bytes is answered in 3: what was asked for again is in
	# there, and what is sent next comes after it.
	marks_after 100 2049 2 3
	shows '0|' '2|again' '3|'
	marks_after 100 2048 1 2
	shows '0|' '1|again' '2|'
	for bytes in 0 1 1023 1024; do
		marks_after 100 "$bytes" 0 1
		shows '0|' '0|again' '1|'
	done
	marks_after 100 1025 1 2
	shows '0|' '1|again' '2|'
}

@test "PSNs go on after 0xffffff, and half of them back is sent again" {
	marks_after 0xffffff 2049 1 2 3 2
	shows '0|' '1|again' '2|again' '3|' '2|again'
	run -0 facts 'psn rel mark' 'client 4 0xffffff' 'client 4 0' \
		'client 4 0xffffff' 'client 4 0x800000' 'client 4 0x1'
	shows '0xffffff|0|' '0x0|1|' '0xffffff|0|again' '0x800000|8388609|' \
		'0x1|2|again'
}

@test "an answer has the relative PSN of the request, of its own direction" {
	run -0 facts 'kind rel' 'client 12 500 2049' 'server 13 500' \
		'server 14 501' 'server 15 502' 'server 4 7000' 'client 17 7000' \
		'client 12 503 10' 'server 16 503'
	shows 'RDMA READ Request|0' 'RDMA READ response First|0' \
		'RDMA READ response Middle|1' 'RDMA READ response Last|2' \
		'SEND Only|0' 'ACK|0' 'RDMA READ Request|3' \
		'RDMA READ response Only|3'
}

@test "what is no capture is said" {
	run -1 --separate-stderr scripts/lib/python.sh wire.packets \
		"$BATS_TEST_TMPDIR/none"
	[[ $stderr == 'tshark: '*'is '*'/none a capture' ]]
	run -2 scripts/lib/python.sh wire.packets
}
