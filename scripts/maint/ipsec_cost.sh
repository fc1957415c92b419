#!/usr/bin/env bash
# ipsec_cost.sh - what IPsec and MACsec cost: docs/reach/cost.txt
#
# usage: scripts/maint/ipsec_cost.sh [ROUNDS]
#
# In the lab with two nodes, measures how fast chapter 07 writes 64 KiB at a time, 128 of
# them on their way, over the lab's network as it is, over MACsec and over IPsec in transport mode: each
# once in every one of ROUNDS (default: 9), one after another, so that what else the
# machine does meets all of them. Prints the median of each, and the median of the ratios
# within a round with the least and the largest of them; and which code of the kernel
# encrypts. Nothing else should run meanwhile.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
# shellcheck source=scripts/lib/cli.sh
source scripts/lib/cli.sh
# shellcheck source=scripts/lib/chapter.sh
source scripts/lib/chapter.sh
# shellcheck source=scripts/lib/device.sh
source scripts/lib/device.sh
# shellcheck source=scripts/lib/wiretap/runs.sh
source scripts/lib/wiretap/runs.sh

cli_help "$@"
rounds=${1:-9}
[[ $# -le 1 && $rounds =~ ^[1-9][0-9]?$ ]] || cli_misuse "ROUNDS is 1 to 99: $*"
cli_checked

# measure: sets rate, in MB/s.
measure() {
	cat >"$out/commands" <<-'END'
		server: ./server -B -1 -t 60
		client: ./client -a 192.0.2.1 -t 60 -c -b 65536 -n 100 -q 128
	END
	scripts/pair.sh -n 2 -d 07_full_speed "$out/commands" "$out/logs"
	rate=$(awk -F, '$1 == "op" { for (i = 1; i <= NF; i++) where[$i] = i }
		$1 == "write" { print $where["mb_per_s"] }' "$out/logs/client.log")
	[[ $rate == *[1-9]* ]] || {
		cat "$out/logs/"* >&2
		return 1
	}
}

# encrypts REGEX: the kernel's code for it, as node a says.
encrypts() {
	# shellcheck disable=SC2016 # awk's
	device_run a awk -v name="$1" '$1 == "name" { is = $3 ~ name }
		$1 == "driver" && is { print $3; exit }' /proc/crypto
}

# table: from lines of "plain macsec ipsec".
table() {
	python3 - "$out/rates" <<-'END'
import statistics, sys
rows = [[float(word) for word in line.split()] for line in open(sys.argv[1])]
columns = list(zip(*rows))
print(f"{len(rows)} rounds, 64 KiB writes     median       ratio to plain")
for name, column in zip(("plain", "macsec", "ipsec"), columns):
    ratios = [there / here for there, here in zip(column, columns[0])]
    spread = "" if name == "plain" else (
        f"{statistics.median(ratios):.2f} ({min(ratios):.2f} .. {max(ratios):.2f})")
    print(f"{name:<25} {statistics.median(column):>9.1f} MB/s  {spread}".rstrip())
	END
}

DEVICE=lab
trap cleanup_runs EXIT
out=build/ipsec_cost
rm -rf "$out"
mkdir -p "$out"
device_open 2
make -s -C 07_full_speed
# Whatever an earlier run has left.
mend
names=(plain macsec ipsec)
for ((round = 0; round < rounds; round++)); do
	for ((turn = 0; turn < 3; turn++)); do
		# Each is first, second and last equally often.
		name=${names[(round + turn) % 3]}
		parts=("$name")
		[[ $name != plain ]] || parts=()
		network_is "${parts[@]}"
		measure
		rates[(round + turn) % 3]=$rate
		[[ $name != ipsec ]] || code=$(encrypts rfc4106)
	done
	echo "${rates[*]}" | tee -a "$out/rates" >&2
done
{
	table
	echo "encrypted by: $code"
} | tee docs/reach/cost.txt
