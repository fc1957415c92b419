/*
 * folder.c - the folder that files go to: what may go there, and what is there
 */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/file.h>
#include <sys/stat.h>

#include "log.h"

int folder_open(struct folder *folder, const char *name)
{
	folder->fd = -1;
	if (!name)
		return 0;
	folder->fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->fd < 0)
		return log_fail_errno("open", errno, "-d %s", name);
	return 0;
}

void folder_close(struct folder *folder)
{
	if (folder->fd >= 0)
		close(folder->fd);
	folder->fd = -1;
}

uint64_t folder_share(uint64_t size)
{
	return (size / 4096 + 1) * 4096;
}

/* Whether name has the form that incoming.c gives a part: .NAME.VERSION.part */
static bool is_part(const char *name)
{
	const char *end = strstr(name, ".part");
	size_t digits = 0;

	while (end && end[5])
		end = strstr(end + 1, ".part");
	if (name[0] != '.' || !end)
		return false;
	while (end > name && strchr("0123456789abcdef", end[-1])) {
		digits++;
		end--;
	}
	return digits == 16 && end > name + 2 && end[-1] == '.';
}

/* Removes an old part that no server is receiving. Returns whether it did. */
static bool remove_old(const struct folder *folder, const char *name,
		       const struct stat *st)
{
	bool removed = false;
	int fd;

	if (!is_part(name) || st->st_uid != geteuid() ||
	    st->st_mtime > time(NULL) - FOLDER_PART_HOURS * 3600)
		return false;
	fd = openat(folder->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		removed = !unlinkat(folder->fd, name, 0);
	close(fd);
	if (removed)
		log_text("removed, since nobody has continued it for a day: ",
			 name, strlen(name));
	return removed;
}

static void look_at(struct folder *folder, const char *name)
{
	struct stat st;

	/* What is gone by now does not count. */
	if (fstatat(folder->fd, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode) || remove_old(folder, name, &st))
		return;
	folder->used += folder_share(st.st_size);
}

int folder_look(struct folder *folder, const struct pulse *pulse)
{
	struct dirent *entry;
	DIR *dir;
	int fd, ret = 0;

	folder->used = 0;
	/* A descriptor of its own: closedir() closes it. */
	fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return log_fail_errno("openat", errno,
				      "may this user list that directory");
	}
	/* Only errno tells whether readdir() failed or is at the end. */
	while (!ret && (errno = 0, entry = readdir(dir))) {
		look_at(folder, entry->d_name);
		ret = pulse->beat(pulse->of) ? 1 : 0;
	}
	if (!ret && errno)
		ret = log_fail_errno("readdir", errno,
				     "how much is there remains unknown");
	closedir(dir);
	folder->known = !ret;
	return ret;
}
