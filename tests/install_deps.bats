#!/usr/bin/env bats
# install_deps.bats - what install_deps.sh decides, with package managers that
# only write down how they were called; and one real run that installs nothing.

setup() {
	SCRIPT=$BATS_TEST_DIRNAME/../scripts/install_deps.sh
	TABLE=$BATS_TEST_DIRNAME/../scripts/lib/install_deps.tsv
	STUBS=$BATS_TEST_TMPDIR/bin
	unset NO_INSTALL LOCK_WAIT DEBIAN_FRONTEND
	export DB=$BATS_TEST_TMPDIR/db LOG=$BATS_TEST_TMPDIR/log
	export OS_RELEASE=$BATS_TEST_TMPDIR/os-release
	export APT_LISTS=$BATS_TEST_TMPDIR/lists
	local tool

	mkdir "$STUBS" "$APT_LISTS"
	: >"$DB"
	: >"$LOG"
	touch "$APT_LISTS/example_Packages"
	for tool in bash awk cat env grep sleep; do
		ln -s "$(command -v "$tool")" "$STUBS/$tool"
	done
	stub uname 'echo x86_64'
	stub id 'echo 0'
	# The database of a system: lines "ii |name|architecture".
	stub dpkg-query 'echo "ii |dpkg|amd64|"; cat "$DB"'
	# Installs what it is told to, and writes down its call.
	stub apt-get 'case " $* " in *" --print-uris "*)
			echo "Need to get 98.0 MB/107 MB of archives."
			echo "After this operation, 400 MB of additional disk" \
				"space will be used."
			exit ;; esac
		echo "apt-get $* frontend=$DEBIAN_FRONTEND" >>"$LOG"
		echo "(apt-get runs)"
		case " $* " in *" install "*)
			for p in ${*##*-y }; do echo "ii |$p|amd64" >>"$DB"; done
		esac'
	debian
}

stub() {
	# Not through a link to the host's own tool.
	rm -f "$STUBS/$1"
	printf '#!/bin/bash\n%s\n' "$2" >"$STUBS/$1"
	chmod +x "$STUBS/$1"
}

debian() {
	printf 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian 12"\n' \
		>"$OS_RELEASE"
}

fedora() {
	printf 'ID=fedora\nVERSION_ID=41\nPRETTY_NAME="Fedora 41"\n' \
		>"$OS_RELEASE"
	stub rpm 'for p in "$@"; do
			case $p in -*|*%*) ;;
			*) grep -x "$p" "$DB" || {
				echo "package $p is not installed"; rc=1; } ;; esac
		done; exit "${rc:-0}"'
	stub dnf 'echo "dnf $*" >>"$LOG"; printf "%s\n" ${*##*-y } >>"$DB"'
}

# Column 2 is Debian's names, column 3 Fedora's.
names() {
	grep -v -e '^#' -e '@aarch64' -e '^long' -e '^web' -e '^kernel' "$TABLE" | cut -f "$1" | sort -u
}

all_but() {
	names 2 | grep -vx "$1" | sed 's/.*/ii |&|amd64/' >"$DB"
}

deps() {
	PATH=$STUBS run -"$1" "$STUBS/bash" "$SCRIPT" "${@:2}"
}

@test "every line of the table has its five columns" {
	run awk -F'\t+' '!/^#/ && (NF != 5 || $5 == "" ||
		$1 !~ /^(build|lab|hosts|wire|check|kernel|web|long|others)(@[a-z0-9_]+)?$/)' "$TABLE"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ "$(names 2 | wc -l)" -ge 25 ]
}

@test "with everything installed it installs nothing" {
	all_but none
	deps 0
	[[ $output == *"all $(names 2 | wc -l) packages"*"are installed" ]]
	NO_INSTALL=1 deps 0
	[ ! -s "$LOG" ]
}

@test "NO_INSTALL lists what is missing and why, and fails" {
	all_but bats
	NO_INSTALL=1 deps 1
	[[ $output == *"missing on Debian 12: 1 of "* ]]
	[[ ${lines[1]} =~ ^\ +bats\ +runs\ the\ tests ]]
	[[ ${lines[3]} == *"apt-get install"*" bats" ]]
	[ ! -s "$LOG" ]
	[[ $output != *untested* ]]
}

