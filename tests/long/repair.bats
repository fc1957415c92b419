#!/usr/bin/env bats
#
# All repair tasks: the chapter as it is passes the check, the broken one does not, and
# each right and each wrong repair is found to be that. And the broken chapters still
# say what is recorded. Needs a device.

# shellcheck disable=SC2154 # set by helpers.bash
load ../helpers
load ../repair

setup_file() { open_device; }

# all_of CHAPTER: each of its tasks. ONLY names one of them.
all_of() {
	local name bad=''

	for name in $(tasks names "$top/$1"); do
		[[ -z ${ONLY:-} || $name == "$ONLY" ]] || continue
		whole "$1" "$name" || bad=yes
	done
	[[ -z $bad ]]
}

@test "01: all tasks, with what repairs them and what does not" {
	all_of 01_send_recv
}

@test "02: all tasks, with what repairs them and what does not" {
	all_of 02_write_read
}

@test "03: all tasks, with what repairs them and what does not" {
	all_of 03_pure_verbs
}

@test "04: all tasks, with what repairs them and what does not" {
	all_of 04_tls_psn
}

@test "05: all tasks, with what repairs them and what does not" {
	all_of 05_multiclient
}

@test "06: all tasks, with what repairs them and what does not" {
	all_of 06_rds
}

@test "07: all tasks, with what repairs them and what does not" {
	all_of 07_full_speed
}

@test "08: all tasks, with what repairs them and what does not" {
	all_of 08_event_loop
}

@test "all functions that are to be filled in" {
	local one bad=''

	for one in $(all_names fill_in); do
		echo "$one"
		filled "${one%%/*}" "${one##*/}" || bad=yes
	done
	[[ -z $bad ]]
}

@test "the broken chapters say what is recorded" {
	local task said chapter bad='' out=$BATS_TEST_TMPDIR/out

	for task in "$top"/[0-9][0-9]_*/repair/*/; do
		task=${task%/}
		said=$(tasks said "$task")
		# What a case says is the case's to test; what is never the same, nobody's.
		[[ $said == "$task" && ! -e $task/varies ]] || continue
		chapter=$(basename "${task%/repair/*}")
		"$top/scripts/repair.sh" --run "$chapter" "${task##*/}" "$out"
		run "$top/scripts/compare_logs.sh" "$out" "$said"
		[[ $status -eq 0 ]] || {
			printf '%s\n%s\n' "$task" "$output"
			bad=yes
		}
	done
	[[ -z $bad ]]
}
