/*
 * admission.c - for how many clients this process has enough of everything
 */
#include "admission.h"

#include <limits.h>

#include "conn.h"
#include "data.h"
#include "allowed.h"
#include "log.h"

/* With fewer strangers at a time, a silent one would delay others. */
#define STRANGERS_MIN 4

/* A socket and a completion channel; a stranger has only a socket. */
#define CLIENT_DESCRIPTORS 2

/*
 * What a stranger can make OpenSSL hold, in kB: 75 once it has begun its
 * handshake, as was measured, and in the middle of its certificates 16 more
 * (see CERTIFICATES_MAX in tls.c). Before that, it holds only the stack of its
 * thread.
 */
#define STRANGER_KB 96

static unsigned long needed(const struct room *room,
			    const struct supply *supply)
{
	return (unsigned long)room->clients * supply->client +
	       (unsigned long)room->strangers * supply->stranger;
}

int admission_share(struct room *room, const struct supply *supply)
{
	unsigned long left = supply->left;

	if (left >= needed(room, supply))
		return 0;
	/* A quarter is for strangers. */
	if (supply->stranger && room->strangers > left / 4)
		room->strangers =
			left / 4 > STRANGERS_MIN ? left / 4 : STRANGERS_MIN;
	left -= room->strangers * supply->stranger < left ?
			room->strangers * supply->stranger :
			left;
	if (room->clients > left / supply->client)
		room->clients = left / supply->client;
	if (!room->clients)
		return log_fail("%lu %s are too few for a server; %s",
				supply->left, supply->what, supply->hint);
	log_line(
		"%lu %s: room for %u clients and %u strangers at a time; for more, %s.",
		supply->left, supply->what, room->clients, room->strangers,
		supply->hint);
	return 0;
}

/* Makes what a client needs, measures what that locks, and frees it. */
static int measure(const struct device *device, size_t bytes, unsigned int *kb)
{
	struct conn conn = { .device = device };
	struct data data = { 0 };
	unsigned long before = allowed_locked();
	int ret;

	log_prefix("one client, to see what it costs: ");
	ret = conn_create_qp(&conn, DATA_SENDS, DATA_RECEIVES,
			     data_exposed_access(MODE_WRITE)) ||
	      data_open(&data, &conn, MODE_WRITE, bytes);
	*kb = allowed_locked() - before;
	data_close(&data);
	conn_close(&conn);
	log_prefix("%s", "");
	return ret ? -1 : 0;
}

static int fit_memory(struct room *room, const struct device *device,
		      size_t bytes)
{
	struct supply memory = {
		.left = allowed_memory(),
		.what = "more kB of locked memory",
		.hint = "see \"ulimit -Hl\" [docs/troubleshooting.md#memlock]",
	};

	if (memory.left == ULONG_MAX)
		return 0;
	if (measure(device, bytes, &memory.client))
		return -1;
	return memory.client ? admission_share(room, &memory) : 0;
}

/*
 * The memory lent to clients, and as much for sending; a quarter is for
 * strangers.
 */
static int fit_ram(struct room *room, size_t bytes)
{
	const struct supply ram = {
		.left = allowed_ram() - allowed_ram() / 4,
		.what = "kB of memory",
		.hint = "lend less to each, see -b",
		.client = (2 * bytes + 1023) / 1024,
	};

	return admission_share(room, &ram);
}

unsigned int admission_strangers(unsigned long kb)
{
	unsigned long most = kb / 4 / STRANGER_KB;

	if (most < STRANGERS_MIN)
		return STRANGERS_MIN;
	return most < UINT_MAX ? most : UINT_MAX;
}

int admission_fit(struct room *room, const struct device *device, size_t bytes)
{
	struct supply descriptors = {
		.what = "more descriptors",
		.hint = "see \"ulimit -Hn\"",
		.client = CLIENT_DESCRIPTORS,
		.stranger = 1,
	};
	struct supply threads = {
		.left = allowed_threads(),
		.what = "more threads",
		.hint = "see \"ulimit -u\", and pids.max of the control group",
		.client = 1,
		.stranger = 1,
	};

	/* Strangers must not take the memory that clients need. */
	if (room->strangers > admission_strangers(allowed_ram()))
		room->strangers = admission_strangers(allowed_ram());
	descriptors.left = allowed_descriptors(needed(room, &descriptors));
	return admission_share(room, &descriptors) ||
			       admission_share(room, &threads) ||
			       fit_ram(room, bytes) ||
			       fit_memory(room, device, bytes) ?
		       -1 :
		       0;
}
