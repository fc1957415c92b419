# shellcheck shell=bash
# The guest's kernel and modules: the ones that the caller names, the host's
# own, or the distribution's package, fetched once into the cache. Sourced by
# keeper.sh; kernel_find sets kernel, modules and version.

# Without these the lab cannot boot, or has no rxe.
kernel_needs=(9pnet_virtio 9p overlay virtio_pci virtio_net rdma_rxe rdma_ucm)

kernel_find()
{
	if [ -n "$LAB_KERNEL" ]; then
		kernel_from_caller
		return
	fi
	kernel_from_host && return
	kernel_from_cache && return
	cache_lock
	kernel_from_cache || {
		kernel_fetch
		kernel_from_cache ||
			fail "the fetched kernel ${version:-} lacks: $(kernel_lacks "$modules")" \
				"Name another one with LAB_KERNEL and LAB_MODULES."
	}
	cache_unlock
}

# kernel_lacks DIR: the needed modules that DIR does not have, neither as
# files nor built into the kernel.
kernel_lacks()
{
	local name

	for name in "${kernel_needs[@]}"; do
		grep -qsE "/$name\.ko" "$1/modules.dep" "$1/modules.builtin" ||
			printf '%s ' "$name"
	done
}

# The kernel of LAB_KERNEL, with LAB_MODULES or the modules that belong to it.
kernel_from_caller()
{
	local lacks

	kernel=$LAB_KERNEL modules=${LAB_MODULES%/}
	if [ ! -f "$kernel" ] || [ ! -r "$kernel" ]; then
		fail "LAB_KERNEL=$kernel is not a file that can be read" \
			"It must name the kernel image to boot in the lab (vmlinuz, bzImage)." \
			"Correct it, or unset it: then the lab finds or fetches a kernel itself."
	fi
	version=${kernel##*/}
	[ -n "$modules" ] || modules=/lib/modules/${version#vmlinuz-}
	version=${modules##*/}
	if [ ! -r "$modules/modules.dep" ]; then
		fail "no modules for the kernel $kernel in $modules" \
			"LAB_MODULES must name the directory of its modules: the one with modules.dep," \
			"which is called as the kernel's version (depmod writes modules.dep)."
	fi
	lacks=$(kernel_lacks "$modules")
	if [ -n "$lacks" ]; then
		fail "the modules in $modules lack: $lacks" \
			"The lab cannot boot without them (kernels for clouds leave rdma_rxe and 9p out)." \
			"Unset LAB_KERNEL: then the lab finds or fetches a kernel itself."
	fi
}

# The host's own kernel, where all of it is readable and complete.
kernel_from_host()
{
	local image

	version=$(uname -r)
	modules=/lib/modules/$version
	[ -r "$modules/modules.dep" ] || return 1
	[ -z "$(kernel_lacks "$modules")" ] || return 1
	for image in "/boot/vmlinuz-$version" "$modules/vmlinuz"; do
		if [ -f "$image" ] && [ -r "$image" ]; then
			kernel=$image
			return 0
		fi
	done
	return 1
}

# The newest kernel in the cache.
kernel_from_cache()
{
	local dir

	dir=$(printf '%s\n' "$LAB_CACHE"/kernel/*/ | sort -V | tail -n 1)
	dir=${dir%/}
	version=${dir##*/}
	kernel=$dir/vmlinux
	[ -r "$kernel" ] || kernel=$dir/vmlinuz
	modules=$dir/modules/$version
	[ -r "$kernel" ] && [ -r "$modules/modules.dep" ] &&
		[ -z "$(kernel_lacks "$modules")" ]
}

# Fetch the distribution's package into the cache. It needs no root.
kernel_fetch()
{
	local work=$LAB_CACHE/tmp.kernel package size free

	kernel_package
	size=$(apt-cache show "$package" 2>/dev/null |
		sed -n 's/^Size: //p' | head -n 1)
	rm -rf "$work"
	mkdir -p "$work/tree" "$work/modules" "$LAB_CACHE/kernel" || fail_cache
	# 70 MB of package and 280 MB of what is unpacked of it.
	free=$(df -Pk "$work" | awk 'NR == 2 { print $4 }')
	if [ "$free" -lt 350000 ]; then
		fail "only $((free / 1024)) MB free in $LAB_CACHE, 350 are needed" \
			"The guest's kernel is unpacked there, once." \
			"Free some space, or set LAB_CACHE to a directory with room."
	fi
	step "fetching $package ($((${size:-0} / 1000000)) MB, only this once)"
	download_dir=$work download_size=${size:-0}
	watched setpriv --pdeathsig KILL env -C "$work" apt-get -q download "$package" ||
		fail_log "cannot download $package" "$LAB_STATE/command" \
			"If the package is not found (404), the lists are old: run 'apt-get update' as root." \
			"Without a network, set LAB_KERNEL and LAB_MODULES."
	download_dir=
	step "unpacking $package"
	watched kernel_unpack "$work" ||
		fail_log "cannot unpack $package in $LAB_CACHE" "$LAB_STATE/command"
	version=$(ls "$work/tree/lib/modules")
	if ! kernel_keep "$work"; then
		fail_cache
	fi
}

# kernel_package: the package that LAB_KERNEL_PACKAGE stands for, in package.
kernel_package()
{
	local system

	# shellcheck source=/dev/null
	system=$(. /etc/os-release 2>/dev/null && printf %s "${ID:-}")
	if [ "$system" != debian ]; then
		fail "this machine's kernel ($(uname -r)) cannot be used, and fetching one is written for Debian only" \
			"The lab needs a kernel with rdma_rxe and 9p, readable for you." \
			"Name one: LAB_KERNEL=/path/to/vmlinuz-X LAB_MODULES=/path/to/lib/modules/X scripts/lab.sh up" \
			"Untested: on Ubuntu, linux-image-generic and linux-modules-extra have it, but only root may" \
			"read /boot/vmlinuz-X: give yourself a copy. On Fedora, kernel-core and kernel-modules-extra."
	fi
	package=$(apt-cache depends "$LAB_KERNEL_PACKAGE" 2>/dev/null |
		sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
	if [ -z "$package" ]; then
		fail "apt does not know the package $LAB_KERNEL_PACKAGE" \
			"The lab takes its kernel from there, and the package lists are absent." \
			"Run 'apt-get update' as root, or set LAB_KERNEL and LAB_MODULES."
	fi
}

# Put what was unpacked where kernel_from_cache looks, in one step.
kernel_keep()
{
	mv "$1/tree/boot/vmlinuz-$version" "$1/vmlinuz" &&
		kernel_unpress "$1" "$1/tree/boot/config-$version" &&
		mv "$1/tree/lib/modules/$version" "$1/modules/" &&
		rm -rf "$1/tree" "$1"/*.deb "$LAB_CACHE/kernel/$version" &&
		mv "$1" "$LAB_CACHE/kernel/$version"
}

# Unpack what a guest without screen, sound and hardware can use.
kernel_unpack()
{
	local drivers='lib/modules/*/kernel/drivers' name
	local -a without=()

	for name in gpu media iio staging net/wireless net/ethernet scsi usb hid; do
		without+=("--exclude=./$drivers/$name")
	done
	dpkg-deb --fsys-tarfile "$1"/*.deb |
		tar -x -C "$1/tree" --wildcards "${without[@]}" \
			--exclude='./lib/modules/*/kernel/sound' ./boot ./lib &&
		depmod -b "$1/tree" "$(ls "$1/tree/lib/modules")"
}

# kernel_unpress DIR CONFIG: for x86, unpack DIR/vmlinuz into DIR/vmlinux. qemu
# starts that directly (PVH), which under emulation saves the two seconds that
# the guest would take to unpack itself. If it cannot be done, vmlinuz will do.
kernel_unpress()
{
	local offset

	[ "$LAB_ARCH" = x86_64 ] && grep -qsx CONFIG_PVH=y "$2" || return 0
	# What follows the magic number of xz, to the end of the compressed
	# part: xz complains about the rest.
	offset=$(LC_ALL=C grep -obUaPm 1 '\xfd7zXZ\x00' "$1/vmlinuz" |
		head -n 1 | cut -d : -f 1)
	[ -n "$offset" ] || return 0
	tail -c +$((offset + 1)) "$1/vmlinuz" | xz -dc >"$1/vmlinux" 2>/dev/null
	[ "$(head -c 4 "$1/vmlinux")" = $'\x7fELF' ] || rm -f "$1/vmlinux"
}

# The cache directory, for one lab at a time.
cache_lock()
{
	mkdir -p "$LAB_CACHE" 2>/dev/null || fail_cache
	[ -w "$LAB_CACHE" ] || fail_cache
	exec {cache}<"$LAB_CACHE" || fail_cache
	flock -n "$cache" && return
	step "waiting for another lab that fetches the kernel"
	until flock -n "$cache"; do
		pause 0.2
	done
}

cache_unlock()
{
	rm -rf "$LAB_CACHE/tmp.kernel"
	exec {cache}<&-
	cache=
}

fail_cache()
{
	fail "cannot write in the cache directory $LAB_CACHE" \
		"The guest's kernel is fetched into it, once." \
		"Set LAB_CACHE to a directory where you may write and that has 350 MB free."
}
