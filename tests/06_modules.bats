#!/usr/bin/env bats
#
# 06_modules.bats - chapter 06 with a kernel whose RDS is in modules, which is
# Debian's: how they are loaded, the first messages after that, and sanitizers. With
# EMULATED_LAB set, it is in the lab of that name.

# shellcheck disable=SC2154,SC2016 # set by helpers.bash; for the shell of a node
# A lab where nobody has used RDS before: its own, or one that check.sh has others use
# RDS in only later.
export LAB_NAME=${EMULATED_LAB:-rds-${BATS_RUN_TMPDIR##*-}} LAB_ENGINE=tcg
load helpers
load 06_guest
CHAPTER=06_rds

setup_file() {
	local flags='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined'

	open_device
	build_with plain '-O1 -g'
	build_with sanitized "$flags -fno-sanitize-recover=undefined"
}

setup() {
	needs_lab
}

no_rights='setpriv --reuid=65534 --regid=65534 --clear-groups'

# This must be the first test: later, connections hold the modules.
@test "06: the modules are there, are not loaded silently, and can be removed" {
	guest a '$rds --remove' || skip "this lab's RDS has been in use"
	run -1 guest a '$rds --check'
	[[ $output == *'todo     rds '*'todo     rds_tcp '*'todo     rds_rdma '* ]]
	[[ $output == *'can be set up: sudo scripts/setup_rds.sh tcp ib'* ]]
	run -1 guest a "build/tests/$CHAPTER.plain/server -a 192.0.2.1"
	[[ $output == 'error: socket: this kernel has no RDS, or has not loaded it; see scripts/setup_rds.sh --check [docs/troubleshooting.md#rds]' ]]
	run -1 guest a 'ls -d /sys/module/rds*; $rds --status'
	[[ $output == *'cannot access'*'no RDS loaded'* ]]
	# The repository may be closed to a user without rights.
	guest a "cp --parents -t /tmp scripts/setup_rds.sh scripts/lib/rxe/* &&
		cp build/tests/$CHAPTER.plain/client /tmp && chmod -R a+rX /tmp/{scripts,client}"
	run -1 guest a "$no_rights /tmp/scripts/setup_rds.sh tcp"
	[[ $output == *'only root can do this. Try: sudo scripts/setup_rds.sh tcp' ]]
	run -0 guest a '$rds tcp'
	[[ $output == *'loaded rds'$'\n'*'loaded rds_tcp' ]]
	run -0 guest a '$rds tcp; $rds --check tcp; ! test -d /sys/module/rds_rdma'
	[[ $output == *'already loaded: rds with tcp'*'usable now'* ]]
	run -0 guest a '$rds --status'
	[[ $output == *'192.0.2.1 on eth0'*'TCP port 16385'*'ib '*'not loaded'* ]]
	# Once rds is there, any user can have the kernel load a transport.
	run -1 guest a "$no_rights /tmp/client -a 192.0.2.1 -b 192.0.2.99 -T ib"
	[[ $output == 'error: bind: Protocol not available'* ]]
	run -0 guest a 'test -d /sys/module/rds_rdma; $rds --remove; ! ls -d /sys/module/rds*'
	# With the last transport, modprobe removes rds as well.
	[[ $output == *'removed rds_rdma'*'removed rds_tcp'*'no RDS in this kernel'* ]]
}

@test "06: what modprobe is told not to load is named, and not loaded" {
	[[ $(guest a 'ls -d /sys/module/rds_tcp 2>/dev/null || true') == '' ]] ||
		skip "this lab's RDS has been in use"
	run -1 guest a 'mkdir -p /etc/modprobe.d
		echo "install rds_tcp /bin/false" >/etc/modprobe.d/no-rds.conf
		echo "blacklist rds" >>/etc/modprobe.d/no-rds.conf
		$rds --check tcp; $rds tcp; status=$?
		rm /etc/modprobe.d/no-rds.conf; exit $status'
	[[ $output == *'note     rds '*'blacklisted in /etc/modprobe.d/no-rds.conf'* ]]
	[[ $output == *'MISSING  rds_tcp '*'install rds_tcp /bin/false'* ]]
	[[ $output == *'rds_tcp is forbidden by /etc/modprobe.d/no-rds.conf'* ]]
}

# With modules that have just been loaded, no two kernels know each other yet.
@test "06: the first messages of all arrive in order, over several paths" {
	local node

	for node in a b; do
		guest $node '$rds --remove' || skip "this lab's RDS has been in use"
	done
	run_matches "$top/$CHAPTER/expected/congest/commands" \
		"$top/$CHAPTER/expected/congest" \
		-d "$top/build/tests/$CHAPTER.plain"
	[[ $(guest b "ss -Htn sport = :16385 or dport = :16385" | wc -l) -ge 2 ]]
}

@test "06: some of the logged runs under sanitizers" {
	local name

	for name in congest write; do
		run_matches "$top/$CHAPTER/expected/$name/commands" \
			"$top/$CHAPTER/expected/$name" \
			-d "$top/build/tests/$CHAPTER.sanitized"
	done
}
