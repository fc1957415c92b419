/*
 * outgoing.c - a file that is read to be sent: as it was when it was opened, or not at all
 */
#include "outgoing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

int outgoing_open(struct outgoing *out, const char *path)
{
	struct stat *st = &out->found;

	*out = (struct outgoing){ .name = filename_of(path) };
	filename_show(path, out->shown);
	/* Nobody may ever write to what is a FIFO: do not wait for that. */
	out->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (out->fd < 0 || fstat(out->fd, st))
		return log_fail_errno("open", errno, "%s is not sent",
				      out->shown);
	if (!S_ISREG(st->st_mode))
		return log_fail("%s: only files are sent, and this is not one",
				out->shown);
	out->size = st->st_size;
	out->version = st->st_mtim.tv_sec * 1000000000ULL + st->st_mtim.tv_nsec;
	return 0;
}

void outgoing_close(struct outgoing *out)
{
	EVP_MD_CTX_free(out->digest);
	if (out->fd >= 0)
		close(out->fd);
}

int outgoing_go_on(struct outgoing *out, uint64_t bytes, const void *theirs,
		   const struct pulse *pulse)
{
	uint8_t ours[DIGEST_SIZE];
	int ret;

	EVP_MD_CTX_free(out->digest);
	out->at = bytes;
	if (digest_begin(&out->digest))
		return -1;
	if (bytes > out->size)
		return log_fail("%s: the server has more of it than there is",
				out->shown);
	ret = digest_add_file(out->digest, out->fd, bytes, pulse);
	if (ret || digest_so_far(out->digest, ours))
		return ret > 0 ? 1 : -1;
	if (!bytes || !memcmp(ours, theirs, DIGEST_SIZE))
		return 0;
	return log_fail(
		"%s: the server has %s another file of that name and time%s",
		out->shown, bytes == out->size ? "all of" : "a part of",
		bytes == out->size ? "" : ", and forgets it: send this again");
}

int outgoing_read(struct outgoing *out, char *part, size_t size)
{
	uint64_t left = out->size - out->at;
	size_t want = left < size ? left : size, got = 0;

	while (got < want) {
		ssize_t n =
			pread(out->fd, part + got, want - got, out->at + got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return log_fail_errno("pread", errno, "%s is given up",
					      out->shown);
		if (n == 0)
			return log_fail(
				"%s has become shorter while it was being sent, so it is given up",
				out->shown);
		got += n;
	}
	out->at += got;
	return digest_add(out->digest, part, got) ? -1 : (int)got;
}

/*
 * Whether somebody has written to it since it was opened: then what was sent may
 * be of both versions.
 */
static bool has_changed(const struct outgoing *out)
{
	const struct timespec *was = &out->found.st_ctim;
	struct stat st;

	/* A program can set st_mtim back; nobody sets st_ctim. */
	return fstat(out->fd, &st) || st.st_size != out->found.st_size ||
	       st.st_ctim.tv_sec != was->tv_sec ||
	       st.st_ctim.tv_nsec != was->tv_nsec;
}

int outgoing_end(struct outgoing *out)
{
	if (has_changed(out))
		return log_fail(
			"%s has changed while it was being sent, so it is given up; send it again",
			out->shown);
	return digest_end(out->digest, out->sha256);
}
