/*
 * test_01_addr.c - names and addresses
 */
#include "addr.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

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
static struct addrinfo *lookup(const char *host, const char *port)
{
	struct addrinfo *list = NULL;
	int ret;

	ret = CAPTURED(addr_lookup(host, port, &list));
	assert_string_equal(said.err, "");
	assert_int_equal(ret, 0);
	assert_non_null(list);
	return list;
}

/* addr_text() of what host is; host is an address. */
static const char *text_of(const char *host)
{
	static char text[ADDR_TEXT_SIZE];
	struct addrinfo *list = lookup(host, "7");

	assert_ptr_equal(addr_text(list->ai_addr, text), text);
	freeaddrinfo(list);
	return text;
}

static bool is_loopback(const char *host)
{
	struct addrinfo *list = lookup(host, "7");
	bool loopback = addr_is_loopback(list->ai_addr);

	freeaddrinfo(list);
	return loopback;
}

/* A server on all addresses is reached over IPv4 and IPv6. */
TEST(lookup_any)
{
	struct addrinfo *list = lookup(NULL, "7");
	struct sockaddr_in6 *any = (struct sockaddr_in6 *)list->ai_addr;

	assert_int_equal(any->sin6_family, AF_INET6);
	assert_true(IN6_IS_ADDR_UNSPECIFIED(&any->sin6_addr));
	assert_int_equal(any->sin6_port, htons(7));
	freeaddrinfo(list);
}

TEST(lookup_any_without_ipv6)
{
	struct addrinfo *list;

	no_ipv6 = true;
	list = lookup(NULL, "7");
	no_ipv6 = false;
	assert_int_equal(list->ai_family, AF_INET);
	freeaddrinfo(list);
}

TEST(text)
{
	struct sockaddr_storage unknown = { .ss_family = AF_UNSPEC };
	char text[ADDR_TEXT_SIZE];

	assert_string_equal(text_of("192.0.2.1"), "192.0.2.1");
	assert_string_equal(text_of("2001:db8:0:0::1"), "2001:db8::1");
	assert_string_equal(text_of("::ffff:192.0.2.1"), "::ffff:192.0.2.1");
	assert_string_equal(addr_text((struct sockaddr *)&unknown, text),
			    "(no address)");
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
