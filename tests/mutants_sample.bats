#!/usr/bin/env bats
#
# mutants_sample.bats - three faults, others with every commit, and each is noticed

@test "a sample of three mutants, chosen by the commit: all are killed" {
	run "$BATS_TEST_DIRNAME/mutants/run.py" --sample 3
	echo "$output"
	[[ $status -eq 0 ]]
	echo "# ${lines[0]}: ${lines[-1]}" >&3
}
