#!/usr/bin/env bats
#
# kernel_fetch.bats - lab.sh fetch: the kernel out of the package that apt has or, where apt has none,
# the one that is pinned, and nothing else. apt, the package and its server are made up, on this
# machine; no network is asked, and no machine booted.
# shellcheck disable=SC2154 # set by run

TOP=$(cd "$BATS_TEST_DIRNAME/.." && pwd -P)
release=6.99-amd64

setup() {
	debs=$BATS_TEST_TMPDIR/debs
	bin=$BATS_TEST_TMPDIR/bin
	export LAB_CACHE=$BATS_TEST_TMPDIR/cache NO_INSTALL=1
	export LAB_PINNED=$BATS_TEST_TMPDIR/pinned
	unset LAB_KERNEL LAB_MODULES
	kept=$LAB_CACHE/kernel/$release
	mkdir -p "$debs" "$bin"
	: >"$LAB_PINNED"
	make_apt
}

teardown() {
	[[ -z ${server:-} ]] || kill "$server"
}

# A host whose kernel will not do, and an apt that has the packages in $debs. It
# speaks German; what begins a line of its answer is a package's name.
make_apt() {
	cat >"$bin/uname" <<-'END'
		#!/bin/sh
		[ "$1" != -r ] || exec echo 0.0-none
		exec /usr/bin/uname "$@"
	END
	cat >"$bin/apt-cache" <<-END
		#!/bin/bash
		cd "$debs" || exit
		shopt -s nullglob
		case \$* in
		*depends*)
			printf '%s\n' linux-image-amd64 '  Hängt ab von: linux-base' \
				linux-base 'kmod' '  Hängt ab von: libc6'
			for deb in *.deb; do
				printf '%s\n  Hängt ab von: kmod\n' "\${deb%.deb}"
			done
			;;
		*show*) printf 'Package: x\nSize: 1000\n' ;;
		esac
	END
	cat >"$bin/apt-get" <<-END
		#!/bin/bash
		[[ ! -e "$debs/down" ]] || { echo 'E: Fehlschlag' >&2; exit 100; }
		for deb; do
			[[ ! -e "$debs/\$deb.deb" ]] || cp "$debs/\$deb.deb" .
		done
	END
	chmod 755 "$bin"/*
	PATH=$bin:$PATH
}

# package NAME FILE...: a package with these files.
package() {
	local name=$1 dir=$BATS_TEST_TMPDIR/tree file

	shift
	rm -rf "$dir"
	for file; do
		mkdir -p "$dir/${file%/*}"
		echo "this is $file" >"$dir/$file"
		[[ $file != *.builtin ]] || printf 'kernel/%s.ko\n' 9pnet_virtio \
			9p overlay virtio_pci virtio_net virtio_console rdma_rxe \
			rdma_ucm \
			>"$dir/$file"
	done
	(
		cd "$BATS_TEST_TMPDIR" || exit
		echo 2.0 >debian-binary
		tar -C "$dir" -cf - . | xz -c >data.tar.xz
		tar -C "$dir" -czf control.tar.gz ./none 2>/dev/null || true
		rm -f "$debs/$name.deb"
		ar qc "$debs/$name.deb" debian-binary control.tar.gz \
			data.tar.xz
	)
}

one_package() {
	package "linux-image-$release" "boot/vmlinuz-$release" \
		"boot/config-$release" "lib/modules/$release/modules.builtin" \
		"lib/modules/$release/modules.order" \
		"lib/modules/$release/kernel/drivers/net/dummy.txt" \
		"lib/modules/$release/kernel/drivers/gpu/big.txt" \
		"lib/modules/$release/kernel/sound/loud.txt" \
		usr/share/doc/linux/copyright
}

fetch() {
	"$TOP/scripts/lab.sh" fetch
}

# What is kept is a kernel, its modules, and nothing else.
is_kept() {
	[[ $output == *"the kernel is $release: $kept/vmlinuz"* ]]
	grep -q "this is .*vmlinuz" "$kept/vmlinuz"
	[[ -e $kept/modules/$release/modules.dep ]]
	[[ $(cd "$kept" && echo *) == "modules vmlinuz" ]]
	[[ $(cd "$LAB_CACHE" && echo *) == kernel ]]
}

nothing_kept() {
	[[ -z $(find "$LAB_CACHE" -type f) && ! -e $LAB_CACHE/kernel.work ]]
}

@test "one package with its modules in ./lib, as in Debian 12" {
	one_package
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
	local files

	for files in "lib/modules/$release/modules.builtin" "boot/vmlinuz-$release" ''; do
		# shellcheck disable=SC2086 # none, or one
		package "linux-image-$release" $files
		[[ -n $files ]] || echo rubbish >"$debs/linux-image-$release.deb"
		run -1 fetch
		[[ $output == *"cannot unpack"* ]]
		[[ -z $files || $output == *"no kernel, or no modules"* ]]
		nothing_kept
	done
}

# without_apt: everything else is there, by links that are made once.
without_apt() {
	local tools=$BATS_FILE_TMPDIR/tools

	[[ -d $tools ]] || {
		mkdir "$tools"
		# Names that are in both are there once.
		ln -s -f -t "$tools" /usr/bin/* /usr/sbin/*
	}
	rm -f {"$bin","$tools"}/{apt,apt-get,apt-cache}
	PATH=$bin:$tools
}

# A server of $debs; $address is where it is.
serve() {
	local port

	exec {from}< <(exec /usr/bin/python3 -u -m http.server -b 127.0.0.1 -d "$debs" 0 2>/dev/null)
	server=$! # ended by teardown
	read -r _ _ _ _ _ port _ <&"$from"
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

@test "where apt has none, or cannot fetch it, each pinned address is tried, and each failure is told" {
	one_package
	serve
	pin "$address/none.deb" "http://127.0.0.1:1/x.deb"
	touch "$debs/down"
	run -1 fetch
	[[ $output == *"fetching linux-image-$release"*"cannot fetch a kernel"* ]]
	[[ $output == *"curl: (22)"*404*"curl: (7)"* ]]
	[[ $output == *"could not fetch $address/none.deb"*"could not fetch http://127.0.0.1:1/x.deb"* ]]
	[[ $output == *LAB_KERNEL=* ]]
	nothing_kept
	pin "$address/none.deb" "$address/linux-image-$release.deb"
	run -0 fetch
	is_kept
	[[ $output == *"fetching linux-image-$release"*"fetching Linux $release"* ]]
	rm -r "$LAB_CACHE"
	without_apt
	run -0 fetch
	is_kept
	[[ $output != *"fetching linux-image"* ]]
}

@test "another digest is refused, whatever the address" {
	one_package
	serve
	pin "$address/linux-image-$release.deb"
	without_apt
	# Of the same size, with a byte changed.
	printf X | dd of="$debs/linux-image-$release.deb" bs=1 seek=100 \
		conv=notrunc status=none
	run -1 fetch
	[[ $output == *"$address/linux-image-$release.deb is not the kernel that is pinned"*"thrown away"* ]]
	[[ $output != *unpacking* ]]
	nothing_kept
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
