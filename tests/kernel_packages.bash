# kernel_packages.bash - packages with a kernel, and an apt that has them, for the
# tests of `lab.sh fetch`
# shellcheck shell=bash disable=SC2154 # set by run

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

# package NAME FILE...: a package with these files; packed as $packer does.
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
		tar -C "$dir" -cf - . | "${packer:-xz}" -c >"data.tar.$suffix"
		tar -C "$dir" -czf control.tar.gz ./none 2>/dev/null || true
		rm -f "$debs/$name.deb"
		ar qc "$debs/$name.deb" debian-binary control.tar.gz \
			"data.tar.$suffix"
	)
}
suffix=xz

one_package() {
	package "linux-image-$release" "boot/vmlinuz-$release" \
		"boot/config-$release" "$1/modules/$release/modules.builtin" \
		"$1/modules/$release/modules.order" \
		"$1/modules/$release/kernel/drivers/net/dummy.txt" \
		"$1/modules/$release/kernel/drivers/gpu/big.txt" \
		"$1/modules/$release/kernel/sound/loud.txt" \
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
	[[ -z $(find "$LAB_CACHE" -type f) && ! -e $LAB_CACHE/tmp.kernel ]]
	! compgen -G "/tmp/rdma-lab.*.fetch-*" >/dev/null
}

