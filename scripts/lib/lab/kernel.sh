# shellcheck shell=bash
# The guest's kernel and modules: the ones that the caller names, the host's
# own, or one that is fetched once into the cache (fetch.sh). Sourced by
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

	# Not for a guest with another processor.
	[ "$LAB_ARCH" = "$(uname -m)" ] || return 1
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

	dir=$(printf '%s\n' "$LAB_KERNELS"/*/ | sort -V | tail -n 1)
	dir=${dir%/}
	version=${dir##*/}
	kernel=$dir/vmlinux
	[ -r "$kernel" ] || kernel=$dir/vmlinuz
	modules=$dir/modules/$version
	[ -r "$kernel" ] && [ -r "$modules/modules.dep" ] &&
		[ -z "$(kernel_lacks "$modules")" ]
}

# kernel_siw: has the kernel that was found siw? Debian's have not.
kernel_siw()
{
	grep -qsE '/siw\.ko' "$modules/modules.dep" "$modules/modules.builtin" && return
	fail "the kernel $version has no siw" \
		"The lab's own kernel has it: make lab-kernel builds that, once." \
		"Why it is not used: $(engine_uml_not || true)" \
		"Or name a kernel that has siw, as Ubuntu's have: LAB_KERNEL and LAB_MODULES."
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
