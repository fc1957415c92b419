#!/usr/bin/env bash
# stalls.sh - note when this machine stalls
#
# usage: scripts/maint/stalls.sh PID
#
# Until the process PID has ended, a watcher on each processor sleeps for 200 ms
# again and again. When one of them sleeps for 200 ms longer than that, it prints
# when that ended (in microseconds since 1970) and how long it had to wait (in
# milliseconds). So it misses no stall of 400 ms or more, and half a second is what the
# tests' devices bear. It cannot tell what took the processor away; in a virtual machine, it
# is usually the host, which has other guests. tests/stalls.bash uses these lines.
set -euo pipefail

# shellcheck source=scripts/lib/cli.sh
source "$(dirname "$0")/../lib/cli.sh"
cli_help "$@"
[[ $# -eq 1 && $1 =~ ^[0-9]+$ ]] || cli_misuse "a PID is needed"

# A descriptor on which nothing ever comes, to sleep without a process.
exec {silence}<> <(:)

# watch PID CPU
watch() {
	local before now ms

	taskset -cp "$2" "$BASHPID" >/dev/null
	before=${EPOCHREALTIME/[.,]/}
	while [[ -e /proc/$1 ]]; do
		read -rt 0.2 -u "$silence" || true
		now=${EPOCHREALTIME/[.,]/}
		ms=$(((now - before) / 1000 - 200))
		[[ $ms -lt 200 ]] || echo "$now $ms"
		before=$now
	done
}

# Those processors that this process may run on: "0-1,4" is 0, 1 and 4.
processors() {
	local list range

	list=$(taskset -cp $$)
	for range in $(tr ',' ' ' <<<"${list##*: }"); do
		seq "${range%-*}" "${range#*-}"
	done
}

for cpu in $(processors); do
	watch "$1" "$cpu" &
done
wait
