# batch.sh - what the exercise batch asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run own "server: $(witness server.calls ./first)" "client: $(witness own.calls ./first 192.0.2.1)"
ends 'the client ends well' own client 0
ends 'and so does the server' own server 0
want 'it reads a thousand values' own/client.log '^1000 values, 0 of them mixed; torn reads: 0$'
want 'with one READ each' own.calls '^post_send opcode=4' 1000
want 'and with one call for eight of them' own.calls '^with one call: 8$' 125
want 'the client asks for eight at a time' own.calls '^asks for reads=8$'
want 'and the server answers as many' server.calls '^modify_qp state=2 .* reads=8 '
run one 'server: ORIGINAL/first' 'client: ./first 192.0.2.1'
want 'a server that allows one at a time is read, too' one/client.log \
	'^1000 values, 0 of them mixed; torn reads: 0$'
run writes 'server: ./first write' "client: $(witness writes.calls ./first 192.0.2.1)"
want 'while the server writes, no value is mixed' writes/client.log \
	'^1000 values, 0 of them mixed; torn reads: [1-9]'
want_at_least 'and what is torn is read again without the others' writes.calls \
	'^post_send opcode=4' 1001
want 'the others are read once' writes.calls '^with one call: 8$' 125
