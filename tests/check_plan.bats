#!/usr/bin/env bats
#
# check_plan.bats - scripts/maint/check_plan.py: which tests a chapter needs, or a
# change; in a small repository of its own, and in this one

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
	tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree"/{scripts/{lib/lab,maint},tests/unit,web,docs,01_one,02_two,03_three}
	cd "$tree" || return
	for file in 01_one/Makefile 02_two/Makefile 03_three/Makefile 01_one/log.c \
		02_two/log.c 02_two/conn.c 03_three/conn.c; do
		echo "$file" >"$file"
	done
	cp 01_one/log.c 02_two/log.c
	echo '03_three/conn.c 0123456789ab' >scripts/maint/carry_forward.reborn
	tests 01_talk 'it talks'
	tests 02_talk 'it talks'
	tests many '01: one' '01 to 03: three' 'none'
	tests docs 'the map of calls is as it is' 'another'
	tests style 'whitespace is in order' 'each chapter builds'
	tests peers 'all of them'
	tests web 'pages'
	tests cli 'command lines'
	tests pair 'of pair.sh'
	echo '../scripts/pair.sh' >>tests/pair.bats
	tests lab 'load it'
	echo 'load helpers' >>tests/lab.bats
	printf '%s\n' 'source ../scripts/lib/device.sh' '# lesson.sh' >tests/helpers.bash
	echo 'lib/lab/up.sh' >scripts/lib/device.sh
	touch scripts/pair.sh scripts/lib/lab/up.sh scripts/lesson.sh
	git init -q -b main
	commit
}

# tests NAME TEST…: a file of tests.
tests() {
	printf '@test "%s" {\n\t:\n}\n' "${@:2}" >"tests/$1.bats"
}

commit() {
	git add -A
	git -c user.name=t -c user.email=t@example.org commit -q --allow-empty -m x
}

plan() { "$top/scripts/maint/check_plan.py" -r "$tree" "$@"; }

# picks WHAT…: exactly these files, and how much of each.
picks() {
	diff <(sed -E 's/ +for .*//; s/  +/ /' <<<"$output") <(printf '%s\n' "$@")
}

@test "a chapter: its own files, those that name it, its part of the others" {
	run -0 plan chapter 02
	picks '02_talk all' 'docs a part' 'many 02_two' 'peers 02_two' \
		'style 02_two' 'unit_programs 02_two'
	mkdir lists
	run -0 plan -l lists chapter 01_one
	diff <(sort lists/files) <(printf '%s\n' tests/{01_talk,docs,many,peers,style}.bats unit)
	[[ ! -e lists/01_talk.part && $(sed -n 2p lists/many.part) == 01_one ]]
	diff <(bats --count --filter "$(head -n 1 lists/many.part)" tests/many.bats) \
		<(echo 2)
	[[ $(sed -n 2p lists/docs.part) == '' ]]
	run -2 plan chapter 09
	[[ $output == *'There is: 01_one 02_two 03_three'* ]]
	run -2 plan chapter
}

@test "a chapter's file: those that carry it, and those that grew out of it" {
	run -0 plan changed 01_one/log.c
	picks '01_talk all' '02_talk all' 'docs a part' 'many 01_one 02_two' \
		'peers 01_one 02_two' 'style 01_one 02_two' 'unit_programs 01_one 02_two'
	run -0 plan changed 02_two/conn.c
	[[ $output == *'peers '*'02_two 03_three '*' for 02_two/conn.c'* ]]
	run -0 plan changed 03_three/conn.c
	[[ $output == *'peers '*' 03_three '* && $output != *02_two* ]]
}

@test "documentation, a file of tests, the pages: what looks at them" {
	run -0 plan changed docs/a.md
	picks 'docs all' 'style a part'
	run -0 plan changed tests/many.bats
	picks 'many all' 'style a part'
	run -0 plan changed web/page.js
	picks 'style a part' 'web all'
	# All of a file is more than a part of it.
	run -0 plan changed tests/peers.bats 01_one/Makefile
	[[ $output == *'peers '*' all '* ]]
}

@test "a script: what names it, or names what names it; no comment counts" {
	run -0 plan changed scripts/pair.sh
	picks 'cli all' 'pair all' 'style a part'
	run -0 plan changed scripts/lib/lab/up.sh
	picks 'cli all' 'lab all' 'style a part'
	run -0 plan changed scripts/lesson.sh
	[[ $output == 'everything, for scripts/lesson.sh' ]]
}

@test "what is fast: the unit tests, and the rules that take no compiler" {
	run -0 plan fast
	picks 'docs a part' 'style a part' 'unit_programs all'
	run -0 plan -l "$BATS_TEST_TMPDIR" fast
	run -0 bats --count --filter "$(head -n 1 "$BATS_TEST_TMPDIR/style.part")" \
		tests/style.bats
	[[ $output -eq 1 ]]
}

@test "whatever else: everything" {
	mkdir lists
	run -0 plan -l lists changed docs/a.md Makefile
	[[ $output == 'everything, for Makefile' ]]
	[[ $(wc -l <lists/files) -eq $(($(find tests -name '*.bats' | wc -l) + 1)) ]]
	[[ ! -e lists/style.part ]]
}

@test "what differs from main: committed, not committed, new, and gone" {
	run -0 plan changed
	[[ $output == nothing ]]
	git checkout -q -b mine
	echo more >>scripts/pair.sh
	commit
	git checkout -q main
	echo theirs >>web/page.js
	commit
	git checkout -q mine
	run -0 plan changed
	picks 'cli all' 'pair all' 'style a part'
	echo more >>docs/new.md
	run -0 plan changed
	picks 'cli all' 'docs all' 'pair all' 'style a part'
	rm 03_three/conn.c
	run -0 plan changed
	[[ $output == *'peers '*' 03_three '*' for 03_three/conn.c'* ]]
}

# A table that names what is no longer there picks nothing, and says nothing of it.
@test "each line of the tables finds tests of this repository" {
	local name regex

	while read -r name regex; do
		grep -oP '^@test "\K[^"]*' "$top/tests/$name.bats" | grep -qE "$regex"
	done < <(sed -n '/_TESTS = """/,/^"""/p' "$top/scripts/maint/check_plan.py" |
		sed -nE 's/^([a-z_]+) *\*? +([^ ])/\1 \2/p')
}

@test "a part of a file runs that part, on those chapters" {
	local at=@

	mkdir out
	# bats would take it for tests of this file's, if it stood here.
	cat >tests/many.bats <<-END
		${at}test "01: one" { echo "# on \$CHECK_CHAPTERS" >&3; }
		${at}test "02: two" { false; }
	END
	printf '%s\n' '(^| )01' '01_one 02_two' >out/many.part
	run -0 "$top/scripts/maint/bats_tap.sh" out tests/many.bats
	[[ $output == *'# on 01_one 02_two'* && $output == *'ok 1 01: one'* ]]
	rm out/many.part
	CHECK_CHAPTERS=x run -1 "$top/scripts/maint/bats_tap.sh" out tests/many.bats
	[[ $output == *'not ok 2 02: two'* && $output != *'on x'* ]]
}

@test "the unit tests of a chapter, and no others" {
	run -0 make -s -C "$top/tests/unit" list CHAPTERS_ASKED='03_pure_verbs 06_rds'
	[[ ${#lines[@]} -gt 20 && ${lines[0]} == test_03_* && ${lines[-1]} == test_06_* ]]
	run -1 grep -vE '^test_0[36]_' <<<"$output"
}
