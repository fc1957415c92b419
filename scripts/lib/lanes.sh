# lanes.sh - run test files side by side
#
# To be sourced by bash, after device.sh.
#
#   lanes_run DIR PLAIN DEVICE [EMULATED]
#                                 runs the test files that the files PLAIN and
#                                 DEVICE name, one a line; 0 if all passed
#
# A lane is a process that takes the first file off its list, runs it, and takes
# the next. One lane runs PLAIN, whose files need no device, or two if DEVICE is
# empty. LANES lanes (default: 3; with DEVICE=host, or a single file, 1) run DEVICE;
# each has a lab of its own with two nodes. Most of these files wait more than they
# compute, and those of PLAIN only compute. So PLAIN yields to them, and takes what they
# leave of the processors. The first lane works in this tree, any other in a copy of
# it, so that what two test files build and record never meets. When DEVICE is empty, the
# first lane helps with PLAIN, which is for this tree. The files of DEVICE
# that EMULATED names use virtual machines, too. They come first in DEVICE, and the
# other lanes leave them to the first while it has others, so that one lab of these,
# which is costly, is enough. It is taken down when no file is left that uses it.
#
# DIR gets NAME.tap, the results of each file, and NAME.out, all that it says. A line is
# printed as each file ends, with what is still running, and if it failed, with what
# failed in it; on a terminal, the last line always says what is running.
# shellcheck shell=bash

lanes_top=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
# shellcheck source=scripts/lib/tap.sh
source "$lanes_top/scripts/lib/tap.sh"

# lanes_say STATE FILE [TEXT]: notes that FILE begins or has ended, and tells.
# One lane at a time.
lanes_say() {
	local state=$1 name text=${3:-} running=() line

	name=$(lanes_name "$2")
	exec 9>>"$lanes_dir/lock"
	flock 9
	case $state in
	begin) : >"$lanes_dir/running.$name" ;;
	end)
		rm -f "$lanes_dir/running.$name"
		echo "$name" >>"$lanes_dir/ended"
		;;
	esac
	for line in "$lanes_dir"/running.*; do
		[[ ! -e $line ]] || running+=("${line##*/running.}")
	done
	line="$(lanes_count "$lanes_dir/ended") of $lanes_total files have ended"
	line+="; running: ${running[*]:-none}"
	[[ ! -t 1 ]] || printf '\r\e[K'
	[[ $state == begin ]] || printf '%s\n' "$text"
	if [[ -t 1 ]]; then
		printf '%s' "${line:0:$((${COLUMNS:-80} - 1))}"
	elif [[ $state == end ]]; then
		printf '    %s\n' "$line"
	fi
	exec 9>&-
}

lanes_count() { [[ ! -e $1 ]] || wc -l <"$1"; }
lanes_name() { basename "$1" .bats; }

# lanes_next LIST [LATER]: takes a line of LIST off, into the variable file: the first
# that is not in the file LATER, or else the first.
lanes_next() {
	exec 9>>"$1.lock"
	flock 9
	file=$(grep -m 1 -vxF -f "${2:-/dev/null}" "$1") || file=$(head -n 1 "$1")
	sed -i "$(grep -nxF -m 1 -e "$file" "$1" | cut -d : -f 1)d" "$1"
	exec 9>&-
	[[ -n $file ]]
}

# lanes_job FILE: runs it in the working directory.
lanes_job() {
	if [[ $1 == unit ]]; then
		scripts/maint/check.sh --unit
	else
		scripts/maint/bats_tap.sh "$lanes_dir" "$1"
	fi
}

# lanes_failed NAME: what failed in the file NAME, or, if no test did, the end of
# what it said.
lanes_failed() {
	local failed=

	[[ ! -e $lanes_dir/$1.tap ]] || failed=$(tap_failures "$lanes_dir/$1.tap")
	[[ -n $failed ]] || failed=$(tail -n 30 "$lanes_dir/$1.out")
	printf '%s\n' "$failed"
}

# lanes_lane LIST [LATER]: runs the files of LIST until there is none, those of LATER last.
lanes_lane() {
	local file name begin status=0 text

	while lanes_next "$@"; do
		name=$(lanes_name "$file") begin=$SECONDS
		lanes_say begin "$file"
		text=ok
		lanes_job "$file" >"$lanes_dir/$name.out" 2>&1 </dev/null || {
			text=FAILED status=1
		}
		printf -v text '%-6s  %-34s %4d s' "$text" "$file" \
			$((SECONDS - begin))
		[[ $text == ok* ]] || text+=$'\n'$(lanes_failed "$name")
		lanes_say end "$file" "$text"
		lanes_need_emulated "$1" || lanes_down_emulated
	done
	return "$status"
}

