#!/usr/bin/env bats
#
# 07_power.bats - chapter 07 when the power goes: a file of which the client was told
# that it is stored is there afterwards, and one of which it was not, is there whole,
# or the older one still is
#
# Node a is switched off in the middle of what it does (lab.sh reset). It has a disk
# with ext4, a loop device: what was in the node's memory only is lost then. Nothing
# gets from there to the disk by itself, since the kernel is told to wait with that
# for ten minutes.
# shellcheck disable=SC2154 # the variables of on_device.bash

load helpers
CHAPTER=07_full_speed

setup_file() {
	local name

	name=$(cksum <<<"$top")
	# Not in the lab that somebody works in, who would lose what is in its node a.
	export LAB_NAME=tests-${name%% *}-power
	open_device
	build_chapter "$CHAPTER"
	mkdir -p "$builds/power"
	cc -std=gnu11 -Wall -Wextra -Werror -O2 -fPIC -shared \
		-o "$builds/power/slow_disk.so" "$top/tests/slow_disk.c"
	head -c 300000 /dev/urandom >"$builds/power/new"
	head -c 200000 /dev/urandom >"$builds/power/old"
	touch -d 2001-02-03 "$builds/power/old"
}

teardown_file() {
	close_device
	rm -rf "$builds/power"
}

setup() {
	needs_lab
}

# The disk, which has nothing on it, or an older file.
makes_disk() {
	local power=$build/../power

	rm -f "$power/disk"
	truncate -s 32M "$power/disk"
	# Inodes of 128 bytes would have no room for nanoseconds.
	mkfs.ext4 -q -I 256 "$power/disk"
	mounts_disk
	rmdir /mnt/lost+found
	[[ ! ${1:-} ]] || cp -p "$power/old" /mnt/file
	umount /mnt
}

# With noauto_da_alloc, ext4 does not do by itself what a program has forgotten.
mounts_disk() {
	[[ ! -e /proc/modules ]] || modprobe -a loop ext4
	echo 0 >/proc/sys/vm/dirty_writeback_centisecs
	mount -o loop,commit=600,noauto_da_alloc "$build/../power/disk" /mnt
}

serve_disk() {
	start_server env "LD_PRELOAD=$build/../power/slow_disk.so" "$@" \
		./server -u -t 20 -d /mnt
}

# Serves, until the node is switched off.
serves() {
	mounts_disk
	serve_disk
	echo ready
	read -r
}

# Stops with the new name given, and the folder not on the disk; WHAT happens then.
stops() {
	mounts_disk
	serve_disk STOP_SYNC=2
	echo ready
	await "a server that stops" state "$server" T
	cmp "$build/../power/new" /mnt/file || fail "it has not its name"
	case $1 in
	nothing) ;;
	sync) sync /mnt ;;
	killed)
		kill -KILL "$server"
		wait "$server" || true
		serve_disk
		;;
	esac
	echo stopped
	read -r
}

# What a client says of the file, and its status.
sends() {
	cp -p "$build/../power/new" "$scratch/file"
	start_client ./client -t 5 -a "$address" write "$scratch/file"
	end_of client "$client" '[01]'
	cat "$scratch/client.log" "$scratch/client.err"
	client=''
	return "$ended"
}

# finds FILE NAME…: after the next boot, the disk has FILE, and no other names.
finds() {
	local names

	mounts_disk
	names=$(ls -A /mnt)
	[[ $names == file || $2 == part && $names == .file.*.part$'\n'file ]] ||
		fail "the folder has: $names"
	cmp "$build/../power/$1" /mnt/file || fail "it is not the $1 file"
	[[ $2 != part ]] || cmp "$build/../power/new" /mnt/.file.*.part ||
		fail "the part is not whole"
	umount /mnt
}

on_node() {
	FUNCTIONS='makes_disk mounts_disk serve_disk' on_device "$@"
}

# node_a FUNCTION…: runs it there in the background; says waits for its words.
node_a() {
	coproc NODE_A { on_node -i a "$@" 2>&1; }
	node_a=$NODE_A_PID
	# Copies: bash closes its own as soon as the job has ended.
	exec {from_node}<&"${NODE_A[0]}" {to_node}>&"${NODE_A[1]}"
}
says() {
	local line

	while read -r line <&"$from_node"; do
		[[ $line != "$1" ]] || return 0
		echo "$line"
	done
	return 1
}

# power_cut: node a is off, and on again.
power_cut() {
	"$top/scripts/lab.sh" reset a
	exec {to_node}>&-
	cat <&"$from_node"
	exec {from_node}<&-
	wait "$node_a" || true
}

# stopped WHAT [old]: the server is at that point, and sender, a client in the
# background, waits for it; what that says is in the file said.
stopped() {
	said=$BATS_TEST_TMPDIR/said
	on_node a makes_disk "${2:-}"
	node_a stops "$1"
	says ready
	on_device b sends >"$said" 2>&1 3>&- &
	sender=$!
	says stopped
}

@test "07: a file that is stored is there when the power has gone" {
	on_node a makes_disk
	node_a serves
	says ready
	run -0 on_device b sends
	[[ $output == *"file: stored, 300000 bytes"* ]]
	power_cut
	on_node a finds new none
}

@test "07: the power goes before the name is on the disk: the old file or the new is whole" {
	local what left sender said

	for what in nothing sync; do
		stopped "$what" old
		power_cut
		! wait "$sender" || false
		cat "$said"
		run ! grep -q stored "$said"
		left=(old part)
		[[ $what == nothing ]] || left=(new none)
		on_node a finds "${left[@]}"
		# It is sent again, and then it is there.
		node_a serves
		says ready
		run -0 on_device b sends
		[[ $output == *"file: stored, 300000 bytes"* ]]
		power_cut
		on_node a finds new none
	done
}

@test "07: who finds the file under its name syncs the name, too" {
	local sender said

	stopped killed
	wait "$sender" || true
	cat "$said"
	run -0 on_device b sends
	[[ $output == *"file: stored, 300000 bytes"* ]]
	power_cut
	on_node a finds new none
}
