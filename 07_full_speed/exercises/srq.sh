# srq.sh - what the exercise srq asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run help 'server: ./server -h'
want_at_least 'the option is explained' help/server.log '--max' 1
# Without it, nobody would come to what is waited for below.
[[ $bad -eq 0 ]] || verdict

files=$place/files
mkdir -p "$files" "$place"/{both,stalls,mute,late,wide,write,kept,plain}.in
head -c 60001 /dev/urandom >"$files/large"
head -c 50003 /dev/urandom >"$files/medium"

# Somebody else's clients. Two wait until there is a file "go". One does so before its
# first part, when it has all its credits, and says when it has used them up.
peer waits client <<'END_PATCH'
--- a/sender.c
+++ b/sender.c
@@ -8,2 +8,3 @@
 #include <inttypes.h>
+#include <poll.h>
 #include <stdio.h>
@@ -211,3 +212,7 @@
 	char *part;
+	bool spent = false;
 
+	log_line("waiting.");
+	while (access("go", F_OK))
+		poll(NULL, 0, 20);
 	while (out->at < out->size) {
@@ -226,2 +231,7 @@
 			return -1;
+		if (!spent && !flow_may_send(&channel->flow) &&
+		    channel->requests.sent == channel->requests.sends) {
+			log_line("all credits are spent.");
+			spent = true;
+		}
 		if (news.what == NEWS_MESSAGE)
END_PATCH
# The other is connected then, and has not said anything.
peer mute client <<'END_PATCH'
--- a/hello.c
+++ b/hello.c
@@ -5,2 +5,5 @@
 
+#include <poll.h>
+#include <unistd.h>
+
 #include "log.h"
@@ -82,2 +85,5 @@
 
+	log_line("waiting.");
+	while (access("go", F_OK))
+		poll(NULL, 0, 20);
 	if (data_post_send(data, SLOT_SEND_FIRST, &msg) ||
END_PATCH
# And one breaks off.
peer_breaks
arguments='-a 192.0.2.1 -t 50 -b 1024 send'
waits="$place/peer_waits/client $arguments"
mute="$place/peer_mute/client $arguments"
breaks="$place/peer_breaks/client $arguments"

# What is made where the programs run is removed there.
clear='clear: rm -f go'

# two RUN LINE…: a run with a server for two clients at a time.
two() {
	run "$1" "server: ./server -1 -m 2 -q 16 -t 50 -d $place/$1.in" \
		"$clear" "${@:2}"
}

# not_ready FILE: how often a device was not ready, or met one that was not.
not_ready() {
	grep -oE '(rcvd|send)_rnr_err [0-9]+' "$place/$1" |
		awk '{ n += $2 } END { print n + 0 }'
}

# most_posted FILE: how many receives of shared queues were posted at a time.
most_posted() {
	awk '$1 == "post_srq_recv" && ++n > most { most = n }
		$1 == "completion" && $3 == "opcode=128" { n-- }
		END { print most + 0 }' "$place/$1"
}

# digest_said RUN NAME FILE: that client says the digest of the file itself.
digest_said() {
	want "the client says the digest of $3 itself" "$1/$2.log" \
		"^$3: .* SHA-256 $(sha256sum <"$files/$3" | cut -d ' ' -f 1)\$"
}

# Both have all their credits, and use them up while the server is stopped.
run both "server: $(serving "$(witness both/server.calls ./server)" -1 -m 2 \
	-q 16 -t 50 -d "$place/both.in")" \
	"$clear" 'before: rdma statistic show' \
	"one&: $waits $files/large" "two&: $waits $files/medium" \
	"look1: $(look both/one.log '^waiting' 30)" \
	"look2: $(look both/two.log '^waiting' 30)" \
	"hold: bash -c 'kill -STOP \$(<server.pid); touch go'" \
	"look3: $(look both/one.log '^all credits' 20)" \
	"look4: $(look both/two.log '^all credits' 20)" \
	"on: bash -c 'kill -CONT \$(<server.pid)'" \
	"look5: $(look both/server.log '^peer disconnected' 30 2)" \
	'after: rdma statistic show'
want_order 'both files are under way at a time' both/server.log \
	'^file: ' '^file: ' '^stored: ' '^stored: '
well 'the first client ends well' both one
well 'the second client ends well' both two
well 'the server ends well' both server
arrives both large medium
digest_said both one large
digest_said both two medium
seen=$(($(not_ready both/after.log) - $(not_ready both/before.log)))
check 'no message met a receiver that was not ready' both \
	"the device's counters say $seen times" test "$seen" -eq 0
want 'no queue pair has receives of its own' both/server.calls '^post_recv' 0
seen=$(grep '^post_srq_recv' "$place/both/server.calls" | sort -u | wc -l)
check 'there is one shared receive queue' both \
	"there are $seen" test "$seen" -eq 1
seen=$(most_posted both/server.calls)
check 'it never has more than the 16 receives of -q' both \
	"it had $seen" test "$seen" -le 16

# What a shared receive has no room for; and what needs no receive.
two wide "one: ./client -a 192.0.2.1 -b 131072 send $files/large" \
	"two: ./client -a 192.0.2.1 send $files/medium"
fails 'parts of more than 65536 bytes are refused' wide server
want 'before any of them is sent' wide/server.log '^file: ' 1
well 'and the other one goes on' wide two
arrives wide medium
two write "one: ./client -a 192.0.2.1 write $files/large" \
	"two: ./client -a 192.0.2.1 send $files/medium"
fails 'another way than send is refused' write server
arrives write medium

# Nobody waits for one that does nothing, wherever it stands.
for name in mute stalls; do
	one=$waits
	[[ $name == stalls ]] || one=$mute
	two $name "one&: $one $files/large" \
		"look1: $(look $name/one.log '^waiting' 30)" \
		"two&: ./client $arguments $files/medium" \
		"look2: $(look $name/server.log '^stored' 20)" 'go: touch go'
	ends "$name: the other one's file does not wait" $name look2 0
	well "$name: the one that waited ends well" $name one
	well "$name: and so does the server" $name server
	arrives $name large medium
done
run late "server: ./server -1 -m 2 -q 16 -t 10 -d $place/late.in" \
	"$clear" \
	"one&: $mute $files/large" "look1: $(look late/one.log '^waiting' 30)" \
	"two: ./client $arguments $files/medium" \
	"look2: $(look late/server.err '^error: ' 30)" 'go: touch go'
fails 'one that says nothing for so long is given up' late server
well "late: and the other one's file is there" late two
arrives late medium

# One breaks off while the other is under way; then there is room for two more.
run kept "server: $(serving ./server -m 2 -q 16 -t 50 -d "$place/kept.in")" \
	"$clear" \
	"two&: $waits $files/medium" "look1: $(look kept/two.log '^waiting' 30)" \
	"breaks: $breaks $files/large" \
	"look2: $(look kept/server.log 'bytes are kept' 30)" 'go: touch go' \
	"look3: $(look kept/server.log '^peer disconnected' 30)" \
	"again&: ./client $arguments $files/large" \
	"other: ./client $arguments $files/medium" \
	"look4: $(look kept/server.log '^peer disconnected' 30 3)" \
	"stop: $stopping"
well 'one that breaks off does not disturb the other' kept two
well 'the next two are served' kept other
want 'a file that broke off is gone on with' kept/again.log \
	'^large: the server has [1-9][0-9]* of '
arrives kept large medium

# Without -m, nothing is shared.
run plain "server: $(witness plain/server.calls ./server) -1 -d $place/plain.in" \
	"client: ./client -a 192.0.2.1 write $files/large"
well 'without -m, the server is as it was' plain server
want 'and shares no receives' plain/server.calls '^post_srq_recv' 0
arrives plain large
