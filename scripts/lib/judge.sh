# judge.sh - how the check of an exercise or of a repair runs programs and judges them
#
# Sourced by exercise.sh and repair.sh, which set top (the repository), place (where this
# one is built and run) and original (the chapter as it is, built). A check,
# CHAPTER/exercises/NAME.sh, runs a reader's programs with run() and judges what
# they did with the functions below it. That of a repair task, CHAPTER/repair/NAME/judge.sh,
# calls recorded() or together() for what a whole chapter does, and then looks at what was
# broken, by what the programs do: with a peer that is slow, broken or another program,
# under loss, with a second client, or by the calls that they make.
# shellcheck shell=bash disable=SC2154,SC2034

bad=0 checks=0
# The runs in which something was missing, in order.
bad_runs=()

# ok WHAT / missing WHAT [WHY [RUN]]: one thing that the exercise asks for.
ok() {
	checks=$((checks + 1))
	echo "  ok       $1"
}
missing() {
	checks=$((checks + 1)) bad=$((bad + 1))
	echo "  missing  $1${2:+ ($2)}"
	[[ -z ${3:-} || " ${bad_runs[*]} " == *" $3 "* ]] || bad_runs+=("$3")
	[[ ${EXERCISE_UNTIL:-} != "$1" && ${EXERCISE_UNTIL:-} != '*' ]] || verdict
}

# check WHAT RUN WHY COMMAND…: it is there if COMMAND succeeds.
check() {
	if "${@:4}"; then
		ok "$1"
	else
		missing "$1" "$3" "$2"
	fi
}

# run NAME LINE…: runs programs as the lines say (those of a `commands` file);
# ORIGINAL stands for the folder of the chapter as it is. What they said is
# then in $place/NAME/.
run() {
	local out=$1 lines

	shift
	# The programs run in $place/mine: seen from there, no path has a space in it.
	lines=("${@//ORIGINAL/../../original}")
	printf '%s\n' "${lines[@]//"$place"\//../}" >"$place/$out.commands"
	# Their own deadlines are 10 s, and a client or two follow each other.
	PAIR_LIMIT=${limit:-60} "$top/scripts/pair.sh" -d "$place/mine" \
		"$place/$out.commands" "$place/$out" ||
		[[ $? -ne 4 ]] || exit 1
}

# serving COMMAND…: what runs it so that $stopping can end it: in a line of run,
# "server: $(serving ./server)", and in the last one "stop: $stopping".
serving() {
	printf "bash -c 'echo \$\$ >server.pid; exec %s'" "$*"
}
# shellcheck disable=SC2016 # for a shell there
stopping="bash -c 'kill \$(<server.pid)'"

# look FILE REGEX SECONDS [COUNT]: what waits until FILE in $place has such a line,
# or COUNT of them, for at most so long: in a line of run,
# "look: $(look own/client.log '^ready' 20)".
look() {
	cat >"$place/mine/look.sh" <<-'END'
		end=$((SECONDS + $3))
		until [[ $(grep -Ecs "$2" "$1") -ge $4 ]]; do
			((SECONDS < end)) || exit 1
			read -rt 0.05 <> <(:) || true
		done
	END
	printf "bash look.sh '%s' '%s' %d %d" "$place/$1" "$2" "$3" "${4:-1}"
}

# What writes down what a program calls of the libraries: see calls.c.
calls_library() {
	[[ -e $place/calls.so ]] || cc -std=gnu11 -O1 -fPIC -shared -o "$place/calls.so" \
		"$top/scripts/lib/calls.c" >&2
}

# witness FILE COMMAND…: what runs it and writes what it calls of the libraries to
# FILE in $place, a line a call.
witness() {
	calls_library
	printf 'env LD_PRELOAD=../calls.so CALLS=../%s %s' "$1" "${*:2}"
}

# watched RUN LINE…: as run(); and what each program asks of the libraries is in
# $place/RUN/LABEL.calls.
watched() {
	calls_library
	PAIR_WRAP="env LD_PRELOAD=../calls.so CALLS=../$1/LABEL.calls ${hold:-}" run "$@"
}

# build_peer NAME PROGRAM PATCH…: makes $place/peer_NAME, a copy of the chapter as it is
# with these patches, and builds one of its programs there.
build_peer() {
	local patch

	cp -a "$original" "$place/peer_$1"
	for patch in "${@:3}"; do
		patch -f -s -d "$place/peer_$1" -p1 <"$patch"
	done
	make -s -C "$place/peer_$1" CFLAGS='-O1 -g' "$2"
}

# peer NAME PROGRAM: that of the solution, with the patch on stdin.
peer() {
	build_peer "$@" "$folder/$name.patch" /proc/self/fd/0
}

# other_peer NAME PROGRAM: that of the chapter, with the patch on stdin.
other_peer() {
	build_peer "$@" /proc/self/fd/0
}

