# scan.sh - what the exercise scan asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run before 'server: ORIGINAL/first' "client: $(witness before.calls ORIGINAL/first 192.0.2.1)"
run own 'server: ./first' "client: $(witness own.calls ./first 192.0.2.1)"
ends 'the client ends well' own client 0
ends 'and so does the server' own server 0
want 'it prints eight keys' own/client.log '^scan: key [0-7]$' 8
want_order 'in the order of the table' own/client.log \
	'^scan: key 1$'
want 'and then reads its values' own/client.log '^1000 values, 0 of them mixed; torn reads: 0$'
reads=$(count before.calls '^post_send')
want 'with one READ more than before' own.calls '^post_send' $((reads + 1))
run writes 'server: ORIGINAL/first write' 'client: ./first 192.0.2.1'
want 'while the server writes, all keys are there' writes/client.log '^scan: key [0-7]$' 8
want 'and no value is mixed' writes/client.log '^1000 values, 0 of them mixed; torn reads: [1-9]'
