#!/usr/bin/env bats
#
# mutants_sample.bats - six faults, others with every commit, and each is noticed

@test "a sample of six mutants, chosen by the commit: all are killed" {
	run "$BATS_TEST_DIRNAME/mutants/run.py" --sample 6
	echo "$output"
	[[ $status -eq 0 ]]
	echo "# ${lines[0]}: ${lines[-1]}" >&3
}
