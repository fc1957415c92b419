#!/usr/bin/env bats
#
# mutants.bats - tests/mutants/run.sh tells a fault that a test notices from one
# that it does not, and both from a mutant that proves nothing; on a small tree
# of its own, and what can be seen of this repository's mutants without running

bats_require_minimum_version 1.5.0

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
	tree=$BATS_TEST_TMPDIR/tree
}

# Shown for a test that failed.
teardown() {
	printf 'status %s, output:\n%s\n' "${status:-none}" "${output:-}"
}

# A tree with one function and tests of it, in place of unit tests.
# shellcheck disable=SC2016 # for make
small_tree() {
	mkdir -p "$tree"/{01_one,tests/unit,tests/mutants/01}
	cp "$top"/tests/mutants/{run.sh,one.bash} "$tree/tests/mutants"
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
	printf '%s\n' 'all:' '	$(CC) -Werror -c twice.c' \
		>"$tree/01_one/Makefile"
	printf '%s\n' '@test "01: twice" {' '	grep -q "n + n" 01_one/twice.c' \
		'}' '@test "01: skipped" {' '	skip no' '}' >"$tree/tests/01.bats"
	printf '%s\n' /build/ '*.o' >"$tree/.gitignore"
	git -C "$tree" init -q
}

# mutant NAME TEST SED: a patch that does to twice.c what SED does.
mutant() {
	local file=01_one/twice.c

	{
		echo 'Fault: one.'
		echo "Noticed-by: $2"
		diff -U1 --label "a/$file" --label "b/$file" "$tree/$file" \
			<(sed "$3" "$tree/$file") || true
	} >"$tree/tests/mutants/01/$1.patch"
}

mutants() { "$tree/tests/mutants/run.sh" "$@"; }

# says STATE NAME [TEXT]: there is such a line.
says() { grep -qE "^$1 +01/$2 +.*${3:-}" <<<"$output"; }

@test "a mutant is killed, lives, or is broken, and each is told" {
	small_tree
	mutant killed 'unit test_01_good' 's/n + n/n * n + 1/'
	mutant lived 'unit test_01_good' 's/n < 0/n < -7/'
	mutant bats 'bats tests/01.bats twice' 's/n + n/2 * n/'
	mutant bats_lived 'bats tests/01.bats twice' 's/n < 0/n < -7/'
	mutant applies_not 'unit test_01_good' 's/n < 0/n < -7/'
	sed -i 's/^-.*/-	if (n <= 0)/' "$tree/tests/mutants/01/applies_not.patch"
	mutant builds_not 'unit test_01_good' 's/n + n/n + m/'
	mutant baseline 'unit test_01_bad' 's/n + n/n * n/'
	mutant skipped 'bats tests/01.bats skipped' 's/n + n/n * n/'
	mutant none_such 'bats tests/01.bats never' 's/n + n/n * n/'
	mutant unnamed 'my own eyes' 's/n + n/n * n/'
	run -1 mutants
	says killed killed 'unit test_01_good'
	says lived lived
	says killed bats
	says lived bats_lived
	says broken applies_not 'does not apply'
	says broken builds_not 'does not build'
	says broken baseline 'fails without the patch'
	says broken skipped 'fails without the patch'
	says broken none_such 'fails without the patch'
	says broken unnamed 'Noticed-by'
	[[ ${lines[-1]} == '2 killed, 2 lived, 6 broken' ]]
	# Nothing is left in the tree, or of the copies.
	[[ $(cat "$tree"/01_one/twice.c) == *'n < 0'*'n + n'* ]]
	[[ ! -e $tree/build/mutants/unit0 && ! -e $tree/build/mutants/bats ]]
}

@test "a test that hangs is ended, and that is a mutant that was killed" {
	small_tree
	mutant hangs 'unit test_01_good' 's/n + n/n - n/'
	mutant after 'unit test_01_good' 's/n + n/n * n + 1/'
	MUTANTS_DEADLINE=20 run -0 mutants
	says killed hangs 'by the deadline'
	says killed after
	run ! pgrep -f "$tree/"
	# Without the patch, it proves nothing.
	sed -i 's/!twice(3)/twice(3)/' "$tree/tests/unit/test_01_good.c"
	MUTANTS_DEADLINE=5 run -1 mutants 01/after
	says broken after 'fails without the patch'
}

