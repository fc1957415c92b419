/*
 * count.c - numbered messages to each server, and how many arrive
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipv4.h"
#include "info.h"
#include "log.h"
#include "work.h"

extern char **environ;

/*
 * Starts the command of -x, which runs while we send. It leads a process group,
 * so that all that it starts can be ended with it. The signals that are blocked
 * here would stay blocked there, so this unblocks them.
 */
static pid_t start(const char *command)
{
	char *argv[] = { "sh", "-c", (char *)command, NULL };
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid;
	int err = posix_spawnattr_init(&attr);

	if (err)
		return log_fail_errno("posix_spawnattr_init", err,
				      "cannot run: %s", command);
	log_line("half is sent; running: %s", command);
	sigemptyset(&none);
	err = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP |
						      POSIX_SPAWN_SETSIGMASK);
	if (!err)
		err = posix_spawnattr_setsigmask(&attr, &none);
	if (!err)
		err = posix_spawn(&pid, "/bin/sh", NULL, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	if (err)
		return log_fail_errno("posix_spawn", err, "cannot run: %s",
				      command);
	return pid;
}

/* Waits until the command has ended, as patiently as for a server. */
static int wait_ended(pid_t pid, const struct patience *patience)
{
	int64_t deadline = wait_deadline(patience->timeout_ms);
	/* Readable when the process has ended; see pidfd_open(2). */
	int ready, err, fd = syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return log_fail_errno("pidfd_open", errno,
				      "Linux has it since 5.3");
	ready = wait_readable(fd, -1, patience->stop_fd, deadline);
	err = errno;
	close(fd);
	if (ready > 0)
		return 0;
	if (err == ETIMEDOUT)
		return log_fail(
			"the command of -x has not ended within %g s after the last message, so it is killed; is -t long enough for it",
			patience->timeout_ms / 1000.0);
	return wait_fail("the end of the command of -x", err, patience);
}

static int finish(pid_t pid, const struct patience *patience)
{
	int status;

	if (wait_ended(pid, patience)) {
		/* Do not wait for it: the kernel may be busy for long. */
		if (kill(-pid, SIGKILL))
			log_fail_errno("kill", errno, "end process %d yourself",
				       pid);
		return -1;
	}
	if (waitpid(pid, &status, 0) < 0)
		return log_fail_errno("waitpid", errno, "cannot go on");
	if (WIFSIGNALED(status))
		return log_fail("the command of -x was ended by signal %d (%s)",
				WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (status)
		return log_fail(
			"the command of -x failed, with status %d; try it in a shell, as root",
			WEXITSTATUS(status));
	return 0;
}

/* One number to every server: their datagrams share one connection. */
static int send_number(struct session *session, unsigned int number)
{
	size_t length = session->options->bytes;
	/* Filled, so that a lost or misplaced byte would show. */
	char *buf = session->out;

	memset(buf, 'a' + number % 26, length);
	dgram_header(buf, DGRAM_NUMBERED, number);
	for (int i = 0; i < session->peer_count; i++)
		if (session_send(session, &session->peers[i], buf, length,
				 NULL))
			return -1;
	return 0;
}

static int ask_total(struct session *session, const struct sockaddr_in *peer)
{
	struct rds_news news;
	struct dgram dgram;

	if (session_send_text(session, peer, DGRAM_TOTAL, "") ||
	    session_expect(session, peer, DGRAM_TOTAL, "the total", &dgram,
			   &news))
		return -1;
	log_line("port %d has received:", ntohs(peer->sin_port));
	log_text("  ", dgram.text, dgram.length);
	return 0;
}

static int send_all(struct session *session, pid_t *pid)
{
	const struct options *options = session->options;

	for (unsigned int i = 0; i < options->count; i++) {
		if (options->command && i == options->count / 2) {
			*pid = start(options->command);
			if (*pid < 0)
				return -1;
		}
		if (send_number(session, i))
			return -1;
	}
	return 0;
}

/* Whether the connection broke meanwhile; no socket is told of that. */
static int tell_resets(struct session *session, uint64_t before)
{
	uint64_t after;

	if (info_counter(&session->rds, "conn_reset", &after))
		return -1;
	if (after == before)
		return log_fail(
			"the connection was not reset; did the command of -x break it");
	log_line("the connection was reset, and has come back.");
	return 0;
}

int work_count(struct session *session)
{
	uint64_t resets;
	pid_t pid = -1;
	int ret;

	if (session->options->bytes > DGRAM_MAX)
		return log_fail(
			"-s %u: a message of this program has at most %d bytes",
			session->options->bytes, DGRAM_MAX);
	if (info_counter(&session->rds, "conn_reset", &resets))
		return -1;
	ret = send_all(session, &pid);
	/* In any case, leave no child behind. */
	if (pid > 0 && finish(pid, session->patience))
		ret = -1;
	if (ret)
		return -1;
	log_line("sent %u messages to each of %d.", session->options->count,
		 session->peer_count);
	for (int i = 0; i < session->peer_count; i++)
		if (ask_total(session, &session->peers[i]))
			return -1;
	if (pid > 0 && tell_resets(session, resets))
		return -1;
	return info_connections(&session->rds, &session->peers[0]);
}
