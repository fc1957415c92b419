#!/usr/bin/env bats
#
# 06_reboot.bats - chapter 06 when the other host's kernel is started anew, in the
# middle and between two conversations. The logs of the first are kept in
# build/tests/06_reboot.TRANSPORT; docs/rds/reboot_TRANSPORT.log is from there.

CHAPTER=06_rds
top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
# shellcheck source=scripts/lib/chapter.sh
source "$top/scripts/lib/chapter.sh"
# shellcheck source=scripts/lib/device.sh
source "$top/scripts/lib/device.sh"
# device.sh has just forgotten what setup_file found for the whole file.
device_where=${TEST_DEVICE_WHERE:-}

setup_file() {
	device_open 2
	# What the tests start need not look again.
	export DEVICE=$device_where TEST_DEVICE_WHERE=$device_where
	chapter_update "$top/$CHAPTER" "$top/build/tests/$CHAPTER.plain"
	make -s -C "$top/build/tests/$CHAPTER.plain" CFLAGS='-O2 -g -Werror'
	cc -O2 -fPIC -shared -o "$top/build/tests/$CHAPTER.plain/at_call.so" "$top/tests/at_call.c"
}

# Runs in the same shell as setup_file.
teardown_file() {
	device_close
}

setup() {
	# No other host is started anew.
	[[ $device_where == lab ]] || skip "this test needs the lab"
	build=$top/build/tests/$CHAPTER.plain
}

# guest NODE SCRIPT: runs it with bash on a node, in the build of the chapter.
guest() {
	device_run "$1" bash -c "cd '$build' && $2" </dev/null
}

# What a test that failed leaves, and what is shown for it.
teardown() {
	local node

	for node in a b; do
		guest "$node" 'pkill -KILL -x "server|client"
			tc qdisc del dev eth0 root' >/dev/null 2>&1 || true
	done
	find "${out:-$BATS_TEST_TMPDIR}" -name '*.log' -exec tail -n +1 {} +
}

# eventually COMMAND...: within two minutes.
eventually() {
	local end=$((SECONDS + 120))

	until "$@"; do
		[[ $SECONDS -lt $end ]]
		read -r -t 0.05 <> <(:) || true
	done
}

load_rds() {
	device_run "$1" "$top/scripts/setup_rds.sh" "$transport" </dev/null
}

# serve NODE ADDRESS NAME: a server, which goes on until its node ends or stop.
serve() {
	guest "$1" "exec ./server -a $2 -T $transport" >"$out/$3.log" 2>&1 3>&- &
	eventually grep -qs '^listening' "$out/$3.log"
}

# A client on node a sends to a server on node b. When half is sent it stops, and
# goes on when nothing is heard of node b any more, which then is off.
in_the_middle() {
	local total=$2 client counted
	local cut='tc qdisc add dev eth0 root netem loss 100%'

	transport=$1 out=$top/build/tests/06_reboot.$1
	rm -rf "$out"
	mkdir -p "$out"
	load_rds a
	load_rds b
	serve b 192.0.2.2 server1
	guest a "exec env LD_PRELOAD=./at_call.so AT_CALL='sendmsg $((total / 2))' AT_ACTION=stop \
		AT_REPORT=/dev/null ./client -a 192.0.2.2 -T $transport -t 100 -n $total count" \
		>"$out/client.log" 2>"$out/client.err" 3>&- &
	client=$!
	# shellcheck disable=SC2016 # for the shell there
	eventually guest a 'grep -q "^State:.T" /proc/$(pgrep -x client)/status'
	guest b "$cut"
	guest a 'pkill -CONT -x client'
	"$top/scripts/lab.sh" reset b
	# The new server shall be there before anything can arrive for it.
	guest b "$cut"
	load_rds b
	serve b 192.0.2.2 server2
	[[ $(wc -l <"$out/client.log") -eq 2 ]]
	guest b 'tc qdisc del dev eth0 root'
	# No socket has noticed: the client goes on, to the end.
	wait "$client"
	read -r -a counted < <(sed -n '/missed/s/[^0-9 ]//gp' "$out/client.log")
	guest a 'dmesg | sed -n "s/^[^]]*] //; /RDS\//p"' >"$out/kernel.log"
	guest b 'pkill -x server'
	# What was acknowledged before, the second server has not; nothing came
	# twice. The last ones may not have been acknowledged when the link was cut.
	[[ ${counted[0]} -gt 0 && ${counted[1]} -ge $((total * 9 / 20)) ]]
	[[ $((counted[0] + counted[1])) -eq $total && ${counted[2]} -eq 0 ]]
}

# Nothing is on its way, and no end knows that the other has been away.
between_two() {
	transport=$1 out=$BATS_TEST_TMPDIR
	load_rds b
	serve b 192.0.2.2 server3
	guest a "./client -a 192.0.2.2 -T $transport -n 10 count" >"$out/1.log"
	"$top/scripts/lab.sh" reset b
	load_rds b
	serve b 192.0.2.2 server4
	guest a "./client -a 192.0.2.2 -T $transport -t 30 -n 10 count" >"$out/2.log"
	# And the other way round, in the kernel that knows nothing.
	serve a 192.0.2.1 server5
	guest b "./client -a 192.0.2.1 -T $transport -n 10 count" >"$out/3.log"
	"$top/scripts/lab.sh" reset b
	load_rds b
	guest b "./client -a 192.0.2.1 -T $transport -t 30 -n 10 count" >"$out/4.log"
	[[ $(grep -cx '  10 messages, all of them, in order' "$out"/[1-4].log |
		grep -c ':1$') -eq 4 ]]
	guest a 'pkill -x server'
}

@test "06: over tcp, the other host is started anew in the middle" {
	in_the_middle tcp 60000
}

@test "06: over tcp, it is started anew between two conversations" {
	between_two tcp
}

@test "06: over ib, the other host is started anew in the middle" {
	in_the_middle ib 20000
}

@test "06: over ib, it is started anew between two conversations" {
	between_two ib
}

@test "lab: reset wants a node that there is" {
	run -2 "$top/scripts/lab.sh" reset
	run -255 "$top/scripts/lab.sh" reset c
	run -2 "$top/scripts/lab.sh" reset a b
}
