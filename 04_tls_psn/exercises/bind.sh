# bind.sh - what the exercise bind asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# psn RUN END: the PSN that it began with.
psn() { sed -n 's/^RTR -> RTS: sq_psn=\(0x[0-9a-f]*\),.*/\1/p' "$place/$1/$2.log"; }

# Both builds trust one CA, so that certificates are not what fails.
rm -rf "$original/certs"
cp -r "$place/mine/certs" "$original"
for i in own again; do
	run $i 'server: ./server -1 write' 'client: ./client -a 192.0.2.1 write'
done
well 'the client ends well' own client
well 'the server ends well' own server
want 'the client has written' own/server.log \
	'^remote buffer: message from active/client side with pid [0-9]+$'
want 'the server has written' own/client.log \
	'^remote buffer: message from passive/server side with pid [0-9]+$'
for side in client server; do
	check "the PSN of the $side is another for each connection" own \
		"twice $(psn own $side)" \
		test "$(psn own $side)" != "$(psn again $side)"
done
check 'the two ends begin with different numbers' own "both $(psn own client)" \
	test "$(psn own client)" != "$(psn own server)"
# The chapter's own programs tell their PSN, and say which one they have heard.
run old 'server: ./server -1 -t 4 write' \
	'client: ORIGINAL/client -a 192.0.2.1 -t 4 write'
fails 'a server refuses a PSN that it is told' old server
want 'and does not connect its queue pair' old/server.log ' -> RTR' 0
ends 'and the client comes to nothing' old client 1
run new 'server: ORIGINAL/server -1 -t 4 write' \
	'client: ./client -a 192.0.2.1 -t 4 write'
fails 'a client refuses such a PSN, too' new client
want 'and does not connect its queue pair, either' new/client.log ' -> RTR' 0
ends 'and the server comes to nothing' new server 1
want 'the client has told nobody its PSN' new/server.log '^remote: .* PSN 0x000000,'
