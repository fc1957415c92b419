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
	struct region copy; /* of the server's table, as far as it was read */
	struct place place; /* where that is */
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
	{ .value = "get|put|scan|incr|cas|do", .word = &options.command },
};

static const char purpose[] =
	"usage: ./client -a ADDRESS [OPTION]... get KEY\n"
	"                                       put KEY VALUE\n"
	"                                       scan\n"
	"                                       incr COUNTER\n"
	"                                       cas COUNTER OLD NEW\n"
	"                                       do FILE\n\n"
	"Reads a value from a server's table, or all of them, by RDMA; puts one there;\n"
	"or changes one of the counters 0 to 15 by an atomic operation: adds 1, or\n"
	"makes it NEW if it is OLD. FILE has such a command on each line.\n\n"
	"example: ./client -a 192.0.2.1 get greeting";

/* ---- The table ---- */

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
	log_line("READs: %u, torn: %u", client->talk.reads, client->talk.torn);
}

static int get(struct client *client, char **words)
{
	uint32_t count = client->place.buckets;
	uint32_t home = table_home(words[0], count);
	struct entry entry;

	for (uint32_t i = 0; i < count; i++) {
		int ret = talk_read(&client->talk, &client->place,
				    (home + i) % count, &entry);

		if (ret)
			return ret;
		if (!strcmp(entry.key, words[0])) {
			show(&entry);
			show_reads(client);
			return 0;
		}
		if (!entry.key[0])
			break;
	}
	log_fail("%s: this key is not in the table", words[0]);
	return 1;
}

