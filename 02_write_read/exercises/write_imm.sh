# write_imm.sh - what the exercise write_imm asks for; sourced by
# scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# one_side NAME: what each side of a run in the mode write must show.
one_side() {
	want "$1: a write with immediate data arrives" "own/$1.log" \
		'^\[on_completion\] .*status=0 .*opcode=129,' 1
	want "$1: its only send is MSG_MR" "own/$1.log" \
		'^\[on_completion\] .*opcode=0,' 1
	want "$1: its only message is the peer's MSG_MR" "own/$1.log" \
		'^\[on_completion\] .*opcode=128,' 1
	want "$1: its own write completes" "own/$1.log" \
		'^\[on_completion\] .*opcode=1,' 1
	want "$1: the peer's bytes are in its memory" "own/$1.log" \
		"^remote buffer: message from $2 side with pid [0-9]+\$" 1
}

run own 'server: ./server -1 write' 'client: ./client -a 192.0.2.1 write'
ends 'the client ends well' own client 0
ends 'the server ends well' own server 0
one_side server active/client
one_side client passive/server
run first 'server: ./server -1 -o first write' \
	'client: ./client -a 192.0.2.1 write'
ends 'it does if both begin at once' first client 0
want 'and the bytes are there' first/server.log '^remote buffer: message from' 1
run reading 'server: ./server -1 read' 'client: ./client -a 192.0.2.1 read'
ends 'the mode read ends well' reading client 0
want 'the mode read sends MSG_DONE as before' reading/client.log \
	'^\[on_completion\] .*opcode=0,' 2
run bench 'server: ./server -1 write' \
	'client: ./client -a 192.0.2.1 -n 20 -b 4096 -q 4'
ends 'the benchmark runs as before' bench client 0
# A peer that keeps to the page, and one that says a length that is not so.
for peer in right wrong; do
	cp -a "$original" "$place/peer_$peer"
	patch -s -d "$place/peer_$peer" -p1 <"$folder/write_imm.patch"
done
sed -i 's/htobe32(data->local.size)/htobe32(data->local.size + 1)/' \
	"$place/peer_wrong/data.c"
grep -q 'size + 1)' "$place/peer_wrong/data.c"
for peer in right wrong; do
	make -s -C "$place/peer_$peer" CFLAGS=-O1 client
done
run right 'server: ./server -1 write' \
	"client: $place/peer_right/client -a 192.0.2.1 write"
ends 'a server gets on with a client of the same protocol' right server 0
ends 'and the client with it' right client 0
run wrong 'server: ./server -1 -t 4 write' \
	"client: $place/peer_wrong/client -a 192.0.2.1 -t 4 write"
ends 'a length that is not that of the write is an error' wrong server 1
want 'and is said, in one line' wrong/server.err '^error: ' 1