@test "those that are named run, and a name that is none is an error" {
	small_tree
	mutant one 'unit test_01_good' 's/n + n/n * n + 1/'
	mutant two 'unit test_01_good' 's/n + n/n * n + 2/'
	run -0 mutants 01/two
	[[ ${lines[-1]} == '1 killed, 0 lived, 0 broken' ]]
	run -0 mutants tests/mutants/01/one.patch 01/two
	[[ ${lines[-1]} == '2 killed, 0 lived, 0 broken' ]]
	run -2 mutants 01/three
	[[ $output == *'01/three: no such mutant'* ]]
	run -2 mutants --sample 0
	run -2 mutants --none
	rm "$tree"/tests/mutants/01/*
	run -2 mutants
	[[ $output == *'no mutants'* ]]
	run -0 mutants -h
	[[ $output == *'--sample N'* ]]
}

@test "a sample is the same for the same commit, and has no mutant twice" {
	local n first

	small_tree
	for n in {1..30}; do
		mutant "m$n" 'unit test_01_good' 's/n + n/n * n + 1/'
	done
	run -0 mutants --list --sample 10 --seed one
	[[ ${#lines[@]} -eq 10 && $(sort -u <<<"$output") == "$output" ]]
	first=$output
	run -0 mutants --list --sample 10 --seed one
	[[ $output == "$first" ]]
	run -0 mutants --list --sample 10 --seed two
	[[ $output != "$first" ]]
	git -C "$tree" add -A
	git -C "$tree" -c user.name=me -c user.email=me@localhost commit -qm one
	run -0 mutants --list --sample 30
	[[ ${#lines[@]} -eq 30 ]]
	run -0 mutants --sample 2
	[[ ${lines[0]} == *" by the seed $(git -C "$tree" rev-parse HEAD)" ]]
	[[ ${lines[-1]} == '2 killed, 0 lived, 0 broken' ]]
}

# A lab that reads all that it is given, and two tests that want one; the first
# never ends with its fault in.
# shellcheck disable=SC2016 # for the tests of the tree
@test "each of several on a lab is tried, whatever the lab reads" {
	small_tree
	mkdir "$tree/scripts"
	printf '%s\n' '#!/bin/sh' 'cat >/dev/null' >"$tree/scripts/lab.sh"
	chmod +x "$tree/scripts/lab.sh"
	for name in a b; do
		printf '%s\n' 'open_device() { :; }' 'setup_file() {' \
			'	open_device' '}' "@test \"$name\" {" \
			'	grep -q "n + n" 01_one/twice.c || {' \
			'		[[ $BATS_TEST_FILENAME != *a.bats ]] || sleep 99' \
			'		false' '	}' '}' >"$tree/tests/$name.bats"
		mutant "m$name" "bats tests/$name.bats" 's/n + n/n * n + 1/'
	done
	MUTANTS_DEADLINE=60 run -0 mutants
	says killed ma 'by the deadline'
	says killed mb
}

# More names than a pipe holds.
@test "a sample of very many mutants is chosen, too" {
	local long n

	small_tree
	long=$(printf 'x%.0s' {1..60})
	for n in {1..2000}; do
		: >"$tree/tests/mutants/01/$long$n.patch"
	done
	run -0 mutants --list --sample 10
	[[ ${#lines[@]} -eq 10 ]]
}

@test "every mutant says what is wrong, and names a test that is there" {
	local patch kind file regex count=0

	cd "$top/tests/mutants"
	for patch in */*.patch; do
		output=$patch
		count=$((count + 1))
		[[ $(head -n 1 "$patch") =~ ^'Fault: '.{10,}$ ]]
		grep -q '^--- a/' "$patch"
		read -r _ kind file regex < <(grep '^Noticed-by: ' "$patch")
		case $kind in
		unit)
			make -s -C ../unit list | grep -q "^$file "
			;;
		bats) [[ $(grep -cE "^@test \".*${regex:-}" "../../$file") -gt 0 ]] ;;
		*) false ;;
		esac
	done
	[[ $count -ge 1 ]]
}
