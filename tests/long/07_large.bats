#!/usr/bin/env bats
#
# 07_large.bats - chapter 07: a file of more than 4 GiB, which no 32 bits can count.
# Digests of so much take minutes under emulation.
# shellcheck disable=SC2154 # the variables of on_device.bash

load ../helpers
CHAPTER=07_full_speed

setup_file() {
	open_device
	build_chapter "$CHAPTER"
}

# The file has holes, so it takes no room. What the server has of it ends a little
# before 4 GiB: both ends go on there, and beyond. A program that wanted all of the
# file in its memory would not get it.
beyond_4_gib() {
	local border=$((1 << 32)) file=$scratch/out/file part

	mkdir "$scratch/out" "$scratch/in"
	truncate -s $((border - 500000)) "$file"
	head -c 1500003 /dev/urandom >>"$file"
	printf -v part '.file.%016x.part' "$(date -r "$file" +%s%N)"
	truncate -s $((border - 500000)) "$scratch/in/$part"
	ulimit -v 400000
	start_server ./server -1 -M 8192 -d "$scratch/in"
	run_client 0 ./client -a "$address" "$1" "$file"
	says_nothing client.err
	end_of server "$server" 0
	server=''
	has_line client.log '^file: the server has 4294467296 of 4295967299 bytes' ||
		fail "it does not go on before 4 GiB"
	has_line client.log '^file: stored, 4295967299 bytes in ' ||
		fail "it is not stored"
	has_line server.log '^stored: 4295967299 bytes, SHA-256 ' ||
		fail "the server has something else"
	[[ $(ls -A "$scratch/in") == file &&
		$(stat -c %s "$scratch/in/file") -eq 4295967299 ]] ||
		fail "another file is there"
	cmp <(tail -c 2000000 "$file") <(tail -c 2000000 "$scratch/in/file") ||
		fail "not the same"
}

@test "07: a file goes on across 4 GiB" {
	LIMIT=1800 on_device a beyond_4_gib write
}

# All of it, to a disk that takes no room for zeros.
five_gigabytes() {
	local file=$scratch/out/file digest

	trap 'umount /mnt; clean_up' EXIT
	modprobe zram num_devices=1
	echo 6G >/sys/block/zram0/disksize
	mkfs.ext4 -q -O ^has_journal -N 64 /dev/zram0
	mount /dev/zram0 /mnt
	mkdir "$scratch/out" /mnt/in
	echo begin >"$file"
	truncate -s 4999999997 "$file"
	echo end >>"$file"
	start_server ./server -1 -M 8192 -d /mnt/in
	run_client 0 ./client -a "$address" -q 16 -b 1048576 write "$file"
	end_of server "$server" 0
	server=''
	digest=$(sed -n 's/^file: stored, 5000000001 bytes .* SHA-256 //p' \
		"$scratch/client.log")
	[[ $(sha256sum </mnt/in/file) == "$digest  -" ]] || fail "not the same"
}

@test "07: a file of 5 GB arrives" {
	needs_lab
	LIMIT=7200 on_device a five_gigabytes
}
