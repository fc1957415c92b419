/*
 * tls_talk.h - what a chapter's TLS does of a peer that it has let in
 *
 * Included after tls_peers.h by a test of each chapter that has TLS.
 */
#ifndef TLS_TALK_H
#define TLS_TALK_H

/* What a flood may last, and what nobody may take who is to end before. */
#define FLOOD_MS 12000
#define SOON_MS 6000

/* The descriptor that is read slowly: there is always more to read. */
static int slow_fd = -1;

ssize_t read(int fd, void *bytes, size_t size)
{
	if (fd == slow_fd)
		usleep(100);
	return syscall(SYS_read, fd, bytes, size);
}

/* A good peer that sends KeyUpdates, and never a byte of what is waited for. */
static int read_in_flood(const char *name, int deadline_ms, int stop_fd)
{
	const struct spec spec =
		CERT("x", name ? HOST_SAN : HERE, name ? SERVER : CLIENT);
	struct cert cert = make_cert(&spec, &ca);
	struct ends ends = {
		.peer = { .cert = &cert,
			  .flood = true,
			  .flood_until = wait_deadline(FLOOD_MS) },
	};
	uint8_t byte;
	int ret;

	start(&ends, name);
	capture_start();
	ret = tls_handshake(ends.ssl, &ends.limit);
	slow_fd = ends.fd;
	ends.limit.patience.stop_fd = stop_fd;
	ends.limit.deadline = wait_deadline(deadline_ms);
	if (!ret)
		ret = tls_read(ends.ssl, &ends.limit, &byte, 1, "a byte");
	capture_stop(&said);
	slow_fd = -1;
	end(&ends);
	free_cert(&cert);
	return ret;
}

static void *stop_soon(void *fd)
{
	usleep(300000);
	eventfd_write(*(int *)fd, 1);
	return NULL;
}

static void test_flood(void **state)
{
	static const char *const names[] = { NULL, HOST };

	(void)state;
	for (int i = 0; i < 2; i++) {
		int64_t begin = wait_deadline(0);
		int stop_fd = eventfd(0, 0);
		pthread_t thread;

		assert_int_equal(read_in_flood(names[i], 300, -1), -1);
		assert_one_line(said.err, "a byte: nothing came within");
		assert_in_range(wait_deadline(0) - begin, 300, SOON_MS);
		begin = wait_deadline(0);
		assert_int_equal(
			pthread_create(&thread, NULL, stop_soon, &stop_fd), 0);
		assert_int_equal(read_in_flood(names[i], 60000, stop_fd), -1);
		assert_one_line(said.err, "a byte: given up");
		assert_in_range(wait_deadline(0) - begin, 100, SOON_MS);
		pthread_join(thread, NULL);
		close(stop_fd);
	}
}

/* Who the peer says it is stays one line, not too long, and plain text. */
static void test_subject(void **state)
{
	char longest[129] = "";
	const struct {
		const char *cn, *line;
	} cases[] = {
		{ "host 7", "authenticated peer: CN=host 7\n" },
		{ "a\n\033[2J,b", "authenticated peer: CN=a\\0A\\1B[2J\\,b\n" },
		{ "\xc3\xa9", "authenticated peer: CN=\\C3\\A9\n" },
		{ NULL, "authenticated peer: \n" },
		{ longest, NULL },
	};

	(void)state;
	for (int i = 0; i < 64; i++)
		memcpy(longest + 2 * i, "\xc3\xa9", 2);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct spec spec = CERT(cases[i].cn, HERE, CLIENT);
		struct cert cert = make_cert(&spec, &ca);
		struct ends ends = { .peer = { .cert = &cert } };
		int ret;

		start(&ends, NULL);
		capture_start();
		ret = tls_handshake(ends.ssl, &ends.limit) ||
		      tls_print_peer(ends.ssl);
		capture_stop(&said);
		end(&ends);
		free_cert(&cert);
		assert_int_equal(ret, 0);
		if (cases[i].line)
			assert_string_equal(said.out, cases[i].line);
		else
			assert_int_equal(said.out_length,
					 strlen("authenticated peer: ") + 201);
	}
}

/* Newer OpenSSL queues the errno of a system call, which has no words of its own. */
static void test_system_error(void **state)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());
	SSL *ssl = SSL_new(ctx);
	int ret;

	(void)state;
	ERR_raise(ERR_LIB_SYS, EPIPE);
	errno = 0;
	capture_start();
	ret = tls_fail_ssl(ssl, "a byte");
	capture_stop(&said);
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	assert_int_equal(ret, -1);
	assert_one_line(said.err, "a byte: Broken pipe; is the peer still");
}

static int run_tls_tests(const char *name)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_other_ca),
		cmocka_unit_test(test_no_certificate),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_policy),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_subject),
		cmocka_unit_test(test_system_error),
	};

	return cmocka_run_group_tests_name(name, tests, open_files,
					   close_files);
}

#endif
