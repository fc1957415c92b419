#!/usr/bin/env bats
#
# check_processors.bats - scripts/maint/processor_time.py, which says what took the
# processors' time in a run of check.sh. On a made-up /proc, in ticks.

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
	cd "$BATS_TEST_TMPDIR" || return
}

# looks: runs a story in Python, in which
#   is_there(pid, parent, name, own, children)  is a process from now on,
#   is_gone(pid)                                it is no more,
#   look()                                      is what happens each time;
# then prints what took how many ticks.
looks() {
	{
		cat <<-'END'
			import pathlib, shutil, sys
			from processor_time import Processes
			proc = pathlib.Path('proc')
			proc.mkdir()
			def is_there(pid, parent, name, own=0, children=0, environ=''):
			    folder = proc / str(pid)
			    folder.mkdir(exist_ok=True)
			    rest = ['0'] * 9 + [str(own), '0', str(children), '0', '0', '0', '0', '0', '7']
			    (folder / 'stat').write_text(
			        f'{pid} ({name}) S {parent} ' + ' '.join(rest) + '\n')
			    (folder / 'environ').write_text(environ)
			def is_gone(pid):
			    shutil.rmtree(proc / str(pid))
			processes = Processes(10, proc)
			look = processes.look
		END
		cat
		echo 'look()'
		echo 'print(*(f"{kind} {ticks}" for kind, ticks in processes.by_kind().items() if ticks))'
	} >story.py
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$top/scripts/maint run -0 \
		/usr/bin/python3 story.py
}

@test "each process is of a kind, and only PID's count" {
	looks <<-'END'
		is_there(1, 0, 'init', 900)
		is_there(10, 1, 'bash', 1)
		is_there(9, 10, 'linux', 20)
		is_there(11, 9, 'qemu-system-x86', 3)
		is_there(12, 10, 'cc1', 40)
		is_there(13, 12, 'chrome', 5)
		is_there(14, 10, 'python3', 60)
		is_there(15, 10, 'server (x) 1', 7)
		is_there(20, 1, 'bash', 800)
	END
	[[ $output == 'nodes 23 compilers 40 shells 1 browsers 5 python 60 other 7' ]]
}

@test "what has ended counts as it was last seen, and once" {
	looks <<-'END'
		is_there(10, 1, 'bash', 1)
		is_there(11, 10, 'bash', 2)
		is_there(12, 11, 'python3', 30)
		look()
		is_gone(12)
		is_there(11, 10, 'bash', 2, 30)
		look()
		is_gone(11)
		is_there(10, 1, 'bash', 1, 32)
	END
	[[ $output == 'shells 3 python 30' ]]
}

@test "a child that is found before its parent counts once" {
	looks <<-'END'
		import os
		listed = os.listdir
		os.listdir = lambda place: sorted(listed(place), reverse=True)
		is_there(10, 1, 'bash', 1)
		is_there(11, 10, 'bash', 2)
		is_there(12, 11, 'python3', 30, 0, 'CHECK_PROCESSES=10')
		look()
		is_gone(12)
		is_there(11, 10, 'bash', 2, 30)
	END
	[[ $output == 'shells 3 python 30' ]]
}

@test "what ends together with its parent counts once" {
	looks <<-'END'
		is_there(10, 1, 'bash', 1)
		is_there(11, 10, 'bash', 2)
		is_there(12, 11, 'python3', 30)
		look()
		is_gone(12)
		is_gone(11)
		is_there(10, 1, 'bash', 1, 32)
	END
	[[ $output == 'shells 3 python 30' ]]
}

@test "what nobody has seen is short, or of the kind of the one that waited" {
	looks <<-'END'
		is_there(10, 1, 'bash', 1)
		is_there(11, 10, 'make', 2)
		is_there(12, 11, 'cc1', 30)
		look()
		is_gone(12)
		is_there(11, 10, 'make', 2, 30 + 5 + 4)
		look()
		is_gone(11)
		is_there(10, 1, 'bash', 1, 41 + 1 + 100)
	END
	[[ $output == 'compilers 41 shells 1 short 101' ]]
}

@test "a lab whose parent has ended is found, and what it was before is kept" {
	looks <<-'END'
		is_there(10, 1, 'bash', 1)
		is_there(11, 1, 'python3', 20, 0, 'A=1\0CHECK_PROCESSES=10\0B=2')
		is_there(12, 11, 'linux', 300)
		is_there(13, 1, 'linux', 800, 0, 'CHECK_PROCESSES=100')
		is_there(14, 10, 'bash', 5)
		look()
		is_there(14, 1, 'bash', 6)
	END
	[[ $output == 'nodes 300 shells 7 python 20' ]]
}

@test "a number that is another process's now is another process" {
	looks <<-'END'
		is_there(10, 1, 'bash', 1)
		is_there(11, 10, 'python3', 30)
		look()
		is_there(11, 1, 'python3', 700)
		stat = proc / '11/stat'
		stat.write_text(stat.read_text().replace(' 7\n', ' 8\n'))
	END
	[[ $output == 'shells 1 python 30' ]]
}

@test "it ends with whom it looks at, or when it is told to, and says the sum" {
	local ours=$top/scripts/maint/processor_time.py pid hertz
	local end=$((SECONDS + 60))

	mkdir proc
	run -0 "$ours" --proc proc 10
	[[ $output == 'Processors: 0.0 min, of which' ]]
	mkdir proc/10
	hertz=$(getconf CLK_TCK)
	echo "10 (bash) S 1 0 0 0 0 0 0 0 0 0 $((90 * hertz)) 0 $((30 * hertz)) 0 0 0 0 0 7" \
		>proc/10/stat
	"$ours" --proc proc 10 >said 3>&- &
	pid=$!
	# Before it catches the signal, it would end without a word. Until it runs, this is
	# a shell, which may catch the signal, too.
	until grep -q '^Name:.*processor_time' "/proc/$pid/status" &&
		grep -q '^SigCgt:.*[4567cdef]...$' "/proc/$pid/status"; do
		[[ $SECONDS -lt $end ]]
	done
	kill "$pid"
	wait "$pid"
	diff said - <<-'END'
		Processors: 2.0 min, of which
		  shells        1.5 min  75 %
		  short         0.5 min  25 %
	END
	run -2 "$ours"
}
