# copies.sh - the copies of a chapter: the one that a reader is given, and those that a
# check builds, of the chapter as it is and of what the reader has made of it
#
# Sourced by exercise.sh and repair.sh, which set top (the repository),
# chapter, place (where the reader's copy is built and run), original (where the chapter
# as it is is built) and theirs (the reader's folder, which stays as it is).
# shellcheck shell=bash disable=SC2154

# copy_committed DIR: it becomes the chapter as committed; without git, as it is.
copy_committed() {
	local from=$place/committed

	rm -rf "$from"
	mkdir -p "$from"
	if git -C "$top" rev-parse -q --verify "HEAD:./$chapter" >/dev/null 2>&1; then
		git -C "$top" archive HEAD "$chapter" |
			tar -x -C "$from" --strip-components=1
	else
		chapter_update "$top/$chapter" "$from"
	fi
	chapter_update "$from" "$1"
	rm -rf "$from"
}

# Theirs, with the chapter's objects for what they have not changed, so that only
# the rest is compiled; unless more of their Makefile is new than a list of objects.
copy_theirs() {
	! cmp -s <(grep -v '\.o' "$theirs/Makefile") \
		<(grep -v '\.o' "$original/Makefile") ||
		cp -a "$original/." "$place/mine"
	chapter_update "$theirs" "$place/mine"
}

# Both, and the chapter as it is built, once for all checks.
copy_both() {
	rm -rf "$place"
	mkdir -p "$place/mine"
	copy_committed "$original"
	make -s -C "$original" CFLAGS='-O1 -g'
	copy_theirs
}

# What the compiler said is in $place/build.log.
build_theirs() {
	make -s -C "$place/mine" CFLAGS='-O1 -g' >"$place/build.log" 2>&1
}

# begin_check KIND TITLE NODES: their programs and the chapter's are built, and a device is
# there for all runs: pair.sh uses what is up already.
begin_check() {
	copy_both
	echo "$1 $number/$name: $2"
	if ! build_theirs; then
		cat "$place/build.log"
		missing "it builds"
		exit 1
	fi
	trap device_close EXIT
	device_open "$3"
}
