# shellcheck shell=bash disable=SC2154 # kernel and modules are keeper.sh's
# What qemu gets to see of this machine. Root in a node can have it open any file in
# the name of whoever started the lab. So bubblewrap (bwrap) sees to it that all it can
# write is the repository, and .git is not, and that it sees nothing of root's files
# and those in /tmp; rights.py, that nothing gets a setuid or setgid bit. Sourced by
# keeper.sh; uml.py has the same for its nodes.

# sandbox_make: sets sandbox, the beginning of a node's command line. Descriptor 9 is
# to be sandbox_filter. Where bwrap does not work, the array is empty, and `up` says so.
sandbox_make()
{
	local path why

	sandbox=() sandbox_filter=/dev/null
	if ! command -v bwrap >/dev/null; then
		sandbox_none "bwrap is not installed"
		return
	fi
	sandbox=(bwrap --unshare-pid --unshare-ipc --die-with-parent
		--cap-drop ALL --seccomp 9 --ro-bind / / --dev /dev --proc /proc
		--dev-bind-try /dev/kvm /dev/kvm
		--tmpfs /root --tmpfs /tmp --tmpfs /var/tmp)
	# Root may own none of the files of the repository.
	[ "$(id -u)" -ne 0 ] ||
		sandbox+=(--cap-add CAP_DAC_OVERRIDE --cap-add CAP_FOWNER)
	for path in "$LAB_ROOT" "$modules" "$kernel"; do
		case $path in
		/root/* | /tmp/* | /var/tmp/*) sandbox+=(--ro-bind "$path" "$path") ;;
		esac
	done
	sandbox+=(--bind "$LAB_REPO" "$LAB_REPO"
		--ro-bind-try "$LAB_REPO/.git" "$LAB_REPO/.git"
		--bind "$LAB_STATE" "$LAB_STATE" --chdir / --)
	sandbox_filter=$LAB_STATE/rights
	if ! "${lab_python[@]}" lab.rights >"$sandbox_filter" ||
		! why=$("${sandbox[@]}" true 2>&1 9<"$sandbox_filter"); then
		sandbox=() sandbox_filter=/dev/null
		sandbox_none "${why:-there is no filter of system calls}"
	fi
}

# sandbox_root: what root lends to the nodes, of any engine.
sandbox_root()
{
	[ "$(id -u)" -ne 0 ] ||
		warning "you are root: a node reads all files of this machine but those in /root and /tmp, and writes those of the repository, whoever owns them"
}

# sandbox_none WHY
sandbox_none()
{
	warning "a node can write .git and make files setuid, since it has no sandbox: $1"
}

# sandbox_inner PID: the last process of a sandbox, which is qemu.
sandbox_inner()
{
	local pid=$1 child

	while child=$(cat "/proc/$pid/task/$pid/children") && [ -n "$child" ]; do
		pid=${child%% *}
	done 2>/dev/null
	echo "$pid"
}
