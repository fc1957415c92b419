#!/usr/bin/env bats
#
# lab.bats - a lab with two nodes: what commands in it get, see and may change

load lab

setup_file() {
	export LAB_NAME=test.$$ SCRATCH
	mkdir -p "$TOP/build"
	SCRATCH=$(mktemp -d "$TOP/build/lab-test.XXXXXX")
	chmod 755 "$SCRATCH"
	lab up --nodes 2 2>"$SCRATCH/up" || {
		cat "$SCRATCH/up"
		return 1
	}
	clocks >"$SCRATCH/clocks"
}

# Milliseconds: the host's clock, and how long node a has been up.
clocks() {
	local uptime

	read -r uptime _ < <(lab exec a -- cat /proc/uptime)
	echo "$(date +%s%3N) $((10#${uptime/./}0))"
}

teardown_file() {
	lab down
	rm -rf "$SCRATCH"
}

@test "up when it is up says so; status shows what runs" {
	run -0 lab up --nodes 2
	[[ $output == *"already up, with two nodes"* ]]
	run -0 lab up
	run -0 lab status
	[[ $output == *"up for 0:0"*"engine: $LAB_ENGINE"*"kernel: "* ]]
	[[ $output == *"node a: up"*192.0.2.1*2001:db8::1* ]]
	[[ $output == *"node b: up"*192.0.2.2*2001:db8::2* ]]
}

@test "exec passes on the exit status, and a signal's number" {
	local status

	for status in 0 1 7 255; do
		run -"$status" lab exec -- sh -c "exit $status"
		[[ -z $output ]]
	done
	run -139 lab exec b -- sh -c 'kill -SEGV $$'
	[[ -z $output ]]
	run -127 lab exec -- no-such-program
	[[ $output == *no-such-program* ]]
}

@test "exec keeps arguments as they are" {
	local arguments=('' 'two  words' "it's" '"q"' '$HOME' '`x`' '*' '\n'
		$'new\nline' '中文' '-n' '!' '#' ';' '&' '>x' '~' $'\t')

	printf '<%s>\n' "${arguments[@]}" >"$BATS_TEST_TMPDIR/want"
	lab exec -- printf '<%s>\n' "${arguments[@]}" >"$BATS_TEST_TMPDIR/got"
	diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
	# More than fits into one piece of the line to the node.
	run -0 lab exec -- sh -c 'printf %s "$1" | wc -c' sh \
		"$(head -c 60000 /dev/zero | tr '\0' x)"
	[[ $output == 60000 ]]
}

@test "exec passes stdin, stdout and stderr, each by itself, whole" {
	head -c 1000000 /dev/urandom >"$BATS_TEST_TMPDIR/in"
	lab exec -- sh -c 'cat; echo problem >&2' <"$BATS_TEST_TMPDIR/in" \
		>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
	cmp "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/out"
	[[ $(<"$BATS_TEST_TMPDIR/err") == problem ]]
	# Also where INT is ignored, as in a job in the background.
	(
		trap '' INT
		lab exec -- cat <"$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/out"
	)
	cmp "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/out"
}

@test "exec with a standard input, output or error that is closed" {
	# Closed in a shell of its own: run needs them.
	run -0 sh -c '"$@" <&-' sh "$TOP/scripts/lab.sh" exec -- \
		sh -c 'wc -c; echo ends'
	[[ ${lines[0]} == 0 && ${lines[1]} == ends ]]
	run -3 sh -c '"$@" >&-' sh "$TOP/scripts/lab.sh" exec -- \
		sh -c 'echo said; exit 3'
	[[ -z $output ]]
	run -0 sh -c '"$@" 2>&-' sh "$TOP/scripts/lab.sh" exec -- echo said
	[[ $output == said ]]
}

