# compress.sh - what the exercise compress asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

files=$place/files
mkdir -p "$files"
for ((i = 0; i < 20000; i++)); do
	echo "line $i of a log that says the same again and again"
done >"$files/log.txt"
head -c 300007 /dev/urandom >"$files/noise"
{
	head -c 200000 "$files/log.txt"
	head -c 200000 "$files/noise"
	head -c 1 "$files/noise"
} >"$files/both"
: >"$files/empty"

# crossed FILE OPCODE: how many bytes the requests with that opcode had.
crossed() {
	awk -v opcode="opcode=$2" '$1 == "post_send" && $2 == opcode {
		sub(/.*length=/, ""); n += $0 } END { print n + 0 }' "$place/$1"
}

# one_way WAY END OPCODE: END asks for the bytes of the parts. Who writes down what it
# calls is slow: both must be patient.
one_way() {
	local server=./server client=./client bytes

	mkdir -p "$place/$1.in" "$place/noise_$1.in"
	[[ $2 != server ]] || server=$(witness "$1.calls" ./server)
	[[ $2 != client ]] || client=$(witness "$1.calls" ./client)
	run "$1" "server: $server -1 -t 50 -d $place/$1.in" \
		"client: $client -a 192.0.2.1 -t 50 -z $1 $files/log.txt $files/both $files/empty"
	well "$1 -z: the client ends well" "$1" client
	well "$1 -z: the server ends well" "$1" server
	arrives "$1" log.txt both empty
	want "the client says the digest of the file itself" "$1/client.log" \
		"^log\.txt: .* SHA-256 $(sha256sum <"$files/log.txt" | cut -d ' ' -f 1)\$"
	# The two are 1.4 MB, of which 200 kB are noise.
	bytes=$(crossed "$1.calls" "$3")
	check "$1 -z: far fewer bytes cross than the files have" "$1" \
		"$bytes bytes in requests of opcode $3" \
		test "$bytes" -gt 0 -a "$bytes" -lt 500000
	rm -f "$place/$1.calls"
	run "noise_$1" "server: $server -1 -t 50 -d $place/noise_$1.in" \
		"client: $client -a 192.0.2.1 -t 50 -z -b 16384 $1 $files/noise"
	well "$1 -z: a file that cannot be compressed arrives" "noise_$1" client
	arrives "noise_$1" noise
	# 300007 bytes, and a header for each of 19 parts and a few messages.
	bytes=$(crossed "$1.calls" "$3")
	check "$1 -z: and crosses as it is" "noise_$1" \
		"$bytes bytes in requests of opcode $3" \
		test "$bytes" -ge 300007 -a "$bytes" -lt 310000
}
one_way send client 2
one_way write client 1
one_way read server 4

# Beside programs that know nothing of it.
mkdir -p "$place"/{plain,old,wide,kept,bomb,garbage}.in
run plain "server: ORIGINAL/server -1 -d $place/plain.in" \
	"client: ./client -a 192.0.2.1 write $files/log.txt"
well 'without -z, an old server takes the file' plain client
arrives plain log.txt
run old "server: ./server -1 -d $place/old.in" \
	"client: ORIGINAL/client -a 192.0.2.1 read $files/log.txt"
well 'the server takes the file of an old client' old client
arrives old log.txt
run wide "server: ORIGINAL/server -1 -d $place/wide.in" \
	"client: ./client -a 192.0.2.1 -z write $files/log.txt"
ends 'with -z, an old server refuses it' wide client 1
check 'and has no file of that name' wide "it has" \
	test ! -e "$place/wide.in/log.txt"

# Somebody else's client: it breaks off after 9 parts. Then yours goes on.
peer_breaks
run kept "server: $(serving ./server -t 5 -d "$place/kept.in")" \
	"breaks: $place/peer_breaks/client -a 192.0.2.1 -z -q 4 -b 16384 send $files/log.txt" \
	"look: $(look kept/server.log 'bytes are kept' 30)" \
	"client: ./client -a 192.0.2.1 -z write $files/log.txt" "stop: $stopping"
well 'a file that broke off is gone on with' kept client
want 'from where the server has the file' kept/client.log \
	'^log\.txt: the server has [1-9][0-9]* of '
arrives kept log.txt

# Parts that are not what they say: ten times as much as a part may have, and
# bytes that were never compressed.
peer bomb client <<'END_PATCH'
--- a/pack.c
+++ b/pack.c
@@ -12,8 +12,11 @@
 bool pack(char *part, uint32_t *length, char *spare)
 {
+	static char zeros[10 << 20];
 	/* There is no room for more: then it is an error, and sent as it is. */
 	uLongf shorter = *length - 1;
 
-	if (compress2((Bytef *)spare, &shorter, (Bytef *)part, *length,
+	if (*length < 65536)
+		return false;
+	if (compress2((Bytef *)spare, &shorter, (Bytef *)zeros, 10 * *length,
 		      Z_BEST_SPEED) != Z_OK)
 		return false;
END_PATCH
peer garbage client <<'END_PATCH'
--- a/pack.c
+++ b/pack.c
@@ -17,7 +17,7 @@
 	if (compress2((Bytef *)spare, &shorter, (Bytef *)part, *length,
 		      Z_BEST_SPEED) != Z_OK)
 		return false;
-	memcpy(part, spare, shorter);
+	memset(part, 'x', shorter);
 	*length = shorter;
 	return true;
 }
END_PATCH
for way in send write read; do
	for what in bomb garbage; do
		run "${what}_$way" "server: ./server -1 -t 5 -d $place/$what.in" \
			"client: $place/peer_$what/client -a 192.0.2.1 -t 5 -z $way $files/log.txt"
	done
	fails "$way: a part that becomes more than a part is an error" \
		"bomb_$way" server
	fails "$way: a part that cannot be uncompressed is an error" \
		"garbage_$way" server
done
check 'and no such file is there' bomb_send "there is" \
	test ! -e "$place/bomb.in/log.txt" -a ! -e "$place/garbage.in/log.txt"
run help 'client: ./client -h'
want_at_least 'the option is explained' help/client.log '--compress' 1
