# two.sh - what the exercise two asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

files=$place/files
mkdir -p "$files"
head -c 2000003 /dev/urandom >"$files/large"
head -c 60001 /dev/urandom >"$files/small"
head -c 300000 /dev/urandom >"$files/medium"
: >"$files/empty"
echo last >"$files/last"
echo hidden >"$files/.hidden"

mkdir -p "$place"/{send,write,read,many,plain,old,wide,kept,third}.in
for way in send write read; do
	run $way "server: ./server -1 -d $place/$way.in" \
		"client: ./client -a 192.0.2.1 -2 -q 8 -b 4096 $way $files/large $files/small"
	well "$way -2: the client ends well" $way client
	well "$way -2: the server ends well" $way server
	arrives $way large small
	want_order "$way -2: the small one does not wait for the large one" \
		$way/client.log '^small: stored, 60001 ' '^large: stored, 2000003 '
	want_order "$way -2: the server has both under way" $way/server.log \
		'^file: large' '^file: small' '^stored: 60001 ' '^stored: 2000003 '
done
# More than two; one cannot be read, and one is refused.
run many "server: ./server -1 -d $place/many.in" \
	"client: ./client -a 192.0.2.1 --two -q 4 -b 4096 write $files/large \
		$files/missing $files/small $files/.hidden $files/empty \
		$files/medium $files/last"
ends 'some that are not sent make the client end with 1' many client 1
want 'it says an error for each of them' many/client.err '^error: ' 2
arrives many large small empty medium last
want_order 'each begins as soon as there is room for it' many/client.log \
	'^small: stored' '^empty: stored' '^medium: stored' '^last: stored' \
	'^large: stored'

# Beside programs that know nothing of it.
run plain "server: ORIGINAL/server -1 -d $place/plain.in" \
	"client: ./client -a 192.0.2.1 write $files/medium $files/small"
well 'without -2, an old server takes the files' plain client
want_order 'one after the other' plain/client.log '^medium: stored' \
	'^small: stored'
run old "server: ./server -1 -d $place/old.in" \
	"client: ORIGINAL/client -a 192.0.2.1 read $files/medium $files/small"
well 'the server takes the files of an old client' old client
arrives old medium small
run wide "server: ORIGINAL/server -1 -d $place/wide.in" \
	"client: ./client -a 192.0.2.1 -2 write $files/large $files/small"
fails 'with -2, an old server ends the connection' wide server \
	'a file within a file|the peer does not wait for an answer'
ends 'and the client fails' wide client 1

# Somebody else's client: it breaks off with both under way. Then yours goes on.
peer breaks client <<'END_PATCH'
--- a/sender.c
+++ b/sender.c
@@ -303,2 +303,4 @@
 	out->at += n;
+	if (out->stream && out->at == 40 * out->channel->bytes)
+		return -1;
 	return channel_send_part(out->channel, n, out->stream) ? -1 : 1;
END_PATCH
run kept "server: $(serving ./server -t 5 -d "$place/kept.in")" \
	"breaks: $place/peer_breaks/client -a 192.0.2.1 -2 -q 4 -b 4096 send $files/large $files/medium" \
	"look: $(look kept/server.log 'bytes are kept' 30 2)" \
	"client: ./client -a 192.0.2.1 -2 write $files/large $files/medium" \
	"stop: $stopping"
well 'files that broke off are gone on with' kept client
want 'both, from where the server has them' kept/client.log \
	'^(large|medium): the server has [1-9][0-9]* of ' 2
arrives kept large medium
# And one that speaks of a third file.
peer third client <<'END_PATCH'
--- a/sender.c
+++ b/sender.c
@@ -276,3 +276,3 @@
 		return 0;
-	head.stream = out->stream;
+	head.stream = out->stream ? 77 : 0;
 	out->state++;
END_PATCH
run third "server: ./server -1 -t 5 -d $place/third.in" \
	"client: $place/peer_third/client -a 192.0.2.1 -2 -t 5 write $files/large $files/small"
fails 'a third file at a time is an error' third server
run help 'client: ./client -h'
want_at_least 'the option is explained' help/client.log '--two' 1
