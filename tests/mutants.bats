#!/usr/bin/env bats
#
# mutants.bats - tests/mutants/run.py tells a fault that a test notices from one
# that it does not, and both from a mutant that proves nothing; on a small tree
# of its own, and what can be seen of this repository's tables without running

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
	tree=$BATS_TEST_TMPDIR/tree
}

# A tree with one function and tests of it, in place of unit tests.
# shellcheck disable=SC2016 # for make
small_tree() {
	mkdir -p "$tree"/{01_one,tests/unit,tests/mutants,scripts/lib}
	cp "$top"/tests/mutants/{run,table}.py "$tree/tests/mutants"
	cp "$top"/scripts/lib/{__init__,arguments}.py "$tree/scripts/lib"
	ln -s ../../scripts/lib "$tree/tests/mutants/lib"
	printf '%s\n' '#include "twice.h"' 'int twice(int n)' '{' \
		'	if (n < 0)' '		return -1;' '	return n + n;' '}' \
		>"$tree/01_one/twice.c"
	echo 'int twice(int n);' >"$tree/01_one/twice.h"
	printf '%s\n' '#include <unistd.h>' '#include "../../01_one/twice.h"' \
		'int main(void)' '{' '	if (!twice(3))' '		pause();' \
		'	return twice(2) != 4;' '}' >"$tree/tests/unit/test_01_good.c"
	sed 's/!= 4/!= 5/' "$tree/tests/unit/test_01_good.c" \
		>"$tree/tests/unit/test_01_bad.c"
	printf '%s\n' 'all: $(TESTS)' 'check: all' '	./$(TESTS)' \
		'test_%: test_%.c ../../01_one/twice.c' \
		'	$(CC) -Werror -o $@ $^' >"$tree/tests/unit/Makefile"
	printf '%s\n' '@test "01: twice" {' '	grep -q "n + n" 01_one/twice.c' \
		'}' '@test "01: skipped" {' '	skip no' '}' >"$tree/tests/01.bats"
	printf '%s\n' /build/ '*.o' >"$tree/.gitignore"
	git -C "$tree" init -q
}

# row COLUMN…: a row of the tree's table 01.
row() {
	local IFS=$'\t'

	echo "$*" >>"$tree/tests/mutants/01.tsv"
}

# mutant NAME TEST OLD NEW: one of twice.c.
mutant() { row "$1" 01/twice.c "$3" "$4" "$2" 'a fault'; }

mutants() { "$tree/tests/mutants/run.py" "$@"; }

# says STATE NAME [TEXT]: there is such a line.
says() { grep -qE "^$1 +01/$2 +.*${3:-}" <<<"$output"; }

@test "a mutant is killed, lives, or is broken, and each is told" {
	small_tree
	row name file old new test fault
	mutant killed 'unit test_01_good' 'n + n' 'n * n + 1'
	mutant lived 'unit test_01_good' 'n < 0' 'n < -7'
	mutant bats 'bats tests/01.bats twice' 'n + n' '2 * n'
	mutant bats_lived 'bats tests/01.bats twice' 'n < 0' 'n < -7'
	mutant twice 'unit test_01_good' 'if (n < 0)\n\t\treturn -1;\n' ''
	row twice 01/twice.c 'n + n' 'n' +
	mutant builds_not 'unit test_01_good' 'n + n' 'n + m'
	mutant warns 'bats tests/01.bats twice' 'n + n' 'n + 0 * sizeof(n) < n'
	mutant baseline 'unit test_01_bad' 'n + n' 'n * n'
	mutant skipped 'bats tests/01.bats skipped' 'n + n' 'n * n'
	mutant applies_not 'unit test_01_good' 'n <= 0' 'n < -7'
	run -1 mutants
	says killed killed 'unit test_01_good'
	says lived lived
	says killed bats
	says lived bats_lived
	says killed twice
	says broken builds_not 'does not build'
	says broken warns 'does not build'
	says broken baseline 'fails without the mutant'
	says broken skipped 'fails without the mutant'
	says broken applies_not 'the old text is 0 times in'
	[[ ${lines[-1]} == '3 killed, 2 lived, 5 broken' ]]
	# Nothing is left in the tree, or of the copy.
	[[ $(cat "$tree"/01_one/twice.c) == *'n < 0'*'n + n'* ]]
	[[ ! -e $tree/build/mutants/tree ]]
}

