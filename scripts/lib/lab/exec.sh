# shellcheck shell=bash
# lab.sh exec and shell. Sourced by ../../lab.sh.

# The status of `exec` when it is the lab that failed, as with ssh.
exec_failed=255

# exec_ready NODE: is there a node to talk to?
exec_ready()
{
	[ -e "$LAB_STATE/up" ] && [ -e "$LAB_STATE/console-$1" ] &&
		[ ! -e "$LAB_STATE/dead-$1" ]
}

# exec_why NODE [NOT]: say why it cannot be talked to.
exec_why()
{
	local -a end=()

	if ! lab_alive tell || [ ! -e "$LAB_STATE/up" ]; then
		lab_error "the lab '$LAB_NAME' is ${2:-not} up" "Start it: scripts/lab.sh up"
	elif [ -e "$LAB_STATE/dead-$1" ]; then
		mapfile -t end < <(lab_end "$LAB_STATE/console-$1")
		lab_error "node $1 has died (its qemu ended with status $(cat "$LAB_STATE/dead-$1"))" \
			"Start the lab anew: scripts/lab.sh down, then up." \
			"From its console:" "${end[@]/#/| }"
	elif [ ! -e "$LAB_STATE/console-$1" ]; then
		lab_read
		lab_error "there is no node $1: the lab is up with $(lab_nodes "${lab[nodes]}")" \
			"Start it anew: scripts/lab.sh down, then up --nodes $(($(printf %d "'$1") - 96))."
	else
		lab_error "cannot talk to node $1, although it is running" \
			"ssh said: $(tail -n 3 "$LAB_STATE/ssh-$1" 2>/dev/null)"
	fi
}

# The directory that a command in the guest starts in.
exec_dir()
{
	local here

	here=$(pwd -P)
	case $here/ in
	"$LAB_REPO"/*) printf %s "$here" ;;
	*) printf %s "$LAB_REPO" ;;
	esac
}

exec_environment='export LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

lab_shell()
{
	local node=${1:-a} status=0

	case $node in
	[a-d]) ;;
	*) misuse "there are nodes a to d, and no '$node'" ;;
	esac
	[ $# -le 1 ] || misuse "shell takes one argument, the node"
	if [ ! -t 0 ]; then
		misuse "shell needs a terminal; without one use: scripts/lab.sh exec"
	fi
	if ! exec_ready "$node"; then
		exec_why "$node"
		return "$exec_failed"
	fi
	[ ! -S "$LAB_STATE/socket-$node" ] ||
		exec "${lab_python[@]}" lab.client "$LAB_STATE/socket-$node" \
			shell "$(exec_dir)"
	slot_take "$node" || return "$exec_failed"
	ssh -F "$LAB_STATE/ssh" -S "$slot" -q -t "$node" "$exec_environment
		cd $(lab_quote "$(exec_dir)")
		exec bash --rcfile /run/lab/profile -i" || status=$?
	[ "$status" -ne "$exec_failed" ] || shell_lost "$node"
	return "$status"
}

# shell_lost NODE: the shell's last command may have returned 255; or the node is
# gone, of which ssh says nothing.
shell_lost()
{
	local tries=0

	! ssh -F "$LAB_STATE/ssh" -S "$slot" -O check "$1" 2>/dev/null || return 0
	while lab_alive && [ ! -e "$LAB_STATE/dead-$1" ]; do
		if [ "$tries" -ge 100 ]; then
			lab_error "this shell's connection to node $1 is gone, as if the node had been reset" \
				"Open another one: scripts/lab.sh shell $1"
			return
		fi
		tries=$((tries + 1))
		sleep 0.1
	done
	exec_why "$1" 'no longer'
}

lab_exec()
{
	local node=a user='' id script in to worker signal again=1 rc=0 status

	while [ $# -gt 0 ]; do
		case $1 in
		-u)
			[ $# -gt 1 ] || misuse "-u needs the name of a user"
			user=$2
			shift
			;;
		[a-d]) node=$1 ;;
		--)
			shift
			break
			;;
		*) misuse "exec: '$1' is no node (a to d); the command comes after '--'" ;;
		esac
		shift
	done
	[ $# -gt 0 ] || misuse "exec: no command; it comes after '--'"
	if ! exec_ready "$node"; then
		exec_why "$node"
		return "$exec_failed"
	fi
	if [ -S "$LAB_STATE/socket-$node" ]; then
		exec_user "$user" || return "$exec_failed"
		exec "${lab_python[@]}" lab.client "$LAB_STATE/socket-$node" \
			exec "$user" "$(exec_dir)" "$@"
	fi
	id=$$.$EPOCHREALTIME
	exec_script "$id" "$user" "$@" || return "$exec_failed"
	{ exec {in}<&0; } 2>/dev/null || exec {in}</dev/null
	exec {to}> >(exec setsid "$LAB_PARTS/worker.sh" "$node" "$id" "$script" "$in")
	worker=$!
	exec {in}<&-
	for signal in INT TERM HUP QUIT USR1 USR2; do
		# shellcheck disable=SC2064 # now is when to expand
		trap "again=1; echo $signal >&$to" "$signal"
	done
	trap '' PIPE
	while [ -n "$again" ]; do
		again='' status=0
		wait "$worker" || status=$?
		# The worker had ended already when the signal came.
		[ "$status" -eq 127 ] && [ "$rc" -ne 0 ] || rc=$status
	done
	[ "$rc" -ne "$exec_failed" ] || exec_died "$node" "$id"
	return "$rc"
}

# exec_user USER: is there one of that name, or none asked for?
exec_user()
{
	[ -n "$1" ] || return 0
	id -u -- "$1" >/dev/null 2>&1 && return
	lab_error "there is no user '$1'" "The nodes have this machine's users."
	return 1
}

# exec_script ID USER COMMAND...: what the shell in the guest is to do, in
# script. The first line is how a signal finds that shell. The shell waits for
# the command so as to report a signal that ends it, but does not speak of it.
exec_script()
{
	local uid gid as=''

	if [ -n "$2" ] && [ "$2" != root ]; then
		exec_user "$2" || return 1
		uid=$(id -u -- "$2")
		gid=$(id -g -- "$2")
		as="ulimit -l 8192; export HOME=/tmp USER=$2 LOGNAME=$2
setpriv --reuid=$uid --regid=$gid --init-groups "
	fi
	script="LAB_EXEC=$1
$exec_environment SHELL=/bin/bash
cd $(lab_quote "$(exec_dir)") || exit $exec_failed
exec 4>&2 2>/dev/null
$as$(lab_quote "${@:3}") 2>&4 4>&-
exit \$?"
}

# exec_died NODE ID: the command may have returned 255, or its connection is
# gone, of which the worker leaves a mark. Then so is the node, in a moment.
exec_died()
{
	local tries=0

	rm "$LAB_STATE/lost-$2" 2>/dev/null || [ ! -d "$LAB_STATE" ] || return 0
	while [ ! -e "$LAB_STATE/dead-$1" ] && lab_alive && [ "$tries" -lt 100 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	exec_why "$1"
}