# broken_peer CASE PROGRAM: that of the chapter, with what a case of `make break` breaks.
broken_peer() {
	build_peer "$@" "$top/$chapter/break/$1/patch"
}

# count FILE REGEX: how many lines of FILE in $place match; nothing if it is not
# there. An .err that is not there was empty.
count() {
	local file=$place/$1

	if [[ $1 == *.err && ! -e $file && -e ${file%/*}/status.log ]]; then
		echo 0
	elif [[ -e $file ]]; then
		grep -cE -- "$2" "$file" || true
	fi
}

# want WHAT FILE REGEX [COUNT]: FILE has such a line once, or COUNT times.
want() {
	local seen due=${4:-1}

	seen=$(count "$2" "$3")
	check "$1" "${2%%/*}" "$(many "$2" "$seen" "$3"), not $due" \
		test "${seen:-none}" = "$due"
}

# want_at_least WHAT FILE REGEX COUNT: it has COUNT such lines, or more.
want_at_least() {
	local seen

	seen=$(count "$2" "$3")
	check "$1" "${2%%/*}" "$(many "$2" "$seen" "$3"), not $4 or more" \
		test "${seen:--1}" -ge "$4"
}

# many FILE COUNT REGEX: how many lines there were, in words.
many() {
	case $2 in
	'') echo "there is no file $1 with lines like \"$3\"" ;;
	1) echo "$1 has 1 line like \"$3\"" ;;
	*) echo "$1 has $2 lines like \"$3\"" ;;
	esac
}

# want_order WHAT FILE REGEX…: of the lines that match any REGEX, each one matches
# the REGEX that is due, from the first to the last, and then there are no more.
want_order() {
	local what=$1 file=$2 line i=0 any

	shift 2
	any=$(IFS='|' && echo "$*")
	while IFS= read -r line; do
		[[ $line =~ $any ]] || continue
		i=$((i + 1))
		[[ $i -le $# && $line =~ ${!i} ]] || {
			missing "$what" "$file has \"$line\" where another is due" \
				"${file%%/*}"
			return
		}
	done < <(cat "$place/$file" 2>/dev/null)
	check "$what" "${file%%/*}" "$file has $i of $# such lines" \
		test "$i" -eq $#
}

# status RUN NAME: how a program of a run ended.
status() {
	sed -n "s/^$2: exit status //p" "$place/$1/status.log" 2>/dev/null
}

# ends WHAT RUN NAME STATUS: a program of a run ended with STATUS.
ends() {
	local seen

	seen=$(status "$2" "$3")
	[[ $seen != 124 ]] || seen='124: it did not end by itself'
	check "$1" "$2" "$3: exit status ${seen:-unknown}, not $4" \
		test "$seen" = "$4"
}

# well WHAT RUN NAME: it ended with 0, and no error was said.
well() {
	local seen

	seen=$(status "$2" "$3")
	check "$1" "$2" "$3: exit status ${seen:-unknown}; $(first_error "$2" "$3")" \
		test "$seen" = 0 -a ! -s "$place/$2/$3.err"
}

# fails WHAT RUN NAME [REGEX]: it ended with 1, and said one error, which matches.
fails() {
	local seen lines why

	seen=$(status "$2" "$3")
	mapfile -t lines < <(cat "$place/$2/$3.err" 2>/dev/null)
	if [[ $seen != 1 ]]; then
		why="exit status ${seen:-unknown} and not 1"
	elif [[ ${#lines[@]} -ne 1 ]]; then
		why="it says ${#lines[@]} lines on stderr and not one"
	elif [[ ${lines[0]} != 'error: '* || ! ${lines[0]} =~ ${4:-.} ]]; then
		why='its error should be another one'
	else
		ok "$1"
		return
	fi
	missing "$1" "$3: $why; $(first_error "$2" "$3")" "$2"
}

# first_error RUN NAME: the first line of its stderr.
first_error() {
	if [[ -s $place/$1/$2.err ]]; then
		echo "it says: $(head -n 1 "$place/$1/$2.err")"
	else
		echo 'it says no error'
	fi
}

# same WHAT RUN FOLDER: both ends said what the logs in FOLDER say. Where a repair may
# choose a number that is in them, $alike is a command of sed which makes it the same.
alike=
same() {
	local why said file label

	for file in "$place/$2"/*.err; do
		label=${file##*/} label=${label%.err}
		[[ -s $file && ! -e $3/$label.err ]] || continue
		missing "$1" "the $label says an error, and the recorded one none" "$2"
		return
	done
	[[ -z $alike ]] || sed -i -E "$alike" "$place/$2"/*.log
	if said=$("$top/scripts/compare_logs.sh" "$place/$2" "$3" 2>&1); then
		ok "$1"
	else
		why=$(sed -n '/^What differs:/{n; s/^ *//p; q}' <<<"$said")
		why=${why:-${said#*: }}
		missing "$1" "${why:0:240}" "$2"
	fi
}

# honest RUN: no program of it waits for mere time, or tries again for ever.
honest() {
	local calls

	calls=$(cat "$place/$1"/*.calls 2>/dev/null || true)
	if grep -q '^sleep' <<<"$calls"; then
		missing 'no program waits for mere time' \
			'it sleeps, and the peer may take longer' "$1"
	elif grep -qE '^[a-z]+ (.*_|)(retry_count|rnr_retry)=7\>' <<<"$calls"; then
		missing 'nothing is tried again for ever' \
			'7 is no number: it means without end' "$1"
	else
		ok "no program waits for mere time, or tries again for ever"
	fi
}

# lines_of_run RUN: the lines of the chapter's logged run, into the array lines.
lines_of_run() {
	mapfile -t lines < <(grep -v '^#' "$top/$chapter/expected/$1/commands")
}

# ended RUN: nobody had to end a program of it. Otherwise this ends the check, since all
# that follows would take as long.
ended() {
	local label why

	label=$(sed -nE 's/^(.*): exit status (124|137)$/\1/p' "$place/$1/status.log" |
		head -n 1)
	[[ -n $label ]] || return 0
	why="the $label did not, and was ended; what does it wait for after \"$(
		tail -n 1 "$place/$1/$label.log")\"?"
	[[ $(tail -n 1 "$place/$1/$label.calls") != destroy_cq ]] ||
		why="the $label has done its work, and ibv_destroy_cq() does not return: it waits until each event that ibv_get_cq_event() gave is acknowledged"
	missing 'each program ends by itself' "$why" "$1"
	verdict
}

# recorded RUN…: each logged run of the chapter goes as it is recorded.
recorded() {
	local one lines

	for one; do
		lines_of_run "$one"
		watched "$one" "${lines[@]}"
		ended "$one"
		same "the run $one goes as recorded" "$one" \
			"$top/$chapter/expected/$one"
		honest "$one"
	done
}

# together RUN: that run with the chapter as it is at one end, and then at the other.
together() {
	local lines

	lines_of_run "$1"
	run "their_client" "${lines[@]//.\/client/ORIGINAL/client}"
	same "the run $1 with the original client" their_client \
		"$top/$chapter/expected/$1"
	run "their_server" "${lines[@]//.\/server/ORIGINAL/server}"
	same "the run $1 with the original server" their_server \
		"$top/$chapter/expected/$1"
}

# mend: no node loses packets any more, and each has its table of GIDs as it was.
mend() {
	local node

	for node in a b; do
		device_run "$node" "$top/scripts/lib/repair/loss.sh" off
		device_run "$node" "$top/scripts/lib/repair/gids.sh" back
	done
}

# lossy RUN PERCENT LINE…: as watched(), on two nodes whose network loses so many
# packets. A check that calls it asks for two nodes in a comment: `nodes: 2`.
lossy() {
	watched "$1" 'nodes: 2' "setup: scripts/lib/repair/loss.sh $2" "${@:3}"
	mend
}

# as_case CASE…: what a case shows that changes no code, it shows with theirs, too.
as_case() {
	local one lines

	for one; do
		mapfile -t lines < <(grep -v '^#' "$top/$chapter/break/$one/commands")
		run "$one" "${lines[@]}"
		same "the case $one goes as recorded" "$one" "$top/$chapter/break/$one"
	done
}

# files SERVER: as a line of commands, a server of 07 that keeps nothing.
files() {
	printf "bash -c 'd=\$(mktemp -d) && %s -1 -t 3 -d \$d; s=\$?; rm -r \$d; exit \$s'" \
		"$1"
}

# late_server: the server returns from rdma_accept() only when the client has sent.
late_server() {
	hold="CALLS_HOLD=../late/go"
	watched late 'server: ./server -1' \
		"client&: ORIGINAL/client -a 192.0.2.1" \
		"look: $(look late/client.log '^connected' 20)" \
		"go: touch $place/late/go"
	hold=
	well 'the receive is there before the client can send' late client
	well 'and the server gets its message, however late it looks' late server
}

# The first error of each end of the runs in which something is missing, each once,
# and what explains it.
show_errors() {
	local run file line short=${place#"$top"/} shown=

	for run in "${bad_runs[@]}"; do
		for file in "$place/$run"/*.err; do
			[[ -s $file ]] || continue
			line=$(head -n 1 "$file")
			[[ $shown != *"$line"* ]] || continue
			shown+=$line
			file=${file##*/}
			echo
			echo "The first error of ${file%.err} in the run $run" \
				"($short/$run.commands):"
			echo "  $line"
			! "$top/scripts/explain.py" "$line" >/dev/null 2>&1 ||
				echo "  scripts/explain.py <$short/$run/$file"
		done
	done
	[[ -z $shown ]] || echo
}

# What is left to say; ends the check.
verdict() {
	if [[ $bad -gt 0 ]]; then
		show_errors
		echo "$bad of $checks things are missing; the logs are in" \
			"${place#"$top"/}"
		exit 1
	fi
	echo "all $checks things are there"
	exit 0
}
