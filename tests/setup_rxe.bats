#!/usr/bin/env bats
#
# setup_rxe.sh on a real kernel with a real Soft-RoCE device: a node of the
# lab, which boots with rxe0 on eth0, 192.0.2.1, and is left so. What is about modules
# is in a virtual machine, whose kernel has some; with EMULATED_LAB set, in the lab of
# that name.

load says

setup_file() {
	cd "$BATS_TEST_DIRNAME/.." || return
	export LAB_NAME=setup-rxe-$$
	scripts/lab.sh up --nodes 1
}

teardown_file() {
	cd "$BATS_TEST_DIRNAME/.." || return
	scripts/lab.sh down
	[[ -n ${EMULATED_LAB:-} ]] || LAB_NAME=$LAB_NAME-tcg scripts/lab.sh down
}

# with_modules: the rest of the test is in a virtual machine. Each process costs
# four times as much there as in a User-Mode Linux node.
with_modules() {
	local nodes=1

	[[ -z ${EMULATED_LAB:-} ]] || nodes=2
	export LAB_NAME=${EMULATED_LAB:-$LAB_NAME-tcg} LAB_ENGINE=tcg
	scripts/lab.sh up --nodes "$nodes"
}

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
}

# A test that failed halfway must not fail the next ones too.
teardown() {
	[[ -z ${BATS_TEST_COMPLETED:-} ]] || return 0
	guest '
		while rdma resource show ctx | grep -q pid; do
			kill -9 $(rdma resource show ctx | sed "s/.* pid \([0-9]*\).*/\1/")
		done
		for name in $(ls /sys/class/infiniband); do rdma link delete $name; done
		ip link del t0
		ip netns del far
		scripts/setup_rxe.sh -i eth0' || true
}

# guest SCRIPT: runs it with bash on node a, in the repository; $rxe is a copy of the
# script under test, since the repository may be closed to a user without rights, and
# t0 a netdev of our own.
guest() {
	scripts/lab.sh exec a -- bash -c "rxe=/tmp/copy/scripts/setup_rxe.sh
		mkdir -p /tmp/copy && cp --parents -t /tmp/copy scripts/setup_rxe.sh \
			scripts/lib/{machine,rxe_device}.sh && chmod -R a+rX /tmp/copy
		as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
		$1"
}

in_guest() {
	run -"$1" guest "$2"
}

@test "--status and the checks, with the device that is there" {
	in_guest 0 '$rxe --status'
	says 'device    rxe0 (Soft-RoCE)' 'netdev    eth0, 192.0.2.1' \
		'port 1    ACTIVE' 'GID 0     fe80:' 'RoCE v2, eth0' \
		'GID 1     0000:0000:0000:0000:0000:ffff:c000:0201, RoCE v2, eth0, 192.0.2.1' \
		'address   192.0.2.1, to be given to -a' \
		'memlock   user root' 'exempt'
	in_guest 0 '$rxe --check && $rxe --quiet-check'
	says 'ok       device        rxe0, address 192.0.2.1' \
		'rxe: usable now: rxe0, address 192.0.2.1'
	[ "${lines[-1]}" = 192.0.2.1 ]
	in_guest 1 '$rxe --status -n rxe7'
	says 'there is no RDMA device rxe7' 'rxe0'
}

@test "removed, and removed again, and set up, and set up again" {
	in_guest 1 '$rxe --remove && $rxe --remove && $rxe --status
		$rxe --quiet-check; $rxe --check -i eth0'
	says 'removed rxe0' 'there is no rxe0 here: nothing to remove' 'there is no RDMA device. Try:' \
		'no RDMA device on eth0 yet' 'ok       module' \
		'ok       rdma command' 'ok       provider' \
		'ok       netdev        eth0' \
		'rxe: can be set up with sudo scripts/setup_rxe.sh'
	silent_on MISSING
	[[ $output != *$'\n192.0.2.1'* ]]
	in_guest 0 'once() { stat -c "%Y %i" /sys/class/infiniband/rxe0/; }
		$rxe && before=$(once) && $rxe -i eth0 && [[ $before == "$(once)" ]]'
	says 'netdev        eth0 (there is no default route, and it is up and has an address)' \
		'made rxe0 on eth0' 'device    rxe0' 'port 1    ACTIVE' \
		'address   192.0.2.1' 'rxe0 is already on eth0' 'address   192.0.2.1'
}

