# judge.sh - what a repair of elsewhere must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

recorded first
run their_client 'server: ./first' 'client: ORIGINAL/first 192.0.2.1'
same 'the run first with the original client' their_client "$top/$chapter/expected/first"
run their_server 'server: ORIGINAL/first' 'client: ./first 192.0.2.1'
same 'the run first with the original server' their_server "$top/$chapter/expected/first"
# Clients that write beside what they are told of.
other_peer before first <<'END_PATCH'
--- a/first.c
+++ b/first.c
@@ -166,4 +166,5 @@
 	place->rkey = be32toh(place->rkey);
 	place->length = be32toh(place->length);
+	place->addr -= SIZE;
 	return printf("the server lends %u bytes: addr=0x%llx, rkey=0x%x\n",
 		      place->length, (long long)place->addr, place->rkey);
END_PATCH
run before 'server: ./first' "client: $place/peer_before/first 192.0.2.1"
want 'the bytes before what is lent are out of reach' before/client.log '^wc->status = 10 '
other_peer after first <<'END_PATCH'
--- a/first.c
+++ b/first.c
@@ -166,4 +166,5 @@
 	place->rkey = be32toh(place->rkey);
 	place->length = be32toh(place->length);
+	place->addr += SIZE;
 	return printf("the server lends %u bytes: addr=0x%llx, rkey=0x%x\n",
 		      place->length, (long long)place->addr, place->rkey);
END_PATCH
run after 'server: ./first' "client: $place/peer_after/first 192.0.2.1"
want 'and so are those behind it' after/client.log '^wc->status = 10 '
