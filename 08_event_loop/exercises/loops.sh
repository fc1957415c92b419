# loops.sh - what the exercise loops asks for; sourced by scripts/exercise.sh
# shellcheck shell=bash disable=SC2154

run help 'server: ./server -h'
want_at_least 'the option is explained' help/server.log '--loops' 1
[[ $bad -eq 0 ]] || verdict

# How many threads the server has; and how long they ran, in 1/100 s, within 2 s.
cat >"$place/mine/threads.sh" <<'END_SCRIPT'
ls "/proc/$(<server.pid)/task" | wc -l
END_SCRIPT
cat >"$place/mine/idle.sh" <<'END_SCRIPT'
ran() {
	read -ra fields <"/proc/$(<server.pid)/stat"
	echo $((fields[13] + fields[14]))
}
before=$(ran)
read -rt 2 <> <(:)
echo "ran $(($(ran) - before))"
END_SCRIPT
# distinct FILE PATTERN: how many different things sed finds in it.
distinct() {
	sed -nE "s/$2/\\1/p" "$place/$1" | sort -u | wc -l
}
# is WHAT RUN SEEN DUE: it is a number.
is() {
	check "$1" "$2" "there are $3, not $4" test "$3" -eq "$4"
}

# Twelve clients of three loops ask, stay, and are there when the server has to end.
calls=own/server.calls
run own "server: $(serving "$(witness "$calls" ./server)" -l 3)" \
	'load&: ORIGINAL/load/load -n 12 -j 1 -N 20 -w 50 -t 50 -a 192.0.2.1 write' \
	"held: $(look own/load.log ' are held' 40)" \
	'threads: bash threads.sh' 'idle: bash idle.sh' "stop: $stopping"
ends 'twelve clients are served at a time' own held 0
is 'there are three completion queues' own \
	"$(distinct "$calls" '^queue_pair cq=([^ ]+) .*')" 3
is 'there are three shared receive queues' own \
	"$(distinct "$calls" '^queue_pair .* srq=(0x[^ ]+)')" 3
is 'each of them goes with one of the others' own \
	"$(distinct "$calls" '^queue_pair (.*)')" 3
is 'three threads look at them' own \
	"$(distinct "$calls" '^polled .*thread=(.*)')" 3
is 'each at one of its own' own "$(distinct "$calls" '^polled (.*)')" 3
seen=$(sed -n 's/^queue_pair //p' "$place/$calls" | sort | uniq -c |
	awk '{ printf "%s ", $1 }')
check 'the clients are spread evenly' own "the loops have ${seen:-none}" \
	test "$seen" = '4 4 4 '
want 'there is at most one thread more' own/threads.log '^[34]$'
want 'who has nothing to do sleeps' own/idle.log '^ran ([0-9]|1[0-9])$'
is 'each client has a number of its own' own \
	"$(distinct own/server.log '^Client ([0-9]+): received conn.*')" 12
ends 'the server ends when it is asked to' own server 0

# What is counted is counted for all loops.
run most 'server: ./server -l 2 -m 2 -e 2' \
	'load&: ORIGINAL/load/load -n 2 -j 1 -w 6 -a 192.0.2.1 sum' \
	"held: $(look most/load.log ' are held' 30)" \
	'third: ORIGINAL/load/load -n 1 -a 192.0.2.1 sum'
want 'there are never more clients than -m says' most/third.log \
	'^1 connections: 0 served, 1 refused, 0 failed\.$'
well 'the others stay' most load
ends 'the server ends after as many as -e says' most server 0

# Many at a time.
run many 'server: ./server -l 2 -e 100' \
	'load: ORIGINAL/load/load -n 100 -q 100 -t 50 -a 192.0.2.1 write'
well 'a hundred clients are served' many load
well 'and the server ends well' many server

# And without the option.
run plain "server: $(witness plain/server.calls ./server) -1" \
	'client: ORIGINAL/client -a 192.0.2.1 write'
well 'without -l, a client is served' plain client
well 'and the server ends by itself' plain server
is 'by one loop' plain \
	"$(distinct plain/server.calls '^polled (.*)')" 1
