#!/usr/bin/env bats
#
# web_compiler.bats - whatever a node in the page compiles is C for its compiler: each
# chapter, as it is and as each case, solution and repair task has it, and the libraries
# that checks preload. Debian's tcc does it on this machine, as web/rootfs/cc calls it.

setup() {
	local bin=$BATS_TEST_TMPDIR/bin

	cd "$BATS_TEST_DIRNAME/.." || return
	top=$PWD
	mkdir "$bin"
	# With the header that is added to tcc's own on a node.
	printf '%s\n' '#!/bin/sh' "exec sh '$top/web/rootfs/cc' '-I$top/web/rootfs' \"\$@\"" \
		>"$bin/cc"
	chmod +x "$bin/cc"
	PATH=$bin:$PATH
}

# node_has CHAPTER: a copy in $node, without any object but those that tcc cannot make:
# the library of gcc's that takes the place of each (threads() in programs.sh).
node_has() {
	local source object

	node=$BATS_TEST_TMPDIR/$1
	cp -r "$1" "$node"
	make -s -C "$node" clean
	while read -r source; do
		object=$node/$(basename "${source%.c}.o")
		gcc -O2 -fPIC -shared -I"$node" -I"$node/carried" -I"$node/plumbing" \
			-Wl,-soname,"$object" -o "$object" "$source"
	done < <(grep -lw _Thread_local -- "$node"/*.c "$node"/*/*.c)
}

# builds FOLDER: as the editor's button does.
builds() {
	(cd "$1" && sh "$top/web/rootfs/build")
}

# compiles PATCH: the copy with it. Which of its files: those that are patched, or all
# if a header is.
compiles() {
	local files

	echo "$1"
	rm -rf "$node.changed"
	cp -r "$node" "$node.changed"
	cd "$node.changed" || return
	patch -s -p1 --no-backup-if-mismatch <"$1"
	files=$(sed -nE 's,^\+\+\+ [^/]*/([^[:blank:]]+\.[ch])([[:blank:]].*)?$,\1,p' "$1")
	[[ $files != *.h* ]] || files=$(printf '%s\n' ./*.c ./*/*.c)
	files=$(grep '\.c$' <<<"$files" | xargs -r grep -Lw _Thread_local --) || true
	# shellcheck disable=SC2086 # no name has a space
	[[ -z $files ]] || cc -std=gnu11 -O2 -I. -Icarried -Iplumbing -c $files
	cd "$top" || return
}

@test "each chapter, and each case, solution and repair task of it" {
	local chapter patch task

	for chapter in [0-9][0-9]_*/; do
		chapter=${chapter%/}
		node_has "$chapter"
		builds "$node"
		"$node/client" -h
		for patch in "$chapter"/break/*/patch "$chapter"/exercises/*.patch; do
			[[ ! -e $patch ]] || compiles "$top/$patch"
		done
		while read -r task; do
			scripts/lib/python.sh repair.tasks patch "$chapter/repair/$task" \
				>"$BATS_TEST_TMPDIR/$task"
			compiles "$BATS_TEST_TMPDIR/$task"
		done <"$chapter/repair/order"
	done
}

@test "what a check preloads: scripts/lib/calls.c, and what judges write" {
	local judge source seen=0

	cc -std=gnu11 -O1 -fPIC -shared -o "$BATS_TEST_TMPDIR/lib.so" scripts/lib/calls.c
	for judge in [0-9][0-9]_*/{exercises/*.sh,repair/*/judge.sh}; do
		source=$BATS_TEST_TMPDIR/judge.c
		sed -n "/^cat >.*\.c\" <<'END'$/,/^END$/{/^cat >/d;/^END$/d;p}" "$judge" >"$source"
		[[ -s $source ]] || continue
		echo "$judge"
		seen=$((seen + 1))
		cc -std=gnu11 -O1 -fPIC -shared -DNOW=1 -o "$BATS_TEST_TMPDIR/lib.so" "$source"
	done
	[[ $seen -gt 0 ]]
}
