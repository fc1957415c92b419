#!/usr/bin/env bats
#
# kernel_build.bats - scripts/lib/kernel/build.sh, where no program does anything: what it refuses,
# and when it builds anew

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
}

# kernel KIND ADDRESS: build.sh, where no program does anything but apt-get, which
# finds a package (or, with APT=1, none), and nm, which has that address. The patch
# that is applied is kept.
kernel() {
	local bin=$BATS_TEST_TMPDIR/bin name

	mkdir -p "$bin"
	for name in dpkg tar; do
		printf '%s\n' '#!/bin/sh' >"$bin/$name"
	done
	cat >"$bin/apt-get" <<-END
		#!/bin/sh
		[ "\$1" = --print-uris ] || exit 0
		echo "'http://x/linux-source-6.1_6.1.1_all.deb' linux-source-6.1_6.1.1_all.deb 1 SHA256:2"
		exit ${APT:-0}
	END
	cat >"$bin/patch" <<-END
		#!/bin/sh
		cat >"$BATS_TEST_TMPDIR/patch"
	END
	cat >"$bin/make" <<-'END'
		#!/bin/sh
		mkdir -p arch/x86/boot && touch arch/x86/boot/bzImage
	END
	cat >"$bin/nm" <<-END
		#!/bin/sh
		printf '%s\n' 'c1183df0 T sock_def_readable_not' '${2:+$2 T sock_def_readable}'
	END
	chmod +x "$bin"/*
	PATH=$bin:$PATH "${lib:-scripts/lib}/kernel/build.sh" "$1" "$BATS_TEST_TMPDIR/kernel"
}

@test "no node gets a kernel that hangs as RDS connects over TCP, or none" {
	local kind address

	for kind in page lab; do
		for address in c1183def 603cda69 ''; do
			run -1 kernel "$kind" "$address"
			[[ $output == *"sock_def_readable() is '$address' and must be even"* ]]
			[[ $output == *CONFIG_CC_OPTIMIZE_FOR_PERFORMANCE*"$kind.config"* ]]
		done
	done
	APT=100 run -1 kernel page c1183df0
	[[ $output == *"apt-get does not find linux-source-6."* ]]
	[[ ! -e $BATS_TEST_TMPDIR/kernel/bzImage ]]
	[[ ! -e $BATS_TEST_TMPDIR/kernel/digest ]]
	run -0 kernel page c1183dec
	[[ -e $BATS_TEST_TMPDIR/kernel/bzImage ]]
	cmp "$BATS_TEST_TMPDIR/patch" scripts/lib/kernel/sock_aligned.patch
}

@test "a kernel is built once, and again when its patch has changed" {
	local lib=$BATS_TEST_TMPDIR/lib

	cp -r scripts/lib "$lib"
	run -0 kernel page c1183df0
	[[ $output == *'building Linux'* ]]
	run -0 kernel page c1183df0
	[[ $output != *'building Linux'* ]]
	echo >>"$lib/kernel/siw_accept.patch"
	run -0 kernel page c1183df0
	[[ $output != *'building Linux'* ]]
	echo >>"$lib/kernel/sock_aligned.patch"
	run -0 kernel page c1183df0
	[[ $output == *'building Linux'* ]]
}
