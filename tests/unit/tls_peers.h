/*
 * tls_peers.h - the peers that a chapter's TLS must know apart
 *
 * Included after tls_test.h by a test of each chapter that has TLS.
 */
#ifndef TLS_PEERS_H
#define TLS_PEERS_H

#define CLIENT "clientAuth"
#define SERVER "serverAuth"
#define HOST "node.example.org"
#define HOST_SAN "DNS:" HOST
#define HERE "IP:192.0.2.1"

#define CERT(name, names, role, ...)                               \
	(struct spec)                                              \
	{                                                          \
		.cn = name, .san = names, .eku = role, __VA_ARGS__ \
	}

/* The name: what -a says; NULL: the peer is a client, at 192.0.2.1. */
static const struct {
	struct spec spec;
	const char *name, *error;
} kinds[] = {
	{ CERT("x", HOST_SAN, SERVER), HOST, NULL },
	{ CERT("x", HERE, SERVER), "192.0.2.1", NULL },
	{ CERT("x", HERE, CLIENT), NULL, NULL },
	{ CERT("x", HERE, SERVER "," CLIENT), NULL, NULL },
	/* For somebody else. */
	{ CERT("x", "DNS:other.example.org", SERVER), HOST, "failed (62, " },
	{ CERT("x", "IP:192.0.2.9", SERVER), "192.0.2.1", "failed (64, " },
	{ CERT("x", "IP:192.0.2.9", CLIENT), NULL, "failed (64, " },
	/* A common name is nobody's name, whatever stands beside it. */
	{ CERT(HOST, NULL, SERVER), HOST, "failed (62, " },
	{ CERT(HOST, "IP:192.0.2.9", SERVER), HOST, "failed (62, " },
	{ CERT(HOST, "email:x@" HOST, SERVER), HOST, "failed (62, " },
	{ CERT("192.0.2.1", NULL, CLIENT), NULL, "failed (64, " },
	/* A whole label may be a star; a part of one may not. */
	{ CERT("x", "DNS:*.example.org", SERVER), HOST, NULL },
	{ CERT("x", "DNS:n*.example.org", SERVER), HOST, "failed (62, " },
	{ CERT("x", "DNS:*e.example.org", SERVER), HOST, "failed (62, " },
	/* For the other role, or for none. */
	{ CERT("x", HOST_SAN, CLIENT), HOST, "failed (26, " },
	{ CERT("x", HERE, SERVER), NULL, "failed (26, " },
	{ CERT("x", HOST_SAN, NULL), HOST, "failed (26, " },
	{ CERT("x", HERE, NULL), NULL, "failed (26, " },
	{ CERT("x", HERE, "anyExtendedKeyUsage"), NULL, "failed (26, " },
	/* Too late, too early. */
	{ CERT("x", HOST_SAN, SERVER, .from = -7200, .until = -60), HOST,
	  "has expired; `make" },
	{ CERT("x", HERE, CLIENT, .from = -7200, .until = -60), NULL,
	  "has expired; `make" },
	{ CERT("x", HOST_SAN, SERVER, .from = 1800, .until = 7200), HOST,
	  "from the future; is" },
	{ CERT("x", HERE, CLIENT, .from = 1800, .until = 7200), NULL,
	  "from the future; is" },
	/* Weak, which the system's openssl.cnf would let pass. */
	{ CERT("x", HOST_SAN, SERVER, .rsa_bits = 1024), HOST, "failed (66, " },
	{ CERT("x", HERE, CLIENT, .rsa_bits = 1024), NULL, "failed (66, " },
	{ CERT("x", HERE, CLIENT, .rsa_bits = 2048), NULL, NULL },
};

TEST(kinds)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		expect_cert(&kinds[i].spec, &ca, kinds[i].name, kinds[i].error);
}

/* Both have the same name, and neither chain ends in our CA's key. */
TEST(other_ca)
{
	const struct spec server = CERT("x", HOST_SAN, SERVER);
	const struct spec client = CERT("x", HERE, CLIENT);

	expect_cert(&server, &other_ca, HOST, "certificate verify failed (");
	expect_cert(&client, &other_ca, NULL, "certificate verify failed (");
	expect_cert(&client, NULL, NULL, "certificate verify failed (");
}

TEST(no_certificate)
{
	struct ends ends = { .peer = { .cert = NULL } };

	expect(&ends, NULL, "the client came without a certificate: refused");
}

