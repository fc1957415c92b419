#!/usr/bin/env bash
# check_summary.sh - summarize a run of check.sh, and exit with its status
#
# usage: scripts/maint/check_summary.sh DIR STATUS
#
# DIR/*.tap are the results of all tests. Prints the output of those that failed, within
# limits, which runs were repeated, what used the processors' time (DIR/processors), how
# many passed, and last, what was not tested and why. Ends with STATUS, or with 1 if a
# test failed. A test that is skipped did not pass: with CI=true it fails the run. A run
# without any test fails as well.
set -euo pipefail

# shellcheck source=scripts/lib/cli.sh
source "$(dirname "$0")/../lib/cli.sh"
# shellcheck source=scripts/lib/tap.sh
source "$(dirname "$0")/../lib/tap.sh"
cli_help "$@"
[[ $# -eq 2 && -d $1 && $2 =~ ^[0-9]+$ ]] || cli_misuse "DIR and STATUS are needed"
tap=$1 status=$2

count() {
	cat "$tap"/*.tap 2>/dev/null | grep -cE "$1" || true
}

# The ten slowest, of those that bats has timed ("in 1234ms").
slowest() {
	awk 'match($0, / in [0-9]+ms( #.*)?$/) {
		name = $0
		sub(/ in [0-9]+ms( #.*)?$/, "", name)
		sub(/^(not )?ok [0-9]+ /, "", name)
		took = substr($0, RSTART + 4) + 0
		file = FILENAME
		gsub(/^.*\/|\.tap$/, "", file)
		printf "%7.1f s  %s: %s\n", took / 1000, file, name
	}' "$tap"/*.tap 2>/dev/null | sort -rn | head -n 10 || true
}

skipped=$(count '^ok .*# skip')
passed=$(($(count '^ok ') - skipped))
failed=$(count '^not ok ')
[[ $skipped -eq 0 || ${CI:-} != true ]] || status=1
sed -n 's/^# \(run again, .*\)/\1/p' "$tap"/*.tap 2>/dev/null || true
if [[ $failed -gt 0 ]]; then
	tap_failures "$tap"/*.tap
	[[ $status -ne 0 ]] || status=1
fi
slow=$(slowest)
[[ -z $slow ]] || printf 'The slowest tests:\n%s\n' "$slow"
[[ ! -s $tap/processors ]] || cat "$tap/processors"
if [[ $((passed + failed)) -eq 0 ]]; then
	echo "no test has run"
	status=1
fi
echo "$passed passed, $failed failed, $skipped skipped"
# After all else, where nobody overlooks it.
sed -nE 's/^ok [0-9]+ (.*[^ ]) +# skip ?(.*)/NOT TESTED: \1: \2/p' "$tap"/*.tap 2>/dev/null |
	sed -E 's/ in [0-9]+ms: /: /' || true
exit "$status"
