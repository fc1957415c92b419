# config_file.sh - what the exercise config_file asks for; sourced by
# scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

mine=$place/mine
printf '%s\n' '# a comment' '[server]' 'port = 5544' 'once = yes' '[client]' \
	"address = $(device_address a)" 'port = 5544' >"$mine/good.conf"
printf '%s\n' '[server]' 'port = 99999' >"$mine/value.conf"
printf '%s\n' '[server]' 'ports = 5544' >"$mine/name.conf"
printf '%s\n' '[server]' 'nonsense' >"$mine/line.conf"
run own 'server: ./server -f good.conf write' \
	'client: ./client -f good.conf write'
ends 'the client gets its options from the file' own client 0
ends 'and so does the server' own server 0
want 'the port in the file is taken' own/server.log '^listening on port 5544\.$' 1
run later 'server: ./server -f good.conf -p 5545 write' \
	'client: ./client -f good.conf -p 5545 write'
ends 'what comes later on the command line wins' later client 0
want 'for the server, too' later/server.log '^listening on port 5545\.$' 1
run wrong 'value: ./server -f value.conf write' \
	'name: ./server -f name.conf write' 'line: ./server -f line.conf write' \
	'absent: ./client -f absent.conf write'
ends 'a value in the file is checked as one on the command line' wrong value 2
want 'and the file is named' wrong/value.err 'value\.conf'
ends 'an option that does not exist is an error' wrong name 2
want 'and the file is named' wrong/name.err 'name\.conf'
ends 'a line that is no setting is an error' wrong line 2
want 'and the file and its line are named' wrong/line.err 'line\.conf.*2'
ends 'a file that is not there is an error' wrong absent 2
