# mtu.sh - what the exercise mtu asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run own 'server: ./first 1' 'client: ./first 2 192.0.2.1'
well 'a client is served' own client
ends 'the server ends well' own server 0
want 'the line says what the port has' own/client.log '^local:  .*, RKEY 0x[0-9a-f]{8}, MTU 3$'
want 'and what the other one has' own/server.log '^remote: .*, RKEY 0x[0-9a-f]{8}, MTU 3$'
want 'both take that' own/server.log 'INIT -> RTR: .*, path_mtu=3$'
# says NAME MTU: a peer that takes its port for one with this MTU.
says() {
	peer "$1" first <<-END_PATCH
		--- a/first.c
		+++ b/first.c
		@@ -241,3 +241,3 @@
		 		return false;
		-	conn->mine.mtu = port.active_mtu;
		+	conn->mine.mtu = $2;
		 	return reset_to_init(conn, access);
	END_PATCH
}
says small IBV_MTU_512
run small 'server: ./first 1' "client: $place/peer_small/first 2 192.0.2.1"
want 'a client whose port can do less is obeyed by its server' small/server.log \
	'INIT -> RTR: .*, path_mtu=2$'
well 'and is served' small client
run server "server: $place/peer_small/first 1" 'client: ./first 2 192.0.2.1'
want 'so is such a server by its client' server/client.log 'INIT -> RTR: .*, path_mtu=2$'
well 'and serves' server client
says none 0
run none 'server: ./first 1' "client: $place/peer_none/first 2 192.0.2.1"
fails 'an MTU that there is not is refused' none server '^error: '
want 'before the queue pair leaves INIT' none/server.log 'INIT -> RTR' 0
