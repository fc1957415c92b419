#!/usr/bin/env bats
#
# kernel_fetch.bats - lab.sh fetch: the kernel out of whatever packages apt has. apt
# and the packages are made up; no network is asked, and no machine booted.
# shellcheck disable=SC2154 # set by run and kernel_packages.bash

load kernel_packages

@test "one package with its modules in ./lib, as in Debian 12" {
	one_package lib
	run -0 fetch
	is_kept
	[[ $output == *"fetching linux-image-$release (0 MB"* ]]
	[[ $output == *"it asks the network for nothing more" ]]
	# What no guest can use stays out.
	[[ -e $kept/modules/$release/kernel/drivers/net/dummy.txt ]]
	[[ ! -e $kept/modules/$release/kernel/drivers/gpu ]]
	[[ ! -e $kept/modules/$release/kernel/sound ]]
	# It is there now, and apt is not asked again.
	touch "$debs/down"
	run -0 fetch
	is_kept
	[[ $output != *fetching* ]]
}

@test "a package without a kernel, without modules, or that is none is refused" {
	package "linux-image-$release" "lib/modules/$release/modules.builtin"
	run -1 fetch
	[[ $output == *"cannot unpack"*"no kernel, or no modules"* ]]
	nothing_kept
	package "linux-image-$release" "boot/vmlinuz-$release"
	run -1 fetch
	[[ $output == *"cannot unpack"*"no kernel, or no modules"* ]]
	nothing_kept
	echo rubbish >"$debs/linux-image-$release.deb"
	run -1 fetch
	[[ $output == *"cannot unpack"* ]]
	nothing_kept
}

@test "too little room is said before anything is fetched" {
	one_package lib
	printf '#!/bin/sh\nprintf "Dateisystem x\\n/dev/x 1 2 300000 9%% /\\n"\n' \
		>"$bin/df"
	chmod 755 "$bin/df"
	run -1 fetch
	[[ $output == *"only 292 MB free"* ]]
	[[ $output != *fetching* ]]
	nothing_kept
}

@test "fetch lists what is missing of the packages, and takes no argument" {
	one_package lib
	run -2 "$TOP/scripts/lab.sh" fetch now
	[[ $output == *"fetch takes no argument"* ]]
	printf '#!/bin/sh\nexit 0\n' >"$bin/dpkg-query"
	chmod 755 "$bin/dpkg-query"
	[[ ! -e /etc/debian_version ]] || {
		run -1 fetch
		[[ $output == *"missing: "*qemu* ]]
		nothing_kept
	}
}
