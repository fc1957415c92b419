/*
 * test_01_addr.c - names and addresses
 */
#include "addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
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

TEST(lookup_address)
{
	struct addrinfo *list = lookup("192.0.2.1", "20886");

	assert_int_equal(list->ai_family, AF_INET);
	assert_int_equal(((struct sockaddr_in *)list->ai_addr)->sin_port,
			 htons(20886));
	assert_null(list->ai_next);
	freeaddrinfo(list);
	list = lookup("2001:db8::1", "65535");
	assert_int_equal(list->ai_family, AF_INET6);
	assert_int_equal(((struct sockaddr_in6 *)list->ai_addr)->sin6_port,
			 htons(65535));
	assert_null(list->ai_next);
	freeaddrinfo(list);
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

/* A machine may be so bare that it has no name at all. */
TEST(lookup_name)
{
	struct addrinfo *list;
	bool has_name = !getaddrinfo("localhost", NULL, NULL, &list);
	int ret;

	if (has_name)
		freeaddrinfo(list);
	ret = CAPTURED(addr_lookup("localhost", "7", &list));
	assert_int_equal(ret, has_name ? 0 : -1);
	if (!has_name) {
		assert_one_line(said.err, "error: cannot look up localhost");
		return;
	}
	assert_true(addr_is_loopback(list->ai_addr));
	freeaddrinfo(list);
}

TEST(lookup_fails)
{
	struct addrinfo *list;
	char name[300];
	int ret;

	/* Longer than a name may be: no name server is asked. */
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	ret = CAPTURED(addr_lookup(name, "7", &list));
	assert_int_equal(ret, -1);
	assert_string_equal(said.out, "");
	assert_one_line(said.err, "error: cannot look up xxx");
	assert_one_line(said.err, "give an address");
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
