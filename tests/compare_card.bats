#!/usr/bin/env bats
#
# compare_logs.sh, of runs on a card: what may differ there is a table. No card was
# at hand, so as_on_a_card makes the logs: it edits recorded runs on Soft-RoCE into
# what a ConnectX is said to print, and they are no recordings.

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
	RUN=$BATS_TEST_TMPDIR/run
}

# as_on_a_card FOLDER SCRIPT [DEVICE]: the logs of FOLDER, edited with sed.
as_on_a_card() {
	rm -rf "$RUN"
	cp -r "$1" "$RUN"
	sed -i -E "$2" "$RUN"/*.log "$RUN"/*.err 2>/dev/null || true
	echo "${3:-card mlx5_0}" >"$RUN/device"
}

compare() {
	run -"$1" scripts/compare_logs.sh "$RUN" "$2"
}

write=03_pure_verbs/expected/write
short=01_send_recv/break/short_recv
mtu='s/(path_mtu=|MTU )1024/\14096/; s/\brxe0\b/mlx5_0/'
event='/^INIT -> RTR/a [async] communication established (QPN 0x000045)'
codes='s/(status( =)? )11 \(remote operation error\)(: .*)?$/\19 (remote invalid request error): another text/
	s/(status( =)? )2 \(local QP operation error\)(: .*)?$/\11 (local length error): another text/
	s/^(wc.*): another text$/\1/'

@test "another MTU and another event: matches, on a card, and only there" {
	as_on_a_card "$write" "$mtu; $event"
	compare 0 "$write"
	[ "$output" = 'matches (on a card: another path MTU; an asynchronous event of a queue pair)' ]
	echo 'rxe rxe0' >"$RUN/device"
	compare 1 "$write"
	rm "$RUN/device"
	compare 1 "$write"
}

@test "a run that is as on Soft-RoCE matches without a word more" {
	as_on_a_card "$write" 's/\brxe0\b/mlx5_0/'
	compare 0 "$write"
	[ "$output" = matches ]
}

@test "other codes, and the words behind them" {
	as_on_a_card "$short" "$codes"
	grep -q '^error: send: status 9 .*: another text$' "$RUN/client.err"
	grep -q '^wc->status = 1 (local length error)$' "$RUN/server.log"
	compare 0 "$short"
	[ "$output" = 'matches (on a card: status 9 for 11; status 1 for 2)' ]
	# Each end may have its own.
	as_on_a_card "$short" "${codes/11/111}"
	compare 0 "$short"
	[ "$output" = 'matches (on a card: status 1 for 2)' ]
}

@test "what is wrong on a card, too: another code, other ends, a line more" {
	as_on_a_card "$short" 's/status 11 /status 10 /'
	compare 1 "$short"
	# Where the logged run has 9 itself, 11 is no right answer.
	as_on_a_card 03_pure_verbs/break/no_access_flags \
		's/9 \(remote invalid request error\)/11 (remote operation error)/'
	compare 1 03_pure_verbs/break/no_access_flags
	as_on_a_card "$write" "$mtu; s/send completed successfully/something else/"
	compare 1 "$write"
	as_on_a_card "$write" "s/path_mtu=1024/path_mtu=1500/"
	compare 1 "$write"
	as_on_a_card "$write" '1a [async] device catastrophic error'
	compare 1 "$write"
	# Two ends that do not agree on the MTU.
	as_on_a_card "$write" ''
	sed -i 's/path_mtu=1024/path_mtu=4096/' "$RUN/client.log"
	sed -i 's/path_mtu=1024/path_mtu=2048/' "$RUN/server.log"
	compare 1 "$write"
}

@test "each row of the table: three fields, a pattern, a difference in words" {
	local theirs ours words rest patterns=()

	while IFS=$'\t' read -r theirs ours words rest; do
		[[ $theirs != \#* ]] || continue
		[[ -n $theirs && -n $ours && -n $words && -z $rest ]]
		[[ $ours == - ]] || grep -rqF -- "$ours" 0*/expected 0*/break
		patterns+=("$theirs")
	done <scripts/lib/on_a_card.tsv
	/usr/bin/python3 -S -c 'import re, sys
for pattern in sys.argv[1:]:
	re.compile(pattern)' "${patterns[@]}"
}
