/*
 * test_03_events.c - asynchronous events: named, acknowledged, and no others
 */
#include "event_help.h"

#include <stdio.h>
#include <sys/resource.h>

#include "scripted_events.h"
#include "watcher.h"

#define ALL (IBV_EVENT_WQ_FATAL + 1)

static struct fake rxe0 = { .device.name = "rxe0" };
static int fds[2];

/* As device.c does it. */
static int start(struct watcher *watcher, struct ibv_context *context)
{
	assert_int_equal(pipe(fds), 0);
	dev_reset();
	*context = (struct ibv_context){ .device = &rxe0.device,
					 .async_fd = fds[0] };
	*watcher = (struct watcher){ 0 };
	capture_start();
	return watcher_start(watcher, fds[0], event_take, context);
}

static void stop(struct watcher *watcher)
{
	watcher_stop(watcher);
	capture_stop(&said);
	close(fds[0]);
	close(fds[1]);
	assert_false(watcher->started);
}

/* Sends the types, and waits until the pipe is empty. */
static void happen(const uint8_t *types, size_t count)
{
	struct timespec pause = { .tv_nsec = 1000000 };

	assert_int_equal(write(fds[1], types, count), count);
	while (__atomic_load_n(&dev.events_acknowledged, __ATOMIC_SEQ_CST) <
	       (int)count)
		nanosleep(&pause, NULL);
}

TEST(named)
{
	static const uint8_t types[] = {
		IBV_EVENT_PORT_ERR,    IBV_EVENT_PORT_ACTIVE,
		IBV_EVENT_GID_CHANGE,  IBV_EVENT_QP_FATAL,
		IBV_EVENT_COMM_EST,    IBV_EVENT_QP_ACCESS_ERR,
		IBV_EVENT_DEVICE_FATAL
	};
	struct ibv_context context;
	struct watcher watcher;
	int ret;

	ret = start(&watcher, &context);
	happen(types, sizeof(types));
	stop(&watcher);
	assert_int_equal(ret, 0);
	assert_string_equal(said.err, "");
	assert_string_equal(
		said.out,
		"[async] port error (port_num 3)\n"
		"[async] port active (port_num 3)\n"
		"[async] GID table change (port_num 3)\n"
		"[async] local work queue catastrophic error (QPN 0x000011)\n"
		"[async] communication established (QPN 0x000011)\n"
		"[async] local access violation work queue error (QPN "
		"0x000011)\n"
		"[async] local catastrophic error\n");
}

/* Whatever it is, it is said in a line and acknowledged. */
TEST(every_type)
{
	uint8_t types[ALL];
	struct ibv_context context;
	struct watcher watcher;
	const char *line;
	int lines = 0;

	for (int i = 0; i < ALL; i++)
		types[i] = i;
	assert_int_equal(start(&watcher, &context), 0);
	happen(types, sizeof(types));
	stop(&watcher);
	assert_int_equal(dev.events_taken, ALL);
	assert_int_equal(dev.events_acknowledged, ALL);
	for (line = said.out; *line; line = strchr(line, '\n') + 1) {
		assert_memory_equal(line, "[async] ", 8);
		lines++;
	}
	assert_int_equal(lines, ALL);
}

/* poll(2) fails where fewer descriptors are allowed than it is asked about. */
TEST(blind)
{
	struct rlimit before, few;
	struct ibv_context context;
	struct watcher watcher;

	assert_int_equal(start(&watcher, &context), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ 1, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	/* The next time that it asks, if it is asking already. */
	assert_int_equal(write(fds[1], "", 1), 1);
	pthread_join(watcher.thread, NULL);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	watcher.started = false;
	close(watcher.quit_fd);
	stop(&watcher);
	assert_one_line(said.err, "error: poll: Invalid argument; no more "
				  "events will be named");
}

TEST(broken)
{
	struct ibv_context context;
	struct watcher watcher;

	assert_int_equal(start(&watcher, &context), 0);
	dev.broken = true;
	assert_int_equal(write(fds[1], "", 1), 1);
	pthread_join(watcher.thread, NULL);
	watcher.started = false;
	close(watcher.quit_fd);
	stop(&watcher);
	assert_one_line(said.err, "error: ibv_get_async_event: Input/output "
				  "error; no more events will be named");
}
