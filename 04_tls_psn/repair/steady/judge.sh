# judge.sh - what a repair of steady must do; sourced by scripts/repair.sh
# shellcheck shell=bash disable=SC2154

# All programs have one process ID, and their clock stands still.
cat >"$place/still.c" <<'END'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

pid_t getpid(void)
{
	return 4242;
}

time_t time(time_t *where)
{
	if (where)
		*where = NOW;
	return NOW;
}

int gettimeofday(struct timeval *now, void *zone)
{
	(void)zone;
	*now = (struct timeval){ .tv_sec = NOW };
	return 0;
}

/* Deadlines use another clock, which goes on. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	if (clock != CLOCK_REALTIME)
		return syscall(SYS_clock_gettime, clock, now);
	*now = (struct timespec){ .tv_sec = NOW };
	return 0;
}
END
cc -std=gnu11 -O1 -fPIC -shared -DNOW="$(date +%s)" -o "$place/still.so" "$place/still.c"

# still RUN FILE PROGRAM…: what runs it so, and notes what it calls.
still() {
	witness "$1/$2.calls" "$3" |
		sed "s|LD_PRELOAD=|&$place/still.so:|"
}
# Two servers, each with six clients.
for one in first second; do
	run "$one" "server: bash -c 'echo \$\$ >server.pid; exec $(still "$one" server ./server) write'" \
		"client: bash -c 'for i in 1 2 3 4 5 6; do $(still "$one" client ./client) -a 192.0.2.1 write || exit; done'" \
		"stop: $stopping"
	well "the clients of the $one server end well" "$one" client
done
psns=$(sed -n 's/^modify_qp state=3 .* psn=//p' "$place"/{first,second}/{server,client}.calls)
check 'no PSN comes again, though time and process ID are the same' second \
	"$(sort <<<"$psns" | uniq -d | wc -l) came again" \
	test "$(sort -u <<<"$psns" | wc -l)" -eq 24
# steps FILE: how far it is from each PSN of a program to its next one.
steps() {
	local psn last=

	while read -r psn; do
		[[ -z $last ]] || echo $(((psn - last) & 0xffffff))
		last=$psn
	done < <(sed -n 's/^modify_qp state=3 .* psn=//p' "$1")
}
again=$(for one in first second; do
	steps "$place/$one/server.calls" | sort | uniq -d
done | wc -l)
check 'no PSN follows from the one before' second \
	"the distance from one to the next is the same again" test "$again" -eq 0
# Of 24 numbers, none has all its ones where the others have: once in 100,000 runs.
some=0 all=$((0xffffff))
for psn in $psns; do
	some=$((some | psn)) all=$((all & psn))
done
check 'each of the 24 bits is drawn' second \
	"$(printf 'in none is any of 0x%06x 1, in all 0x%06x' $((0xffffff & ~some)) $all)" \
	test $((some & ~all)) -eq $((0xffffff))
watched chosen 'server: ./server -1 -P 0x200000 write' \
	'client: ./client -a 192.0.2.1 -P 0x100000 write'
want 'who gives a PSN has that one' chosen/client.log \
	'^Local PSN: 0x100000, Remote PSN: 0x200000$'
honest chosen
recorded write
