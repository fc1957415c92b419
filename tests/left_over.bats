#!/usr/bin/env bats
#
# left_over.bats - a server that somebody left running is not taken for ours: it is
# named, and how to end it, and no client is run

# shellcheck disable=SC2154,SC2034 # set and used by helpers.bash
load helpers

setup_file() {
	open_device
	make -s -C "$top/01_send_recv"
	make -s -C "$top/03_pure_verbs"
}

# end_it: does what the refusal says; then the server must be gone.
end_it() {
	local command=${output##*, or: }

	command=${command%%$'\n'*}
	[[ $command == *kill\ [0-9]* ]]
	(cd "$top" && $command)
	wait "$job" || true
}

# leave CHAPTER WORD…: a server is left running, and has said that it listens.
leave() {
	local line said

	coproc LEFT { device_run a bash -c "cd '$top/$1' && exec ./server ${*:2}" \
		</dev/null 3>&-; }
	job=$LEFT_PID
	exec {said}<&"${LEFT[0]}"
	until IFS= read -r -t 60 -u "$said" line && [[ $line == listening* ]]; do
		[[ -n $line ]] || return 1
	done
}

teardown() {
	# The server itself, or what runs it in the lab and tells it: to end the
	# shell around it would leave it there, and bats waiting for it.
	[[ -z ${job:-} ]] || pkill -TERM -P "$job" || true
	[[ -z ${job:-} ]] || wait "$job" || true
}

@test "a server of 01 that was left running is named, and no client is run" {
	rm -rf "$top/build/tests/left"
	leave 01_send_recv
	for command in 'break.sh 01 no_recv' 'exercise.sh --check 01 three 01_send_recv' 'demo.sh 01' \
		'pair.sh 01_send_recv/expected/default/commands build/tests/left'; do
		cd "$top"
		# shellcheck disable=SC2086 # several words
		run "scripts/"$command
		[[ $status -eq 4 || ( $status -eq 1 && $command != pair* ) ]]
		[[ $output == *'another program has this port'*'pair: a server was left running, process '*' (./server); end it'* ]]
		[[ $output != *'matches'* && $output != *'missing'* ]]
		[[ ! -e build/tests/left/client.log ]]
	done
	# Others are not in its way, nor is it in theirs.
	scripts/pair.sh 03_pure_verbs/expected/write/commands build/tests/left
	scripts/compare_logs.sh build/tests/left 03_pure_verbs/expected/write
	end_it
	scripts/pair.sh 01_send_recv/expected/default/commands build/tests/left
	scripts/compare_logs.sh build/tests/left 01_send_recv/expected/default
}
