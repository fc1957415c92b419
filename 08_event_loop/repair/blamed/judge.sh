# judge.sh - what a repair of blamed must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

watched two "server: $(serving ./server)" \
	'greedy&: ./load/load -n 1 -g 14 -t 30 -a 192.0.2.1' \
	"held: $(look two/greedy.log 'are sent, and no echo' 20)" \
	'client: ./client -a 192.0.2.1' "stop: $stopping"
well 'a client is served while another one takes no echo' two client
watched away "server: $(serving ./server)" \
	'greedy: ./load/load -n 1 -g 20 -a 192.0.2.1' "stop: $stopping"
want 'who takes no echo is still sent away' away/server.log \
	'^Client 1: sent away after 15 messages'
# Each has one echo under way, and all of them together have many.
watched crowd_of "server: $(serving ./server)" \
	'load: ./load/load -n 60 -N 20 -q 60 -a 192.0.2.1' "stop: $stopping"
want 'everybody of a crowd is served' crowd_of/load.log '^60 connections: 60 served'
[[ $bad -eq 0 ]] || verdict
recorded default crowd
