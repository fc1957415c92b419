# one.bash - one mutant: its patch, its test, and what became of it
#
# To be sourced by run.sh, which has set work; and by the shell that a deadline
# ends, which does the building and the testing.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by run.sh

# noticed_by FILE: the test that must notice the fault; nothing if none is named.
noticed_by() { sed -n '/^--- /q; s/^Noticed-by: *//p' "$1" | head -n 1; }

# touched FILE: the files that a patch changes.
touched() { sed -n 's,^+++ b/\([^[:space:]]*\).*,\1,p' "$1"; }

# --- in the shell that a deadline ends

# build_all TREE COMMAND FILE…: builds the unit test of COMMAND, or the chapters
# of the files, and reads scripts without running them.
build_all() {
	local command=$2 file

	cd "$1" || return
	shift 2
	if [[ $command == unit\ * ]]; then
		make -s -C tests/unit all TESTS="${command#unit }" || return
	fi
	for file; do
		case $file in
		*.sh | *.bash) bash -n "$file" ;;
		*.py) python3 -c 'import ast, sys
ast.parse(open(sys.argv[1]).read())' "$file" ;;
		0[1-9]_*/*.[ch]) # in plumbing/, too
			[[ $command == unit\ * ]] ||
				make -s -C "${file%%/*}" CFLAGS='-O1 -g'
			;;
		esac || return
	done
}

# run_test TREE COMMAND: 0 if it passes, and really ran something.
run_test() {
	local kind file regex said

	cd "$1" || return
	read -r kind file regex <<<"$2"
	if [[ $kind == unit ]]; then
		make -s -C tests/unit check TESTS="$file"
		return
	fi
	# Within a test, PATH begins with where bats has its inner parts.
	said=$(unset "${!BATS_@}" && "$(command -pv bats)" --tap --print-output-on-failure ${regex:+-f "$regex"} \
		"$file" 2>&1) || {
		printf '%s\n' "$said"
		return 1
	}
	printf '%s\n' "$said"
	grep -q '^ok ' <<<"$said" && ! grep -q '^ok .*# skip' <<<"$said"
}

# --- in run.sh

# within SECONDS FUNCTION ARGUMENT…: one of the above; 124 or 137 if it is not
# done by then. What it says goes to the file said.
within() {
	local seconds=$1 status=0

	shift
	# shellcheck disable=SC2016 # for the other shell
	timeout -k 9 "$seconds" bash -c 'source "$0"; "$@"' \
		"${BASH_SOURCE[0]}" "$@" >"$said" 2>&1 &
	running=$!
	wait "$running" || status=$?
	running=''
	return "$status"
}

# The lab is booted for the first test that needs one. A test does if it expects
# a device to be there.
lab_up() {
	local tree=$1 file=${2#bats }

	[[ $2 == bats\ * && -z $lab_of && ${DEVICE:-} != host ]] || return 0
	grep -qE '^[[:space:]]*open_device' "$tree/${file%% *}" || return 0
	lab_of=$tree
	"$tree/scripts/lab.sh" up --nodes 2 </dev/null >"$said" 2>&1
}
lab_down() {
	[[ -z $lab_of ]] || "$lab_of/scripts/lab.sh" down </dev/null >/dev/null 2>&1 || true
	lab_of=''
}

# tell STATE NAME WHY: the result of one; with what was said, if that matters.
tell() {
	printf '%-6s %-40s %s\n' "$@" | tee -a "$work/results"
	[[ $1 != broken || ! -s $said ]] || tail -n 15 "$said" | sed 's/^/    /'
}

# baseline TREE COMMAND: whether the test passes without any fault, found out
# once. The result is in passes[COMMAND], which holds how long it may take.
baseline() {
	local begin=$SECONDS

	[[ -z ${passes[$2]:-} ]] || return 0
	passes[$2]=no
	lab_up "$1" "$2" && within "$deadline" build_all "$1" "$2" &&
		within "$deadline" run_test "$1" "$2" || return 0
	# Ten times as long as it took means that it would never have ended.
	passes[$2]=$((10 * (SECONDS - begin + 1) + deadline / 10))
}

# try_patch TREE NAME COMMAND: says what became of the mutant; the patch is in.
try_patch() {
	local files status=0

	mapfile -t files < <(touched "tests/mutants/$2.patch")
	within "$deadline" build_all "$1" "$3" "${files[@]}" || {
		tell broken "$2" 'it does not build with the patch'
		return
	}
	# Here a failure is what is wanted: one is enough (tests/stalls.bash).
	lab_up "$1" "$3" &&
		CHECK_STALLS='' within "${passes[$3]}" run_test "$1" "$3" || status=$?
	case $status in
	0) tell lived "$2" "$3" ;;
	124 | 137)
		tell killed "$2" "$3 (by the deadline)"
		# Whatever hangs there goes with it.
		lab_down
		;;
	*) tell killed "$2" "$3" ;;
	esac
}

# try_mutant TREE NAME: tries one, and leaves TREE as it was.
try_mutant() {
	local tree=$1 patch=$top/tests/mutants/$2.patch command file files
	local said=$work/${1##*/}.said

	: >"$said"
	command=$(noticed_by "$patch")
	mapfile -t files < <(touched "$patch")
	[[ $command =~ ^(unit test_[0-9a-z_]+|bats tests/[^ ]+\.bats( .*)?)$ ]] || {
		tell broken "$2" 'its Noticed-by is none'
		return
	}
	if ! patch -p1 -sf --fuzz=1 --dry-run -d "$tree" <"$patch" >"$said" 2>&1 ||
		[[ ${#files[@]} -eq 0 ]]; then
		tell broken "$2" 'its patch does not apply'
		return
	fi
	baseline "$tree" "$command"
	if [[ ${passes[$command]} == no ]]; then
		tell broken "$2" "fails without the patch: $command"
		return
	fi
	patch -p1 -sf --fuzz=1 --no-backup-if-mismatch -d "$tree" <"$patch"
	try_patch "$tree" "$2" "$command"
	# New dates: make must not take what was built for what is there.
	git -C "$tree" checkout -qf -- .
	for file in "${files[@]}"; do
		touch "$tree/$file"
	done
}