static int scan(struct client *client, char **words)
{
	struct entry entries[BUCKETS_MAX];
	int ret = talk_read_all(&client->talk, &client->place, entries);

	(void)words;
	if (ret)
		return ret;
	for (uint32_t at = 0; at < client->place.buckets; at++)
		if (entries[at].key[0])
			show(&entries[at]);
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
	memcpy((char *)client->copy.buf + lock->at + offset, data, length);
	return talk_copy(&client->talk, IBV_WR_RDMA_WRITE, length,
			 &client->place.table, lock->at + offset);
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

/* Puts the value into this bucket. Returns 0; 1: it has another key; or TALK_MOVED. */
static int put_into(struct client *client, uint32_t at, char **words)
{
	struct lock lock = { .at = at * sizeof(struct bucket) };
	const struct place *place = &client->place;
	struct talk *talk = &client->talk;
	struct entry entry;
	uint64_t version;
	bool other;
	int ret;

	/* Without the lock this may change, but a key stays where it is. */
	if ((ret = talk_read(talk, place, at, &entry)))
		return ret;
	if (entry.key[0] && strcmp(entry.key, words[0]))
		return 1;
	if ((ret = talk_lock(talk, &lock, &place->table, place->client)) ||
	    (ret = talk_read(talk, place, at, &entry)))
		return ret;
	other = entry.key[0] && strcmp(entry.key, words[0]);
	version = be64toh(entry.version) + 1;
	if (!other && fill(client, &lock, version, words))
		return -1;
	/* Only if nobody has taken the lock from us, the value is there. */
	if (talk_unlock(talk, &lock, &place->table))
		return -1;
	if (!other)
		log_line("put: version %" PRIu64, version);
	return other;
}

static int put(struct client *client, char **words)
{
	uint32_t count = client->place.buckets;
	uint32_t home = table_home(words[0], count);
	int ret = 1;

	if (!options.one_sided)
		return send_put(client, words);
	if (!client->place.client)
		return log_fail(
			"this server lets no client write; start it with --one-sided");
	for (uint32_t i = 0; ret == 1 && i < count; i++)
		ret = put_into(client, (home + i) % count, words);
	if (ret == 1 && count >= BUCKETS_MAX)
		return log_fail("the server's table is full");
	/* Nothing is free: it has to grow. */
	return ret == 1 ? TALK_MOVED : ret;
}

/* ---- The counters ---- */

/* Changes a counter in one step. *before is what it was. */
static int change(struct client *client, uint64_t counter,
		  enum ibv_wr_opcode opcode, uint64_t compare_add,
		  uint64_t swap, uint64_t *before)
{
	if (!client->place.counters.rkey)
		return log_fail(
			"the server's device has no atomic operations, so it lends no counters");
	return talk_change(&client->talk, opcode, compare_add, swap,
			   &client->place.counters, counter * sizeof(*before),
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
	if (before != number(words[1])) {
		log_fail("counter %s: it is %" PRIu64
			 " and not %s, and stays so",
			 words[0], before, words[1]);
		return 1;
	}
	log_line("counter %s: %s", words[0], words[2]);
	return 0;
}

/* ---- The commands ---- */

static int do_file(struct client *client, char **words);

/* In the order of the words in rows. */
static const struct command {
	const char *word;
	int words; /* behind it */
	/* Returns 0; 1: it was refused, and that was said; TALK_MOVED; or -1. */
	int (*run)(struct client *client, char **words);
} commands[] = {
	{ "get", 1, get },   { "put", 2, put }, { "scan", 0, scan },
	{ "incr", 1, incr }, { "cas", 3, cas }, { "do", 1, do_file },
};

enum {
	COMMANDS = sizeof(commands) / sizeof(*commands)
};

/* How many words at the end belong to a command; the longest one is taken. */
static int words_behind(int argc, char **argv)
{
	for (int words = 3; words > 0; words--)
		for (int i = 0; argc > words + 1 && i < COMMANDS; i++)
			if (commands[i].words == words &&
			    !strcmp(argv[argc - words - 1], commands[i].word))
				return words;
	return 0;
}

static bool is_number(const char *word)
{
	errno = 0;
	return *word && strspn(word, "0123456789") == strlen(word) &&
	       (number(word), errno == 0);
}

/* Whether the words behind the command can be meant. */
static int check_words(const struct command *command, int words, char **argv)
{
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
	if (command->run == do_file)
		return 0;
	for (int i = 0; i < words; i++)
		if (!is_number(argv[i]))
			return log_fail("%s: not a whole number; see -h",
					argv[i]);
	if (words && number(argv[0]) >= COUNTERS)
		return log_fail("%s: there are the counters 0 to %d; see -h",
				argv[0], COUNTERS - 1);
	return 0;
}

/* In the table as it is when that is done. */
static int run(struct client *client, const struct command *command,
	       char **words)
{
	int ret;

	while ((ret = command->run(client, words)) == TALK_MOVED)
		if (talk_move(&client->talk, &client->place))
			return -1;
	return ret;
}

static int do_line(struct client *client, char *line)
{
	char *words[5] = { NULL }, *rest;
	int count = 0;

	for (char *word = strtok_r(line, " \n", &rest); word && count < 5;
	     word = strtok_r(NULL, " \n", &rest))
		words[count++] = word;
	if (!count)
		return 0;
	/* All but do. */
	for (int i = 0; i < COMMANDS - 1; i++)
		if (!strcmp(commands[i].word, words[0]))
			return check_words(&commands[i], count - 1, words + 1) ?
				       1 :
				       run(client, &commands[i], words + 1);
	return log_fail("a line of the file begins with no command; see -h");
}

/* What each line says, until something fails that is no mere refusal. */
static int do_file(struct client *client, char **words)
{
	FILE *file = fopen(words[0], "re");
	char line[512];
	int refused = 0, ret = 0;

	if (!file)
		return log_fail_errno("fopen", errno, "%s", words[0]);
	while (ret >= 0 && fgets(line, sizeof(line), file)) {
		ret = do_line(client, line);
		refused |= ret;
	}
	fclose(file);
	return ret < 0 ? ret : refused;
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

int main(int argc, char **argv)
{
	struct client client = { .talk = { .conn = &client.conn,
					   .ours = &client.copy } };
	int ret = -1, words = words_behind(argc, argv);
	int status = options_parse(rows, purpose, argc - words, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (check_words(&commands[options.command], words, argv + argc - words))
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
			BUCKETS_MAX * sizeof(struct bucket),
			IBV_ACCESS_LOCAL_WRITE))
		goto out;
	/* 5. Connect, and wait until the connection is established. */
	if (conn_connect(&client.conn))
		goto out;
	/* 6. Learn where the table is. */
	if (talk_place(&client.talk, &client.place))
		goto out;
	/* 7. Do what was asked for, even if that fails. */
	ret = run(&client, &commands[options.command], argv + argc - words);
	/* 8. Disconnect. */
	if (conn_disconnect(&client.conn))
		ret = -1;
out:
	/* 9. Tell the peer, and free everything. */
	conn_end(&client.conn);
	/* If the receive has not come back, that was reported. */
	if (client.conn.pending)
		ret = -1;
	region_close(&client.copy);
	talk_close(&client.talk);
	conn_close(&client.conn);
	return ret ? EXIT_FAILED : EXIT_DONE;
}
