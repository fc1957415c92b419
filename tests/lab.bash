# lab.bash - what the tests of the lab have in common: a lab of their own name. Files
# whose names have uml in them are about User-Mode Linux nodes, and the others, about
# virtual machines; some are both, by a symbolic link.
# shellcheck shell=bash

unset LAB_KERNEL LAB_MODULES LAB_MEMORY LAB_DEVICE
export LAB_ENGINE=tcg
[[ ${BATS_TEST_FILENAME##*/} != *uml* ]] || LAB_ENGINE=uml
TOP=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd -P)

lab() {
	"$TOP/scripts/lab.sh" "$@"
}

fail() {
	printf '%s\n' "$@" >&2
	return 1
}

# eventually COMMAND...: within five minutes.
eventually() {
	local end=$((SECONDS + 300))

	until "$@"; do
		[[ $SECONDS -lt $end ]] || fail "never came true: $*"
		read -r -t 0.1 <> <(:) || true
	done
}

# The processes of the lab LAB_NAME: qemu and a User-Mode Linux kernel have the name
# in their command lines, the connections have the path of the state directory.
processes() {
	pgrep -f "rdma-lab-$LAB_NAME-[ab]|rdma-lab\.[0-9]*\.$LAB_NAME/"
}

nothing_left() {
	! processes >/dev/null && ! compgen -G "/tmp/rdma-lab.*.$LAB_NAME" >/dev/null
}

# Has a node of LAB_NAME been started, and has it said something? An emulated one needs
# seconds of the processor to do so.
booting() {
	if [[ $LAB_ENGINE == uml ]]; then
		grep -qs hello /tmp/rdma-lab.*."$LAB_NAME"/console-a
	else
		grep -qs '^pid_a=' /tmp/rdma-lab.*."$LAB_NAME"/notes
	fi
}

# programs_without FOLDER PATTERN…: makes FOLDER, with a link to each program of this
# machine whose name no PATTERN fits.
programs_without() {
	local folder=$1 pattern

	mkdir "$folder"
	ln -s -f -t "$folder" /usr/bin/* /usr/sbin/*
	shift
	for pattern; do
		# shellcheck disable=SC2086 # a pattern
		rm -f "$folder"/$pattern
	done
}
