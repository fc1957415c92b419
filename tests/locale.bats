#!/usr/bin/env bats
#
# locale.bats - scripts read what other programs say. Where somebody's programs
# speak German, "Depends:" is "Hängt ab von:" and 0.5 is 0,5: so every script asks
# for LC_ALL=C, itself or in what it sources first.

# shellcheck disable=SC2154 # set by run

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
}

# What a script sources before it does anything, and that asks for it.
asking=(scripts/lib/cli.sh)

# asks FILE: within the first lines that are no comments, it asks for LC_ALL=C,
# or sources what does.
asks() {
	local file name

	grep -q '^export LC_ALL=C$' "$1" && return
	for file in "${asking[@]}" scripts/lib/bench/lib.bash; do
		# By its name: the folder may be in a variable.
		name=${file##*/}
		grep -qE "^(source|\.) .*/$name\"?\$" "$1" && return
	done
	return 1
}

@test "every script of scripts/ asks for English and decimal points" {
	local file bad=0 count=0

	for file in "${asking[@]}"; do
		grep -q '^export LC_ALL=C$' "$file"
	done
	asks scripts/lib/bench/lib.bash
	while read -r file; do
		# Those of the guest have busybox only, which speaks English.
		[[ $file != */guest-*.sh ]] || continue
		[[ $(head -n 1 "$file") =~ ^#!.*sh$ ]] || continue
		count=$((count + 1))
		asks "$file" || {
			echo "$file does not ask for LC_ALL=C"
			bad=1
		}
	done < <(find scripts tests/unit -name '*.sh')
	[[ $count -gt 30 && $bad -eq 0 ]]
}

@test "apt is asked for English" {
	local bin=$BATS_TEST_TMPDIR/bin

	mkdir "$bin"
	printf '#!/bin/sh\necho "$LC_ALL" >>%s\nexit 1\n' \
		"$BATS_TEST_TMPDIR/asked" >"$bin/apt-cache"
	chmod 755 "$bin/apt-cache"
	PATH=$bin:$PATH LC_ALL=POSIX LAB_KERNEL_PACKAGE=linux-image \
		scripts/lib/lab/fetch.sh --size
	[[ $(<"$BATS_TEST_TMPDIR/asked") == C ]]
}
