# judge.sh - what a repair of hasty must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

run there 'setup: scripts/setup_rds.sh tcp' 'server: ./first 192.0.2.1' \
	'client: ./first 192.0.2.1 192.0.2.1'
well 'a message goes each way' there client
well 'and the server ends well' there server
run nobody 'setup: scripts/setup_rds.sh tcp' 'client: ./first 192.0.2.1 192.0.2.77'
fails 'a host that is not there is an error' nobody client 'POLLOUT'
want 'and has acknowledged nothing' nobody/client.log '^sent' 0
recorded first
