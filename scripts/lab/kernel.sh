# shellcheck shell=bash
# The guest's kernel and modules: the ones that the caller names, the host's
# own, or the distribution's package, fetched once into the cache. Sourced by
# keeper.sh; sets kernel, modules and version.

# Without these the lab cannot boot or has no rxe.
kernel_needs=(9pnet_virtio 9p overlay virtio_pci virtio_net rdma_rxe rdma_ucm)

# kernel_lacks DIR: the needed modules that DIR does not have. A module may
# be built in.
kernel_lacks()
{
	local name

	for name in "${kernel_needs[@]}"; do
		grep -qsE "/$name\.ko" "$1/modules.dep" "$1/modules.builtin" ||
			printf '%s ' "$name"
	done
}

# The kernel of LAB_KERNEL, with LAB_MODULES or the modules beside it.
kernel_from_caller()
{
	local lacks

	kernel=$LAB_KERNEL modules=${LAB_MODULES%/}
	if [ ! -r "$kernel" ] || [ ! -f "$kernel" ]; then
		fail "LAB_KERNEL=$kernel is not a readable file" \
			"The lab boots the kernel image that LAB_KERNEL names (a vmlinuz or bzImage)." \
			"Unset LAB_KERNEL, and the lab finds or fetches a kernel itself."
	fi
	if [ -z "$modules" ]; then
		version=${kernel##*/vmlinuz-}
		modules=$(realpath -m "$kernel/../../lib/modules/$version")
	fi
	if [ ! -r "$modules/modules.dep" ]; then
		fail "no modules for LAB_KERNEL in $modules" \
			"LAB_MODULES must name the directory with that kernel's modules.dep (depmod writes it)."
	fi
	version=${modules##*/}
	lacks=$(kernel_lacks "$modules")
	if [ -n "$lacks" ]; then
		fail "the kernel of LAB_KERNEL lacks: $lacks" \
			"The lab needs these as modules (cloud kernels leave rdma_rxe and 9p out)." \
			"Unset LAB_KERNEL, and the lab finds or fetches a kernel itself."
	fi
}

# The host's own kernel, if all of it is readable and complete.
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
	local image

	kernel=
	for image in "$LAB_CACHE"/kernel/*/vmlinuz; do
		[ -r "$image" ] && kernel=$image
	done
	[ -n "$kernel" ] || return 1
	version=$(basename "${kernel%/vmlinuz}")
	modules=${kernel%/vmlinuz}/modules/$version
	[ -r "$modules/modules.dep" ] && [ -z "$(kernel_lacks "$modules")" ]
}

# Fetch the distribution's package into the cache: no root needed.
kernel_fetch()
{
	local work=$LAB_CACHE/tmp.kernel package size

	if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
		fail "no kernel with rdma_rxe found, and no way known to fetch one here" \
			"The running kernel ($(uname -r)) lacks it or is not readable, and fetching is written for Debian (apt-get, dpkg)." \
			"Name a kernel and its modules: LAB_KERNEL=/boot/vmlinuz-X LAB_MODULES=/lib/modules/X" \
			"(Fedora: packages kernel-core, kernel-modules and kernel-modules-extra; untested)."
	fi
	package=$(apt-cache depends "$LAB_KERNEL_PACKAGE" 2>/dev/null |
		sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
	if [ -z "$package" ]; then
		fail "apt does not know the package $LAB_KERNEL_PACKAGE" \
			"The lab takes its kernel from there; the package lists are probably absent." \
			"Run: apt-get update (as root), or set LAB_KERNEL and LAB_MODULES."
	fi
	rm -rf "$work"
	mkdir -p "$work/tree" || fail_cache
	size=$(apt-cache show "$package" | sed -n 's/^Size: //p' | head -n 1)
	step "fetching $package ($((${size:-0} / 1000000)) MB, only this once)"
	# Room for the package and for what is unpacked of it.
	if [ "$(df -Pk "$work" | awk 'NR == 2 { print $4 }')" -lt 400000 ]; then
		fail "less than 400 MB free in $LAB_CACHE" \
			"The kernel package is unpacked there, once." \
			"Free some space or set LAB_CACHE to a directory with room."
	fi
	fetch_progress=$work fetch_size=$size
	watched env -C "$work" apt-get -q download "$package" ||
		fail_log "cannot download $package" "$work.log" \
			"Without network, set LAB_KERNEL and LAB_MODULES."
	fetch_progress=
	step "unpacking $package"
	watched kernel_unpack "$work" ||
		fail_log "cannot unpack $package" "$work.log" \
			"Is there room in $LAB_CACHE?"
	version=${package#linux-image-}
	mv "$work/tree/boot/vmlinuz-$version" "$work/vmlinuz" || fail_cache
	mkdir "$work/modules" || fail_cache
	mv "$work/tree/lib/modules/$version" "$work/modules/" || fail_cache
	rm -rf "$work/tree" "$work"/*.deb
	mkdir -p "$LAB_CACHE/kernel" || fail_cache
	rm -rf "$LAB_CACHE/kernel/$version"
	mv "$work" "$LAB_CACHE/kernel/$version" || fail_cache
}

# Unpack what a guest without screen, sound and disks can use.
kernel_unpack()
{
	local drivers=lib/modules/*/kernel/drivers

	dpkg-deb --fsys-tarfile "$1"/*.deb | tar -x -C "$1/tree" --wildcards \
		--exclude="./$drivers/gpu/*" --exclude="./$drivers/media/*" \
		--exclude="./$drivers/iio/*" --exclude="./$drivers/staging/*" \
		--exclude="./$drivers/net/wireless/*" \
		--exclude="./$drivers/net/ethernet/*" \
		--exclude="./lib/modules/*/kernel/sound/*" \
		--exclude="./usr/*" \
		./boot ./lib && depmod -b "$1/tree" "$(ls "$1/tree/lib/modules")"
}

# kernel_find: set kernel, modules, version, or fail.
kernel_find()
{
	kernel='' modules='' version=''
	if [ -n "$LAB_KERNEL" ]; then
		kernel_from_caller
		return
	fi
	kernel_from_host && return
	mkdir -p "$LAB_CACHE" 2>/dev/null && [ -w "$LAB_CACHE" ] || fail_cache
	kernel_from_cache && return
	cache_lock
	kernel_from_cache || { kernel_fetch && kernel_from_cache; } ||
		fail "the fetched kernel lacks what the lab needs: $(kernel_lacks "$modules")"
	cache_unlock
}
