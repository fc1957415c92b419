# config_file.sh - what the exercise config_file asks for; sourced by
# scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# conf NAME LINE…: makes a file with these lines.
conf() {
	printf '%s\n' "${@:2}" >"$place/mine/$1.conf"
}
conf good '# a comment' '[server]' 'port = 5544' 'once = yes' '[client]' \
	"address = $(device_address a)" 'port = 5544'
conf value '[server]' 'port = 99999'
conf name '[server]' 'ports = 5544'
conf role '[server]' 'retries = 8'
conf once '[server]' 'once = no'
conf line '[server]' '# one' '# two' '# three' '# four' '# five' 'nonsense'
run own "server: env $fill_freed ./server -f good.conf write" \
	"client: env $fill_freed ./client -f good.conf write"
well 'the client gets its options from the file' own client
well 'and so does the server' own server
want 'the port in the file is taken' own/server.log '^listening on port 5544\.$'
run later 'server: ./server -p 5546 -f good.conf -p 5545 write' \
	'client: ./client -f good.conf -p 5545 write'
well 'what comes later on the command line wins' later client
want 'for the server, too' later/server.log '^listening on port 5545\.$'
run earlier 'server: ./server -p 5546 -f good.conf write' \
	'client: ./client -p 5546 -f good.conf write'
well 'and over what comes earlier, the file' earlier client
want 'and the server listens where the file says' earlier/server.log '^listening on port 5544\.$'
run wrong 'value: ./server -f value.conf write' \
	'name: ./server -f name.conf write' 'role: ./server -f role.conf write' \
	'once: ./server -1 -f once.conf write' \
	'line: ./server -f line.conf write' \
	'section: ./client -a 192.0.2.1 -f line.conf write' \
	'absent: ./client -a 192.0.2.1 -f absent.conf write'
# mistake WHAT NAME: the program ended for it, and named the file.
mistake() {
	ends "$1" wrong "$2" 2
	want_at_least '  and the file is named' "wrong/$2.err" "${3:-$2}\\.conf" 1
	want '  and nothing was opened' "wrong/$2.log" '' 0
}
mistake 'a value in the file is checked as one on the command line' value
mistake 'an option that does not exist is an error' name
mistake 'and so is one of the other program' role
mistake 'an option without a value takes no other than yes' once
mistake 'a line that is no setting is an error' line
want_at_least 'the line is named, too' wrong/line.err 'line\.conf.*\b7\b' 1
mistake 'so it is for a program whose section it is not' section line
mistake 'a file that is not there is an error' absent
