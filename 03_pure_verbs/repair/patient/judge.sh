# judge.sh - what a repair of patient must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154,SC2034

# How long is up to the repair, within reason.
alike='s/timeout=1[2-8],/timeout=14,/'
recorded psn_by_hand read
together write
want 'a timeout is set, which is neither too short for a slow peer nor hours' \
	psn_by_hand/client.calls '^tries retry_count=[1-6] timeout=1[2-8] ' 1
# On two nodes; nodes: 2.
for try in 1 2; do
	lossy "lossy$try" 1% 'server: ./server -1 -t 20 -b 524288 write' \
		'client: ./client -a 192.0.2.1 -t 4 -b 524288 write'
	well "with one packet in a hundred lost, all of it arrives" "lossy$try" client
	well 'and the server has got it' "lossy$try" server
	want 'none of it is wrong' "lossy$try/server.log" '^524288 bytes verified' 1
done
honest lossy1
