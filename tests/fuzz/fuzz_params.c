/*
 * fuzz_params.c - chapter 03's parameters, as a line and as what that says
 *
 * Whatever line is accepted must be the one way to say what it understood, and every
 * field must be fit for what the program does with it next; and what is fit is accepted,
 * and there and back is what it was. What is fit is written here a second time.
 */
#include "params.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_params.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define PICK(...)                                                \
	({                                                       \
		static const uint64_t some[] = { __VA_ARGS__ };  \
		some[*bytes++ % (sizeof(some) / sizeof(*some))]; \
	})

/* Parameters of which each field is one of those next to its limits. */
static struct params picked(const uint8_t *bytes)
{
	static const char *const gids[] = {
		"::",
		"fe80::1",
		"2001:db8::ffff:e000:1",
		"ff02::1",
		"::ffff:192.0.2.1",
		"::ffff:0.255.255.255",
		"::ffff:1.0.0.1",
		"::ffff:126.255.255.255",
		"::ffff:127.0.0.1",
		"::ffff:128.0.0.1",
		"::ffff:223.255.255.255",
		"::ffff:224.0.0.0",
		"::ffff:255.255.255.255",
		"fedc:ba98:7654:3210:fedc:ba98:7654:3210",
	};
	struct params params = { 0 };

	params.qpn = PICK(0, 1, 2, 0x11, 0xfffffe, 0xffffff, 0x1000011);
	params.psn = PICK(0, 0x123456, 0xffffff, 0x1000000, UINT32_MAX);
	params.lid = PICK(0, 1, 0xbfff, 0xc000, 0xffff);
	params.mtu = PICK(1, 2, 3, 4, 5);
	params.mode = PICK(1, 2);
	params.mem.addr = PICK(0, 0x55d0c0ffee00, UINT64_MAX - 1024,
			       UINT64_MAX - 1023, UINT64_MAX);
	params.mem.length = PICK(0, 1, 1024, PARAMS_MAX_LENGTH,
				 PARAMS_MAX_LENGTH + 1, UINT32_MAX);
	params.mem.rkey = PICK(0, 0x7f1, UINT32_MAX);
	inet_pton(AF_INET6, gids[*bytes % (sizeof(gids) / sizeof(*gids))],
		  params.gid.raw);
	return params;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const uint8_t *newline = memchr(bytes, '\n', size);
	size_t length = newline ? newline + 1 - bytes : 0;
	char text[LINE_LONGEST + 1] = "", line[LINE_LONGEST];
	struct params params, again;

	/* As line_recv() gives it: up to the first newline, with a zero behind that. */
	if (length <= LINE_LONGEST)
		memcpy(text, bytes, length);
	for (int roce = 0; roce < 2; roce++) {
		if (!params_decode(&params, text, roce) &&
		    (!is_fit(&params, roce) ||
		     params_encode(&params, line) != length ||
		     memcmp(line, text, length)))
			abort();
		if (size != 9)
			continue;
		params = picked(bytes);
		params_encode(&params, line);
		if (!params_decode(&again, line, roce) != is_fit(&params, roce))
			abort();
		if (!is_fit(&params, roce))
			continue;
		if (again.qpn != params.qpn || again.psn != params.psn ||
		    memcmp(&again.gid, &params.gid, sizeof(params.gid)) ||
		    again.lid != params.lid || again.mtu != params.mtu ||
		    again.mode != params.mode ||
		    memcmp(&again.mem, &params.mem, sizeof(params.mem)))
			abort();
	}
	return 0;
}
