# tap.sh - read the results of tests, in the Test Anything Protocol
#
# To be sourced by bash.
#
#   tap_failures FILE…    prints each test in FILE that failed with what it said,
#                         and where the rest is if that is long
#   tap_junit FILE…       prints them in JUnit's form, with the times that bats measured
# shellcheck shell=bash

tap_failures() {
	awk -v most=30 '
		function rest() {
			if (lines > most)
				printf "# %d lines more in %s\n", lines - most, file
			lines = 0
		}
		FNR == 1 { rest(); file = FILENAME; telling = 0 }
		/^(not )?ok / { rest(); telling = /^not/ }
		telling && ++lines <= most
		END { rest() }' "$@"
}

tap_junit() {
	prove --formatter TAP::Formatter::JUnit --exec cat "$@" 2>/dev/null |
		perl -pe 's|name="(.*) in (\d+)ms"|sprintf q(name="%s" time="%.3f"), $1, $2 / 1000|e'
}
