#!/usr/bin/env bats
#
# setup_rds.sh --check: what it says of kernels, containers and forbidden
# modules, on machines made of files. No device needed.

# shellcheck disable=SC2154 # RELEASE is that of rxe_tree.bash
load rxe_tree
eval "rxe_$(declare -f setup)"

# A machine with the three modules, not loaded, and an RDMA device.
setup() {
	rxe_setup
	SCRIPT=$BATS_TEST_DIRNAME/../scripts/setup_rds.sh
	mkdir -p "$RXE_ROOT/sys/class/infiniband/rxe0"
	printf 'kernel/%s.ko:\n' rds rds_tcp rds_rdma >"$RXE_ROOT$MODULES/modules.dep"
	put "$MODULES/kernel/rds.ko" ''
	put "$MODULES/kernel/rds_tcp.ko" ''
	put "$MODULES/kernel/rds_rdma.ko" ''
}

@test "setup_rds: all is there but loaded: can be set up" {
	told 1 'todo     rds ' 'todo     rds_tcp' 'todo     rds_rdma' \
		'ok       device' 'can be set up: sudo scripts/setup_rds.sh tcp ib'
	check 1 tcp
	[[ $output != *rds_rdma* && $output != *device* ]]
}

@test "setup_rds: loaded: usable now" {
	mkdir -p "$RXE_ROOT"/sys/module/rds{,_tcp,_rdma}
	told 0 'ok       rds ' 'ok       rds_tcp' 'ok       rds_rdma' 'usable now'
	rmdir "$RXE_ROOT/sys/module/rds_rdma"
	check 1
	check 0 tcp
}

@test "setup_rds: ib without an RDMA device is named, and nothing is loaded" {
	rmdir "$RXE_ROOT/sys/class/infiniband/rxe0"
	told 1 'MISSING  device' 'fix: sudo scripts/setup_rxe.sh'
	check 1 tcp
	[[ $output != *MISSING* ]]
	run -1 "$SCRIPT" ib
	says 'there is no RDMA device, and ib needs one'
}

@test "setup_rds: a kernel without the modules, and a container: cannot" {
	: >"$RXE_ROOT/lib/modules/$RELEASE/modules.dep"
	told 2 "kernel $RELEASE has no such module" 'cannot be had on this kernel' \
		'in the lab it can: scripts/lab.sh '
	ln -sfn 'pid:[4026532000]' "$RXE_ROOT/proc/self/ns/pid"
	put /.dockerenv ''
	told 2 'this is a container (docker)' 'cannot be had'
}

@test "setup_rds: forbidden is missing, blacklisted is a note, others' names are neither" {
	put /etc/modprobe.d/cis.conf "$(printf '%s\n' '# install rds /bin/true' \
		'  install  rds_tcp  /bin/true' 'blacklist rds_other')"
	put /usr/lib/modprobe.d/dist.conf 'blacklist rds'
	told 1 'note     rds ' 'blacklisted in ' '/usr/lib/modprobe.d/dist.conf' \
		'todo     rds ' 'MISSING  rds_tcp' \
		'/etc/modprobe.d/cis.conf has:   install  rds_tcp  /bin/true' \
		'fix: find out who wrote that'
	[[ $output != *'MISSING  rds '* ]]
	# To modprobe, both spellings are one name.
	put /etc/modprobe.d/cis.conf 'install rds-rdma /bin/true'
	told 1 'todo     rds_tcp' 'MISSING  rds_rdma' 'install rds-rdma /bin/true'
}

@test "setup_rds: wrong usage ends with 64, help with 0" {
	run -64 "$SCRIPT" udp
	says "unknown argument 'udp'"
	run -0 "$SCRIPT" -h
	says 'usage: sudo scripts/setup_rds.sh [tcp] [ib]'
}

@test "setup_rds: a kernel on which ib does not come back is named" {
	local release status

	for release in 6.12.107+deb13-amd64 6.12.0-1 6.12.110; do
		put /proc/sys/kernel/osrelease "$release"
		run -3 "$SCRIPT" --reconnects
		[[ ${#lines[@]} -eq 1 && $output == *"with Linux $release, "*'6.12.111'* ]]
	done
	for release in 6.1.0-56-amd64 6.12.111+deb13-amd64 6.12.117 6.13.1 \
		6.120.1 5.6.12.1; do
		put /proc/sys/kernel/osrelease "$release"
		run -0 "$SCRIPT" --reconnects
		[[ $output == '' ]]
	done
}
