/*
 * client.c - reads a server's table, puts a value there, or changes a counter
 *
 * What is said is drawn in talk.h.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addr.h"
#include "log.h"
#include "options.h"
#include "talk.h"

struct client {
	struct conn conn;
	struct talk talk;
	struct region copy; /* what our device has read: a table, at most */
	struct lent table, counters; /* in the server's memory */
	uint32_t number; /* our number there, if we may write; or 0 */
	unsigned int reads, torn; /* and how many of them were */
};

static struct {
	const char *address, *port;
	int seconds;
	int command;
	bool one_sided;
} options = { .port = "22229", .seconds = 10 };

static const struct option_row rows[] = {
	{ 'a', "address", "ADDRESS",
	  "the server's name or address; it must be on an RDMA device, so 127.0.0.1 will not do",
	  .text = &options.address },
	{ 'p', "port", "PORT", "the server's port", .digits = &options.port,
	  .min = 1, .max = 65535 },
	{ 't', "timeout", "SECONDS", "how long the peer may take for one step",
	  .number = &options.seconds, .min = 1, .max = 3600 },
	{ 'W', "one-sided",
	  .help = "write to the server's table by RDMA, instead of sending",
	  .flag = &options.one_sided },
	{ .value = "get|put|scan|incr|cas", .word = &options.command },
};

static const char purpose[] =
	"usage: ./client -a ADDRESS [OPTION]... get KEY\n"
	"                                       put KEY VALUE\n"
	"                                       scan\n"
	"                                       incr COUNTER\n"
	"                                       cas COUNTER OLD NEW\n\n"
	"Reads a value from a server's table, or all of them, by RDMA; puts one there;\n"
	"or changes one of the counters 0 to 15 by an atomic operation: adds 1, or\n"
	"makes it NEW if it is OLD.\n\n"
	"example: ./client -a 192.0.2.1 get greeting";

/* ---- The table ---- */

/* Reads buckets of the server's table, from at on, to ours. */
static int read_buckets(struct client *client, uint32_t at, uint32_t count)
{
	client->reads++;
	return talk_copy(&client->talk, IBV_WR_RDMA_READ,
			 count * sizeof(struct bucket), &client->table,
			 at * sizeof(struct bucket));
}

/* What counts in a copy of a bucket, if it is of one moment. */
static bool take(struct client *client, const struct bucket *copy,
		 struct entry *entry)
{
	const struct entry *whole = table_whole(copy);

	if (whole)
		*entry = *whole;
	else
		client->torn++;
	return whole;
}

/* Reads a bucket until our copy is of one moment: for so long, at most. */
static int read_whole(struct client *client, uint32_t at, struct entry *entry)
{
	int64_t end = wait_deadline(client->conn.patience.timeout_ms);

	do {
		if (read_buckets(client, at, 1))
			return -1;
		if (take(client, client->copy.buf, entry))
			return 0;
	} while (wait_deadline(0) < end);
	return log_fail(
		"bucket %" PRIu32
		": no READ of it was of one moment; is it written all the time, or is the server another program",
		at);
}

static void show(const struct entry *entry)
{
	char text[KEY_SIZE + 3 + VALUE_SIZE], label[48];
	size_t length = snprintf(text, sizeof(text), "%s = ", entry->key);

	memcpy(text + length, entry->value, be32toh(entry->length));
	snprintf(label, sizeof(label), "version %" PRIu64 ": ",
		 be64toh(entry->version));
	log_text(label, text, length + be32toh(entry->length));
}

static void show_reads(const struct client *client)
{
	log_line("READs: %u, torn: %u", client->reads, client->torn);
}

static int get(struct client *client, char **words)
{
	uint32_t home = table_home(words[0]);
	struct entry entry;

	for (uint32_t i = 0; i < BUCKETS; i++) {
		if (read_whole(client, (home + i) % BUCKETS, &entry))
			return -1;
		if (!strcmp(entry.key, words[0])) {
			show(&entry);
			show_reads(client);
			return 0;
		}
		if (!entry.key[0])
			break;
	}
	return log_fail("%s: this key is not in the table", words[0]);
}

/* All buckets with one READ; again, alone, those that were just written. */
static int scan(struct client *client, char **words)
{
	struct bucket table[BUCKETS];
	struct entry entry;

	(void)words;
	if (read_buckets(client, 0, BUCKETS))
		return -1;
	memcpy(table, client->copy.buf, sizeof(table));
	for (uint32_t at = 0; at < BUCKETS; at++) {
		if (!take(client, &table[at], &entry) &&
		    read_whole(client, at, &entry))
			return -1;
		if (entry.key[0])
			show(&entry);
	}
	show_reads(client);
	return 0;
}

