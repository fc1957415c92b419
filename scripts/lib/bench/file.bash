# file.bash - a file of 64 MiB by chapter 07, and as many bytes by ib_write_bw
#
# Sourced after lib.bash and perftest.bash. Sets bytes, depth and count: parts of 64
# KiB, 64 at a time. In /tmp of a lab's node, files are in memory.
# shellcheck shell=bash
# shellcheck disable=SC2016 # $1 is for awk
# shellcheck disable=SC2034 # ours: for the script that sources this
# shellcheck disable=SC2154 # address and value: set by the script that sources this

bytes=65536 depth=64 count=1024

# best VARIABLE COMMAND…: the largest that it sets of three times. Whatever else the
# machine does makes a run slower, and none faster.
best() {
	local -n of=$1
	local most=0

	shift
	for _ in 1 2 3; do
		"$@"
		most=$(awk -v a="$most" -v b="$of" \
			'BEGIN { print (a + 0 > b + 0 ? a : b) }')
	done
	of=$most
}

# make_file: in "out"; "in" is for what arrives.
make_file() {
	mkdir "$tmp/out" "$tmp/in"
	head -c $((bytes * count)) /dev/urandom >"$tmp/out/file"
}

# run_ours WAY: sets ours, in MB/s.
run_ours() {
	serve "$top/07_full_speed/server" -1 -a "$address" -t 60 -d "$tmp/in"
	await grep -q '^listening' "$tmp/served"
	timeout "$limit" "$top/07_full_speed/client" -a "$address" -t 60 -c \
		-b "$bytes" -q "$depth" "$1" "$tmp/out/file" >"$tmp/table" ||
		fail "./client $1: failed"
	end_server
	cmp "$tmp/out/file" "$tmp/in/file" || fail "$1: the copy differs"
	rm "$tmp/in/file"
	# file,67108864,send,64,65536,SECONDS,MB/s,WAITS
	ours=$(awk -F, '$1 == "file" { print $7 }' "$tmp/table")
}

# run_theirs: sets value, in MB/s.
run_theirs() {
	perftest '/^ *[0-9.]+ *$/ { print $1 * 1.048576 }' ib_write_bw \
		-s "$bytes" -n "$count" -t "$depth" --output=bandwidth
}
