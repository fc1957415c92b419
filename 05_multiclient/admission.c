/*
 * admission.c - how many may come, so that strangers leave room for others
 */
#include "admission.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>
#include <sys/resource.h>

#include "explain.h"
#include "log.h"

/* Strangers that may be shaking hands, or silent, at the same time. */
#define STRANGERS_MAX 2048

/* With fewer at a time, a silent one would delay others. */
#define STRANGERS_MIN 4

/* A socket and a completion channel; a stranger has only a socket. */
#define CLIENT_DESCRIPTORS 2

/* For files that are open for a moment: /proc, names of hosts. */
#define DESCRIPTORS_SPARE 8

/* ---- Descriptors ---- */

/* How many are open, except the one that counts them. */
static unsigned long count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned long count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	/* Without "." and "..". */
	return count > 3 ? count - 3 : 0;
}

/* Raises the limit until wanted more can be opened; returns how many can. */
static unsigned long allow_descriptors(unsigned long wanted)
{
	unsigned long used = count_descriptors() + DESCRIPTORS_SPARE;
	struct rlimit limit;
	rlim_t before;

	if (getrlimit(RLIMIT_NOFILE, &limit)) {
		log_fail_errno("getrlimit", errno, "RLIMIT_NOFILE");
		return 0;
	}
	before = limit.rlim_cur;
	wanted += used;
	/* Anybody may raise the soft limit up to the hard one. */
	if (limit.rlim_cur < wanted)
		limit.rlim_cur =
			wanted < limit.rlim_max ? wanted : limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		limit.rlim_cur = before;
	return used < limit.rlim_cur ? limit.rlim_cur - used : 0;
}

/* Fewer of both, with a quarter of the descriptors for strangers. */
static int shrink(struct admission *admission, unsigned long left)
{
	unsigned long rest;

	if (admission->strangers > left / 4)
		admission->strangers =
			left / 4 > STRANGERS_MIN ? left / 4 : STRANGERS_MIN;
	rest = left > admission->strangers ? left - admission->strangers : 0;
	if (admission->clients > rest / CLIENT_DESCRIPTORS)
		admission->clients = rest / CLIENT_DESCRIPTORS;
	if (!admission->clients)
		return log_fail(
			"%lu more descriptors are too few for a server; see \"ulimit -Hn\"",
			left);
	log_line(
		"%lu more descriptors: room for %u clients and %u strangers at a time; for more, see \"ulimit -Hn\".",
		left, admission->clients, admission->strangers);
	return 0;
}

int admission_fit(struct admission *admission)
{
	unsigned long wanted, left;

	admission->strangers = STRANGERS_MAX;
	wanted = (unsigned long)admission->clients * CLIENT_DESCRIPTORS +
		 admission->strangers;
	left = allow_descriptors(wanted);
	if (left < wanted && shrink(admission, left))
		return -1;
	/* No address has more than half of the room for strangers. */
	if (admission->per_address > admission->strangers / 2)
		admission->per_address = admission->strangers / 2;
	return 0;
}

/* ---- Addresses ---- */

/* How many strangers have this address. */
struct address {
	struct address *next;
	unsigned int count;
	char name[ADDR_TEXT_SIZE];
};

/*
 * A host with one IPv6 address can use every address with the same first 64 bits,
 * so these count as one.
 */
static void name_address(const struct sockaddr *from, char name[ADDR_TEXT_SIZE])
{
	struct sockaddr_in6 sin6;

	if (from->sa_family != AF_INET6) {
		addr_text(from, name);
		return;
	}
	memcpy(&sin6, from, sizeof(sin6));
	memset(&sin6.sin6_addr.s6_addr[8], 0, 8);
	addr_text((struct sockaddr *)&sin6, name);
}

/* The place in the list where name is, or the end of it. */
static struct address **find(struct admission *admission, const char *name)
{
	struct address **place = &admission->first;

	while (*place && strcmp((*place)->name, name))
		place = &(*place)->next;
	return place;
}

/* The entry for name, which may be a new one; NULL: there is no memory. */
static struct address *find_or_add(struct admission *admission,
				   const char *name)
{
	struct address **place = find(admission, name);

	if (*place)
		return *place;
	*place = calloc(1, sizeof(**place));
	if (*place)
		strcpy((*place)->name, name);
	return *place;
}

int admission_count(struct admission *admission, const struct sockaddr *from,
		    char name[ADDR_TEXT_SIZE])
{
	struct address *address;
	int ret = 0;

	name_address(from, name);
	pthread_mutex_lock(&admission->lock);
	address = find_or_add(admission, name);
	if (!address)
		ret = explain_call("calloc", errno);
	/* Compare and take under one lock: the threads of clients forget. */
	else if (address->count < admission->per_address)
		address->count++;
	else
		ret = log_fail(
			"%s: as many strangers as one address may have at a time (%u, see -X): refused [docs/troubleshooting.md#server-full]",
			name, admission->per_address);
	pthread_mutex_unlock(&admission->lock);
	if (ret)
		*name = 0;
	return ret;
}

void admission_forget(struct admission *admission, char name[ADDR_TEXT_SIZE])
{
	struct address **place, *address;

	pthread_mutex_lock(&admission->lock);
	place = find(admission, name);
	address = *place;
	/* An address with none is not kept. */
	if (address && !--address->count) {
		*place = address->next;
		free(address);
	}
	pthread_mutex_unlock(&admission->lock);
	*name = 0;
}
