#!/usr/bin/env bats
#
# demo.bats - what demo.sh makes of its runs; the runs themselves are made up: they
# say what was recorded, unless a test wants something else

load cli

setup() {
	noticing
	printf '#!/bin/sh\necho 192.0.2.1\n' >scripts/setup_rxe.sh
	printf '#!/bin/sh\ntrue\n' >scripts/lab.sh
	cat >scripts/pair.sh <<-'END'
		#!/bin/bash
		folder=$(dirname "${*: -2:1}") out=${*: -1}
		mkdir -p "$out"
		[[ $folder/ != */$CHANGED/ ]] || exit "${CHANGED_STATUS:-0}"
		first=$(find "$folder" -name server.log -o -name 'server1.log' | sort |
			head -n 1)
		cp "$(dirname "$first")"/*.log "$out"
		cp "$(dirname "$first")"/*.err "$out" 2>/dev/null
		exit 0
	END
	export CHANGED=nothing
}

# row TEXT: a line of the table at the end.
row() {
	grep -qE "^$1" <<<"$output"
}

@test "demo: each run has a row, and all that match are a success" {
	run -0 --separate-stderr scripts/demo.sh 01 2
	[[ $output == *"RDMA device: this host's, at 192.0.2.1"* ]]
	runs=("$BATS_TEST_DIRNAME"/../0[12]_*/expected/*/commands)
	[[ $(grep -cE '^0[12]_.* matches +[0-9.]+ s$' <<<"$output") -eq ${#runs[@]} ]]
	row '01_send_recv +One message each way'
	row '02_write_read +One-sided READ'
}

@test "demo: one that differs is in the table, and the status is 1" {
	CHANGED=text run -1 --separate-stderr scripts/demo.sh 01
	row '01_send_recv +One message each way.* matches '
	row '01_send_recv +A message of your own.* DIFFERS '
}
