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
# Each command of a test starts here. So this starts no other process, and not
# lib/python.sh, and what `python3 -m` would load first stays where it is.
script=${BASH_SOURCE[0]}
[[ ! -L $script ]] || script=$(realpath -- "$script") || exit
[[ $script == /* ]] || script=$PWD/$script
# Python keeps what it compiles where PYTHONPYCACHEPREFIX says, and nowhere else: the tree
# may be read-only, or watched by git.
export PYTHONDONTWRITEBYTECODE=1
[[ -z ${PYTHONPYCACHEPREFIX:-} ]] || PYTHONDONTWRITEBYTECODE=''
PYTHONSAFEPATH=1 PYTHONPATH=${script%/*} exec /usr/bin/python3 -S \
	"${script%/*}/lib/lab/__main__.py" "$@"
