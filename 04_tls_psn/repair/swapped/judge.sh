# judge.sh - what a repair of swapped must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded write read
together write
watched chosen 'server: ./server -1 -P 0x200000 write' \
	'client: ./client -a 192.0.2.1 -P 0x100000 write'
well 'the client ends well with a PSN of its own' chosen client
well 'and so does the server' chosen server
want 'the client begins with the PSN that it was given' chosen/client.calls \
	'^modify_qp state=3 .* psn=1048576$'
want 'and says so' chosen/client.log '^Local PSN: 0x100000, Remote PSN: 0x200000$'
# Who is told nothing draws a number, and a new one each time.
run drawn1 'server: ./server -1 write' 'client: ./client -a 192.0.2.1 write'
run drawn2 'server: ./server -1 write' 'client: ./client -a 192.0.2.1 write'
check 'a PSN that nobody gives is drawn anew' drawn2 'both runs began alike' \
	test "$(grep '^Local PSN' "$place"/drawn[12]/client.log | sed 's/.*://' |
		sort -u | wc -l)" -eq 2
