#!/usr/bin/env bats
#
# wire.bats - chapters 01 to 05 through networks that lose, delay, reorder and
# duplicate packets, and through one that is cut
# shellcheck disable=SC2154 # top: set by helpers.bash

load ../helpers

setup_file() {
	open_device
}

setup() {
	needs_lab
}

@test "wire: in a worse network each byte is right, or an error is named" {
	run -0 --separate-stderr "$top/scripts/maint/wire_networks.sh"
	echo "$output"
	# Five chapters, seven networks, and the head of the table.
	[[ ${#lines[@]} -eq 36 ]]
	[[ $output != *WRONG* ]]
	# What is as it is must be right, and so must most of the others.
	[[ $(grep -c 'as it is .* right$' <<<"$output") -eq 5 ]]
	[[ $(grep -c ' right$' <<<"$output") -ge 25 ]]
	# Something was lost, or nothing was tested.
	[[ $(awk '/LOSS/ { again += $5 } END { print again }' \
		<<<"$output") -gt 50 ]]
}

# cut CHAPTER: the client has status 12 after 7 tries of 67 ms, unless what it
# sends waits in front of the other node: then its own deadline ends it. See
# docs/wire.md; tests/wire.bats has the seven tries, of a chapter that sends little
# at a time.
cut() {
	local folder=$top/build/tests/long_cut logs=$top/build/wire/$1/long_cut/logs

	mkdir -p "$folder"
	printf '%s\n' 'server: ./server -1 -b 8388608 write' \
		'client: ./client -a 192.0.2.1 -b 8388608 write' \
		>"$folder/commands"
	# On a slower wire: 8 MiB would be there before the link is down.
	CUT=200 DELAY=20ms "$top/scripts/wire.sh" "$1" "$folder" >"$BATS_TEST_TMPDIR/ladder"
	cat "$logs/client.err"
	grep -Eq 'status 12 |a completion: nothing came within 10 s' "$logs/client.err"
	[[ $(wc -l <"$logs/client.err") -eq 1 ]]
	grep -q '^client: exit status 1$' "$logs/status.log"
}

@test "wire: the link is cut in the middle: 02 to 05 say so in time" {
	local chapter

	for chapter in 02_write_read 03_pure_verbs 04_tls_psn 05_multiclient; do
		cut "$chapter"
		# After that, neither node is its old self.
		"$top/scripts/lab.sh" reset a
		"$top/scripts/lab.sh" reset b
	done
}

@test "wire: receiver not ready: the pause that the CM asks for is 0.66 s" {
	local out=$top/build/wire/01_send_recv/break/no_recv_forever

	"$top/scripts/wire.sh" 01 break/no_recv_forever \
		>"$BATS_TEST_TMPDIR/ladder"
	run -0 "$top/scripts/lib/python.sh" wire.timers "$out"
	echo "$output"
	# After the first pause, and not before, it is sent again.
	awk '/RNR NAK \(timer 0\)/ && !first { first = $1 + 1 }
		/client: SEND Only/ && first { again = $1 + 1 - first; exit }
		END { exit !(again >= 0.5 && again < 3) }' <<<"$output"
}
