# judge.sh - what a repair of drowsy must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# A device that takes its time before it notes that an event is due; and the program
# that has been told to use it says at its end how often it looked for nothing.
cat >"$place/slow.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <infiniband/verbs.h>

static typeof(((struct ibv_context_ops *)0)->req_notify_cq) real_notify;
static typeof(((struct ibv_context_ops *)0)->poll_cq) real_poll;
static unsigned long looks;

static int slow_notify(struct ibv_cq *cq, int solicited_only)
{
	struct timespec time = { .tv_nsec = 40000000 };

	while (nanosleep(&time, &time))
		;
	return real_notify(cq, solicited_only);
}

static int counted_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	int ret = real_poll(cq, n, wc);

	looks += ret == 0;
	return ret;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	if (context->ops.req_notify_cq != slow_notify) {
		real_notify = context->ops.req_notify_cq;
		real_poll = context->ops.poll_cq;
		context->ops.req_notify_cq = slow_notify;
		context->ops.poll_cq = counted_poll;
	}
	return ((typeof(&ibv_alloc_pd))dlsym(RTLD_NEXT, "ibv_alloc_pd"))(context);
}

__attribute__((destructor)) static void tell(void)
{
	FILE *file = fopen(getenv("LOOKS"), "w");

	if (file)
		fprintf(file, "looks %lu\n", looks);
}
END
cc -std=gnu11 -O1 -fPIC -shared -o "$place/slow.so" "$place/slow.c"
slow="env LD_PRELOAD=$place/slow.so LOOKS=.."
short=/usr/share/common-licenses/BSD
run late "server: $(files "$slow/server.looks ./server")" \
	"client: $slow/client.looks ./client -a 192.0.2.1 -t 3 -q 4 -b 256 send $short"
well 'what comes between the look and the sleep wakes the client' late client
well 'and the server' late server
# Three seconds in which nothing comes.
broken_peer silent_receiver server
run idle "server: bash -c 'd=\$(mktemp -d) && $place/peer_silent_receiver/server -1 -t 8 -d \$d; rm -r \$d'" \
	"client: $slow/idle.looks ./client -a 192.0.2.1 -t 3 -q 4 -b 256 send /usr/share/common-licenses/GPL-3"
fails 'a client that waits for nothing gives up' idle client
looks=$(sed 's/looks //' "$place/idle.looks")
check 'and sleeps until then' idle "it has looked ${looks:-999} times" \
	test "${looks:-999}" -le 60
recorded send
