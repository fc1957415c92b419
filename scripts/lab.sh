#!/bin/bash
# The lab: up to four throwaway machines with real Soft-RoCE, for
# machines whose own kernel has none. `lab.sh -h` explains its use; the parts
# are in scripts/lib/lab/.

# What the lab reads of other programs' output is in English then, and numbers
# have a decimal point.
export LC_ALL=C

[[ -x /usr/bin/python3 ]] || {
	echo "lab.sh: python3 is not installed" >&2
	echo "        On Debian, as root: apt-get install python3" >&2
	exit 1
}
script=$(realpath -- "${BASH_SOURCE[0]}") || exit
# Not by lib/python.sh, since each command of a test starts here.
PYTHONSAFEPATH=1 PYTHONPATH=${script%/*} exec /usr/bin/python3 -B -S -m lib.lab "$@"
