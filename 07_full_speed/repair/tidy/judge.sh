# judge.sh - what a repair of tidy must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# Large parts, so that the device is still busy with one when the next is read; and
# nodes: 2, between which it takes longer; on a busy machine, much longer.
seq 1200000 >"$place/numbers"
for way in send write read; do
	mkdir -m 700 "$place/$way.in"
	watched "$way" 'nodes: 2' "server: ./server -1 -t 50 -d $place/$way.in" \
		"client: ./client -a 192.0.2.1 -t 50 -q 8 -b 1048576 $way $place/numbers"
	well "a large file goes by $way" "$way" client
	check "what has come by $way is what was there" "$way" 'numbers is another file' \
		cmp -s "$place/numbers" "$place/$way.in/numbers"
	rm -r "$place/$way.in"
done
recorded send