@test "a test that hangs is ended, and that is a mutant that was killed" {
	small_tree
	mutant hangs 'unit test_01_good' 'n + n' 'n - n'
	mutant later 'unit test_01_good' 'n + n' 'n * n + 1'
	# What computes without an end costs a few seconds.
	mutant spins 'unit test_01_good' 'if (n < 0)' 'while (n == 2)\n\t\t;\n\tif (n < 0)'
	MUTANTS_DEADLINE=20 run -0 mutants
	says killed hangs 'by the deadline'
	says killed later
	says killed spins 'test_01_good$'
	run ! pgrep -f "$tree/"
	# Without the mutant, it proves nothing.
	sed -i 's/!twice(3)/twice(3)/' "$tree/tests/unit/test_01_good.c"
	MUTANTS_DEADLINE=5 run -1 mutants 01/later
	says broken later 'fails without the mutant'
}

@test "those that are named run, and a name that is none is an error" {
	small_tree
	mutant one 'unit test_01_good' 'n + n' 'n * n + 1'
	mutant two 'unit test_01_good' 'n + n' 'n * n + 2'
	run -0 mutants 01/two
	[[ ${lines[-1]} == '1 killed, 0 lived, 0 broken' ]]
	run -0 mutants 'tests/mutants/01.tsv two'
	[[ ${lines[-1]} == '2 killed, 0 lived, 0 broken' ]]
	run -2 mutants 01/three
	[[ $output == *'01/three: no such mutant'* ]]
	run -2 mutants --sample 0
	run -2 mutants --none
	rm "$tree"/tests/mutants/01.tsv
	run -2 mutants
	[[ $output == *'no mutants'* ]]
	run -0 mutants -h
	[[ $output == *'--sample N'* ]]
}

@test "a row that is for several chapters is a mutant in each" {
	small_tree
	cp -r "$tree/01_one" "$tree/02_two"
	sed 's/01:/02:/' "$tree/tests/01.bats" >"$tree/tests/02.bats"
	row all 01,02/twice.c 'n + n' '2 * n' 'bats tests/NN.bats NN: twice' 'a fault'
	run -0 mutants --list
	[[ $output =~ ^01/all\ +'bats tests/01.bats 01: twice'$'\n'02/all\ +'bats tests/02.bats 02: twice'$ ]]
	sed -i s/01_one/02_two/ "$tree/tests/02.bats"
	run -0 mutants 02/all
	[[ ${lines[-1]} == '1 killed, 0 lived, 0 broken' ]]
	run -0 mutants all
	[[ ${lines[-1]} == '2 killed, 0 lived, 0 broken' ]]
	# The text is to be there in each.
	sed -i 's/n + n/n+n/' "$tree/02_two/twice.c"
	run -1 mutants --check
	[[ $output == '02/all '*'the old text is 0 times in 02_two/twice.c, not once' ]]
}

