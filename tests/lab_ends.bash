# lab_ends.bash - what the tests of labs that end badly have in common: a lab for each
# test, and somebody with no rights
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by lab.bash and bats

setup() {
	export LAB_NAME=test.$$.$BATS_TEST_NUMBER
}

teardown() {
	lab down
	if [[ -d $BATS_TEST_TMPDIR/home ]]; then
		unprivileged "$TOP/scripts/lab.sh" down
	fi
}

# As nobody, or as the user who runs this, if it is not root.
user=nobody
[[ $(id -u) == 0 ]] || user=$(id -un)

unprivileged() {
	local as=()

	[[ $user != nobody ]] || as=(setpriv --reuid=nobody
		--regid="$(id -g nobody)" --clear-groups)
	"${as[@]}" env HOME="$BATS_TEST_TMPDIR/home" \
		LAB_CACHE="$BATS_TEST_TMPDIR/home/cache" "$@"
}

# gives_home FOLDER: the user has it, and a copy of the repository; goes there.
gives_home() {
	mkdir -p "$1/repository/build"
	cp -r "$TOP/scripts" "$1/repository"
	find "$1" -type d -exec chown "$user:" {} +
	chmod 700 "$1/repository"
	chmod a+x "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR"
	cd "$1/repository" || return
}

# The user has a lab there, who is root in it and writes no more than on the host.
needs_nothing_else() {
	# In a chroot, and where a sysctl says so, the kernel has no sandbox for it.
	run unprivileged bwrap --ro-bind / / true
	[[ $output != *"No permissions to create"* ]] || skip "$user gets no namespaces"
	run -0 unprivileged scripts/lab.sh up --nodes 1 3>&-
	[[ $output != *warning* ]]
	run -0 unprivileged scripts/lab.sh exec -- sh -c \
		'id -u; rdma link | grep -c rxe0; echo x >build/made'
	[[ ${lines[0]} == 0 && ${lines[1]} == 1 ]]
	[[ $(stat -c %U build/made) == "$user" ]]
	run -0 unprivileged scripts/lab.sh exec -u "$user" -- \
		sh -c 'id -un; echo y >build/mine'
	[[ $output == "$user" && $(stat -c %U build/mine) == "$user" ]]
	# What that user may not write on the host, root may not in the guest.
	if [[ $user == nobody ]]; then
		run unprivileged scripts/lab.sh exec -- \
			sh -c 'echo x >>scripts/lab.sh'
		[[ $status -ne 0 ]]
		cmp scripts/lab.sh "$TOP/scripts/lab.sh"
	fi
	run -0 unprivileged scripts/lab.sh down
	eventually nothing_left
}

# killed_up SIGNAL: up is ended by it while a node boots, and leaves nothing.
killed_up() {
	local pid status=0

	env --default-signal=INT "$TOP/scripts/lab.sh" up 3>&- &
	pid=$!
	eventually booting
	kill -"$1" "$pid"
	wait "$pid" || status=$?
	[[ $status == 130 || $status == 137 ]] || fail "status $status"
	eventually nothing_left
}
