# shellcheck shell=bash disable=SC2154 # top is of helpers.bash
# For tests of chapter 06, which load it after helpers.bash.

# guest NODE SCRIPT: runs it with bash on a node, in the repository.
guest() {
	device_run "$1" bash -c "cd '$top' && rds=scripts/setup_rds.sh; $2" \
		</dev/null
}
