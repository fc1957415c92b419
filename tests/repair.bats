#!/usr/bin/env bats
#
# The repair tasks: each rejects what does not repair it and accepts what does. All
# tasks with all their repairs are in long/repair.bats; here is one, another with every
# commit. Needs a device.

# shellcheck disable=SC2154 # set by helpers.bash
load helpers
load repair

setup_file() { open_device; }

@test "each task has a symptom, three hints, a check, and right and wrong repairs" {
	local task chapter name patch wrong right

	for task in "$top"/[0-9][0-9]_*/repair/*/; do
		task=${task%/} name=${task##*/}
		chapter=$(basename "${task%/repair/*}")
		echo "$chapter/$name"
		[ -s "$task/judge.sh" ]
		tasks hint "$task" 3 | grep -q .
		# The rule has a place in the text, and the check has a name in the order.
		grep -qE '\]\(\.\./\.\./' "$task/hints.md"
		grep -qx "$name" "$task/../order"
		wrong=("$top/tests/repair/$chapter/$name"/wrong_*.patch)
		right=("$top/tests/repair/$chapter/$name"/right_*.patch)
		[ ${#wrong[@]} -ge 3 ]
		[ -s "${right[0]}" ]
		for patch in "${wrong[@]}"; do
			[ -n "$(header "$patch" Wrong)" ]
			[ -n "$(header "$patch" Missing)" ]
		done
		# It is not told by what the reader is given.
		run ! grep -qi 'hint\|case:' "$task/task.md"
		tasks letter "$task" x | grep -q '^error: \|exit status'
	done
}

# One copy a task, as its patches apply to the same sources.
@test "all patches of the tasks apply" {
	local task chapter name patch count=0

	for task in "$top"/[0-9][0-9]_*/repair/*/; do
		task=${task%/} name=${task##*/}
		chapter=$(basename "${task%/repair/*}")
		broken_copy "$chapter" "$name"
		for patch in "$top/tests/repair/$chapter/$name"/*.patch; do
			echo "$patch"
			patch -f -s --dry-run -d "$copy" -p1 <"$patch"
			count=$((count + 1))
		done
	done
	[ "$count" -gt 0 ]
}

@test "a task, with what repairs it and what does not" {
	local task chapter

	for task in $(chosen 1 tasks); do
		echo "# $task" >&3
		chapter=${task%%/*}
		is_repaired "$chapter" "${task##*/}" "$top/$chapter"
		repaired "$chapter" "${task##*/}" right_
		broken_copy "$chapter" "${task##*/}"
		run -1 "$top/scripts/repair.sh" --check "$chapter" "${task##*/}" "$copy"
	done
}
