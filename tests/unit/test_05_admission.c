/*
 * test_05_admission.c - how many strangers an address may have, and all of them
 */
#include "admission.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include "test.h"

static struct admission admission;

static void begin(unsigned int clients, unsigned int per_address)
{
	admission = (struct admission){
		.clients = clients,
		.per_address = per_address,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
}

/* One more stranger from there. */
static int come(const char *text, char name[ADDR_TEXT_SIZE])
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in sin = { .sin_family = AF_INET };

	if (inet_pton(AF_INET6, text, &sin6.sin6_addr) == 1)
		return CAPTURED(admission_count(
			&admission, (struct sockaddr *)&sin6, name));
	assert_int_equal(inet_pton(AF_INET, text, &sin.sin_addr), 1);
	return CAPTURED(
		admission_count(&admission, (struct sockaddr *)&sin, name));
}

/* No address has more than its share, and what is given back can be had again. */
TEST(an_address_has_its_share)
{
	char a[ADDR_TEXT_SIZE], b[ADDR_TEXT_SIZE], c[ADDR_TEXT_SIZE];
	char other[ADDR_TEXT_SIZE];

	begin(4, 2);
	assert_int_equal(come("192.0.2.1", a), 0);
	assert_int_equal(come("192.0.2.1", b), 0);
	assert_string_equal(b, "192.0.2.1");
	assert_int_equal(come("192.0.2.1", c), -1);
	assert_one_line(said.err, "one address may have at a time (2, see -X)");
	assert_string_equal(c, "");
	assert_int_equal(come("192.0.2.2", other), 0);
	admission_forget(&admission, a);
	assert_string_equal(a, "");
	assert_int_equal(come("192.0.2.1", c), 0);
	admission_forget(&admission, b);
	admission_forget(&admission, c);
	admission_forget(&admission, other);
	/* Nothing is kept of those who have left. */
	assert_null(admission.first);
	/* Who is not counted takes nothing away. */
	admission_forget(&admission, a);
	assert_null(admission.first);
}

/* A host has all addresses of IPv6 that differ in the second half only. */
TEST(a_network_of_ipv6_counts_as_one)
{
	char a[ADDR_TEXT_SIZE], b[ADDR_TEXT_SIZE];

	begin(4, 1);
	assert_int_equal(come("2001:db8::1", a), 0);
	assert_int_equal(come("2001:db8::1:2:3", b), -1);
	assert_int_equal(come("2001:db8:0:1::1", b), 0);
	admission_forget(&admission, a);
	admission_forget(&admission, b);
	assert_null(admission.first);
}

static int fit(rlim_t descriptors)
{
	struct rlimit limit;
	int ret;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = descriptors;
	limit.rlim_max = descriptors;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ret = CAPTURED(admission_fit(&admission));
	return ret;
}

/* From much to little: a hard limit cannot be raised again. */
TEST(room_is_what_descriptors_allow)
{
	/* Two for each client, and one for a stranger. */
	begin(10, 1024);
	assert_int_equal(fit(2048 + 20 + 40), 0);
	assert_string_equal(said.out, "");
	assert_int_equal(admission.strangers, 2048);
	assert_int_equal(admission.per_address, 1024);
	begin(1000, 5);
	assert_int_equal(fit(400), 0);
	assert_one_line(said.out, " more descriptors: room for ");
	assert_in_range(admission.strangers, 80, 100);
	assert_in_range(admission.clients, 130, 150);
	/* What -X says is less than half of them. */
	assert_int_equal(admission.per_address, 5);
	begin(1000, 1024);
	assert_int_equal(fit(100), 0);
	assert_int_equal(admission.per_address, admission.strangers / 2);
	begin(1000, 1024);
	assert_int_equal(fit(16), -1);
	assert_one_line(said.err, "too few for a server");
}