@test "twenty commands at a time, on both nodes" {
	local i out pids=() status

	for i in {1..20}; do
		lab exec "$( ((i % 2)) && echo a || echo b)" -- \
			sh -c "echo $i; hostname; exit $i" \
			>"$BATS_TEST_TMPDIR/$i" 2>&1 3>&- &
		pids[i]=$!
	done
	for i in {1..20}; do
		status=0
		wait "${pids[i]}" || status=$?
		out=$(<"$BATS_TEST_TMPDIR/$i")
		[[ $status == "$i" && ${out%%$'\n'*} == "$i" ]] ||
			fail "$i: status $status, $out"
	done
	[[ $(cat "$BATS_TEST_TMPDIR"/* | grep -c '^node-b$') == 10 ]]
}

@test "a signal to exec reaches the command, whose status comes back" {
	local out=$BATS_TEST_TMPDIR/out pid status

	"$TOP/scripts/lab.sh" exec b -- bash -c 'trap "echo interrupted; exit 9" INT
		echo ready; for i in {1..600}; do read -t 0.1 <> <(:); done
		' >"$out" 3>&- &
	pid=$!
	eventually grep -q ready "$out"
	kill -INT "$pid"
	status=0
	wait "$pid" || status=$?
	[[ $status == 9 ]] || fail "status $status"
	grep -q interrupted "$out"
	# And one that cannot be passed on.
	: >"$out"
	"$TOP/scripts/lab.sh" exec b -- bash -c 'echo $$; exec sleep 1000' >"$out" 3>&- &
	pid=$!
	eventually grep -q . "$out"
	kill -KILL "$pid"
	status=0
	wait "$pid" || status=$?
	[[ $status == 137 ]] || fail "status $status"
	eventually lab exec b -- sh -c "! kill -0 $(<"$out") 2>/dev/null"
}

@test "the repository is writable, and what the guest writes is ours" {
	cd "$SCRATCH"
	lab exec -- sh -c 'echo text >made; chmod 750 made; mkdir dir
		printf "#!/bin/sh\necho ran\n" >script; chmod +x script
		ln -s made link; touch -d 2001-02-03 made'
	[[ $(stat -c '%U %a' made) == "$(id -un) 750" ]]
	[[ $(stat -c %U dir) == "$(id -un)" && $(readlink link) == made ]]
	[[ $(date -r made +%Y-%m-%d) == 2001-02-03 ]]
	run -0 ./script
	# And the other way round, at once.
	echo changed >made
	run -0 lab exec b -- cat made
	[[ $output == changed ]]
	printf 'all: x\nx: made\n\tcp made x\n' >Makefile
	run -0 lab exec -- make
	run -0 lab exec -- make
	[[ $output == *"Nothing to be done"* ]]
}

# For a node's shell: hostfs FOLDER mounts the host's folder on /x. A newer kernel and
# mount(8) want the option's name, which older ones take for a part of the path.
# shellcheck disable=SC2016
# That of util-linux is setuid, and its owner, who is not who started the lab, is nobody.
hostfs='mount() { /run/lab/busybox mount "$@"; }
hostfs() {
	mount -t hostfs -o "$1" none /x 2>/dev/null ||
		mount -t hostfs -o "hostfs=$1" none /x || return
	[ "$(stat -f -c %T /x)" = hostfs ]
}
'

@test "nothing else of the host can be changed" {
	local before

	before=$(sha256sum /etc/passwd /bin/true)
	lab exec -- sh -c 'echo x >>/etc/passwd && rm /bin/true &&
		touch /etc/lab.bats /usr/lab.bats /tmp/lab.bats'
	[[ $(sha256sum /etc/passwd /bin/true) == "$before" ]]
	[[ ! -e /etc/lab.bats && ! -e /usr/lab.bats && ! -e /tmp/lab.bats ]]
	# It is the host that refuses, not only the layer in between.
	if [[ $LAB_ENGINE == uml ]]; then
		lab exec -- sh -c "$hostfs"'mkdir /x && hostfs /etc && [ -s /x/passwd ] &&
			! touch /x/lab.bats && ! rm /x/passwd'
		return
	fi
	for pid in $(pgrep -f "rdma-lab-$LAB_NAME-[ab]"); do
		tr '\0' '\n' <"/proc/$pid/cmdline" |
			grep -x 'local,id=root,path=/tmp/files,readonly=on,.*'
	done
}

@test "what a node writes is no way into the host" {
	local said

	cd "$SCRATCH"
	touch /tmp/lab.bats.$$
	# The host's own files in /root and /tmp; git's hooks; other users' rights.
	# shellcheck disable=SC2016 # for the shell there
	run -0 lab exec -- sh -c "$hostfs"'mkdir -p /x && mount --bind / /x
		[ "$1" != uml ] || { hostfs / && [ -s /x/etc/passwd ]; } || exit
		ls /x/tmp/lab.bats.* || find /x/root -maxdepth 1 -type f' sh "$LAB_ENGINE"
	rm /tmp/lab.bats.$$
	[[ ${lines[0]} == "ls: cannot access"* && ${#lines[@]} == 1 ]]
	if [[ -e $TOP/.git ]]; then
		# In a worktree it is a file.
		# shellcheck disable=SC2016 # for the shell there
		run -0 lab exec -- sh -c 'cd "$1" || exit
			if [ -d .git ]; then ! true >.git/lab.bats; else ! true >>.git; fi' sh "$TOP"
		said=$output
		# If it is there, it does not stay.
		run ! rm "$TOP/.git/lab.bats"
		[[ $said == *"Read-only file system" ]]
	fi
	lab exec -- sh -c 'umask 0; cp /bin/sh setuid; chown nobody setuid
		chmod 4755 setuid; chmod 6755 setuid; mkdir -m 2755 setgid; mknod null c 1 3
		/usr/bin/python3 -c "import os; os.open(\"born\", os.O_CREAT, 0o6755)"; true'
	[[ $(stat -c %a setuid) == 755 && $(stat -c %a setgid) == 755 ]]
	[[ ! -e born || $(stat -c %a born) == 755 ]]
	[[ ! -c null && $(stat -c %U setuid) == "$(id -un)" ]]
	# In a folder that has it, the bit is the kernel's to give.
	chmod g+s setgid
	lab exec -- mkdir setgid/inner
	[[ -d setgid/inner ]]
}

@test "root in a node finds no process, device or service of the host" {
	# What it sees of the host there, beside what its own root has at those places.
	# shellcheck disable=SC2016 # for the shell there
	run -0 lab exec -- sh -c "$hostfs"'mkdir -p /x && mount --bind / /x
		[ "$1" != uml ] || hostfs / || exit
		[ -s /x/etc/passwd ] && find /x/proc /x/sys /x/run -mindepth 1' sh "$LAB_ENGINE"
	[[ ${output#/x/proc/cpuinfo} == '' ]]
}

# In the place of qemu, or of the kernel that is a process, a program tries to get out.
@test "whatever a node's process does: no process, network, environment or setuid file" {
	local folder=$SCRATCH/escapes bin=$SCRATCH/escapes/bin listener port

	mkdir -p "$bin" "$folder/cache/uml"
	/usr/bin/python3 -c '
import os, socket, time
tcp, unix = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
unix.bind(f"\0lab.bats.{os.getpid()}")
unix.listen()
print(tcp.getsockname()[1], flush=True)
time.sleep(1000)' >"$folder/port" 3>&- &
	listener=$!
	eventually grep -q . "$folder/port"
	port=$(<"$folder/port")
	sed "s|@FOLDER@|$folder|; s|@PID@|$listener|; s|@PORT@|$port|" \
		"$TOP/tests/lab_escapes.py" >"$bin/qemu-system-$(uname -m)"
	chmod 755 "$bin"/*
	ln "$bin"/* "$folder/cache/uml/linux"
	echo 6.1 >"$folder/cache/uml/release"
	[[ $LAB_ENGINE != uml ]] || export LAB_CACHE=$folder/cache
	LAB_NAME=test.$$.out LAB_SECRET=secret PATH=$bin:$PATH run -1 lab up --nodes 1
	kill "$listener"
	[[ $output == *"ended during the boot"* ]]
	cat "$folder/tries"
	[[ $(grep -c ^refused: "$folder/tries") -eq 14 ]]
	run ! grep DONE "$folder/tries"
	run -0 find "$folder" -perm /6000
	[[ -z $output ]]
}

@test "root is told what a node may do in its name" {
	local warning="lab: warning: you are root: a node reads all"

	grep -v "$warning" "$SCRATCH/up" | run ! grep warning
	[[ $(id -u) != 0 ]] || grep -q "$warning" "$SCRATCH/up"
}

@test "a node is as it should be" {
	run -0 lab exec a -- bash -c 'set -e
		hostname
		grep -c rdma_lab=1 /proc/cmdline
		rdma link show rxe0/1 | grep -c "state ACTIVE.*netdev eth0"
		ip -br address show eth0
		ip -br link | grep -c .
		getent ahostsv4 b | head -n 1
		ulimit -n -c -l
		[ ! -e /proc/modules ] || lsmod | grep -c ^rds || true
		modprobe -a sch_netem macsec
		[ ! -e /proc/modules ] || lsmod | grep -c "^sch_netem\|^macsec"
		ls -d /dev/shm/. /dev/pts/ptmx /sys/kernel/debug/bdi
		command -v modprobe'
	[[ ${lines[0]} == node-a && ${lines[1]} == 1 && ${lines[2]} == 1 ]]
	[[ ${lines[3]} == *192.0.2.1/24*2001:db8::1/64* ]]
	# lo and eth0: what is only there for the lab itself is no device of theirs.
	[[ ${lines[4]} == 2 ]]
	[[ ${lines[5]} == 192.0.2.2* ]]
	[[ $output =~ files.*65536.*core.*0.*memory.*unlimited ]]
	[[ $LAB_ENGINE == uml || ${lines[9]} == 0 && ${lines[10]} == 2 ]]
	[[ $(lab exec a -- cat /etc/machine-id) != "$(lab exec b -- cat /etc/machine-id)" ]]
	[[ $LAB_ENGINE != uml ]] || is_fast
}

# What makes User-Mode Linux fast, as docs/decisions.md tells: each node stays on one
# processor, the next node on the next; and a fault in a file maps more than its page.
is_fast() {
	local process processors=()

	for process in $(lab status | sed -n 's/^node .*process \([0-9]*\)$/\1/p'); do
		processors+=("$(sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$process/status")")
	done
	[[ ${#processors[@]} -eq 2 && ${processors[*]} =~ ^[0-9]+\ [0-9]+$ ]]
	[[ $(nproc) -eq 1 || ${processors[0]} != "${processors[1]}" ]]
	run -0 lab exec a -- python3 -c '
import mmap, resource
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
file = open("/proc/self/exe", "rb")
memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
before = faults()
sum(memory[at] for at in range(0, len(memory), mmap.PAGESIZE))
print(len(memory) // mmap.PAGESIZE // (faults() - before), "pages at a fault")'
	[[ ${output%% *} -ge 8 ]]
}

# User-Mode Linux tells a write from a read by what is mapped, where that is enough.
@test "a program's faults are told in a node as on the host" {
	cc -std=gnu11 -Wall -Wextra -Werror -O1 -o "$SCRATCH/faults" "$TOP/tests/faults.c"
	run -0 lab exec a -- "$SCRATCH/faults"
	diff <("$SCRATCH/faults") <(printf '%s\n' "$output")
	[[ ${#lines[@]} -eq 28 ]]
}

# User-Mode Linux keeps them aside only where another wants them.
@test "a program's floating-point registers stay its own" {
	[[ $(uname -m) == x86_64 ]] || skip "registers.c knows those of x86-64"
	cc -std=gnu11 -Wall -Wextra -Werror -O1 -pthread -o "$SCRATCH/registers" \
		"$TOP/tests/registers.c"
	run -0 lab exec a -- "$SCRATCH/registers"
	diff <("$SCRATCH/registers") <(printf '%s\n' "$output")
	[[ ${#lines[@]} -eq 4 && $output != *[1-9]' times'* ]]
}

@test "the clock of a node is the host's" {
	local before guest after

	before=$(date +%s%3N)
	guest=$(lab exec b -- date +%s%3N)
	after=$(date +%s%3N)
	((guest > before - 900 && guest < after + 900)) ||
		fail "$before $guest $after"
}

@test "a node's clock runs as fast as the host's" {
	local host guest

	read -r host guest < <(paste "$SCRATCH/clocks" <(clocks) |
		awk '{ print $3 - $1, $4 - $2 }')
	((guest > host * 8 / 10 - 1000 && guest < host * 12 / 10 + 1000)) ||
		fail "$host ms here, $guest ms there"
	# Emulated, it has the fast clock only if the kernel found it right.
	run -0 lab exec a -- cat \
		/sys/devices/system/clocksource/clocksource0/current_clocksource
	[[ $output != tsc ]] || lab exec a -- dmesg | grep 'Refined TSC'
}

@test "another user in the guest has the kernel's limit of locked memory" {
	run -0 lab exec -u nobody -- sh -c 'id -un; ulimit -l; ibv_devinfo -l'
	[[ ${lines[0]} == nobody && ${lines[1]} == 8192 && $output == *rxe0* ]]
	run -255 lab exec -u no-such-user -- true
	[[ $output == *"no user 'no-such-user'"* ]]
}

@test "a node that panics is named, with the end of its console" {
	local i

	# Each has a connection of its own, and they end in any order.
	for i in {1..8}; do
		lab exec b -- sh -c "touch /tmp/here.$i; sleep 1000" \
			>"$BATS_TEST_TMPDIR/$i" 2>&1 3>&- &
	done
	eventually lab exec b -- sh -c '[ $(ls /tmp/here.* | wc -l) = 8 ]'
	run -255 lab exec b -- sh -c 'echo c >/proc/sysrq-trigger'
	[[ $output == *"node b has died"*"sysrq triggered crash"* ]]
	wait
	for i in {1..8}; do
		grep -q 'node b has died' "$BATS_TEST_TMPDIR/$i" ||
			fail "the command on connection $i was told: $(cat "$BATS_TEST_TMPDIR/$i")"
	done
	run -255 lab exec b -- true
	[[ $output == *"node b has died"* ]]
	run -1 lab status
	[[ $output == *"node a: up"*"node b: died"* ]]
	run -1 lab up --nodes 2
	[[ $output == *"node b has died"*"lab.sh down"* ]]
	run -0 lab exec a -- hostname
}

@test "down leaves nothing, also when it is said twice" {
	run -0 processes
	[[ ${#lines[@]} -ge 2 ]]
	run -0 lab down
	nothing_left
	run -0 lab down
	run -1 lab status
	[[ $output == *"not up"* ]]
	run -255 lab exec -- true
	[[ $output == *"is not up"*"lab.sh up"* ]]
}
