# rxe_tree.bash - a machine made of files, for the tests of setup_rxe.sh
#
# Loaded by tests/setup_rxe_*.bats. A small tree of /proc, /sys and so on, and
# stubs for ip and rdma, stand for a machine that is not at hand.
# shellcheck shell=bash disable=SC2034,SC2154 # used by the tests; set by bats

load says

RELEASE=6.1.0-9-amd64

# A machine on which all is ready but for the device: rdma_rxe can be loaded,
# its provider library is there, eth0 is up and has the default route.
setup() {
	SCRIPT=$BATS_TEST_DIRNAME/../scripts/setup_rxe.sh
	STUBS=$BATS_TEST_TMPDIR/bin
	export RXE_ROOT=$BATS_TEST_TMPDIR/root
	unset KUBERNETES_SERVICE_HOST SUDO_UID
	MODULES=/lib/modules/$RELEASE

	put /proc/sys/kernel/osrelease "$RELEASE"
	put /proc/modules ''
	mkdir -p "$RXE_ROOT/proc/self/ns" "$STUBS"
	ln -s 'pid:[4026531836]' "$RXE_ROOT/proc/self/ns/pid"
	put /etc/os-release 'ID=debian'
	put "$MODULES/kernel/rdma_rxe.ko" ''
	put "$MODULES/kernel/ib_core.ko" ''
	put "$MODULES/modules.dep" 'kernel/rdma_rxe.ko: kernel/ib_core.ko
kernel/ib_core.ko:'
	put /usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so ''
	netdev lo 0x9 772
	netdev eth0 0x1003 1
	stub ip 'case "$*" in
		*"-4 route show default") echo "default via 192.0.2.254 dev eth0 " ;;
		*"addr show dev eth0"*) echo "2: eth0    inet 192.0.2.7/24 scope global" ;;
		esac'
	stub rdma 'echo "Usage: rdma link add NAME type TYPE netdev NETDEV" >&2'
}

# put PATH TEXT: a file below RXE_ROOT.
put() {
	mkdir -p "$RXE_ROOT$(dirname "$1")"
	printf '%s\n' "$2" >"$RXE_ROOT$1"
}

netdev() {
	put "/sys/class/net/$1/flags" "$2"
	put "/sys/class/net/$1/type" "$3"
	put "/sys/class/net/$1/carrier" 1
}

stub() {
	printf '#!/bin/bash\n%s\n' "$2" >"$STUBS/$1"
	chmod +x "$STUBS/$1"
}

no_module() {
	rm -r "$RXE_ROOT$MODULES/kernel"
	put "$MODULES/modules.dep" ''
}

rxe() {
	PATH=$STUBS:$PATH run -"$1" "$SCRIPT" "${@:2}"
}

check() {
	rxe "$1" --check "${@:2}"
}

# told STATUS TEXT…: --check ends with that, and says this.
told() {
	check "$1"
	says "${@:2}"
}

can='rxe: can be set up with sudo scripts/setup_rxe.sh'
cannot='rxe: cannot be had here: use scripts/lab.sh up'
# No lab has this name, whatever else is up here.
export LAB_NAME=none.$$

# lab_is_up: a lab of that name seems to be, until lab_is_gone.
lab_is_up() {
	lab_state=/tmp/rdma-lab.$(id -u).$LAB_NAME
	mkdir "$lab_state"
	printf '%s\n' "started=$EPOCHSECONDS" nodes=1 accel=tcg kernel=x image=x \
		keeper=1 pid_a=1 port_a=1 >"$lab_state/notes"
	: >"$lab_state/up"
	exec {lab_lock}<"$lab_state"
	flock "$lab_lock"
}

lab_is_gone() {
	exec {lab_lock}<&-
	rm -r "$lab_state"
}
