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
# What Python compiles stays in build/, and not beside the sources, which git watches.
lab=${script%/*}
export PYTHONPYCACHEPREFIX=${PYTHONPYCACHEPREFIX:-${lab%/*}/build/python}
PYTHONDONTWRITEBYTECODE='' PYTHONSAFEPATH=1 PYTHONPATH=$lab \
	exec /usr/bin/python3 -S "$lab/lib/lab/__main__.py" "$@"
