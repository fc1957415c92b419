# judge.sh - what a repair of regular must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

watched three "server: $(serving ./server)" 'client1: ./client -a 192.0.2.1 -N 3 write' \
	'client2: ./client -a 192.0.2.1 -N 3 write' 'client3: ./client -a 192.0.2.1 write' \
	"stop: $stopping"
well 'the first client gets what it asks for' three client1
well 'so does the second one' three client2
well 'and the third one' three client3
# One that comes while another one is there.
watched meets "server: $(serving ./server)" \
	'client1&: ./client -a 192.0.2.1 -N 1000 write' \
	"look: $(look meets/client1.log '^request 5 of' 20)" \
	'client2: ./client -a 192.0.2.1 -N 3 write' \
	"wait: $(look meets/client1.log 'closing connection' 50)" "stop: $stopping"
well 'a client that stays is not disturbed by one that comes' meets client1
# Many places in one program.
watched crowd_of "server: $(serving ./server)" \
	'load: ./load/load -n 16 -N 8 -q 16 -a 192.0.2.1 write' "stop: $stopping"
want 'so does everybody of a crowd' crowd_of/load.log '^16 connections: 16 served'
[[ $bad -eq 0 ]] || verdict
recorded default crowd
