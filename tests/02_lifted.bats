#!/usr/bin/env bats
#
# 02_lifted.bats - the files that 02's reference.md names for a program of one's own
# are enough for it, and are not many. No device is needed.

@test "02: a program of one's own needs no more files than it is told to copy" {
	local copy

	cd "$BATS_TEST_DIRNAME/../02_write_read"
	mkdir "$BATS_TEST_TMPDIR/mine"
	copy=$(sed -n 's|^cd 02_write_read && \(cp .*\) ../build/mine$|\1|p' \
		reference.md)
	bash -c "$copy \"\$0\"" "$BATS_TEST_TMPDIR/mine"
	cp ../tests/lifted.c "$BATS_TEST_TMPDIR/mine"
	cd "$BATS_TEST_TMPDIR/mine"
	run -0 "${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror -o lifted ./*.c \
		-lrdmacm -libverbs
	# Without the address and the port it does nothing.
	run -1 ./lifted
	[[ -z $output ]]
	run -0 bash -c 'cat *.[ch] | wc -l'
	[[ $output -le 1800 ]]
}
