#!/usr/bin/env bats
#
# kernel_pinned.bats - lab.sh fetch where apt has no kernel: the one that is pinned,
# and nothing else. The package and its server are made up, on this machine.
# shellcheck disable=SC2154,SC2034 # set by run, used by kernel_packages.bash

load kernel_packages

# without TOOL...: these are not there; everything else is, by links that are made once.
without() {
	local tools="$BATS_FILE_TMPDIR/without $*" tool

	[[ -d $tools ]] || {
		mkdir "$tools"
		# Names that are in both are there once.
		ln -s -f -t "$tools" /usr/bin/* /usr/sbin/*
	}
	for tool; do
		rm -f "$bin/$tool" "$tools/$tool"
	done
	PATH=$bin:$tools
}
without_apt() { without apt apt-get apt-cache; }

# A server of $debs; $address is where it is.
serve() {
	exec {from}< <(exec "$TOP/tests/kernel_server.py" "$debs" 2>/dev/null)
	server=$! # ended by teardown
	read -r port <&"$from"
	address=http://127.0.0.1:$port
}

# pin ADDRESS...: pins the package that $debs has.
pin() {
	local file=$debs/linux-image-$release.deb digest

	digest=$(sha256sum <"$file")
	{
		echo '# machine, release, bytes, SHA-256, addresses'
		echo "vax 1.0 5 0 http://127.0.0.1:1/"
		echo "$(uname -m) $release $(stat -c %s "$file") ${digest%% *} $*"
	} >"$LAB_PINNED"
}

@test "where apt has none, or cannot fetch it, the pinned one is fetched" {
	one_package lib
	serve
	pin "$address/linux-image-$release.deb"
	touch "$debs/down"
	run -0 fetch
	is_kept
	[[ $output == *"fetching linux-image-$release"*"fetching Linux $release"* ]]
	rm -r "$LAB_CACHE"
	printf '#!/bin/sh\nexit 100\n' >"$bin/apt-cache"
	run -0 fetch
	is_kept
	[[ $output != *"fetching linux-image"* ]]
}

@test "another digest is refused, whatever the address" {
	one_package lib
	serve
	pin "$address/linux-image-$release.deb"
	without_apt
	# Of the same size, with a byte changed.
	printf X | dd of="$debs/linux-image-$release.deb" bs=1 seek=100 \
		conv=notrunc status=none
	run -1 fetch
	[[ $output == *"is not the kernel that is pinned"*"SHA-256 is "*"and not "* ]]
	[[ $output == *"$address/linux-image-$release.deb"*"thrown away"* ]]
	[[ $output != *unpacking* ]]
	nothing_kept
}

@test "each address is tried, and each failure is told" {
	one_package lib
	serve
	pin "$address/none.deb" "http://127.0.0.1:1/x.deb"
	without_apt
	run -1 fetch
	[[ $output == *"cannot fetch a kernel"*"apt, which would fetch one, is not here"* ]]
	[[ $output == *"$address/none.deb: curl: (22)"*404* ]]
	[[ $output == *"http://127.0.0.1:1/x.deb: curl: (7)"* ]]
	[[ $output == *LAB_KERNEL=* ]]
	nothing_kept
	pin "$address/none.deb" "http://127.0.0.1:1/x.deb" \
		"$address/linux-image-$release.deb"
	run -0 fetch
	is_kept
}

# What the repository pins is well formed: nobody would notice before the day
# on which it is needed.
@test "the pin file names a kernel for each machine of the lab" {
	local machine release size digest addresses address seen=''

	while read -r machine release size digest addresses; do
		seen+="$machine "
		[[ $size =~ ^[1-9][0-9]{7,8}$ && $digest =~ ^[0-9a-f]{64}$ ]]
		for address in $addresses; do
			[[ $address =~ ^https?://(deb|snapshot)\.debian\.org/ ]]
		done
		[[ $addresses == *"/linux-image-${release}_"*.deb* ]]
		[[ $addresses == *" https://snapshot.debian.org/file/"* ]]
	done < <(grep -v '^#' "$TOP/scripts/lib/lab/kernel.pinned")
	[[ $seen == "x86_64 aarch64 " ]]
}