@test "what is missing is said with its size, as far as apt knows it" {
	all_but bats
	deps 0 --size
	[[ $output == "1 of $(names 2 | wc -l) to be installed, 98.0 MB to fetch, 400 MB on disk" ]]
	deps 0 --size build
	[[ $output == "all 6 packages are there" ]]
	# Without lists it does not know.
	rm "$APT_LISTS"/*
	deps 0 --size check
	[[ $output == '1 of '*'nobody here knows yet (build and lab on a bare'* ]]
	[ ! -s "$LOG" ]
}

@test "it installs just what is missing, and says so before" {
	all_but bats
	sed -i '/|cpio|/d' "$DB"
	deps 0
	[[ $output == *"runs the tests"*"(apt-get runs)"*"installed now" ]]
	[ "$(wc -l <"$LOG")" -eq 1 ]
	[[ $(<"$LOG") =~ " -y "(bats cpio|cpio bats)" frontend=noninteractive"$ ]]
	grep -q -e '--no-install-recommends' "$LOG"
	grep -q -e '-o DPkg::Lock::Timeout=300' "$LOG"
}

@test "an install that fails is tried once more with fresh lists" {
	all_but bats
	stub apt-get '[[ $* != *--print-uris* ]] || exit 100
		echo "$*" >>"$LOG"
		[[ $* != *install* ]] && exit 0
		[[ $(grep -c install "$LOG") == 2 ]] || exit 100
		echo "ii |bats|amd64" >>"$DB"'
	deps 0
	[ "$(wc -l <"$LOG")" -eq 3 ]
	[[ $(sed -n 2p "$LOG") == *update ]]
	[[ $output == *"fresh lists"* ]]
}

@test "an install that keeps failing is a failure that says what to try" {
	all_but bats
	stub apt-get '[[ $* != *--print-uris* ]] || exit 100
		echo "$*" >>"$LOG"; echo "E: no space" >&2
		[[ $* != *install* ]]'
	deps 1
	[ "$(grep -c install "$LOG")" -eq 2 ]
	[[ $output == *"E: no space"*"apt-get failed"*"Try by hand"*" bats" ]]
}

@test "the first install gets lists, and waits while another one holds them, but not for ever" {
	all_but bats
	rm "$APT_LISTS"/*
	stub sleep 'echo "sleep $*" >>"$LOG"'
	stub apt-get 'echo "$*" >>"$LOG"
		[[ $* == *install* ]] && echo "ii |bats|amd64" >>"$DB" && exit
		[[ $(grep -c update "$LOG") == 3 ]] || {
			echo "E: Could not get lock /lists/lock, held by 17"; exit 100; }'
	LOCK_WAIT=0 deps 1
	[ "$(wc -l <"$LOG")" -eq 1 ]
	[[ $output == *"held by 17"*"apt-get failed"* ]]
	: >"$LOG"
	deps 0
	[ "$(grep -c update "$LOG")" -eq 3 ]
	[ "$(grep -c sleep "$LOG")" -eq 2 ]
	[[ $output == *"waiting for it"* ]]
}

@test "not root: through sudo; without it, the command for an administrator" {
	all_but bats
	stub id 'echo 1000'
	deps 1
	[[ $output == *"sudo is not installed"* ]]
	[ "${lines[-2]}" = "  apt-get update" ]
	[ "${lines[-1]}" = "  apt-get install --no-install-recommends -y bats" ]
	# It wants a password, and nobody is there.
	stub sudo 'echo "sudo $*" >>"$LOG"; exit 1'
	PATH=$STUBS run -1 /usr/bin/setsid -w "$STUBS/bash" "$SCRIPT"
	[[ $output == *"no terminal to ask on"*"administrator"*" bats" ]]
	[ "$(<"$LOG")" = "sudo -n true" ]
	stub sudo 'echo "sudo $*" >>"$LOG"; [[ $1 == -n ]] || exec "$@"'
	deps 0
	grep -q '^sudo env .*apt-get .*bats$' "$LOG"
	[[ $output == *"installing: sudo apt-get"* ]]
}

@test "a set on its own, and on an arm64 machine; an unknown one is a usage error" {
	: >"$DB"
	NO_INSTALL=1 deps 1 build
	[[ $output == *" gcc "* && $output != *qemu* && $output != *bats* ]]
	NO_INSTALL=1 deps 1 long
	[[ $output == *debootstrap*gcc-aarch64-linux-gnu*qemu-user-static* && $output != *bats* ]]
	NO_INSTALL=1 deps 1 lab
	[[ $output == *qemu-system-x86* && $output != *" gcc "* ]]
	stub uname 'echo aarch64'
	NO_INSTALL=1 deps 1 lab
	[[ $output == *qemu-system-arm* && $output != *qemu-system-x86* ]]
	deps 2 everything
	[[ $output == *"'everything'"*build* ]]
}

@test "only what is installed, for this machine, or provided so, counts" {
	local line missing

	all_but bats
	while read -r missing line; do
		echo "ii |$line" | sed 's/^ii |rc/rc/' >>"$DB"
		NO_INSTALL=1 deps "$missing"
		sed -i '$d' "$DB"
	done <<-'END'
		0 bats|amd64
		0 bats|all
		1 rc |bats|all
		1 bats|i386
		0 runner|all|other, bats (= 1.2)
		1 rc |runner|all|other, bats (= 1.2)
		1 runner|i386|other, bats (= 1.2)
	END
}

@test "a broken package database is not taken for an empty one" {
	stub dpkg-query 'exit 2'
	deps 1
	[[ $output == *"dpkg-query failed (exit status 2)"*"Try: "* ]]
	[ ! -s "$LOG" ]
}

@test "what is like Debian has its names, and is untested" {
	printf '%s\n' ID=mint 'ID_LIKE="ubuntu debian"' 'PRETTY_NAME="Mint 22"' >"$OS_RELEASE"
	all_but bats
	deps 0
	[[ $output == *"untested on Mint 22"* ]]
	grep -q ' install .*bats' "$LOG"
}

@test "Fedora: its names, its package manager, untested" {
	fedora
	names 3 | grep -vx ShellCheck >"$DB"
	deps 0
	[[ $output == *": 1 of "*"untested on Fedora 41"* ]]
	[ "$(<"$LOG")" = \
		"dnf install --setopt=install_weak_deps=False -y ShellCheck" ]
	deps 0
	[[ $output == *"are installed" ]]
	# The package of two lines of the table is one package.
	sed -i /rdma-core-devel/d "$DB"
	NO_INSTALL=1 deps 1
	[[ $output == *": 1 of "*" -y rdma-core-devel"* ]]
	[[ $output != *"rdma-core-devel rdma-core-devel"* ]]
}

@test "an unknown distribution gets the list by purpose, and may go on if it has everything" {
	local probe

	printf 'ID=arch\nPRETTY_NAME="Arch Linux"\n' >"$OS_RELEASE"
	deps 1
	[[ $output == *"Arch Linux, whose package names are not known"* ]]
	[[ $output == *"qemu-system-x86_64"*"runs the virtual machine"*"by hand"* ]]
	[ ! -s "$LOG" ]
	while read -r probe; do
		[[ $probe == /* || -e $STUBS/$probe ]] || stub "$probe" ''
	done < <(names 4)
	deps 0
}

@test "the real run: nothing missing here, one look, at once" {
	local real before

	unset OS_RELEASE APT_LISTS
	rm "$STUBS/uname" "$STUBS/id"
	real=$(command -v dpkg-query)
	printf '#!/bin/bash\necho look >>"%s"\nexec %s "$@"\n' "$LOG" "$real" \
		>"$STUBS/dpkg-query"
	before=${EPOCHREALTIME/./}
	PATH=$STUBS:$PATH NO_INSTALL=1 run -0 "$SCRIPT"
	# 20 ms on an idle machine; the limit allows for a busy one.
	[ $((${EPOCHREALTIME/./} - before)) -lt 2000000 ]
	[ "$(wc -l <"$LOG")" -eq 1 ]
}
