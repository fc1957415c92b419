#!/bin/bash
# python.sh - start a program of the Python package that this folder is
#
# usage: scripts/lib/python.sh MODULE [ARGUMENT...]
#
# Example: scripts/lib/python.sh repair.tasks names 02_write_read
#
# The package is called `lib`, like its folder. The folders whose programs one starts
# by their own names have a link to it, so `import lib` works there as well.

case ${1:-} in
-h | --help)
	sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
	exit 0
	;;
'' | -*)
	echo "python: which MODULE? -h explains" >&2
	exit 2
	;;
esac
[[ -x /usr/bin/python3 ]] || {
	echo "python: there is no /usr/bin/python3; scripts/install_deps.sh installs it" >&2
	exit 2
}
# What it reads of other programs' output is in English then.
export LC_ALL=C
script=${BASH_SOURCE[0]}
[[ $script == */* ]] || script=./$script
lib=$(cd "${script%/*}" && pwd -P) || exit
export PYTHONPATH=${lib%/*}
# Or else what is in the current folder would come before it (Python 3.11).
export PYTHONSAFEPATH=1
# What it compiles is kept where PYTHONPYCACHEPREFIX says, and nowhere else: the tree may
# be read-only, or watched by git.
export PYTHONDONTWRITEBYTECODE=1
[[ -z ${PYTHONPYCACHEPREFIX:-} ]] || PYTHONDONTWRITEBYTECODE=''
# Without Debian's packages, of which only scapy is used, it starts sooner; and as a file,
# since `python3 -m` loads more than some of the programs do.
bare=-S
[[ $1 != wiretap.switch ]] || bare=
exec /usr/bin/python3 $bare "$lib/${1//.//}.py" "${@:2}"