@test "a row that is not in order is named, and what is wrong with it" {
	local what name

	small_tree
	mutant good 'unit test_01_good' 'n + n' 'n'
	run -0 mutants --check
	[[ -z $output ]]
	mutant absent 'unit test_01_good' 'n - n' n
	mutant repeated 'unit test_01_good' return m
	mutant same 'unit test_01_good' 'n + n' 'n + n'
	mutant escape 'unit test_01_good' 'n + n' 'n\x'
	mutant no_unit 'unit test_01_none' 'n + n' n
	mutant no_file 'bats tests/02.bats' 'n + n' n
	mutant no_test 'bats tests/01.bats never' 'n + n' n
	mutant eyes 'my own eyes' 'n + n' n
	row elsewhere 01/thrice.c 'n + n' n 'unit test_01_good' 'a fault'
	mutant good 'unit test_01_good' 'n + n' m
	row short 01/twice.c 'n + n' n
	row other 01/twice.c 'n + n' n +
	mutant no_fault 'unit test_01_good' 'n + n' n
	sed -i '$s/a fault$//' "$tree/tests/mutants/01.tsv"
	run -1 mutants --check
	while read -r name what; do
		grep -qE "^01/$name +$what" <<<"$output" || {
			echo "not said: $name $what"
			return 1
		}
	done <<-'END'
		absent the old text is 0 times in 01_one/twice.c, not once
		repeated the old text is 2 times in 01_one/twice.c
		same the new text is the old one
		escape .x means nothing
		no_unit there is no test "unit test_01_none"
		no_file there is no test "bats tests/02.bats"
		no_test there is no test "bats tests/01.bats never"
		eyes there is no test "my own eyes"
		elsewhere there is no file 01_one/thrice.c
		good two rows have this name
		line.12 it does not have the columns
		line.13 it does not have the columns
		line.14 it does not have the columns
	END
	[[ ${#lines[@]} -eq 13 ]]
	run -1 mutants good
	says broken good 'two rows'
}

@test "a sample is the same for the same commit, and has no mutant twice" {
	local n first

	small_tree
	for n in {1..30}; do
		mutant "m$n" 'unit test_01_good' 'n + n' 'n * n + 1'
	done
	run -0 mutants --list --sample 10 --seed one
	[[ ${#lines[@]} -eq 10 && $(sort -u <<<"$output" | wc -l) -eq 10 ]]
	first=$output
	run -0 mutants --list --sample 10 --seed one
	[[ $output == "$first" ]]
	run -0 mutants --list --sample 10 --seed two
	[[ $output != "$first" ]]
	git -C "$tree" add -A
	git -C "$tree" -c user.name=me -c user.email=me@localhost commit -qm one
	run -0 mutants --sample 2
	[[ ${lines[0]} == *" by the seed $(git -C "$tree" rev-parse HEAD)" ]]
	[[ ${lines[-1]} == '2 killed, 0 lived, 0 broken' ]]
	# One that boots virtual machines, or a lab of its own, is left to who runs all.
	sed '1i setup_file() {\n\t"$top/scripts/lab.sh" up --nodes 3\n}' \
		"$tree/tests/01.bats" >"$tree/tests/own.bats"
	mutant costly_too 'bats tests/own.bats twice' 'n + n' '2 * n'
	echo '# full_size' >>"$tree/tests/01.bats"
	mutant costly 'bats tests/01.bats twice' 'n + n' '2 * n'
	# One is enough that uses a lab.
	printf '%s\n' 'setup_file() {' '	open_device' '}' \
		"$(<"$tree/tests/01.bats")" >"$tree/tests/lab.bats"
	sed -i '$d' "$tree/tests/lab.bats"
	for n in {1..3}; do
		mutant "lab$n" 'bats tests/lab.bats twice' 'n + n' '2 * n'
	done
	run -0 mutants --list --sample 40
	[[ ${#lines[@]} -eq 31 && $output != *costly* && $output == *lab* ]]
}

# A lab that reads all that it is given, and two tests that want one; the first
# never ends with its fault in.
# shellcheck disable=SC2016 # for the tests of the tree
@test "each of several on a lab is tried, whatever the lab reads" {
	small_tree
	printf '%s\n' '#!/bin/sh' 'cat >/dev/null' 'echo "$1" >>../../said' \
		>"$tree/scripts/lab.sh"
	chmod +x "$tree/scripts/lab.sh"
	for name in a b; do
		printf '%s\n' 'open_device() { :; }' 'setup_file() {' \
			'	open_device' '}' "@test \"$name\" {" \
			'	grep -q "n + n" 01_one/twice.c || {' \
			'		[[ $BATS_TEST_FILENAME != *a.bats ]] || sleep 99' \
			'		false' '	}' '}' >"$tree/tests/$name.bats"
		mutant "m$name" "bats tests/$name.bats" 'n + n' 'n * n + 1'
	done
	MUTANTS_DEADLINE=60 run -0 mutants
	says killed ma 'by the deadline'
	says killed mb
	# What hung was on the first lab, which went with it.
	[[ $(xargs <"$tree/build/said") == 'up down down up down down' ]]
}

@test "every row of this repository is in order" {
	run -0 "$top/tests/mutants/run.py" --check
	[[ -z $output ]]
}
