#!/usr/bin/env bats
#
# The fill-in tasks: without its body the chapter does not do what it should, and with
# it, it does. One task, another with every commit; long/repair.bats has all. Needs a
# device.

# shellcheck disable=SC2154 # set by helpers.bash
load helpers
load repair

setup_file() { open_device; }

@test "each chapter from 01 to 04 has three, and the first takes two minutes" {
	local table

	for table in "$top"/0[1-4]_*/fill_in/tasks.tsv; do
		[[ $(grep -vc '^#' "$table") -ge 3 ]]
		run -0 "$top/scripts/fill_in.sh" "$(basename "${table%/*/*}")"
		[[ $output == *'TASK=3'* ]]
	done
	[[ $(cut -f 4 "$top/01_send_recv/fill_in/tasks.tsv" | head -n 1) -eq 2 ]]
}

@test "one of them, without its body and with it" {
	local one

	one=$(chosen 1 fill_in)
	echo "# $one" >&3
	filled "${one%%/*}" "${one##*/}"
}
