/*
 * faults.c - a program that reads and writes where it may and where it may not
 *
 * It prints a line for each: what it read, or what the signal told it. The kernel of a
 * User-Mode Linux node must tell it the same as the host's.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile siginfo_t told;

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	memcpy((void *)&told, info, sizeof(told));
	siglongjmp(back, 1);
}

/* Reads or writes AT, which lies OFFSET behind START, and prints what came of it. */
static void try(const char *what, volatile char *start, size_t offset,
		int write)
{
	if (sigsetjmp(back, 1)) {
		printf("%s: signal %d, code %d, at %td\n", what, told.si_signo,
		       told.si_code, (char *)told.si_addr - (char *)start);
		return;
	}
	if (write)
		start[offset] = 'w';
	printf("%s: '%c'\n", what, start[offset] ? start[offset] : '0');
}

static char *map(int prot, int fd)
{
	char *at = mmap(NULL, 65536, prot,
			MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		_exit(1);
	}
	return at;
}

static void protect(char *memory, int prot)
{
	if (mprotect(memory, 65536, prot) == 0)
		return;
	perror("mprotect");
	_exit(1);
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_fault,
				    .sa_flags = SA_SIGINFO };
	char *memory = map(PROT_READ | PROT_WRITE, -1),
	     *hole = map(PROT_NONE, -1);
	FILE *file = tmpfile();
	char *text, *own;
	pid_t child;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (sigaction(SIGSEGV, &action, NULL) != 0 ||
	    sigaction(SIGBUS, &action, NULL) != 0)
		return 1;
	if (file == NULL || fprintf(file, "%-16384s", "file") < 0 ||
	    fflush(file) != 0)
		return 1;
	text = map(PROT_READ, fileno(file));

	try("a page that is new is read", memory, 5, 0);
	try("and then written", memory, 6, 1);
	try("a page that is new is written", memory, 4096, 1);
	protect(memory, PROT_READ);
	try("what may only be read is written", memory, 7, 1);
	try("and read", memory, 6, 0);
	try("a new page of it is written", memory, 8193, 1);
	protect(memory, PROT_READ | PROT_WRITE);
	try("it may be written again", memory, 7, 1);
	try("a new page of it", memory, 8193, 1);
	try("no access: read", hole, 3, 0);
	try("no access: written", hole, 4097, 1);
	protect(memory, PROT_NONE);
	try("no access any more: read", memory, 6, 0);
	protect(memory, PROT_READ);
	try("access again", memory, 6, 0);
	protect(memory, PROT_READ | PROT_WRITE);
	try("a file that may only be read is written, unread", text, 1, 1);
	try("and read", text, 1, 0);
	try("and written", text, 1, 1);
	try("behind the file's end", text, 32768, 0);
	child = fork();
	if (child < 0)
		return 1;
	if (child == 0) {
		try("the child reads", memory, 6, 0);
		try("and writes", memory, 4096 + 9, 1);
		memory[6] = 'c';
		_exit(0);
	}
	if (waitpid(child, NULL, 0) != child)
		return 1;
	try("the parent has its own", memory, 6, 0);
	try("of each page", memory, 4096 + 9, 0);
	own = map(PROT_READ | PROT_WRITE, fileno(file));
	try("a file of which one may change a copy is read", own, 1, 0);
	try("and written", own, 1, 1);
	try("another page of it is written, unread", own, 4097, 1);
	try("the file is as it was", text, 1, 0);
	try("all of it", text, 4097, 0);
	munmap(hole, 65536);
	try("nothing there: read", hole, 2, 0);
	try("nothing there: written", hole, 2, 1);
	try("address 0", NULL, 0, 0);
	return 0;
}
