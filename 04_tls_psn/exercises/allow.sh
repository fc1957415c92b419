# allow.sh - what the exercise allow asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# print NAME: the line of a certificate.
print() {
	openssl x509 -in "$place/mine/certs/$1.pem" -noout -fingerprint -sha256
}
entry=$(print client)
cd "$place/mine" || exit
print server >other.txt
printf '%s\n%s' "$(print server)" "$entry" >good.txt
printf '%s\n' '# these may come' "# REVOKED last week: $entry" "#$entry" >comment.txt
printf '%s\n' '' 'sha256 Fingerprint=' "${entry%:*}" "${entry::40}" >half.txt
printf '%s\n' "$entry:00" "$entry (Tuesdays)" "old $entry" "$(print ca)" >more.txt
cd "$top" || exit
# The server has to read the list anew for each client.
run own "server: $(serving ./server --allow now.txt write)" \
	"copy: cp other.txt now.txt" 'client: ./client -a 192.0.2.1 write' \
	"copy2: cp comment.txt now.txt" 'client2: ./client -a 192.0.2.1 write' \
	"copy3: cp half.txt now.txt" 'client3: ./client -a 192.0.2.1 write' \
	"copy4: cp more.txt now.txt" 'client4: ./client -a 192.0.2.1 write' \
	'remove: rm now.txt' 'client5: ./client -a 192.0.2.1 write' \
	"copy6: cp good.txt now.txt" 'client6: ./client -a 192.0.2.1 write' \
	"look: $(look own/server.log '^peer disconnected' 45)" "stop: $stopping"
fails 'a client that is not in the list is refused' own client
fails 'a comment with its fingerprint lets nobody in' own client2
fails 'nor does a part of it, nor an empty line' own client3
fails 'nor do a line with more than it, nor the fingerprint of the CA' own client4
fails 'without the file nobody is served' own client5
well 'the next one is served, since the list has changed' own client6
ends 'the server ends well, all the same' own server 0
want 'it says so of each it refuses, in one line' own/server.err '^error: ' 5
want 'and nothing else on stderr' own/server.err '' 5
for i in '' 2 3 4 5; do
	want "client$i learns that before it is greeted" own/client$i.log \
		'^exchange connected' 0
done
run short 'server: ./server -1 -L good.txt write' \
	'client: ./client -a 192.0.2.1 write'
well 'the option has a short name' short server
run all 'server: ./server -1 write' 'client: ./client -a 192.0.2.1 write'
well 'without the option everybody is served' all client
run help 'server: ./server -h'
want_at_least 'the option is explained' help/server.log '--allow' 1
