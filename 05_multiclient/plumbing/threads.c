/*
 * threads.c - how many threads this process may still start
 */
#include "threads.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/resource.h>
#include <sys/stat.h>

/* How many threads this user has: each is a folder in /proc/PID/task. */
static unsigned long count_threads(void)
{
	unsigned long count = 0;
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	char path[PATH_MAX];
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/task", entry->d_name);
		/* It may have ended meanwhile. */
		if (!stat(path, &st) && st.st_uid == getuid())
			count += st.st_nlink - 2;
	}
	if (dir)
		closedir(dir);
	return count;
}

unsigned long threads_left_to_user(void)
{
	struct rlimit limit;
	unsigned long used;

	/* It is not for root: see setrlimit(2). */
	if (!getuid() || getrlimit(RLIMIT_NPROC, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return ULONG_MAX;
	used = count_threads();
	return used < limit.rlim_cur ? limit.rlim_cur - used : 0;
}

/* A number in a file of one line; ULONG_MAX if it has none, such as "max". */
static unsigned long read_number(const char *path, const char *name)
{
	char full[PATH_MAX + 16], line[32] = "", *end;
	unsigned long number;
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", path, name);
	file = fopen(full, "re");
	if (!file)
		return ULONG_MAX;
	if (!fgets(line, sizeof(line), file))
		line[0] = 0;
	fclose(file);
	number = strtoul(line, &end, 10);
	return end == line ? ULONG_MAX : number;
}

unsigned long threads_left_in_group(const char *root, const char *group)
{
	unsigned long least = ULONG_MAX;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", root, group);
	/* A group has no more than each of those around it. */
	for (;;) {
		unsigned long max = read_number(path, "pids.max");
		unsigned long used = read_number(path, "pids.current");
		char *slash = strrchr(path, '/');

		if (max != ULONG_MAX && used != ULONG_MAX) {
			max = used < max ? max - used : 0;
			least = max < least ? max : least;
		}
		if (!slash || slash < path + strlen(root))
			return least;
		*slash = 0;
	}
}

unsigned long threads_left(void)
{
	unsigned long user = threads_left_to_user(), group = ULONG_MAX;
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "0::", 3))
			group = threads_left_in_group("/sys/fs/cgroup",
						      line + 3);
	}
	if (file)
		fclose(file);
	return user < group ? user : group;
}
