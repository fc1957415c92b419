# judge.sh - what a repair of rest must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

run many 'server: timeout 40 ./server -e 16 -t 8 -w 8' \
	'load: timeout 30 ./load/load -n 16 -j 16 -q 16 -N 20 -t 8 -a 192.0.2.1 sum'
want 'all of sixteen clients are served' many/load.log '^16 connections: 16 served'
[[ $bad -eq 0 ]] || verdict
ends 'and the server ends well' many server 0
recorded default crowd
run ours 'server: timeout 40 ORIGINAL/server -e 30 -t 8 -w 8' \
	'load: timeout 30 ./load/load -n 30 -j 30 -q 30 -t 8 -a 192.0.2.1 write'
want 'so is our crowd by the original server' ours/load.log '^30 connections: 30 served'
