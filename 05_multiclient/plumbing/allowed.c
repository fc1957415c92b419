/*
 * allowed.c - what the system still allows this process
 */
#include "allowed.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "log.h"

/* For files that are open for a moment: certificates, /proc, names of hosts. */
#define DESCRIPTORS_SPARE 8

/* Threads to leave for other programs of this user, or of this group. */
#define THREADS_SPARE 8

static unsigned long rest(unsigned long limit, unsigned long used)
{
	return used < limit ? limit - used : 0;
}

/* How many descriptors are open, except the one that counts them. */
static unsigned long count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned long count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	/* Without "." and "..". */
	return count > 3 ? count - 3 : 0;
}

unsigned long allowed_descriptors(unsigned long wanted)
{
	unsigned long used = count_descriptors() + DESCRIPTORS_SPARE;
	struct rlimit limit;
	rlim_t before;

	if (getrlimit(RLIMIT_NOFILE, &limit)) {
		log_fail_errno("getrlimit", errno, "RLIMIT_NOFILE");
		return 0;
	}
	before = limit.rlim_cur;
	wanted += used;
	/* Anybody may raise the soft limit up to the hard one. */
	if (limit.rlim_cur < wanted)
		limit.rlim_cur =
			wanted < limit.rlim_max ? wanted : limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		limit.rlim_cur = before;
	return rest(limit.rlim_cur, used);
}

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

unsigned long allowed_threads_of_user(void)
{
	struct rlimit limit;

	/* The limit does not apply to root: see setrlimit(2). */
	if (!getuid() || getrlimit(RLIMIT_NPROC, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return ULONG_MAX;
	return rest(limit.rlim_cur, count_threads() + THREADS_SPARE);
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

/* The least that is left in a group and in those around it, as left_in() says. */
static unsigned long least_of_groups(const char *root, const char *group,
				     unsigned long (*left_in)(const char *))
{
	unsigned long least = ULONG_MAX;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", root, group);
	/* A group has no more than each of those around it. */
	for (;;) {
		unsigned long left = left_in(path);
		char *slash = strrchr(path, '/');

		least = left < least ? left : least;
		if (!slash || slash < path + strlen(root))
			return least;
		*slash = 0;
	}
}

static unsigned long threads_left(const char *group)
{
	unsigned long max = read_number(group, "pids.max");
	unsigned long used = read_number(group, "pids.current");

	if (max == ULONG_MAX || used == ULONG_MAX)
		return ULONG_MAX;
	return rest(max, used + THREADS_SPARE);
}

/* Does not subtract what is used: most of that may be cached files. */
static unsigned long ram_left(const char *group)
{
	unsigned long bytes = read_number(group, "memory.max");

	return bytes == ULONG_MAX ? ULONG_MAX : bytes / 1024;
}

unsigned long allowed_threads_of_group(const char *root, const char *group)
{
	return least_of_groups(root, group, threads_left);
}

unsigned long allowed_ram_of_group(const char *root, const char *group)
{
	return least_of_groups(root, group, ram_left);
}

/* The same for the groups of this process. */
static unsigned long least_of_own(unsigned long (*left_in)(const char *))
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	unsigned long least = ULONG_MAX;
	char line[PATH_MAX];

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "0::", 3))
			least = least_of_groups("/sys/fs/cgroup", line + 3,
						left_in);
	}
	if (file)
		fclose(file);
	return least;
}

unsigned long allowed_threads(void)
{
	unsigned long user = allowed_threads_of_user();
	unsigned long group = least_of_own(threads_left);

	return user < group ? user : group;
}

/* The number behind name in a file of /proc; 0 if there is none. */
static unsigned long long number_in(const char *path, const char *name,
				    int base)
{
	FILE *file = fopen(path, "re");
	unsigned long long value = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			value = strtoull(line + strlen(name), NULL, base);
	if (file)
		fclose(file);
	return value;
}

static unsigned long long own_status(const char *name, int base)
{
	return number_in("/proc/self/status", name, base);
}

unsigned long allowed_ram(void)
{
	unsigned long all = number_in("/proc/meminfo", "MemAvailable:", 10);
	unsigned long group = least_of_own(ram_left);

	return all < group ? all : group;
}

unsigned long allowed_locked(void)
{
	return own_status("VmPin:", 10);
}

/*
 * Whether the limit does not apply to us. The kernel asks for the capability in
 * its first user namespace: what root has in a container does not count.
 */
static int may_lock_all(void)
{
	char name[64] = "";

	return own_status("CapEff:", 16) >> CAP_IPC_LOCK & 1 &&
	       readlink("/proc/self/ns/user", name, sizeof(name) - 1) > 0 &&
	       !strcmp(name, "user:[4026531837]");
}

unsigned long allowed_memory(void)
{
	unsigned long used = allowed_locked();
	struct rlimit limit;

	if (may_lock_all() || getrlimit(RLIMIT_MEMLOCK, &limit))
		return ULONG_MAX;
	/* Anybody may raise the soft limit up to the hard one. */
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		log_fail_errno("setrlimit", errno, "RLIMIT_MEMLOCK");
	if (limit.rlim_cur == RLIM_INFINITY)
		return ULONG_MAX;
	return rest(limit.rlim_cur / 1024, used);
}
