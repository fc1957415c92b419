# stop.sh - what the exercise stop asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

# A client that says nothing, and stays until the server ends the connection.
cat >"$place/mine/stays.c" <<'END_C'
#include <poll.h>
#include <stdio.h>
#include <rdma/rdma_verbs.h>

int main(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *to;
	struct ibv_qp_init_attr attr = { .cap = { 1, 1, 1, 1, 0 },
					 .qp_type = IBV_QPT_RC };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct pollfd pollfd = { .events = POLLIN };

	if (rdma_getaddrinfo("192.0.2.1", "20886", &hints, &to) ||
	    rdma_create_ep(&id, to, NULL, &attr) || rdma_connect(id, NULL))
		return 1;
	pollfd.fd = id->channel->fd;
	if (poll(&pollfd, 1, 8000) != 1 || rdma_get_cm_event(id->channel, &event))
		return 1;
	puts(rdma_event_str(event->event));
	return event->event != RDMA_CM_EVENT_DISCONNECTED;
}
END_C
sed -i "s/192\.0\.2\.1/$(device_address a)/" "$place/mine/stays.c"
cc -o "$place/mine/stays" "$place/mine/stays.c" -lrdmacm -libverbs

run served 'server: ./first 192.0.2.1 1' 'client: ../01_send_recv/first 192.0.2.1'
well 'a client is served' served client
well 'and the server ends by itself after as many as it is told' served server
run alone "server: $(serving ./first 192.0.2.1)" "stop: $stopping"
ends 'SIGTERM ends a server that has no client' alone server 0
run int "server: $(serving ./first 192.0.2.1)" "stop: ${stopping/kill/kill -INT}"
ends 'and so does SIGINT' int server 0
run three "server: $(serving ./first 192.0.2.1)" 'stays1&: ./stays' 'stays2&: ./stays' \
	'stays3&: ./stays' "held: $(look three/server.log ': come\.$' 30 3)" "stop: $stopping"
ends 'SIGTERM ends a server that has three' three server 0
want 'each client that was there is forgotten before the end' three/server.log \
	'^qp_num=0x[0-9a-f]+: gone\.$' 3
for client in stays1 stays2 stays3; do
	ends "$client hears that the connection ends" three $client 0
done
