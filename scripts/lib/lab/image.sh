# shellcheck shell=bash
# Builds the guest's initramfs, and the keys of this one lab. Sourced by
# keeper.sh; needs what kernel.sh found.

# What the file systems need, then what the rest of the boot needs. All are
# carried in the image: modprobe in the guest would cost seconds.
image_first=(virtio_pci 9pnet_virtio 9p overlay)
image_second=(virtio_net virtio_rng crc32_generic ib_uverbs rdma_ucm)
case $lab_driver in
siw) image_second+=(crc32c_generic libcrc32c iw_cm siw) ;;
*) image_second+=(rdma_rxe) ;;
esac
# They do with generic sums; where the processor helps, these are faster.
image_optional=(crc32_pclmul crc32_ce crc32c_intel crc32c_ce)

# image_build: $LAB_STATE/initrd from busybox, modules, scripts and keys.
image_build()
{
	local tree=$LAB_STATE/tree

	busybox=${LAB_ROOT%/}$(lab_program busybox)
	if ldd "$busybox" 2>/dev/null | grep -q '=>'; then
		fail "$busybox is not a static program" \
			"It is the guest's first program and runs before there are libraries." \
			"Install the package busybox-static."
	fi
	image_files "$tree" 2>>"$LAB_STATE/keeper" ||
		fail_log "cannot build the guest's boot image" "$LAB_STATE/keeper" \
			"It is built in $LAB_STATE: is there room in /tmp?"
	rm -rf "$tree"
}

image_files()
{
	local tree=$1

	mkdir -p "$tree"/{bin,dev,proc,sys,modules,lab} &&
		cp "$busybox" "$tree/bin/busybox" &&
		cp "$LAB_PARTS/guest-init.sh" "$tree/init" &&
		chmod 755 "$tree/init" "$tree/bin/busybox" &&
		cp "$LAB_PARTS"/guest-{setup,signal}.sh "$tree/lab/" &&
		printf 'LAB_REPO=%s\nLAB_VERSION=%s\nLAB_DROPBEAR=%s\nLAB_DEVICE=%s\n' \
			"$(lab_quote "$LAB_REPO")" "$(lab_quote "$version")" \
			"$(lab_quote "$(lab_program dropbear)")" \
			"$(lab_quote "$lab_driver")" >"$tree/lab.conf" &&
		image_modules "$tree/modules" &&
		image_keys "$tree/lab" &&
		(cd "$tree" && find . | cpio -o -H newc --quiet -R 0:0) \
			>"$LAB_STATE/initrd"
}

# image_modules DIR: the modules and, in DIR/first and DIR/second, the order
# in which to load them.
image_modules()
{
	local tree=$LAB_STATE/depmod
	local -A seen=()

	# modprobe insists on lib/modules/VERSION under a root of its own.
	mkdir -p "$tree/lib/modules" &&
		ln -s "$modules" "$tree/lib/modules/$version" &&
		image_list "$1" first '' "${image_first[@]}" &&
		image_list "$1" second '' "${image_second[@]}" &&
		image_list "$1" second ' optional' "${image_optional[@]}" &&
		rm -rf "$tree"
}

# image_list DIR LIST MARK NAME...: copy modules and what they need to DIR,
# unpacked, and append them to DIR/LIST. kernel_find has seen to it that none
# is missing that must be there; others may be built in.
image_list()
{
	local dir=$1 list=$1/$2 mark=$3 verb path file

	shift 3
	while read -r verb path _; do
		file=${path##*/}
		[ "$verb" = insmod ] || continue
		[ -z "${seen[$file]:-}" ] || continue
		seen[$file]=1
		case $file in
		*.xz) xz -dc "$path" >"$dir/${file%.xz}" ;;
		*.zst) zstd -qdc "$path" >"$dir/${file%.zst}" ;;
		*.gz) gzip -dc "$path" >"$dir/${file%.gz}" ;;
		*) cp "$path" "$dir/" ;;
		esac || return 1
		printf '%s.ko%s\n' "${file%%.ko*}" "$mark" >>"$list"
	done < <(
		for name; do
			modprobe -d "$tree" -S "$version" -D "$name" 2>/dev/null
		done
	)
}

# image_keys DIR: throwaway keys of both sides. The client knows the server's,
# and never looks at the caller's own keys and known hosts.
image_keys()
{
	local public node

	ssh-keygen -q -t ed25519 -N '' -C rdma-lab -f "$LAB_STATE/key" &&
		mv "$LAB_STATE/key.pub" "$1/authorized_keys" &&
		public=$(dropbearkey -t ed25519 -f "$1/hostkey" 2>/dev/null |
			grep '^ssh-ed25519 ') || return 1
	for node in a b c d; do
		printf 'lab-%s %s\n' "$node" "$public"
	done >"$LAB_STATE/known_hosts"
}
