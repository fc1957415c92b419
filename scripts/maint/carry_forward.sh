#!/bin/sh
# carry_forward.sh - keep the files that chapters share the same, and report those
# that differ: scripts/lib/carry_forward.py
export LC_ALL=C
exec "$(dirname "$0")/../lib/python.sh" carry_forward "$@"
