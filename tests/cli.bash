# cli.bash - a copy of this repository in which doing something would be noticed
# shellcheck shell=bash disable=SC2034,SC2154 # used by the tests; set by bats

load says

# Goes to $TREE, which is made for the first test of a file. It is the same for the
# others: they may change nothing but what is in its folders scripts and build, which each
# test has anew. What is called by one of these names writes that down in $NOTICED, and fails.
noticing() {
	local name scripts=$BATS_FILE_TMPDIR/scripts

	TREE=$BATS_FILE_TMPDIR/tree NOTICED=$BATS_TEST_TMPDIR/noticed
	STUBS=$BATS_TEST_TMPDIR/stubs
	mkdir -p "$STUBS" "$BATS_TEST_TMPDIR/home"
	if [[ ! -e $scripts ]]; then
		mkdir "$TREE"
		copy_tree "$TREE"
		cp -a "$TREE/scripts" "$scripts"
	fi
	rm -rf "$TREE/scripts" "$TREE/build"
	cp -a "$scripts" "$TREE"
	: >"$NOTICED"
	quick_apt
	for name in qemu-system-x86_64 qemu-system-aarch64 ssh sudo apt-get \
		dnf gcc cc clang openssl bats prove tshark tcpdump modprobe; do
		notice "$STUBS/$name"
	done
	export HOME=$BATS_TEST_TMPDIR/home LAB_NAME=noticed.$$
	unset NO_INSTALL CLI_CHECK XDG_CACHE_HOME MAKEFLAGS MAKELEVEL
	PATH=$STUBS:$PATH
	cd "$TREE" || return
}

# For each question, apt-cache reads its lists anew where it has no cache of them: half a
# second.
quick_apt() {
	cat >"$STUBS/apt-cache" <<-'END'
		#!/bin/sh
		case $1 in
		depends) echo linux-image-6.1.0-1-amd64 ;;
		*) echo 'Size: 70000000' ;;
		esac
	END
	chmod +x "$STUBS/apt-cache"
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
