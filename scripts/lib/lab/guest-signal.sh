#!/run/lab/busybox sh
# shellcheck shell=dash
# Sends a signal to a command that runs under `lab.sh exec`: to all processes
# below the shell whose command line has the mark. Arguments: ID SIGNAL.
# Status 1: there is none (not yet, or no longer).

b=/run/lab/busybox

# Not its own command line: the brackets see to that.
shells=' ' below=' '
for file in $($b grep -l "LAB_EXEC[=]$1" /proc/[0-9]*/cmdline 2>/dev/null); do
	file=${file#/proc/}
	shells="$shells${file%/cmdline} "
done
more=1
while [ -n "$more" ]; do
	more=
	while read -r pid parent; do
		case $shells$below in
		*" $pid "*) continue ;;
		*" $parent "*)
			below="$below$pid "
			more=1
			;;
		esac
	done <<-END
		$($b ps -o pid,ppid)
	END
done
sent=1
for pid in $below; do
	kill "-$2" "$pid" 2>/dev/null && sent=0
done
exit "$sent"