# lanes_need_emulated LIST: whether this lane may still need its virtual machines; a
# lane without a device has none.
lanes_need_emulated() {
	[[ -z ${lanes_machines:-} ]] || grep -qxF -f "$lanes_emulated" "$1"
}
lanes_down_emulated() {
	LAB_NAME=$EMULATED_LAB "$device_top/scripts/lab.sh" down 2>/dev/null || true
}

# lanes_copy NUMBER: a copy of this tree in build/lane/NUMBER, with what is
# built, and with git's list of files, from which some tests take theirs. It is made
# before anything runs here that writes into the tree.
lanes_copy() (
	copy=$lanes_top/build/lane/$1

	rm -rf "$copy" && mkdir -p "$copy" &&
		tar -C "$lanes_top" -c --exclude=./build --exclude=./.git . |
		tar -C "$copy" -x && cd "$copy" && mkdir build && git init -q && git add -A
)

# lanes_device NUMBER LIST: a lane with a device.
lanes_device() {
	local nodes=2 later=

	[[ $1 -eq 1 ]] || later=$lanes_emulated
	# Its device.sh and its lab are those of the tree it works in.
	[[ $1 -eq 1 ]] || cd "$lanes_top/build/lane/$1" || return
	device_top=$PWD
	export LAB_NAME=$lanes_lab-$1
	# The virtual machines for what a User-Mode Linux node cannot do, when a test
	# asks for them: full_size() in tests/helpers.bash.
	export EMULATED_LAB=$LAB_NAME-tcg
	lanes_machines=yes
	trap 'device_close >/dev/null
		lanes_down_emulated' EXIT
	trap 'exit 1' INT TERM
	[[ ${DEVICE:-} != host ]] || nodes=1
	device_open "$nodes" >"$lanes_dir/device.$1" 2>&1 || {
		echo "FAILED  lane $1 has no device:"
		cat "$lanes_dir/device.$1"
		return 1
	}
	lanes_lane "$2" "$later"
}

# lanes_first LIST PLAIN: the first lane with a device. Without it, it then helps with PLAIN.
lanes_first() {
	local status=0

	(lanes_device 1 "$1") || status=1
	lanes_lane "$2" || status=1
	return "$status"
}

# lanes_plain LIST: a lane without a device, which yields to the others.
lanes_plain() {
	renice -n $(($(nice) + 5)) -p "$BASHPID" >/dev/null || return
	lanes_lane "$1"
}

lanes_end() {
	local pid

	trap - INT TERM
	for pid in "${lanes_pids[@]}"; do
		kill -TERM -- "-$pid" 2>/dev/null || true
	done
	wait
	exit 1
}

# lanes_start COMMAND…: a lane, as a process group that can be ended whole.
lanes_start() {
	set -m
	"$@" </dev/null &
	lanes_pids+=($!)
	set +m
}

lanes_run() {
	local number lanes=${LANES:-3} pid status=0

	# A lane may work elsewhere, in a copy that has no commit.
	CHECK_COMMIT=$(git -C "$lanes_top" rev-parse HEAD 2>/dev/null) || CHECK_COMMIT=
	export CHECK_COMMIT
	set -- "$1" "$(realpath "$2")" "$(realpath "$3")" "$(realpath "${4:-/dev/null}")"
	lanes_emulated=$4
	lanes_dir=$(cd "$1" && pwd)
	lanes_lab=${LAB_NAME:-check-$$}
	lanes_total=$(cat "$2" "$3" | wc -l)
	lanes_pids=()
	[[ ${DEVICE:-} != host && $(wc -l <"$3") -ne 1 ]] || lanes=1
	[[ -s $3 ]] || lanes=0
	for ((number = 2; number <= lanes; number++)); do
		lanes_copy "$number" || return 1
	done
	trap lanes_end INT TERM
	[[ ! -s $2 || ! -s $3 ]] || lanes_start lanes_plain "$2"
	[[ ! -s $2 || -s $3 ]] || {
		lanes_start lanes_lane "$2"
		lanes_start lanes_lane "$2"
	}
	[[ $lanes -eq 0 ]] || lanes_start lanes_first "$3" "$2"
	for ((number = 2; number <= lanes; number++)); do
		lanes_start lanes_device "$number" "$3"
	done
	for pid in "${lanes_pids[@]}"; do
		wait "$pid" || status=1
	done
	trap - INT TERM
	[[ ! -t 1 ]] || printf '\r\e[K'
	return "$status"
}
