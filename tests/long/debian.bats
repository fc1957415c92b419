#!/usr/bin/env bats
#
# debian.bats - the two commands of the README in a fresh, minimal Debian 12 and 13,
# each with its own kernel and libraries, where programs speak German; and what is
# fetched beforehand, in a room without a network. They need root and debootstrap.

# shellcheck disable=SC2154 # set by run

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	[[ $(id -u) -eq 0 ]] || skip "only root can bootstrap a Debian"
	command -v debootstrap >/dev/null || PATH=$PATH:/usr/sbin:/sbin
}

# Shown for a test that failed.
teardown() {
	tail -n 60 "$BATS_TEST_TMPDIR/log"
}

# in_debian SUITE COMMAND…: in such a Debian; what is said is in the log.
in_debian() {
	scripts/maint/debian.sh "$@" >"$BATS_TEST_TMPDIR/log" 2>&1 3>&-
}

demo() {
	in_debian "$1" make demo
	grep -q '^04_tls_psn .* matches ' "$BATS_TEST_TMPDIR/log"
	! grep -qE ' (DIFFERS|cannot) +[0-9]' "$BATS_TEST_TMPDIR/log"
}

@test "make demo in Debian 12" {
	demo bookworm
	grep -q 'kernel 6\.1\.' "$BATS_TEST_TMPDIR/log"
}

@test "make demo in Debian 13" {
	demo trixie
	grep -q 'kernel 6\.12\.' "$BATS_TEST_TMPDIR/log"
}

@test "make check in Debian 12" {
	in_debian bookworm make check
}

@test "make check in Debian 13" {
	in_debian trixie make check
}

# In a network of its own, where there is nothing but this machine.
@test "what lab.sh fetch has fetched is all that make demo needs" {
	in_debian trixie bash -euc '
		scripts/lab.sh fetch
		make
		unshare --net bash -euc "ip link set lo up; make demo CH=01"'
	grep -q "it asks the network for nothing more" "$BATS_TEST_TMPDIR/log"
	grep -q '^01_send_recv .* matches ' "$BATS_TEST_TMPDIR/log"
}
