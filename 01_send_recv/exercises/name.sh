# name.sh - what the exercise name asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# A client that fills the whole field, with no zero and with bytes that are no text.
peer full client <<'END_PATCH'
--- a/rdma.c
+++ b/rdma.c
@@ -409,6 +409,7 @@
 	/* With the zero at its end: the rest of the field is zero as well. */
 	param.private_data = name;
-	param.private_data_len = 1 + snprintf(name, sizeof(name),
-					      "client with pid %d", getpid());
+	memset(name, 'A', sizeof(name));
+	memcpy(name, "\033\n", 2);
+	param.private_data_len = sizeof(name);
 	if (rdma_connect(conn->id, &param))
 		return explain_call("rdma_connect", errno);
END_PATCH
# Memory is overwritten when it is freed, so who looks there later finds 0xaa. Small pieces would be
# kept aside, and are only overwritten without that.
fill_freed=GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.perturb=170
run own "server: env $fill_freed $(serving ./server)" \
	'client: ./client -a 192.0.2.1' 'client2: ORIGINAL/client -a 192.0.2.1' \
	"client3: $place/peer_full/client -a 192.0.2.1" \
	'client4: ./client -a 192.0.2.1' "stop: $stopping"
well 'a client that says its name is served' own client
fails 'one that does not is refused, and knows by whom' own client2 \
	'REJECTED \(status 28\)'
well 'and the next one is served again' own client4
ends 'the server ends well' own server 0
pid=$(sed -n 's/^received message: .* with pid //p' "$place/own/server.log" |
	head -n 1)
want 'the name has the pid that the message has, too' own/server.log \
	"^private data: client with pid ${pid:-unknown}\$"
want_order 'it is said of each, behind its request and before it is connected' \
	own/server.log \
	'^received conn' '^private data: client with pid [0-9]+$' '^connected' \
	'^received conn' '^private data: $' \
	'^received conn' '^private data: \\x1b\\x0aA+$' '^connected' \
	'^received conn' '^private data: client with pid [0-9]+$' '^connected'
want 'a field without a zero is read to its end, and no further' own/server.log \
	'^private data: \\x1b\\x0aA{54}$'
want 'the server says one error, for the client without a name' \
	own/server.err '^error: '
want 'and nothing else on stderr' own/server.err ''
run once 'server: ./server -1' 'client: ORIGINAL/client -a 192.0.2.1'
fails 'a server with -1 that has refused its client ends with 1' once server