/* Sends what is to be put, and waits for the answer. */
static int send_put(struct client *client, char **words)
{
	struct msg answer, msg = { .length = htobe32(strlen(words[1])) };

	strcpy(msg.key, words[0]);
	memcpy(msg.value, words[1], strlen(words[1]));
	if (talk_send(&client->talk, MSG_PUT, msg))
		return -1;
	/* Without an answer, it may be done or not. */
	if (talk_receive(&client->talk, MSG_ANSWER, &answer))
		return -1;
	if (answer.status == 2)
		return log_fail(
			"only clients write to this server's table; give --one-sided");
	if (answer.status)
		return log_fail("the server's table is full");
	log_line("put: version %" PRIu64, be64toh(answer.version));
	return 0;
}

/* ---- A PUT without the server ---- */

/* Writes to the locked bucket. When this returns 0, it is there. */
static int write_there(struct client *client, const struct lock *lock,
		       size_t offset, const void *data, size_t length)
{
	if (wait_deadline(0) >= lock->end)
		return log_fail(
			"this took longer than the lease of the lock allows; nothing more is written");
	memcpy(client->copy.buf, data, length);
	return talk_copy(&client->talk, IBV_WR_RDMA_WRITE, length,
			 &client->table, lock->at + offset);
}

/* The same as table_put(), from here. Each step waits for the one before it. */
static int fill(struct client *client, const struct lock *lock,
		uint64_t version, char **words)
{
	struct entry entry =
		table_entry(version, words[0], words[1], strlen(words[1]));
	size_t offset =
		offsetof(struct bucket, entries) + version % 2 * sizeof(entry);

	if (write_there(client, lock, offset, &entry, sizeof(entry)))
		return -1;
	return write_there(client, lock, offsetof(struct bucket, version),
			   &entry.version, sizeof(entry.version));
}

/* Puts the value into this bucket; 1: it has another key. */
static int put_into(struct client *client, uint32_t at, char **words)
{
	struct lock lock = { .at = at * sizeof(struct bucket) };
	struct entry entry;
	uint64_t version;
	bool other;

	/* Without the lock this may change, but a key stays where it is. */
	if (read_whole(client, at, &entry))
		return -1;
	if (entry.key[0] && strcmp(entry.key, words[0]))
		return 1;
	if (talk_lock(&client->talk, &lock, &client->table, client->number) ||
	    read_whole(client, at, &entry))
		return -1;
	other = entry.key[0] && strcmp(entry.key, words[0]);
	version = be64toh(entry.version) + 1;
	if (!other && fill(client, &lock, version, words))
		return -1;
	/* Only if nobody has taken the lock from us, the value is there. */
	if (talk_unlock(&client->talk, &lock, &client->table))
		return -1;
	if (!other)
		log_line("put: version %" PRIu64, version);
	return other;
}

static int put(struct client *client, char **words)
{
	uint32_t home = table_home(words[0]);
	int ret = 1;

	if (!options.one_sided)
		return send_put(client, words);
	if (!client->number)
		return log_fail(
			"this server lets no client write; start it with --one-sided");
	for (uint32_t i = 0; ret == 1 && i < BUCKETS; i++)
		ret = put_into(client, (home + i) % BUCKETS, words);
	return ret == 1 ? log_fail("the server's table is full") : ret;
}

/* ---- The counters ---- */

/* Changes a counter in one step. *before is what it was. */
static int change(struct client *client, uint64_t counter,
		  enum ibv_wr_opcode opcode, uint64_t compare_add,
		  uint64_t swap, uint64_t *before)
{
	if (!client->counters.rkey)
		return log_fail(
			"the server's device has no atomic operations, so it lends no counters");
	return talk_change(&client->talk, opcode, compare_add, swap,
			   &client->counters, counter * sizeof(*before),
			   before);
}

static uint64_t number(const char *word)
{
	return strtoull(word, NULL, 10);
}

static int incr(struct client *client, char **words)
{
	uint64_t before;

	if (change(client, number(words[0]), IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0,
		   &before))
		return -1;
	log_line("counter %s: %" PRIu64, words[0], before + 1);
	return 0;
}

static int cas(struct client *client, char **words)
{
	uint64_t before;

	if (change(client, number(words[0]), IBV_WR_ATOMIC_CMP_AND_SWP,
		   number(words[1]), number(words[2]), &before))
		return -1;
	if (before != number(words[1]))
		return log_fail("counter %s: it is %" PRIu64
				" and not %s, and stays so",
				words[0], before, words[1]);
	log_line("counter %s: %s", words[0], words[2]);
	return 0;
}

