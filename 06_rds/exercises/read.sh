# read.sh - what the exercise read asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run own 'nodes: 2' 'setup: scripts/setup_rds.sh ib' \
	'server: ./server -1 -a 192.0.2.1 --transport ib' \
	'client: ./client -a 192.0.2.1 --transport ib read'
ends 'the client ends well' own client 0
ends 'the server ends well' own server 0
want 'the client prints the text of the server' own/client.log \
	"message from passive/server side with pid [0-9]+"
run write 'nodes: 2' 'setup: scripts/setup_rds.sh ib' \
	'server: ./server -1 -a 192.0.2.1 --transport ib' \
	'client: ./client -a 192.0.2.1 --transport ib write'
ends 'the work write does what it did' write client 0
