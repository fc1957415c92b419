#!/usr/bin/env bats
#
# lab_run_uml.bats - a lab for one command: what that learns, and what is left

load lab

teardown() {
	rm -f "${FILE:-}"
}

@test "a command gets addresses and its folder, its status is lab.sh's, and the lab is gone" {
	cd /usr/share
	run -7 --separate-stderr lab run --nodes 3 --device siw --loss 50 -- bash -c \
		'echo $LAB_NODE $LAB_A $LAB_C6 $PWD $(rdma link) $(tc qdisc show dev eth0); exit 7'
	[[ $output == "a 192.0.2.1 2001:db8::3 /usr/share link siw0/1"*"loss 50%"* ]]
	[[ -z $(compgen -G "/tmp/rdma-lab.*.run.*") ]]
}

@test "commands run beside it on other nodes; what crosses the wire is captured" {
	FILE=$(mktemp)
	make -s -C "$TOP/01_send_recv" first
	cd "$TOP/01_send_recv"
	run -0 lab run --capture "$FILE" --on b './first; echo served' --on b 'exit 0' -- bash -c \
		'for i in {1..50}; do ./first $LAB_B && exit; read -rt 0.2 <> <(:); done; exit 1'
	[[ $output == *"message from passive/server side"* ]]
	tcpdump -nr "$FILE" 2>/dev/null | grep -q 'UDP, length\|4791'
	run -3 lab run --on b 'exit 3' -- bash -c 'until [[ -e /usr ]]; do :; done; read -rt 3 <> <(:) || true'
}

@test "a lab for a command that is interrupted ends, however often" {
	"$TOP/scripts/lab.sh" run --nodes 1 -- bash -c 'echo it runs; exec sleep 300' >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
	local pid=$! status=0
	eventually grep -q '^it runs' "$BATS_TEST_TMPDIR/said"
	while kill -TERM "$pid" 2>/dev/null; do
		read -rt 0.05 <> <(:) || true
	done
	wait "$pid" || status=$?
	[[ $status -eq 143 ]]
	[[ -z $(compgen -G "/tmp/rdma-lab.*.run.*") ]]
}

@test "what cannot work is refused before anything boots" {
	run -2 lab run --on e true -- true
	[[ $output == *"--on e: the nodes are a, b"* ]]
	run -2 lab run --nodes 1 --on b true -- true
	[[ $output == *"--on b: the nodes are a"* ]]
	run -2 lab run --loss 101 -- true
	[[ $output == *"--loss: 101: needs a percentage, 0 to 100"* ]]
	run -2 lab run --nodes 1
	[[ $output == *"it comes after '--'"* ]]
	run -1 lab run --kernel "$BATS_TEST_TMPDIR" -- true
	[[ $output == *"one boot/vmlinuz-*"* ]]
}
