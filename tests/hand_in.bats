#!/usr/bin/env bats
#
# Hand-ins: what is in one, and which are refused, each with a reason, before anything
# of them has run. Needs no device.

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
	cd "$BATS_TEST_TMPDIR" || return
}

# refused FILES TEXT: a hand-in with these files is refused for that reason.
refused() {
	printf '{"hand-in": 1, "name": "x", "files": %s}' "$1" >bad.json
	run -1 "$top/scripts/lib/python.sh" repair.grade "$top" bad.json place
	[[ $output == "grade: refused: "*"$2"* && ! -e place ]]
}

# spoilt TEXT REASON: the task 01/say with TEXT after its server.c gets no point, and is
# not run.
spoilt() {
	/usr/bin/python3 -S - "$top/01_send_recv/server.c" "$1" <<-'END' >bad.json
		import json, sys
		text = open(sys.argv[1], encoding='utf-8').read() + sys.argv[2]
		print(json.dumps({'hand-in': 1, 'name': 'x',
		                  'files': {'01_fill_say': {'server.c': text}}}))
	END
	run -0 "$top/scripts/lib/python.sh" repair.grade "$top" bad.json place
	[[ $output == *"01_fill_say "*"0 of 1  "*"$2"* && ! -e place/check ]]
}

@test "a path that leads elsewhere is refused" {
	refused '{"01_deaf": {"../../server.c": ""}}' 'is no C file of a chapter'
	refused '{"01_deaf": {"/etc/x.c": ""}}' 'is no C file of a chapter'
	refused '{"../01": {"server.c": ""}}' 'is no name of a task'
	refused '{"01_deaf": {"Makefile": "all:"}}' 'is no C file of a chapter'
	refused '{"01_deaf": {"plumbing/../server.c": ""}}' 'is no C file of a chapter'
}

@test "what is too large, no text or no hand-in is refused" {
	local big

	big=$(head -c 300000 /dev/zero | tr '\0' x)
	refused "{\"01_deaf\": {\"server.c\": \"$big\"}}" 'more than 262144 bytes'
	refused '{"01_deaf": {"server.c": 1}}' 'is no text'
	refused '[]' 'does not have the form'
	head -c 3000000 /dev/zero >bad.json
	run -1 "$top/scripts/lib/python.sh" repair.grade "$top" bad.json place
	[[ $output == *'more than 2097152 bytes'* ]]
	echo '#!/bin/sh' >bad.json
	run -1 "$top/scripts/lib/python.sh" repair.grade "$top" bad.json place
	[[ $output == *'is no JSON'* ]]
	ln -sf /etc/passwd link.json
	run -1 "$top/scripts/lib/python.sh" repair.grade "$top" link.json place
	[[ $output == *'is no file'* ]]
}

@test "a program that starts others without end, or reads files, is not run" {
	spoilt $'#include <unistd.h>\nvoid f(void)\n{\n\tfor (;;)\n\t\tfork();\n}\n' \
		'it calls fork, which no task needs'
	spoilt $'#include <unistd.h>\nvoid f(void)\n{\n\texecl("/x", "x", NULL);\n}\n' \
		'it calls execl'
	spoilt $'#include <stdlib.h>\n#define JOIN(a, b) a##b\nint f(void)\n{\n\treturn JOIN(sys, tem)("x");\n}\n' \
		'system'
}

@test "what would read the solutions, or the machine's files, is not compiled" {
	spoilt $'#include "../../tests/repair/01_send_recv/deaf/right_in_open.patch"\n' \
		'no header of the chapter or the system'
	spoilt $'#include "/dev/zero"\n' 'no header of the chapter or the system'
	spoilt $'__asm__(".incbin \\"/etc/passwd\\"");\n' 'assembly'
}

@test "what is no C is said to be that" {
	spoilt $'this is no C\n' 'does not build'
}

@test "a hand-in has what was changed, and nothing else" {
	local tree=$BATS_TEST_TMPDIR/tree

	mkdir -p "$tree"
	cp -r "$top/01_send_recv" "$top/scripts" "$tree"
	run -1 "$tree/scripts/hand_in.sh"
	[[ $output == *'there is nothing in work/ yet'* ]]
	"$tree/scripts/fill_in.sh" 01 say
	sed -i 's|/\* Yours. \*/|/* Mine. */|' "$tree/work/01_fill_say/server.c"
	echo secret >"$tree/work/01_fill_say/notes.txt"
	NAME='A Learner' run -0 "$tree/scripts/hand_in.sh"
	[[ $output == *'01_fill_say '*' server.c'* ]]
	run -0 cat "$tree/build/hand-in.json"
	[[ $output == *'Mine.'* && $output == *'A Learner'* && $output != *secret* &&
		$output != *'client.c'* ]]
}
