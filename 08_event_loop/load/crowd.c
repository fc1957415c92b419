/*
 * crowd.c - many connections to a server, in one thread
 */
#include "crowd.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "ask.h"
#include "cm.h"
#include "late.h"
#include "log.h"
#include "making.h"

static struct crowd *crowd_of(struct guests *guests)
{
	return (void *)((char *)guests - offsetof(struct crowd, guests));
}

static struct asker *asker_of(struct crowd *crowd, const struct guest *guest)
{
	return &crowd->askers[guest->number - 1];
}

/* Something has happened: the server has time for the next thing. */
static void make_progress(struct crowd *crowd)
{
	crowd->due = crowd->loop.now + crowd->options->timeout_ms;
}

static int ask(struct crowd *crowd, struct asker *asker)
{
	asker->asked++;
	asker->parts = 2;
	asker->sent = crowd->now;
	crowd->under_way++;
	return ask_send(&asker->guest->data, crowd->options->writes);
}

/* Lets as many connections ask as may at a time, in the order of the line. */
static void ask_some(struct crowd *crowd)
{
	struct asker *asker;

	while (crowd->under_way < crowd->options->depth &&
	       (asker = list_first(&crowd->line))) {
		list_remove(&crowd->line, &asker->link);
		asker->in_line = false;
		if (ask(crowd, asker))
			guests_leave(&crowd->guests, asker->guest);
	}
}

/* Puts it at the end of the line. */
static void stand_in_line(struct crowd *crowd, struct asker *asker)
{
	asker->link.owner = asker;
	asker->in_line = true;
	list_append(&crowd->line, &asker->link);
}

/* One of the two parts of an answer is here: goes on when both are. */
static int on_part(struct crowd *crowd, struct asker *asker)
{
	if (--asker->parts)
		return 0;
	crowd->under_way--;
	make_progress(crowd);
	if (asker->asked < crowd->options->cycles) {
		stand_in_line(crowd, asker);
	} else {
		asker->complete = true;
		crowd->asking--;
	}
	ask_some(crowd);
	return 0;
}

static int on_finish(struct guests *guests, struct guest *guest)
{
	struct crowd *crowd = crowd_of(guests);

	asker_of(crowd, guest)->ready = true;
	crowd->making--;
	crowd->ready++;
	return 0;
}

static int on_message(struct guests *guests, struct guest *guest,
		      struct receive *receive)
{
	struct crowd *crowd = crowd_of(guests);
	struct asker *asker = asker_of(crowd, guest);

	if (!asker->parts)
		return log_fail("protocol error: an answer without a request");
	crowd->answered = crowd->now;
	latency_add(&crowd->latency, crowd->answered - asker->sent);
	if (ask_check(&guest->data, crowd->options->writes, receive->bytes,
		      receive->length))
		return -1;
	return on_part(crowd, asker);
}

static int on_sent(struct guests *guests, struct guest *guest)
{
	struct crowd *crowd = crowd_of(guests);
	struct asker *asker = asker_of(crowd, guest);

	return asker->parts ? on_part(crowd, asker) : 0;
}

/* It leaves, whether it is done or not. */
static void on_leave(struct guests *guests, struct guest *guest)
{
	struct crowd *crowd = crowd_of(guests);
	struct asker *asker = asker_of(crowd, guest);

	asker->guest = NULL;
	if (asker->ending) {
		crowd->ending--;
		make_progress(crowd);
	} else if (asker->ready) {
		crowd->lost++;
		crowd->under_way -= asker->parts > 0;
		if (asker->in_line)
			list_remove(&crowd->line, &asker->link);
		crowd->asking -= crowd->phase == PHASE_ASK && !asker->complete;
	} else {
		crowd->making--;
		crowd->refused += asker->refused;
		crowd->failed += !asker->refused;
	}
}

int crowd_open(struct crowd *crowd)
{
	const struct options *options = crowd->options;

	crowd->guests = (struct guests){
		.loop = &crowd->loop,
		.quiet = true,
		.timeouts = { options->timeout_ms, INT_MAX, 0,
			      options->timeout_ms, options->timeout_ms },
		.on_finish = on_finish,
		.on_message = on_message,
		.on_sent = on_sent,
		.on_leave = on_leave,
	};
	if (loop_open(&crowd->loop, late_on_time, &crowd->guests) ||
	    latency_open(&crowd->latency,
			 (size_t)options->count * options->cycles))
		return -1;
	crowd->ids = calloc(options->jobs + 1, sizeof(*crowd->ids));
	crowd->askers = calloc(options->count, sizeof(*crowd->askers));
	if (!crowd->ids || !crowd->askers)
		return log_fail_errno("calloc", errno, "-n %u", options->count);
	if (addr_lookup(options->address, options->port, &crowd->server))
		return -1;
	crowd->events = cm_open_channel();
	if (!crowd->events)
		return -1;
	crowd->cm = (struct watch){ crowd->events->fd, making_on_cm, crowd };
	return loop_add(&crowd->loop, &crowd->cm);
}

static double seconds(int64_t from, int64_t to)
{
	return (to - from) / 1e9;
}

