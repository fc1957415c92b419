# judge.sh - what a repair of sound must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# Notes in $CALLS what is done to the disk: w writes to a file, s flushes one, n gives a
# name, f flushes a folder. With $WORN, a file cannot be flushed.
cat >"$place/disk.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

static void note(char what)
{
	int err = errno, fd = open(getenv("CALLS"), O_WRONLY | O_CREAT | O_APPEND, 0666);

	if (fd < 0 || dprintf(fd, "disk %c\n", what) < 0 || close(fd))
		_exit(97);
	errno = err;
}

static int flush(int fd, int (*real)(int fd))
{
	struct stat st;
	int ret;

	if (fstat(fd, &st))
		return -1;
	if (S_ISREG(st.st_mode) && getenv("WORN")) {
		errno = EIO;
		return -1;
	}
	ret = real(fd);
	if (!ret)
		note(S_ISREG(st.st_mode) ? 's' : 'f');
	return ret;
}

int fsync(int fd)
{
	return flush(fd, REAL(fsync));
}

int fdatasync(int fd)
{
	return flush(fd, REAL(fdatasync));
}

int syncfs(int fd)
{
	return flush(fd, REAL(syncfs));
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	note('w');
	return REAL(pwrite)(fd, bytes, n, at);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned int flags)
{
	int ret = REAL(renameat2)(from, old, to, new, flags);

	if (!ret)
		note('n');
	return ret;
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
	int ret = REAL(linkat)(from, old, to, new, flags);

	if (!ret)
		note('n');
	return ret;
}
END
cc -std=gnu11 -O1 -fPIC -shared -o "$place/disk.so" "$place/disk.c"

# disk RUN VARIABLE…: a server that stores in a folder of its own, and says what is there.
disk() {
	printf "bash -c 'd=\$(mktemp -d) && %s -1 -t 3 -d \$d; s=\$?; ls \$d; rm -r \$d; exit \$s'" \
		"$(witness "$1/server.calls" ./server |
			sed "s|LD_PRELOAD=|${2:-} &$place/disk.so:|")"
}
big=/usr/share/common-licenses/GPL-3
run stored "server: $(disk stored)" "client: ./client -a 192.0.2.1 -t 3 -b 4096 write $big"
well 'a file arrives' stored client
want 'and has its name' stored/server.log '^GPL-3$'
# In the order in which it was done; t: the client is told STORED.
order=$(sed -n 's/^disk //p; s/^post_send .*bytes=52444d460407.*/t/p' \
	"$place/stored/server.calls" | tr -d '\n')
check 'its contents are on the disk before it has its name' stored "the order is $order" \
	grep -qE '^[ws]*s[^wn]*n' <<<"$order"
check 'and its name is on the disk before the client is told' stored "the order is $order" \
	grep -qE '^[^n]*n[^t]*f[^t]*t' <<<"$order"
run worn "server: $(disk worn WORN=1)" \
	"client: ./client -a 192.0.2.1 -t 3 -b 4096 write $big"
fails 'a file that cannot be flushed is refused' worn client 'the server refuses it'
want 'and does not get its name' worn/server.log '^GPL-3$' 0
recorded write