/* One CA may stand between, and no second one; a leaf is no CA. */
TEST(chains)
{
	const struct spec first = { "first", .ca = true };
	const struct spec second = { "second", .ca = true };
	const struct spec last = CERT("last", HERE, CLIENT);
	const struct spec client = CERT("x", HERE, CLIENT);
	struct cert one = make_cert(&first, &ca);
	struct cert two = make_cert(&second, &one);
	struct cert by_one = make_cert(&client, &one);
	struct cert by_two = make_cert(&client, &two);
	struct cert by_leaf = make_cert(&last, &by_one);
	struct ends good = { .peer = { .cert = &by_one, .chain = { &one } } };
	struct ends deep = {
		.peer = { .cert = &by_two, .chain = { &two, &one } },
	};
	struct ends leaf = {
		.peer = { .cert = &by_leaf, .chain = { &by_one, &one } },
	};

	expect(&good, NULL, NULL);
	expect(&deep, NULL, "certificate verify failed (22, ");
	expect(&leaf, NULL, "certificate verify failed (");
	free_cert(&one);
	free_cert(&two);
	free_cert(&by_one);
	free_cert(&by_two);
	free_cert(&by_leaf);
}

/*
 * Before a peer is known it announces how long its certificates are, and OpenSSL
 * makes room for them: not for more than anybody needs.
 */
TEST(long_certificates)
{
	static char names[32768];
	const struct spec server = CERT("x", names, SERVER);
	const struct spec client = CERT("x", names, CLIENT);
	size_t length = sprintf(names, HOST_SAN "," HERE);

	while (length < 12000)
		length += sprintf(names + length, ",DNS:n%zu.example.org",
				  length);
	expect_cert(&server, &ca, HOST, NULL);
	expect_cert(&client, &ca, NULL, NULL);
	while (length < 20000)
		length += sprintf(names + length, ",DNS:n%zu.example.org",
				  length);
	expect_cert(&server, &ca, HOST, "excessive message size");
	expect_cert(&client, &ca, NULL, "excessive message size");
}

/* Makes the context, with the key's rights and owner as given. */
static void try_key(mode_t mode, uid_t owner, bool is_good)
{
	char paths[3][64];
	struct options options = {
		.cert = file_name(paths[0], "own.pem"),
		.key = file_name(paths[1], "own.key"),
		.ca = file_name(paths[2], "ca.pem"),
	};

	assert_int_equal(chown(options.key, owner, -1), 0);
	assert_int_equal(chmod(options.key, mode), 0);
	for (enum role role = ROLE_SERVER; role <= ROLE_CLIENT; role++) {
		SSL_CTX *ctx;

		ctx = CAPTURED(tls_context(&options, role));
		if (!ctx != !is_good)
			fail_msg("a key of mode %04o: %s", mode, said.err);
		if (!is_good)
			assert_one_line(said.err, "own.key: with mode 0");
		if (!is_good)
			assert_non_null(strstr(said.err, "; chmod 600 /tmp/"));
		SSL_CTX_free(ctx);
	}
}

TEST(key_rights)
{
	static const mode_t others[] = { 0644, 0640, 0620, 0610, 0604,
					 0602, 0601, 0666, 0777 };

	try_key(0600, getuid(), true);
	try_key(0400, getuid(), true);
	try_key(0700, getuid(), true);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		try_key(others[i], getuid(), false);
	/* Somebody else's, whose group we may be in: only root can try. */
	if (!getuid()) {
		try_key(0600, 54321, true);
		try_key(0640, 54321, true);
		try_key(0644, 54321, false);
		try_key(0602, 54321, false);
	}
	try_key(0600, getuid(), true);
}

/* What is spoken, and how strongly, is not the peer's choice. */
TEST(policy)
{
	const struct spec server = CERT("x", HOST_SAN, SERVER);
	const struct spec client = CERT("x", HERE, CLIENT);
	struct cert certs[] = { make_cert(&server, &ca),
				make_cert(&client, &ca) };
	static const struct {
		struct peer peer;
		const char *server_error, *client_error;
	} cases[] = {
		{ { .suites = "TLS_AES_128_GCM_SHA256" }, NULL, NULL },
		{ { .max_version = TLS1_2_VERSION },
		  "older than TLS 1.3",
		  "older than TLS 1.3" },
		/* From OpenSSL 3.2 on, the security level refuses it, too. */
		{ { .suites = "TLS_AES_128_CCM_8_SHA256" },
		  "no shared cipher",
		  "handshake failure" },
		{ { .suites = "TLS_AES_128_CCM_SHA256" },
		  "no shared cipher",
		  "handshake failure" },
		{ { .groups = "P-521" },
		  "the client has sent no key of X25519, P-256 or P-384",
		  "handshake failure" },
		{ { .alpn = "rdma-params/1" },
		  "another protocol",
		  "bad extension" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ends ends = { .peer = cases[i].peer };

		ends.peer.cert = &certs[1];
		expect(&ends, NULL, cases[i].server_error);
		ends.peer = cases[i].peer;
		ends.peer.cert = &certs[0];
		expect(&ends, HOST, cases[i].client_error);
	}
	free_cert(&certs[0]);
	free_cert(&certs[1]);
}

#endif