@test "without a device, a chapter's server says so, and what to do" {
	local chapter here=build/no-device

	rm -rf "$here"
	mkdir -p "$here"
	# The others begin as 01 does; 06 speaks to the kernel's sockets, which need none.
	for chapter in 0[1345]_*; do
		cp -r "$chapter" "$here"
		make -s -C "$here/$chapter" CFLAGS=-O0 clean server
		[[ ! -e $here/$chapter/certs.sh ]] || make -s -C "$here/$chapter" certs
	done
	in_guest 0 '$rxe --remove && for chapter in build/no-device/*; do
			words=write
			[[ $chapter != *01* ]] || words=
			(cd "$chapter" && timeout 60 ./server $words)
		done; $rxe -i eth0'
	[[ $(grep -c '^error: .* RDMA device.* sudo scripts/setup_rxe.sh' <<<"$output") -eq 4 ]]
	rm -r "$here"
}

@test "nothing loaded: it loads rxe and what programs need; the kernel, crc32, or it says so" {
	with_modules
	in_guest 0 '$rxe --remove && ! $rxe --check -i eth0 &&
		modprobe -r rdma_ucm rdma_rxe && modprobe -r crc32_generic crc32_pclmul &&
		! grep -qx "name *: crc32" /proc/crypto && ! $rxe --check -i eth0 &&
		helper=$(</proc/sys/kernel/modprobe) && echo /bin/false >/proc/sys/kernel/modprobe || exit
		! $rxe -i eth0 2>&1
		status=$?
		echo "$helper" >/proc/sys/kernel/modprobe
		dmesg | grep "failed to init crc32"
		[[ $status == 0 ]] && $rxe -i eth0 && ls /dev/infiniband'
	says 'ok       module        rdma_rxe' \
		'todo     module        rdma_rxe is there, but not loaded' \
		'loaded rdma_rxe' 'loaded rdma_ucm' \
		'rdma link add: ' 'No such file or directory' 'sudo dmesg | grep -i rxe' \
		'failed to init crc32' 'made rxe0' 'address   192.0.2.1' rdma_cm uverbs0
}

@test "what is in the way of a device: it says so and makes none" {
	in_guest 0 '! $rxe -i nix && ! $rxe -i eth0 -n rxe1 &&
		! $as_nobody $rxe -i eth0 && ip link add t0 type dummy &&
		! $rxe -i t0 -n rt && ip link set t0 up && ! $rxe -i t0 -n rt &&
		ip addr add 198.51.100.1/24 dev t0 && ! $rxe -i t0 -n rxe0 &&
		[[ $(ls /sys/class/infiniband) == rxe0 ]] && ip link del t0'
	says 'MISSING  netdev        there is no netdev nix' 'fix: -i NETDEV' \
		'a device cannot be made yet. Try: what "fix" says above; or scripts/lab.sh' \
		'eth0 already has the Soft-RoCE device rxe0' '--remove -n rxe0' \
		'only root can do this. Try: sudo scripts/setup_rxe.sh -i eth0' \
		'netdev t0 is down' 'fix: sudo ip link set t0 up' \
		'netdev t0 has no IPv4 or global IPv6 address' 'fix: sudo ip addr' \
		'there is a device rxe0 already, on eth0. Try: another name (-n)'
}

@test "a name of one's own, and a netdev that goes down" {
	in_guest 0 'ip link add t0 type dummy && ip link set t0 up &&
		ip addr add 198.51.100.1/24 dev t0 && $rxe -i t0 -n rt &&
		$rxe --remove -n rt0 && ip link set t0 down && $rxe --status
		! $rxe --check -i t0 && $rxe --remove -n rt &&
		[[ $(ls /sys/class/infiniband) == rxe0 ]] && ip link del t0'
	says 'made rt on t0' 'address   198.51.100.1' \
		'there is no rt0 here: nothing to remove (there is: rt rxe0)' \
		'port 1    DOWN' 'address   none: port 1 of rt is DOWN' \
		'device    rxe0' 'address   192.0.2.1' \
		'MISSING  device        port 1 of rt is DOWN, like its netdev t0' \
		'fix: sudo ip link set t0 up' 'can be set up: do what "fix" says' \
		'removed rt'
}

