# judge.sh - what a repair of both must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

watched pair 'server: ./server -1 read' 'client: ./client -a 192.0.2.1 read'
well 'what the client reads arrives' pair client
well 'and what the server reads' pair server
want 'the queue pair allows reads, and nothing else' pair/client.calls \
	'^modify_qp state=1 access=4 '
want 'so does the region that is lent' pair/client.calls '^reg_mr bytes=1024 access=0x4$'
want 'the other one may be written to from here' pair/client.calls \
	'^reg_mr bytes=1024 access=0x1$'
watched other 'server: ./server -1 write' 'client: ./client -a 192.0.2.1 write'
well 'a write still arrives' other client
want 'and needs no right where it comes from' other/client.calls \
	'^reg_mr bytes=1024 access=0x0$'
honest pair
run their_client 'server: ./server -1 read' 'client: ORIGINAL/client -a 192.0.2.1 read'
well 'the original client can read from it' their_client client
