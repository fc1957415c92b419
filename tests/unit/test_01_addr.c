/*
 * test_01_addr.c - addresses: on a machine without IPv6, and on one whose devices are
 * not rxe
 */
#include "addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "test.h"

static bool no_ipv6;

/* As on a machine whose kernel was booted without IPv6. */
int socket(int domain, int type, int protocol)
{
	if (no_ipv6 && domain == AF_INET6) {
		errno = EAFNOSUPPORT;
		return -1;
	}
	return syscall(SYS_socket, domain, type, protocol);
}

/* Looks up what must be there; the caller frees it. */
static struct addrinfo *lookup(const char *host)
{
	struct addrinfo *list = NULL;

	assert_int_equal(addr_lookup(host, "7", &list), 0);
	assert_non_null(list);
	return list;
}

/* A server on all addresses has one, if only of IPv4. */
TEST(lookup_any_without_ipv6)
{
	struct addrinfo *list;

	no_ipv6 = true;
	list = lookup(NULL);
	no_ipv6 = false;
	assert_int_equal(list->ai_family, AF_INET);
	freeaddrinfo(list);
}

static bool is_loopback(const char *host)
{
	struct addrinfo *list = lookup(host);
	bool loopback = addr_is_loopback(list->ai_addr);

	freeaddrinfo(list);
	return loopback;
}

TEST(is_loopback)
{
	assert_true(is_loopback("127.0.0.1"));
	assert_true(is_loopback("127.255.255.254"));
	assert_true(is_loopback("::1"));
	assert_false(is_loopback("126.255.255.255"));
	assert_false(is_loopback("128.0.0.1"));
	assert_false(is_loopback("1.0.0.127"));
	assert_false(is_loopback("0.0.0.0"));
	assert_false(is_loopback("::"));
	assert_false(is_loopback("::2"));
	assert_false(is_loopback("2001:db8::1"));
}

enum {
	PORTS = 2,
	GIDS = 4
};

/* A device, and what is in the tables of its ports. */
struct fake {
	struct ibv_device device;
	bool cannot_open;
	struct {
		int port;
		enum ibv_gid_type type;
		const char *address;
	} gids[GIDS];
};

static struct fake *devices[3];
static int device_count, opened; /* lists and devices that are not given back */

struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list = calloc(device_count + 1, sizeof(*list));

	assert_non_null(list);
	for (int i = 0; i < device_count; i++)
		list[i] = &devices[i]->device;
	*count = device_count;
	opened++;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
	opened--;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context;

	if (((struct fake *)device)->cannot_open)
		return NULL;
	context = calloc(1, sizeof(*context));
	assert_non_null(context);
	context->device = device;
	opened++;
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	free(context);
	opened--;
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	*attr = (struct ibv_device_attr){ .phys_port_cnt = PORTS };
	return 0;
}

/* verbs.h has a macro of this name, which calls the function. */
#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t port,
		   struct _compat_ibv_port_attr *attr)
{
	(void)context;
	assert_in_range(port, 1, PORTS);
	*(struct ibv_port_attr *)attr =
		(struct ibv_port_attr){ .gid_tbl_len = GIDS };
	return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port,
		      uint32_t index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t size)
{
	const struct fake *fake = (struct fake *)context->device;

	assert_true(index < GIDS && size == sizeof(*entry) && !flags);
	if (fake->gids[index].port != (int)port)
		return ENODATA;
	*entry = (struct ibv_gid_entry){ .gid_type = fake->gids[index].type };
	inet_pton(AF_INET6, fake->gids[index].address, entry->gid.raw);
	return 0;
}

/* What is said when no device leads to host. */
static const char *explanation(const char *host)
{
	struct addrinfo *list = lookup(host);
	int ret;

	ret = CAPTURED(addr_explain_no_device(list->ai_addr));
	freeaddrinfo(list);
	assert_int_equal(ret, -1);
	assert_int_equal(opened, 0);
	return said.err;
}

/* The address that would do is the first that others can use. */
TEST(explain_loopback)
{
	struct fake closed = { .cannot_open = true }, bare = { 0 };
	struct fake roce = {
		.gids = { { 1, IBV_GID_TYPE_ROCE_V2, "fe80::1" },
			  { 1, IBV_GID_TYPE_ROCE_V1, "::ffff:198.51.100.9" },
			  { 0 },
			  /* At the far end of the second port's table. */
			  { 2, IBV_GID_TYPE_ROCE_V2, "::ffff:192.0.2.7" } },
	};

	devices[0] = &closed;
	devices[1] = &bare;
	devices[2] = &roce;
	device_count = 3;
	assert_one_line(explanation("127.0.0.1"), "error: 127.0.0.1: ");
	assert_one_line(said.err,
			"; use 192.0.2.7, which is also this machine's");
	assert_one_line(explanation("::1"), "error: ::1: a loopback address");
	assert_one_line(said.err, "; use 192.0.2.7, ");
}

/* A good host, whose addresses are no GIDs, whatever its subnet's prefix is. */
TEST(explain_infiniband)
{
	struct fake ib = {
		.gids = { { 1, IBV_GID_TYPE_IB, "fe80::3" },
			  { 1, IBV_GID_TYPE_IB, "fec0::3" } },
	};

	devices[0] = &ib;
	device_count = 1;
	assert_one_line(explanation("192.0.2.1"),
			"error: 192.0.2.1: no RDMA device leads there");
	assert_one_line(said.err, "on InfiniBand the addresses are those of "
				  "IPoIB netdevs");
	assert_null(strstr(said.err, "has none"));
}
