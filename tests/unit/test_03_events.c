/*
 * test_03_events.c - asynchronous events: named, acknowledged, and no others
 */
#include "device.h"

#include <stdio.h>

#include "scripted_events.h"

#define ALL (IBV_EVENT_WQ_FATAL + 1)

static struct fake rxe0 = { .device.name = "rxe0" };
static int fds[2];

static void start(struct device *device, struct ibv_context *context)
{
	assert_int_equal(pipe(fds), 0);
	dev_reset();
	*context = (struct ibv_context){ .device = &rxe0.device,
					 .async_fd = fds[0] };
	*device = (struct device){ .verbs = context };
	capture_start();
}

static void stop(struct device *device)
{
	static const char first[] = "Opened RDMA device: rxe0, port 0\n";
	size_t length = strlen(first);

	device_close(device);
	capture_stop(&said);
	/* What is said before the first event is none of them. */
	assert_memory_equal(said.out, first, length);
	memmove(said.out, said.out + length, strlen(said.out + length) + 1);
	close(fds[0]);
	close(fds[1]);
	assert_false(device->watcher.started);
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
	struct device device;
	int ret;

	start(&device, &context);
	ret = device_start(&device);
	happen(types, sizeof(types));
	stop(&device);
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
	struct device device;
	const char *line;
	int lines = 0;

	for (int i = 0; i < ALL; i++)
		types[i] = i;
	start(&device, &context);
	device_start(&device);
	happen(types, sizeof(types));
	stop(&device);
	assert_int_equal(dev.events_taken, ALL);
	assert_int_equal(dev.events_acknowledged, ALL);
	for (line = said.out; *line; line = strchr(line, '\n') + 1) {
		assert_memory_equal(line, "[async] ", 8);
		lines++;
	}
	assert_int_equal(lines, ALL);
}

TEST(broken)
{
	struct ibv_context context;
	struct device device;

	start(&device, &context);
	dev.broken = true;
	device_start(&device);
	assert_int_equal(write(fds[1], "", 1), 1);
	pthread_join(device.watcher.thread, NULL);
	device.watcher.started = false;
	close(device.watcher.quit_fd);
	stop(&device);
	assert_one_line(said.err, "error: ibv_get_async_event: Input/output "
				  "error; no more events will be named");
}