/* ---- The command line ---- */

/* In the order of the words in rows. */
static const struct command {
	const char *word;
	int words; /* behind it */
	int (*run)(struct client *client, char **words);
} commands[] = {
	{ "get", 1, get },   { "put", 2, put }, { "scan", 0, scan },
	{ "incr", 1, incr }, { "cas", 3, cas },
};

/* How many words at the end belong to a command; the longest one is taken. */
static int words_behind(int argc, char **argv)
{
	for (int words = 3; words > 0; words--)
		for (size_t i = 0; argc > words + 1 && i < 5; i++)
			if (commands[i].words == words &&
			    !strcmp(argv[argc - words - 1], commands[i].word))
				return words;
	return 0;
}

static bool is_number(const char *word)
{
	errno = 0;
	return *word && strspn(word, "0123456789") == strlen(word) &&
	       (strtoull(word, NULL, 10), errno == 0);
}

/* Whether the words behind the command can be meant. */
static int check_words(int words, char **argv)
{
	const struct command *command = &commands[options.command];

	if (command->words != words)
		return log_fail("%s: needs %d words behind it; see -h",
				command->word, command->words);
	if (command->run == get || command->run == put) {
		if (!table_key_is_good(argv[0]))
			return log_fail("a key has 1 to %d bytes; see -h",
					KEY_SIZE - 1);
		if (words == 2 && strlen(argv[1]) > VALUE_SIZE)
			return log_fail("a value has at most %d bytes; see -h",
					VALUE_SIZE);
		return 0;
	}
	for (int i = 0; i < words; i++)
		if (!is_number(argv[i]))
			return log_fail("%s: not a whole number; see -h",
					argv[i]);
	if (words && number(argv[0]) >= COUNTERS)
		return log_fail("%s: there are the counters 0 to %d; see -h",
				argv[0], COUNTERS - 1);
	return 0;
}

/* ---- The connection ---- */

/* Finds the device and the path that lead to the server. */
static int find_server(struct conn *conn)
{
	struct addrinfo *addresses;
	int ret;

	if (addr_lookup(options.address, options.port, &addresses))
		return -1;
	ret = conn_resolve(conn, addresses);
	freeaddrinfo(addresses);
	return ret;
}

static int learn_place(struct client *client)
{
	struct msg msg;

	if (talk_receive(&client->talk, MSG_PLACE, &msg))
		return -1;
	client->table.addr = be64toh(msg.table);
	client->table.rkey = be32toh(msg.table_rkey);
	client->counters.addr = be64toh(msg.counters);
	client->counters.rkey = be32toh(msg.counters_rkey);
	client->number = be32toh(msg.client);
	log_line("the server's table: addr=0x%" PRIx64 ", rkey=0x%" PRIx32,
		 client->table.addr, client->table.rkey);
	return 0;
}

int main(int argc, char **argv)
{
	struct client client = { .talk = { .conn = &client.conn,
					   .ours = &client.copy } };
	int ret = -1, words = words_behind(argc, argv);
	int status = options_parse(rows, purpose, argc - words, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (check_words(words, argv + argc - words))
		return EXIT_USAGE;
	if (!options.address) {
		log_fail(
			"the server's address is missing; give it with -a, as in: ./client -a 192.0.2.1 get greeting");
		return EXIT_USAGE;
	}
	client.conn.patience = (struct patience){ options.seconds * 1000, -1 };
	/* 1. Find the device and the path that lead to the server. */
	if (find_server(&client.conn))
		goto out;
	/* 2. Create the queue pair, and what it needs. */
	if (conn_create_qp(&client.conn, TALK_SENDS, TALK_RECEIVES))
		goto out;
	/* 3. Post the receive, before the server can possibly send. */
	if (talk_open(&client.talk))
		goto out;
	/* 4. Let our device write what it reads: to us alone. */
	if (region_open(&client.copy, &client.conn,
			BUCKETS * sizeof(struct bucket),
			IBV_ACCESS_LOCAL_WRITE))
		goto out;
	/* 5. Connect, and wait until the connection is established. */
	if (conn_connect(&client.conn))
		goto out;
	/* 6. Learn where the table is. */
	if (learn_place(&client))
		goto out;
	/* 7. Do what was asked for, even if that fails. */
	ret = commands[options.command].run(&client, argv + argc - words);
	/* 8. Disconnect. */
	if (conn_disconnect(&client.conn))
		ret = -1;
out:
	/* 9. Tell the peer, and free everything. */
	conn_end(&client.conn);
	region_close(&client.copy);
	talk_close(&client.talk);
	conn_close(&client.conn);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
