# second.sh - what the exercise second asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

peer same first </dev/null
run own 'server: ./first' "client: $(witness own.calls ./first 192.0.2.1)"
ends 'the client ends well' own client 0
ends 'and so does the server' own server 0
want 'it reads its values' own/client.log '^1000 values, 0 of them mixed; torn reads: 0$'
want 'and does not find a key that is not there' own/client.log '^key 013: not there$'
# Of a thousand, 166 are for the two keys in their second bucket.
want 'with as few READs as two buckets allow' own.calls '^post_send opcode=4' 1168
run their_server "server: $place/peer_same/first" 'client: ./first 192.0.2.1'
want 'it finds all keys where another server has put them' their_server/client.log \
	'^1000 values, 0 of them mixed; torn reads: 0$'
run their_client 'server: ./first' "client: $place/peer_same/first 192.0.2.1"
want 'and another client those of its server' their_client/client.log \
	'^1000 values, 0 of them mixed; torn reads: 0$'
run writes 'server: ./first write' 'client: ./first 192.0.2.1'
want 'while the server writes, no value is mixed' writes/client.log \
	'^1000 values, 0 of them mixed; torn reads: [1-9]'