@test "programs cannot use the device: no library, no file, not permitted" {
	local lib

	lib=/usr/lib/$(uname -m)-linux-gnu/libibverbs
	in_guest 1 "unshare -m bash -c 'mount -t tmpfs none $lib; \$0 --check' \$rxe
		unshare -m bash -c 'mount -t tmpfs none /dev/infiniband; \$0 --check
			mknod -m 600 /dev/infiniband/uverbs0 c 231 192
			mknod -m 600 /dev/infiniband/rdma_cm c 10 1
			\"\$@\" \$0 --check' \$rxe \$as_nobody"
	says 'MISSING  device        libibverbs finds no provider library for rxe0' \
		'install ibverbs-providers' 'can be set up: do what' \
		'there is no /dev/infiniband/uverbs0' --device=/dev/infiniband \
		'nobody may not open /dev/infiniband/uverbs0 (crw------- root root)' \
		'chmod 0666'
}

@test "the limit on locked memory" {
	in_guest 0 '$as_nobody bash -c "ulimit -l 16; $rxe --check; $rxe --quiet-check"; true'
	says 'ok       device' 'MISSING  memlock       user nobody may lock 16 kB' \
		limits.conf 'can be set up: do what'
	silent_on exempt
	[[ $output != *$'\n192.0.2.1'* ]]
}

@test "a device in use is not removed, and who uses it is named" {
	in_guest 0 'ibv_rc_pingpong -d rxe0 -g 1 >/dev/null & pid=$!
		until rdma resource show ctx | grep -q "pid $pid"; do sleep 0.1; done
		! $rxe --remove
		status=$?
		echo "it was $pid"
		kill "$pid"
		wait "$pid"
		[[ -e /sys/class/infiniband/rxe0 ]] && exit "$status"'
	says 'rxe0 is in use by ibv_rc_pingpong (pid ' 'would hang' \
		'it was '
	[[ $output =~ pid\ ([0-9]+)\).*it\ was\ ([0-9]+) ]]
	[[ ${BASH_REMATCH[1]} == "${BASH_REMATCH[2]}" ]]
}

@test "a device that does not come up is taken away" {
	in_guest 0 '
		ip link add t0 type dummy && ip link set t0 up &&
		ip addr add 198.51.100.1/24 dev t0 || exit
		mkdir -p /tmp/odd
		printf "#!/bin/sh
			/usr/bin/rdma \"\$@\" || exit
			[ \"\$1 \$2\" != \"link add\" ] || ip link set t0 down" >/tmp/odd/rdma
		chmod +x /tmp/odd/rdma
		! PATH=/tmp/odd:$PATH $rxe -i t0 -n rt && [[ ! -e /sys/class/infiniband/rt ]]
		status=$?
		rm -r /tmp/odd
		ip link del t0
		exit "$status"'
	says 'made rt on t0' 'rt did not come up: port 1 of rt is DOWN'
}

@test "a netdev that is not there, or no Ethernet, is refused; and what is no argument" {
	in_guest 0 '! $rxe --check -i nix && ! $rxe --check -i lo
		$rxe -i; $rxe -n ../x; $rxe --setup; true'
	says 'there is no netdev nix' 'lo is not an Ethernet device' '-i needs a name' 'cannot be a name' \
		"unknown argument '--setup'"
}

@test "this machine: the last line says what the exit status says" {
	run scripts/setup_rxe.sh --check
	case $status in
	0) [[ ${lines[-1]} == 'rxe: usable now: '* ]] ;;
	1) [[ ${lines[-1]} == 'rxe: can be set up'* ]] ;;
	2) [[ ${lines[-1]} == 'rxe: cannot be had here: use scripts/lab.sh '* ]] ;;
	*) false ;;
	esac
	[[ $status == 0 || $output == *MISSING* || $output == *todo* ]]
}
