# shellcheck shell=bash disable=SC2034,SC2153,SC2154 # nodes is that of lab_up()
# What `up` asks of a lab with a time of its own. Sourced by ../../lab.sh.

# up_time: a time of its own is for one node, which is a User-Mode Linux kernel.
# Sets nodes and LAB_ENGINE.
up_time()
{
	case $LAB_TIME in
	'') return ;;
	own) ;;
	*) misuse "--time $LAB_TIME: the lab has own, or no --time for this machine's time" ;;
	esac
	nodes=${nodes:-1}
	[ "$nodes" -eq 1 ] ||
		misuse "--time own is for one node, and $nodes are asked for: two would not have the same time"
	LAB_ENGINE=${LAB_ENGINE:-uml}
	[ "$LAB_ENGINE" = uml ] ||
		misuse "--time own needs the engine uml, and $LAB_ENGINE is asked for"
	export LAB_ENGINE LAB_TIME
}

# up_other HAS ASKED: the lab that is up has not what is asked for.
up_other()
{
	lab_error "the lab '$LAB_NAME' is up with $1, and $2 is asked for" \
		"End it with 'scripts/lab.sh down', then start it anew; or give LAB_NAME another name."
}
