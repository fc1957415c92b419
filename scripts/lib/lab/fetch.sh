#!/bin/bash
# usage: fetch.sh FOLDER PACKAGE      (kernel.py runs it, and nobody else)
#
# Fetches a kernel into FOLDER/RELEASE, without root: the distribution's PACKAGE, or,
# where apt is not there or does not have it, the one that kernel.pinned (or the file
# LAB_PINNED) names.
set -uo pipefail
export LC_ALL=C

# shellcheck source=scripts/lib/cli.sh
. "${0%/*}/../cli.sh"
cli_help "$@"
folder=$1 package=$2
pinned=${LAB_PINNED:-${0%/*}/kernel.pinned}
work=$folder.work
# What was in the way.
why=()

say() { printf 'lab: %s\n' "$1" >&2; }

# fail WHAT [DETAIL...]: never call it in a subshell, which would end alone.
fail() {
	printf 'lab.sh: %s\n' "$1" >&2
	[[ $# -eq 1 ]] || printf '        %s\n' "${@:2}" >&2
	exit 1
}

# download BYTES WHAT COMMAND...: it ends with this script.
download() {
	say "fetching $2 ($(($1 / 1000000)) MB, only this once)"
	setpriv --pdeathsig KILL "${@:3}" >&2 &
	wait $!
}

# The distribution's packages into the current folder. 1: apt cannot.
by_apt() {
	local -a packages
	local bytes

	command -v apt-get >/dev/null || {
		why+=("apt, which would fetch one, is not here")
		return 1
	}
	# A kernel may be one package or several, and the one that stands for
	# the newest depends on them. All of them have its release in their
	# names, and nothing else of Linux's does.
	mapfile -t packages < <(apt-cache depends --recurse -i "$package" 2>/dev/null |
		grep -E '^linux-([a-z]+-)+[0-9]')
	[[ ${#packages[@]} -gt 0 ]] || {
		why+=("apt has no package $package, or no lists of packages")
		return 1
	}
	bytes=$(apt-cache --no-all-versions show "${packages[@]}" 2>/dev/null |
		awk '$1 == "Size:" { sum += $2 } END { print sum + 0 }')
	download "$bytes" "${packages[*]}" apt-get -q \
		-o "APT::Sandbox::User=$(id -un)" download "${packages[@]}" && return
	why+=("apt-get download ${packages[*]} failed, as it says above")
	rm -f ./*.deb
	return 1
}

# The package of kernel.pinned for this machine into the current folder, by its first
# address that has it. What is fetched is what is pinned, or nothing.
by_address() {
	local machine release bytes digest addresses address bar=-s

	[[ ! -t 2 ]] || bar=-#
	while read -r machine release bytes digest addresses; do
		[[ $machine == "$(uname -m)" ]] || continue
		for address in $addresses; do
			download "$bytes" "Linux $release" curl -fSL "$bar" --connect-timeout 20 \
				--speed-limit 1000 --speed-time 60 -o kernel.deb "$address" || {
				why+=("curl could not fetch $address, as it says above")
				continue
			}
			sha256sum --quiet -c <<<"$digest  kernel.deb" >&2 && return
			fail "what came from $address is not the kernel that is pinned" \
				"It was thrown away. Somebody on the way may have changed it, or cut it off: try" \
				"another network."
		done
	done < <(grep -v '^#' "$pinned")
	fail "cannot fetch a kernel for the lab" "${why[@]}" \
		"This machine's own ($(uname -r)) cannot be used: the lab needs one with rdma_rxe and" \
		"9p, readable for you. With a network, try again; on Debian, 'apt-get update' as root helps" \
		"if apt's lists are old. Or name one: LAB_KERNEL=/path/to/vmlinuz-X LAB_MODULES=/path/to/lib/modules/X" \
		"scripts/lab.sh up. Before you go where there is no network, run scripts/lab.sh fetch: it gets everything."
}

# unpress NAME: what NAME's ending says that standard input is packed with.
unpress() {
	case $1 in
	*.xz) xz -dc ;;
	*.zst) zstd -qdc ;;
	*.gz) gzip -dc ;;
	*) cat ;;
	esac
}

# The packages of the current folder into kept/modules/RELEASE and kept/vmlinuz, without
# what a guest that has no screen, sound and hardware cannot use. Debian's packages have
# them in /boot and /lib/modules, later ones in /usr/lib/modules. ar and tar are where dpkg
# is not. Sets release.
unpack() {
	local deb data name
	local -a without=(--exclude=./usr/share)

	for name in drivers/{gpu,media,iio,staging,net/wireless,net/ethernet,scsi,usb,hid} sound; do
		without+=("--exclude=*/lib/modules/*/kernel/$name")
	done
	mkdir -p tree/lib/modules kept/modules
	for deb in *.deb; do
		data=$(ar t "$deb" | grep '^data\.tar') &&
			ar p "$deb" "$data" | unpress "$data" |
			tar -x -C tree --no-same-owner --wildcards "${without[@]}" || return
	done
	for name in tree/usr/lib/modules/*/; do
		[[ ! -d $name ]] || cp -al "$name" tree/lib/modules/ || return
	done
	release=$(ls tree/lib/modules)
	for name in "tree/lib/modules/$release/vmlinuz" "tree/boot/vmlinuz-$release"; do
		[[ ! -f $name ]] || cp -l "$name" kept/vmlinuz || return
	done
	if [[ ! -d tree/lib/modules/$release || ! -f kept/vmlinuz ]]; then
		echo "no kernel, or no modules of one kernel, in it: ${release:-none}"
		return 1
	fi
	depmod -b tree "$release" && mv "tree/lib/modules/$release" kept/modules/
}

# For x86, kept/vmlinuz unpacked into kept/vmlinux. qemu starts that directly (PVH), which
# under emulation saves the two seconds that the guest would take to unpack itself. If it
# cannot be done, vmlinuz will do.
unpack_image() {
	local packed offset

	grep -qsx CONFIG_PVH=y "tree/boot/config-$release" "kept/modules/$release/config" || return 0
	for packed in '\xfd7zXZ\x00 xz' '\x28\xb5\x2f\xfd zstd'; do
		# What follows the magic number, to the end of the compressed
		# part: the program complains about the rest.
		offset=$(grep -obUaPm 1 "${packed% *}" kept/vmlinuz | head -n 1 | cut -d : -f 1)
		[[ -n $offset ]] || continue
		tail -c +$((offset + 1)) kept/vmlinuz | "${packed#* }" -dcq >kept/vmlinux 2>/dev/null
		[[ $(head -c 4 kept/vmlinux) != $'\x7fELF' ]] || return 0
		rm -f kept/vmlinux
	done
}

PATH+=:/usr/sbin:/sbin
trap 'rm -rf "$work"' EXIT
rm -rf "$work"
mkdir -p "$work" && cd "$work" || exit
by_apt || by_address
say "unpacking the kernel"
unpack >&2 || fail "cannot unpack the kernel's package in $folder" "The reason stands above."
unpack_image
# It is there as a whole, or not.
rm -rf "${folder:?}/$release" && mv kept "$folder/$release"
