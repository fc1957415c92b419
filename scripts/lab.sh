#!/bin/bash
# The lab: one or two throwaway virtual machines with real Soft-RoCE, for
# machines whose own kernel has none. See `lab.sh -h`.
set -euo pipefail

# shellcheck source=scripts/lab/common.sh
. "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/lab/common.sh"

usage()
{
	cat <<'END'
Usage: scripts/lab.sh up [--nodes 1|2] | status | shell [a|b]
                      | exec [-u USER] [a|b] -- COMMAND [ARG...] | down
END
}

up()
{
	local nodes=1 line

	if [ "${1:-}" = --nodes ]; then
		nodes=$2
	fi
	if lab_alive; then
		if [ -e "$LAB_STATE/up" ] && [ "$(lab_get nodes)" -ge "$nodes" ]; then
			echo "lab.sh: already up" >&2
			return 0
		fi
		lab_error "a lab runs with too few nodes" "lab.sh down first"
		return 1
	fi
	coproc KEEPER { exec setsid "$LAB_PARTS/keeper.sh" "$nodes"; }
	while IFS= read -r -u "${KEEPER[0]}" line; do
		case $line in
		"step "*) printf 'lab: %s\n' "${line#step }" >&2 ;;
		"error "*) lab_error "${line#error }" ;;
		ready)
			echo keep >&"${KEEPER[1]}"
			;;
		esac
	done
	[ -e "$LAB_STATE/up" ] || return 1
	echo "lab: up" >&2
}

down()
{
	local fd

	[ -d "$LAB_STATE" ] || return 0
	lab_alive && kill "$(lab_get keeper)"
	exec {fd}<"$LAB_STATE" || return 0
	flock "$fd"
	rm -rf "$LAB_STATE"
}

run()
{
	local user=root node=a dir=$LAB_REPO here

	while [ $# -gt 0 ]; do
		case $1 in
		-u) user=$2; shift 2 ;;
		a | b) node=$1; shift ;;
		--) shift; break ;;
		*) usage >&2; return 2 ;;
		esac
	done
	here=$(pwd -P)
	case $here/ in
	"$LAB_REPO"/*) dir=$here ;;
	esac
	[ -S "$LAB_STATE/ssh-$node" ] || { lab_error "node $node is not up"; return 1; }
	[ "$user" = root ] || set -- setpriv "--reuid=$user" "--regid=$(id -g "$user")" --init-groups bash -c 'ulimit -l 8192; exec "$@"' bash "$@"
	exec ssh -F "$LAB_STATE/ssh" "$node" \
		"export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8; cd $(lab_quote "$dir") && $(lab_quote "$@")"
}

lab_check_name
case ${1:-} in
up) shift; up "$@" ;;
down) down ;;
status) lab_alive && cat "$LAB_STATE/notes" ;;
exec) shift; run "$@" ;;
shell) exec ssh -t -F "$LAB_STATE/ssh" "${2:-a}" ;;
*) usage ;;
esac
