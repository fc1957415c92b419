#!/bin/sh
# carry_forward.sh - keep what chapters have in common the same, and say what they
# have not: scripts/lib/carry_forward.py
exec python3 "$(dirname "$0")/../lib/carry_forward.py" "$@"
