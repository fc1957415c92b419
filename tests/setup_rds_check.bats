#!/usr/bin/env bats
#
# setup_rds.sh --check: what it says of kernels, containers and forbidden
# modules, on machines made of files. No device needed.

load says

RELEASE=6.1.0-9-amd64

# A machine with the three modules, not loaded, and an RDMA device.
setup() {
	export RXE_ROOT=$BATS_TEST_TMPDIR/root
	unset KUBERNETES_SERVICE_HOST
	put /proc/sys/kernel/osrelease "$RELEASE"
	mkdir -p "$RXE_ROOT/proc/self/ns" "$RXE_ROOT/sys/class/infiniband/rxe0"
	ln -s 'pid:[4026531836]' "$RXE_ROOT/proc/self/ns/pid"
	local module
	for module in rds rds_tcp rds_rdma; do
		put "/lib/modules/$RELEASE/kernel/$module.ko" ''
		echo "kernel/$module.ko:" \
			>>"$RXE_ROOT/lib/modules/$RELEASE/modules.dep"
	done
}

# put PATH TEXT: a file below RXE_ROOT.
put() {
	mkdir -p "$(dirname "$RXE_ROOT$1")"
	printf '%s\n' "$2" >"$RXE_ROOT$1"
}

# check STATUS [ARGUMENT...]
check() {
	run "-$1" "$BATS_TEST_DIRNAME/../scripts/setup_rds.sh" --check "${@:2}"
}

@test "setup_rds: all is there but loaded: can be set up" {
	check 1
	says 'todo     rds ' 'todo     rds_tcp' 'todo     rds_rdma' \
		'ok       device' 'can be set up: sudo scripts/setup_rds.sh tcp ib'
	check 1 tcp
	[[ $output != *rds_rdma* && $output != *device* ]]
}

@test "setup_rds: loaded: usable now" {
	mkdir -p "$RXE_ROOT"/sys/module/rds{,_tcp,_rdma}
	check 0
	says 'ok       rds ' 'ok       rds_tcp' 'ok       rds_rdma' 'usable now'
	rmdir "$RXE_ROOT/sys/module/rds_rdma"
	check 1
	check 0 tcp
}

@test "setup_rds: ib without an RDMA device is named, and nothing is loaded" {
	rmdir "$RXE_ROOT/sys/class/infiniband/rxe0"
	check 1
	says 'MISSING  device' 'fix: sudo scripts/setup_rxe.sh'
	check 1 tcp
	[[ $output != *MISSING* ]]
	run -1 "$BATS_TEST_DIRNAME/../scripts/setup_rds.sh" ib
	says 'there is no RDMA device, and ib needs one'
}

@test "setup_rds: a kernel without the modules, and a container: cannot" {
	: >"$RXE_ROOT/lib/modules/$RELEASE/modules.dep"
	check 2
	says "kernel $RELEASE has no such module" 'cannot be had on this kernel'
	ln -sfn 'pid:[4026532000]' "$RXE_ROOT/proc/self/ns/pid"
	put /.dockerenv ''
	check 2
	says 'this is a container (docker)' 'cannot be had'
}

@test "setup_rds: forbidden is missing, blacklisted is a note, others' names are neither" {
	put /etc/modprobe.d/cis.conf "$(printf '%s\n' '# install rds /bin/true' \
		'  install  rds_tcp  /bin/true' 'blacklist rds_other')"
	put /usr/lib/modprobe.d/dist.conf 'blacklist rds'
	check 1
	says 'note     rds ' 'blacklisted in ' '/usr/lib/modprobe.d/dist.conf' \
		'todo     rds ' 'MISSING  rds_tcp' \
		'/etc/modprobe.d/cis.conf has:   install  rds_tcp  /bin/true' \
		'fix: find out who wrote that'
	[[ $output != *'MISSING  rds '* ]]
	# To modprobe, both spellings are one name.
	put /etc/modprobe.d/cis.conf 'install rds-rdma /bin/true'
	check 1
	says 'todo     rds_tcp' 'MISSING  rds_rdma' 'install rds-rdma /bin/true'
}

@test "setup_rds: wrong usage ends with 64, help with 0" {
	run -64 "$BATS_TEST_DIRNAME/../scripts/setup_rds.sh" udp
	says "unknown argument 'udp'"
	run -0 "$BATS_TEST_DIRNAME/../scripts/setup_rds.sh" -h
	says 'usage: sudo scripts/setup_rds.sh [tcp] [ib]'
}

@test "setup_rds: a kernel on which ib does not come back is named" {
	local release status

	for release in 6.12.107+deb13-amd64 6.12.0-1 6.12.110; do
		put /proc/sys/kernel/osrelease "$release"
		run -3 "$BATS_TEST_DIRNAME/../scripts/setup_rds.sh" --reconnects
		[[ ${#lines[@]} -eq 1 && $output == *"with Linux $release, "*'6.12.111'* ]]
	done
	for release in 6.1.0-56-amd64 6.12.111+deb13-amd64 6.12.117 6.13.1 \
		6.120.1 5.6.12.1; do
		put /proc/sys/kernel/osrelease "$release"
		run -0 "$BATS_TEST_DIRNAME/../scripts/setup_rds.sh" --reconnects
		[[ $output == '' ]]
	done
}
