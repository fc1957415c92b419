/*
 * admission.c - how many may come, so that strangers leave room for others
 */
#include "admission.h"

#include <errno.h>
#include <string.h>

#include <netinet/in.h>
#include <sys/resource.h>

#include "explain.h"
#include "log.h"

/* Strangers that may be shaking hands, or silent, at the same time. */
#define STRANGERS_MAX 2048

/* A socket and a completion channel; a stranger has only a socket. */
#define CLIENT_DESCRIPTORS 2

/* For the server itself: devices, signals, files that are open for a moment. */
#define DESCRIPTORS_SPARE 64

/* With fewer for all others, a silent stranger would delay them. */
#define DESCRIPTORS_LEAST 16

int admission_fit(struct admission *admission)
{
	unsigned long left = 0, clients;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return explain_call("getrlimit", errno);
	/* Anybody may raise the soft limit up to the hard one. */
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		return explain_call("setrlimit", errno);
	if (limit.rlim_cur > DESCRIPTORS_SPARE)
		left = limit.rlim_cur - DESCRIPTORS_SPARE;
	if (left < DESCRIPTORS_LEAST)
		return log_fail(
			"%lu more descriptors are too few for a server; see \"ulimit -Hn\"",
			left);
	admission->strangers =
		left / 4 < STRANGERS_MAX ? left / 4 : STRANGERS_MAX;
	clients = (left - admission->strangers) / CLIENT_DESCRIPTORS;
	if (clients >= admission->clients)
		return 0;
	admission->clients = clients;
	log_line(
		"%lu more descriptors: room for %u clients and %u strangers at a time; for more, see \"ulimit -Hn\".",
		left, admission->clients, admission->strangers);
	return 0;
}

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

int admission_add(struct admission *admission, struct stranger *stranger,
		  const struct sockaddr *from)
{
	unsigned int same = 0, most = admission->strangers / 2;

	name_address(from, stranger->address);
	for (struct stranger *one = admission->first; one; one = one->next)
		same += !strcmp(one->address, stranger->address);
	if (same >= most)
		return log_fail(
			"%s: as many strangers as one address may have at a time (%u): refused [docs/troubleshooting.md#server-full]",
			stranger->address, most);
	stranger->next = admission->first;
	admission->first = stranger;
	return 0;
}

bool admission_remove(struct admission *admission, struct stranger *stranger)
{
	struct stranger **link = &admission->first;

	while (*link && *link != stranger)
		link = &(*link)->next;
	if (!*link)
		return false;
	*link = stranger->next;
	return true;
}
