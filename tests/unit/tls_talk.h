/*
 * tls_talk.h - what a chapter's TLS does of a peer that it has let in
 *
 * Included after tls_peers.h by a test of each chapter that has TLS.
 */
#ifndef TLS_TALK_H
#define TLS_TALK_H

/* What nobody may take who is to end before. */
#define SOON_MS 6000

/*
 * The descriptor that is read slowly, a byte at a time, each when there seemed to
 * be none: there is always more to read.
 */
static int slow_fd = -1;

ssize_t read(int fd, void *bytes, size_t size)
{
	static bool now;

	if (fd == slow_fd) {
		now = !now;
		usleep(100);
		errno = EAGAIN;
		if (!now)
			return -1;
		size = 1;
	}
	return syscall(SYS_read, fd, bytes, size);
}

/* A good peer, and our handshake with it. */
static void meet(struct ends *ends, struct cert *cert, const char *name)
{
	const struct spec spec =
		CERT("x", name ? HOST_SAN : HERE, name ? SERVER : CLIENT);

	*cert = make_cert(&spec, &ca);
	ends->peer.cert = cert;
	start(ends, name);
	capture_start();
	if (tls_handshake(ends->ssl, &ends->limit)) {
		capture_stop(&said);
		fail_msg("%s", said.err);
	}
}

/* Reads so many bytes of it. */
static int read_from(struct ends *ends, const char *name, size_t length)
{
	uint8_t bytes[SSL3_RT_MAX_PLAIN_LENGTH];
	struct cert cert;
	int ret;

	meet(ends, &cert, name);
	ret = tls_read(ends->ssl, &ends->limit, bytes, length, "some bytes");
	capture_stop(&said);
	slow_fd = -1;
	end(ends);
	free_cert(&cert);
	return ret;
}

/* One long record, of which there is always a little more. */
static int read_slowly(const char *name, int deadline_ms, int stop_fd)
{
	struct ends ends = { .peer = { .says = SSL3_RT_MAX_PLAIN_LENGTH } };
	uint8_t bytes[SSL3_RT_MAX_PLAIN_LENGTH];
	struct cert cert;
	int ret;

	meet(&ends, &cert, name);
	slow_fd = ends.fd;
	ends.limit.patience.stop_fd = stop_fd;
	ends.limit.deadline = wait_deadline(deadline_ms);
	ret = tls_read(ends.ssl, &ends.limit, bytes, sizeof(bytes), "a record");
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

static const char *const names[] = { NULL, HOST };

TEST(in_time)
{
	for (int i = 0; i < 2; i++) {
		int64_t begin = wait_deadline(0);
		int stop_fd = eventfd(0, 0);
		pthread_t thread;

		assert_int_equal(read_slowly(names[i], 300, -1), -1);
		assert_one_line(said.err, "a record: nothing came within");
		assert_in_range(wait_deadline(0) - begin, 300, SOON_MS);
		begin = wait_deadline(0);
		assert_int_equal(
			pthread_create(&thread, NULL, stop_soon, &stop_fd), 0);
		assert_int_equal(read_slowly(names[i], 60000, stop_fd), -1);
		assert_one_line(said.err, "a record: given up");
		assert_in_range(wait_deadline(0) - begin, 100, SOON_MS);
		pthread_join(thread, NULL);
		close(stop_fd);
	}
}

/* Sixteen KeyUpdates, answered or not, are let pass; then it is enough. */
TEST(flood)
{
	for (int i = 0; i < 4; i++)
		for (int updates = 15; updates <= 18; updates++) {
			struct ends ends = {
				.peer = { .updates = updates,
					  .asks = i / 2,
					  .says = 1 },
			};
			int ret = read_from(&ends, names[i % 2], 1);

			if (updates <= 16) {
				assert_int_equal(ret, 0);
				assert_string_equal(said.err, "");
				continue;
			}
			assert_int_equal(ret, -1);
			assert_one_line(said.err, "some bytes: the peer has "
						  "sent more than 16 key ");
		}
}

/* Without an end: one call must not take them for as long as they come. */
TEST(endless_flood)
{
	int64_t begin = wait_deadline(0);

	for (int i = 0; i < 2; i++) {
		struct ends ends = { .peer = { .updates = 200000 } };

		assert_int_equal(read_from(&ends, names[i], 1), -1);
		assert_one_line(said.err, "some bytes: the peer has sent more");
	}
	assert_in_range(wait_deadline(0) - begin, 0, SOON_MS);
}

TEST(tickets)
{
	struct ends few = { .peer = { .tickets = 2, .says = 1 } };
	struct ends many = { .peer = { .tickets = 17, .says = 1 } };

	assert_int_equal(read_from(&few, HOST, 1), 0);
	assert_int_equal(read_from(&many, HOST, 1), -1);
	assert_one_line(said.err, "more than 16 key updates or tickets");
}

/* What tls_look() finds, when there is something to find. */
static int look(struct ends *ends, int deadline_ms)
{
	assert_true(wait_readable(ends->fd, -1, -1, wait_deadline(20000)) > 0);
	ends->limit.deadline = wait_deadline(deadline_ms);
	return tls_look(ends->ssl, &ends->limit);
}

TEST(look)
{
	static const char bytes[4096];

	for (int i = 0; i < 2; i++) {
		struct ends asks = {
			.peer = { .updates = 1, .asks = true, .says = 1 },
		};
		struct ends deaf = {
			.peer = { .updates = 2, .asks = true, .deaf = true },
		};
		struct cert cert;
		int64_t begin;
		int ret;

		meet(&asks, &cert, names[i]);
		assert_int_equal(look(&asks, 20000), TLS_NOTHING);
		assert_int_equal(look(&asks, 20000), TLS_BYTES);
		capture_stop(&said);
		end(&asks);
		free_cert(&cert);
		meet(&deaf, &cert, names[i]);
		/* No room for an answer, which OpenSSL owes until it has to. */
		while (write(deaf.fd, bytes, sizeof(bytes)) > 0)
			;
		assert_int_equal(look(&deaf, 20000), TLS_NOTHING);
		begin = wait_deadline(0);
		ret = look(&deaf, 300);
		capture_stop(&said);
		assert_int_equal(ret, -1);
		assert_one_line(said.err, "TLS: nothing came within ");
		assert_in_range(wait_deadline(0) - begin, 300, SOON_MS);
		end(&deaf);
		free_cert(&cert);
	}
}

/* Who the peer says it is stays one line, not too long, and plain text. */
TEST(subject)
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

	for (int i = 0; i < 64; i++)
		memcpy(longest + 2 * i, "\xc3\xa9", 2);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct spec spec = CERT(cases[i].cn, HERE, CLIENT);
		struct cert cert = make_cert(&spec, &ca);
		struct ends ends = { .peer = { .cert = &cert } };
		int ret;

		start(&ends, NULL);
		ret = CAPTURED(tls_handshake(ends.ssl, &ends.limit) ||
			       tls_print_peer(ends.ssl));
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
TEST(system_error)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());
	SSL *ssl = SSL_new(ctx);
	int ret;

	ERR_raise(ERR_LIB_SYS, EPIPE);
	errno = 0;
	ret = CAPTURED(tls_fail_ssl(ssl, "a byte"));
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	assert_int_equal(ret, -1);
	assert_one_line(said.err, "a byte: Broken pipe; is the peer still");
}

#endif
