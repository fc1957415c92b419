# cli.bash - a copy of this repository in which doing something would be noticed
# shellcheck shell=bash disable=SC2034,SC2154 # used by the tests; set by bats

load says

# Makes $TREE and goes there. What is called by one of these names writes that
# down in $NOTICED, and fails.
noticing() {
	local name

	TREE=$BATS_TEST_TMPDIR/tree NOTICED=$BATS_TEST_TMPDIR/noticed
	STUBS=$BATS_TEST_TMPDIR/stubs
	mkdir -p "$TREE" "$STUBS" "$BATS_TEST_TMPDIR/home"
	copy_tree "$TREE"
	: >"$NOTICED"
	for name in qemu-system-x86_64 qemu-system-aarch64 ssh sudo apt-get \
		dnf gcc cc clang openssl bats prove tshark tcpdump modprobe; do
		notice "$STUBS/$name"
	done
	export HOME=$BATS_TEST_TMPDIR/home LAB_NAME=noticed.$$
	unset NO_INSTALL CLI_CHECK XDG_CACHE_HOME MAKEFLAGS MAKELEVEL
	PATH=$STUBS:$PATH
	cd "$TREE" || return
}

# notice FILE: from now on FILE is a program whose start is noticed.
notice() {
	printf '#!/bin/sh\necho "%s $*" >>"%s"\nexit 99\n' "${1##*/}" \
		"$NOTICED" >"$1"
	chmod +x "$1"
}

# Every file with its size, rights and times.
state() {
	find "$TREE" "$HOME" -printf '%p %s %m %T@\n' | sort
}

nothing_done() {
	[[ ! -s $NOTICED ]] || {
		echo "was started:"
		cat "$NOTICED"
		return 1
	}
	state | diff "$BATS_TEST_TMPDIR/before" -
}
