# judge.sh - how the check of an exercise runs programs and judges them
#
# Sourced by exercise.sh, which sets top (the repository), place (where this
# exercise is built and run) and original (the chapter as it is, built). A check,
# CHAPTER/exercises/NAME.sh, runs a reader's programs with run() and judges what
# they did with the functions below it.
# shellcheck shell=bash disable=SC2154

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
# shellcheck disable=SC2034,SC2016 # the exercises use it, and a shell there
stopping="bash -c 'kill \$(<server.pid)'"

# What to put into the environment of a program ("server: env $fill_freed ./server")
# so that memory is overwritten when it is freed: who looks there later finds 0xaa.
# Small pieces would be kept aside, and are only overwritten without that.
# shellcheck disable=SC2034
fill_freed=GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.perturb=170

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

# witness FILE COMMAND…: what runs it and writes what it calls of the libraries to
# FILE in $place, a line a call: see calls.c.
witness() {
	local lib=$place/calls.so

	[[ -e $lib ]] || cc -std=gnu11 -O1 -fPIC -shared -o "$lib" \
		"$top/scripts/lib/calls.c" >&2
	printf 'env LD_PRELOAD=../calls.so CALLS=../%s %s' "$1" "${*:2}"
}

# peer NAME PROGRAM: makes $place/peer_NAME, a copy of the chapter as it is with the
# solution and then the patch on stdin, and builds one of its programs there.
peer() {
	cp -a "$original" "$place/peer_$1"
	patch -f -s -d "$place/peer_$1" -p1 <"$folder/$name.patch"
	patch -f -s -d "$place/peer_$1" -p1
	make -s -C "$place/peer_$1" CFLAGS='-O1 -g' "$2"
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
