# others.sh - what the exercise others asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run own 'nodes: 2' 'setup: scripts/setup_rds.sh ib' \
	"server1: $(serving ./server -w 20 -a 192.0.2.1 -T ib)" \
	'server2: ./server -1 -a 192.0.2.1 -p 4010 -T ib' \
	'client&: ./client -a 192.0.2.1:4000,192.0.2.1:4010 -T ib -t 50 -s 4096 -n 200 count' \
	"look: $(look own/client.log '^port 4010: all 200 are sent' 45)" \
	"so-far: cat $place/own/client.log" \
	"end: $(look own/.client.status . 45)" "server-stop: $stopping"
ends 'a server that reads gets all, while another is congested' own look 0
want 'and the other really was' own/so-far.log '^port 4000: all' 0
well 'when that one reads on, it gets the rest' own client
want 'all of it, in order, and so has the first' own/client.log \
	'^  200 messages, all of them, in order$' 2
want 'the client says so of each server, once' own/client.log \
	'^port 40[01]0: all 200 are sent\.$' 2
run both 'nodes: 2' 'setup: scripts/setup_rds.sh ib' \
	'server1: ./server -1 -a 192.0.2.1 -T ib' \
	'server2: ./server -1 -a 192.0.2.1 -p 4010 -T ib' \
	'client: ./client -a 192.0.2.1:4000,192.0.2.1:4010 -T ib -n 500 count'
well 'servers that both read are served as before' both client
want 'each with all messages, in order' both/client.log \
	'^  500 messages, all of them, in order$' 2
# What it costs to wait: who tries again and again burns the processor.
run never 'nodes: 2' 'setup: scripts/setup_rds.sh ib' \
	"server: $(serving ./server -w 60 -a 192.0.2.1 -T ib)" \
	"client: bash -c './client -a 192.0.2.1 -T ib -t 4 -s 4096 -n 200 count; status=\$?; times | tail -n 1; exit \$status'" \
	"server-stop: $stopping"
fails 'a congestion without an end is still an error' never client \
	'the end of a congestion: nothing came'
want 'and is waited for, and not tried again and again' never/client.log \
	'^0m[01]\.[0-9]+s 0m[01]\.[0-9]+s$'
