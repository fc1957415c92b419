# tap.sh - read the results of tests, in the Test Anything Protocol
#
# To be sourced by bash.
#
#   tap_failures FILE…    prints each test in FILE that failed with what it said,
#                         and where the rest is if that is long
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