/* All are connected: now they ask. */
static void start_asking(struct crowd *crowd)
{
	crowd->connected = crowd->answered = crowd->now;
	crowd->phase = PHASE_ASK;
	make_progress(crowd);
	log_line("%u connections in %.2f s, %.1f connections/s.", crowd->ready,
		 seconds(crowd->began, crowd->connected),
		 crowd->ready / seconds(crowd->began, crowd->connected));
	for (unsigned int i = 0; i < crowd->options->count; i++)
		if (crowd->askers[i].guest) {
			crowd->asking++;
			stand_in_line(crowd, &crowd->askers[i]);
		}
	ask_some(crowd);
}

static void start_holding(struct crowd *crowd)
{
	crowd->phase = PHASE_HOLD;
	crowd->held_until = crowd->loop.now + crowd->options->hold_ms;
	if (crowd->options->hold_ms)
		log_line("%u connections are held.",
			 crowd->ready - crowd->lost);
}

/* As many farewells at a time as connections in the making. */
static void say_farewell(struct crowd *crowd)
{
	while (crowd->ending < crowd->options->jobs &&
	       crowd->farewells < crowd->options->count) {
		struct asker *asker = &crowd->askers[crowd->farewells++];

		if (!asker->guest)
			continue;
		asker->ending = true;
		crowd->ending++;
		conn_end(&asker->guest->conn);
	}
}

/* What is next, when a phase has come to its end. */
static void go_on(struct crowd *crowd)
{
	if (crowd->phase == PHASE_CONNECT) {
		making_start(crowd);
		if (!crowd->making)
			start_asking(crowd);
	}
	if (crowd->phase == PHASE_ASK && !crowd->asking)
		start_holding(crowd);
	/* If all are gone already, there is nothing to hold. */
	if (crowd->phase == PHASE_HOLD &&
	    (crowd->loop.now >= crowd->held_until || !crowd->guests.count)) {
		crowd->phase = PHASE_LEAVE;
		make_progress(crowd);
	}
	if (crowd->phase == PHASE_LEAVE)
		say_farewell(crowd);
	if (crowd->phase == PHASE_LEAVE && !crowd->guests.count)
		crowd->phase = PHASE_DONE;
}

/* Whether the server has been silent for too long; if not, the loop looks again. */
static bool is_late(struct crowd *crowd)
{
	bool holds = crowd->phase == PHASE_HOLD;

	loop_alarm(&crowd->loop, holds ? crowd->held_until : crowd->due);
	return crowd->loop.now >= crowd->due && !holds &&
	       crowd->phase != PHASE_DONE;
}

static int turn(struct crowd *crowd)
{
	if (loop_turn(&crowd->loop, !guests_are_busy(&crowd->guests)))
		return -1;
	/* Once a turn: reading the clock can cost as much as sending. */
	crowd->now = latency_now();
	return guests_turn(&crowd->guests);
}

static void print_sum(struct crowd *crowd)
{
	struct latency *latency = &crowd->latency;
	double took = seconds(crowd->connected, crowd->answered);
	double rate = took > 0 ? latency->count / took : 0;

	latency_sort(latency);
	log_line("%zu requests of %u bytes in %.2f s, %.1f requests/s.",
		 latency->count, crowd->options->bytes, took, rate);
	log_line("until the answer: p50 %u us, p99 %u us, p99.9 %u us.",
		 latency_of(latency, 500), latency_of(latency, 990),
		 latency_of(latency, 999));
	if (crowd->options->csv)
		log_line(
			"connections,requests,bytes,connects_per_s,requests_per_s,p50_us,p99_us,p99.9_us\n%u,%zu,%u,%.0f,%.0f,%u,%u,%u",
			crowd->ready, latency->count, crowd->options->bytes,
			crowd->ready / seconds(crowd->began, crowd->connected),
			rate, latency_of(latency, 500),
			latency_of(latency, 990), latency_of(latency, 999));
	log_line("%u connections: %u served, %u refused, %u failed.",
		 crowd->options->count, crowd->ready - crowd->lost,
		 crowd->refused, crowd->failed + crowd->lost);
}

int crowd_run(struct crowd *crowd)
{
	int ret = 0;

	crowd->due = INT64_MAX;
	crowd->began = crowd->now = latency_now();
	making_start(crowd);
	while (!ret && crowd->phase != PHASE_DONE && !crowd->loop.asked) {
		ret = turn(crowd);
		go_on(crowd);
		if (!ret && is_late(crowd))
			ret = log_fail(
				"%u answers and %u farewells are missing: nothing came within %g s; is the server alive, and is -t long enough for it [docs/troubleshooting.md#silent]",
				crowd->under_way, crowd->ending,
				crowd->options->timeout_ms / 1000.0);
	}
	if (crowd->loop.asked)
		ret = log_fail(
			"given up, since this program was asked to stop");
	guests_leave_all(&crowd->guests);
	while (crowd->guests.count && !turn(crowd))
		;
	print_sum(crowd);
	return ret || crowd->refused || crowd->failed || crowd->lost ? -1 : 0;
}

void crowd_close(struct crowd *crowd)
{
	guests_free_all(&crowd->guests);
	for (unsigned int i = 0; crowd->ids && i < crowd->options->jobs; i++)
		cm_destroy_id(&crowd->ids[i]);
	region_close(&crowd->exposed);
	region_close(&crowd->messages);
	hub_close(&crowd->hub);
	if (crowd->events)
		rdma_destroy_event_channel(crowd->events);
	if (crowd->server)
		freeaddrinfo(crowd->server);
	latency_close(&crowd->latency);
	free(crowd->ids);
	free(crowd->askers);
	loop_close(&crowd->loop);
}
