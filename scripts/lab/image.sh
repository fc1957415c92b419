# shellcheck shell=bash
# Builds the guest's initramfs, and the keys of this one lab. Sourced by
# keeper.sh; needs kernel.sh's version and modules.

# Loaded before the host's file system is there, so carried in the image.
image_modules=(virtio_pci 9pnet_virtio 9p overlay)

# image_build: $LAB_STATE/initrd from busybox, modules, scripts and keys.
image_build()
{
	local tree=$LAB_STATE/tree busybox

	busybox=$(image_busybox)
	mkdir -p "$tree"/{bin,dev,proc,sys,modules,lab}
	cp "$busybox" "$tree/bin/busybox"
	cp "$LAB_PARTS/guest-init.sh" "$tree/init"
	chmod 755 "$tree/init"
	cp "$LAB_PARTS/guest-setup.sh" "$tree/lab/"
	printf 'LAB_REPO=%s\n' "$(lab_quote "$LAB_REPO")" >"$tree/lab.conf"
	image_add_modules "$tree/modules"
	image_add_keys "$tree/lab"
	(cd "$tree" && find . | cpio -o -H newc --quiet -R 0:0) \
		>"$LAB_STATE/initrd"
	rm -rf "$tree"
}

# image_busybox: the path of a static busybox.
image_busybox()
{
	local path

	path=$(command -v busybox) ||
		fail "busybox is not installed" \
			"The guest's first program is a static busybox." \
			"Install it: apt-get install busybox-static"
	if ldd "$path" >/dev/null 2>&1; then
		fail "$path is not static" \
			"The guest's first program runs before there are libraries." \
			"Install it: apt-get install busybox-static"
	fi
	printf '%s\n' "$path"
}

# image_add_modules DIR: the modules and, in DIR/order, the order to load.
image_add_modules()
{
	local tree=$LAB_STATE/depmod name path file
	local -A seen=()

	# modprobe insists on lib/modules/VERSION under a root of its own.
	mkdir -p "$tree/lib/modules"
	ln -s "$modules" "$tree/lib/modules/$version"
	: >"$1/order"
	for name in "${image_modules[@]}"; do
		while read -r verb path _; do
			[ "$verb" = insmod ] || continue
			file=${path##*/}
			[ -z "${seen[$file]:-}" ] || continue
			seen[$file]=1
			case $file in
			*.xz) xz -dc "$path" >"$1/${file%.xz}" ;;
			*.zst) zstd -qdc "$path" >"$1/${file%.zst}" ;;
			*.gz) gzip -dc "$path" >"$1/${file%.gz}" ;;
			*) cp "$path" "$1/" ;;
			esac
			printf '%s.ko\n' "${file%%.ko*}" >>"$1/order"
		done < <(modprobe -d "$tree" -S "$version" -D "$name")
	done
	rm -rf "$tree"
}

# image_add_keys DIR: throwaway keys of both sides, and a configuration that
# knows no other key and writes nothing in the caller's ~/.ssh.
image_add_keys()
{
	local node public

	ssh-keygen -q -t ed25519 -N '' -C rdma-lab -f "$LAB_STATE/key"
	mv "$LAB_STATE/key.pub" "$1/authorized_keys"
	public=$(dropbearkey -t ed25519 -f "$1/hostkey" | grep '^ssh-ed25519 ')
	for node in a b; do
		printf '%s %s\n' "lab-$node" "$public"
	done >"$LAB_STATE/known_hosts"
}
