/*
 * registers.c - a program whose floating-point registers must stay its own
 *
 * Threads, children, signals and other programs take turns, and each of them has numbers
 * of its own in the registers. It prints a line for each of these, with how often
 * something else was there. The kernel of a User-Mode Linux node keeps the registers
 * aside only where somebody wants them; it must tell the same as the host's. For x86-64.
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	TIMES = 500,
	PAGE = 4096
};

#define FOUR(DO, A, B, C, D) DO(A) DO(B) DO(C) DO(D)
#define EACH(DO)               \
	FOUR(DO, 0, 1, 2, 3)   \
	FOUR(DO, 4, 5, 6, 7)   \
	FOUR(DO, 8, 9, 10, 11) \
	FOUR(DO, 12, 13, 14, 15)
#define LOAD(N) "movdqu 16*" #N "(%[in]), %%xmm" #N "\n\t"
#define STORE(N) "movdqu %%xmm" #N ", 16*" #N "(%[out])\n\t"
#define NAME(N) , "xmm" #N

static volatile int other;

/*
 * Fills the registers with NUMBER, makes a system call and writes to PAGE. Counts in
 * `other` if something else is in them then. Returns what the call returned.
 */
static long call(int number, volatile char *page, long which, long a, long b)
{
	char in[256], out[256];

	memset(in, number, sizeof(in));
	asm volatile(EACH(LOAD) "syscall\n\t"
				"movb $1, (%[page])\n\t" EACH(STORE)
		     : "+a"(which)
		     : "D"(a),
		       "S"(b), [in] "r"(in), [out] "r"(out), [page] "r"(page)
		     : "rcx", "r11", "memory" EACH(NAME));
	if (memcmp(in, out, sizeof(in)) != 0)
		other++;
	return which;
}

/* Pages that nobody has written to yet. */
static char *fresh(size_t pages)
{
	char *at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return at;
}

static void *take_turns(void *number)
{
	char *pages = fresh(TIMES);

	for (int i = 0; i < TIMES; i++)
		call(*(int *)number, pages + i * PAGE, SYS_sched_yield, 0, 0);
	munmap(pages, TIMES * PAGE);
	return NULL;
}

static void say(const char *what)
{
	printf("%s: %d times another's\n", what, other);
	fflush(stdout);
	other = 0;
}

static unsigned control(void)
{
	unsigned word;

	asm volatile("stmxcsr %0" : "=m"(word));
	return word;
}

static void *inherit(void *word)
{
	if (control() != *(unsigned *)word)
		other++;
	return NULL;
}

/* A thread has the control word of the one that began it. */
static void threads(void)
{
	static int numbers[] = { 1, 2, 3 };
	static unsigned mine = 0x7f80;
	pthread_t thread[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread[i], NULL, take_turns, &numbers[i]) !=
		    0)
			exit(1);
	for (int i = 0; i < 3; i++)
		if (pthread_join(thread[i], NULL) != 0)
			exit(1);
	asm volatile("ldmxcsr %0" : : "m"(mine));
	if (pthread_create(&thread[0], NULL, inherit, &mine) != 0 ||
	    pthread_join(thread[0], NULL) != 0)
		exit(1);
	say("threads");
}

/* A child has what its parent had as it began; then both go on. */
static void children(void)
{
	char *page = fresh(1);

	for (int i = 0, status, number; i < 20; i++) {
		long pid = call(100 + i, page, SYS_fork, 0, 0);

		number = pid == 0 ? 50 : 51;
		take_turns(&number);
		if (pid == 0)
			_exit(other != 0);
		if (waitpid((pid_t)pid, &status, 0) < 0 || status != 0)
			other++;
	}
	say("children");
}

static void on_signal(int signal)
{
	static char page[PAGE];

	(void)signal;
	call(7, page, SYS_sched_yield, 0, 0);
}

static void signals(void)
{
	char *page = fresh(1);

	if (signal(SIGUSR1, on_signal) == SIG_ERR)
		exit(1);
	for (int i = 0; i < TIMES; i++)
		call(8, page, SYS_kill, getpid(), SIGUSR1);
	say("signals");
}

/* Another program begins with registers of its own, and its parent keeps what it has. */
static void programs(const char *self)
{
	const unsigned mine = 0x7f80;
	char *const arguments[] = { (char *)self, "new", NULL };

	asm volatile("ldmxcsr %0" : : "m"(mine));
	for (int i = 0, status; i < 5; i++) {
		pid_t pid;

		if (posix_spawn(&pid, self, NULL, NULL, arguments, NULL) != 0 ||
		    waitpid(pid, &status, 0) < 0 || status != 0 ||
		    control() != mine)
			other++;
	}
	say("programs");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return control() != 0x1f80;
	threads();
	children();
	signals();
	programs(argv[0]);
	return 0;
}
