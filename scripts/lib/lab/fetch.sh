#!/bin/bash
# usage: fetch.sh FOLDER | --size      (kernel.py runs it, and nobody else)
#
# Fetches a kernel into the cache, without root: the distribution's package,
# or, where apt is not there or does not have it, the one that kernel.pinned
# names. FOLDER is one to work in. Prints "step TEXT" and "detail TEXT" as it gets on;
# if it fails, a line "error TEXT" for each line of the message. With --size it only
# prints how much it would fetch. kernel.py has what it needs in its environment.
set -uo pipefail

# shellcheck source=scripts/lib/cli.sh
. "${0%/*}/../cli.sh"
cli_help "$@"

step() { printf 'step %s\n' "$1"; }

# fail WHAT [DETAIL...]: never call it in a subshell, which would end alone.
fail() {
	printf 'error %s\n' "$@"
	exit 1
}

# Of that kernel.py knows what to say.
fail_cache() {
	exit 3
}

kernel_fetch() {
	local work=$1
	local -a end

	rm -rf "$work"
	mkdir -p "$work/tree" "$work/modules" "$LAB_KERNELS" || fail_cache
	fetch_room "$work"
	fetch_by_apt "$work" || fetch_pinned "$work"
	step "unpacking the kernel"
	kernel_unpack "$work" >"$LAB_STATE/command" 2>&1 || {
		mapfile -t end < <(tail -n 12 "$LAB_STATE/command")
		fail "cannot unpack the kernel's package in $LAB_CACHE" "${end[@]/#/| }"
	}
	version=$(ls "$work/modules")
	kernel_keep "$work" || fail_cache
}

# 110 MB of package and 230 MB of what is unpacked of it.
fetch_room() {
	local free

	free=$(df -Pk "$1" | awk 'NR == 2 { print $4 }')
	[[ $free -lt 350000 ]] || return 0
	fail "only $((free / 1024)) MB free in $LAB_CACHE, 350 are needed" \
		"The guest's kernel is unpacked there, once." \
		"Free some space, or set LAB_CACHE to a directory with room."
}

# kernel_packages: the packages of the distribution's kernel, in packages, and
# what they have together, in bytes. 1: apt has none.
kernel_packages() {
	# A kernel may be one package or several, and the one that stands for
	# the newest depends on them. All of them have its release in their
	# names, and nothing else of Linux's does.
	mapfile -t packages < <(apt-cache depends --recurse -i "$LAB_KERNEL_PACKAGE" \
		2>/dev/null | grep -E '^linux-([a-z]+-)+[0-9]')
	[[ ${#packages[@]} -gt 0 ]] || return 1
	bytes=$(apt-cache --no-all-versions show "${packages[@]}" 2>/dev/null |
		awk '$1 == "Size:" { sum += $2 } END { print sum + 0 }')
}

# fetch_by_apt DIR: the packages of the distribution's kernel into DIR. 1:
# apt cannot; apt_says tells why.
fetch_by_apt() {
	local -a packages=()
	local bytes

	apt_says="apt, which would fetch one, is not here"
	command -v apt-get >/dev/null || return 1
	apt_says="apt has no package $LAB_KERNEL_PACKAGE, or no lists of packages"
	kernel_packages || return 1
	step "fetching ${packages[*]} ($((bytes / 1000000)) MB, only this once)"
	download "$1" "$bytes" apt-get -q download "${packages[@]}" && return
	apt_says="apt-get download ${packages[*]}: $(tail -n 1 "$LAB_STATE/command")"
	rm -f "$1"/*.deb
	return 1
}

# pinned_read: what kernel.pinned says for this machine, in release, bytes,
# digest and addresses. 1: nothing.
pinned_read() {
	local machine=''

	while read -r machine release bytes digest addresses; do
		[[ $machine != "$LAB_ARCH" ]] || return 0
	done < <(grep -v '^#' "$LAB_PINNED")
	return 1
}

# fetch_pinned DIR: the package of kernel.pinned for this machine into DIR, by
# its first address that has it. What is fetched is what is pinned, or nothing.
fetch_pinned() {
	local release bytes digest addresses address got=''
	local -a why=("$apt_says")

	if ! pinned_read; then
		fail_fetch "${why[@]}" "No kernel for $LAB_ARCH is named in $LAB_PINNED."
	elif ! command -v curl >/dev/null; then
		fail_fetch "${why[@]}" "The program curl, which would fetch another, is not installed."
	fi
	for address in $addresses; do
		step "fetching Linux $release ($((bytes / 1000000)) MB, only this once)"
		download "$1" "$bytes" curl -fsSL --connect-timeout 20 \
			--speed-limit 1000 --speed-time 60 --max-filesize "$bytes" \
			-o kernel.deb "$address" && got=1 && break
		why+=("$address: $(tail -n 1 "$LAB_STATE/command")")
	done
	[[ -n $got ]] || fail_fetch "${why[@]}"
	pinned_check "$1/kernel.deb" "$bytes" "$digest" "$address"
}

# pinned_check FILE SIZE DIGEST ADDRESS
pinned_check() {
	local have

	have=$(stat -c %s "$1")
	[[ $have == "$2" ]] ||
		fail "what came from $4 is not the kernel: $have bytes instead of $2" \
			"It was thrown away. Something on the way cut it off, or answered in its place."
	have=$(sha256sum <"$1")
	[[ ${have%% *} == "$3" ]] ||
		fail "what came from $4 is not the kernel that is pinned" \
			"SHA-256 is   ${have%% *}" \
			"and not      $3" \
			"It was thrown away. Somebody on the way may have changed it: try another network."
}

# fail_fetch WHY...: no way led to a kernel.
fail_fetch() {
	fail "cannot fetch a kernel for the lab" "$@" \
		"This machine's own ($(uname -r)) cannot be used: the lab needs one with rdma_rxe and" \
		"9p, readable for you. With a network, try again; on Debian, 'apt-get update' as root helps" \
		"if apt's lists are old. Or name one: LAB_KERNEL=/path/to/vmlinuz-X LAB_MODULES=/path/to/lib/modules/X" \
		"scripts/lab.sh up. Before you go where there is no network, run scripts/lab.sh fetch: it gets everything."
}

# download DIR SIZE COMMAND...: run it in DIR, showing how far it is. What it says is
# in $LAB_STATE/command.
download() {
	local dir=$1 size=$2 child have

	shift 2
	setpriv --pdeathsig KILL env -C "$dir" "$@" </dev/null >"$LAB_STATE/command" 2>&1 &
	child=$!
	while ! read -r -t 0.2 <> <(:) && kill -0 "$child" 2>/dev/null; do
		have=$(du -sk "$dir" | cut -f 1)
		[[ $size -eq 0 ]] ||
			printf 'detail %s %%\n' $((have * 102400 / size))
	done
	wait "$child"
}

# kernel_unpack DIR: DIR/*.deb into DIR/modules/RELEASE and DIR/vmlinuz, without
# what a guest that has no screen, sound and hardware cannot use. Debian's
# packages have them in /boot and /lib/modules, later ones in /usr/lib/modules.
# ar and tar are where dpkg is not.
kernel_unpack() {
	local package data name release tree=$1/tree
	local -a without=(--exclude=./usr/share)

	for name in drivers/{gpu,media,iio,staging,net/wireless,net/ethernet,scsi,usb,hid} sound; do
		without+=("--exclude=*/lib/modules/*/kernel/$name")
	done
	for package in "$1"/*.deb; do
		data=$(ar t "$package" | grep '^data\.tar') || return
		ar p "$package" "$data" | unpress "$data" |
			tar -x -C "$tree" --no-same-owner --wildcards "${without[@]}" ||
			return
	done
	mkdir -p "$tree/lib/modules"
	for name in "$tree"/usr/lib/modules/*/; do
		[[ ! -d $name ]] ||
			cp -al "$name" "$tree/lib/modules/" || return
	done
	release=$(ls "$tree/lib/modules")
	for name in "$tree/lib/modules/$release/vmlinuz" "$tree/boot/vmlinuz-$release"; do
		[[ ! -f $name ]] || cp -l "$name" "$1/vmlinuz" || return
	done
	if [[ ! -d $tree/lib/modules/$release || ! -f $1/vmlinuz ]]; then
		echo "no kernel, or no modules of one kernel, in it: ${release:-none}"
		return 1
	fi
	depmod -b "$tree" "$release" &&
		kernel_unpress "$1" "$tree/boot/config-$release" "$tree/lib/modules/$release/config" &&
		mv "$tree/lib/modules/$release" "$1/modules/"
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

# kernel_keep DIR: what was unpacked goes where kernel.py looks, in one
# step.
kernel_keep() {
	rm -rf "$1/tree" "$1"/*.deb "${LAB_KERNELS:?}/$version" &&
		mv "$1" "$LAB_KERNELS/$version"
}

# kernel_unpress DIR CONFIG...: for x86, unpack DIR/vmlinuz into DIR/vmlinux. qemu
# starts that directly (PVH), which under emulation saves the two seconds that
# the guest would take to unpack itself. If it cannot be done, vmlinuz will do.
kernel_unpress() {
	local dir=$1 packed offset program

	shift
	[[ $LAB_ARCH == x86_64 ]] && grep -qsx CONFIG_PVH=y "$@" || return 0
	for packed in '\xfd7zXZ\x00 xz' '\x28\xb5\x2f\xfd zstd'; do
		program=${packed#* }
		# What follows the magic number, to the end of the compressed
		# part: the program complains about the rest.
		offset=$(grep -obUaPm 1 "${packed% *}" "$dir/vmlinuz" |
			head -n 1 | cut -d : -f 1)
		[[ -n $offset ]] || continue
		tail -c +$((offset + 1)) "$dir/vmlinuz" |
			"$program" -dcq >"$dir/vmlinux" 2>/dev/null
		[[ $(head -c 4 "$dir/vmlinux") != $'\x7fELF' ]] || return 0
		rm -f "$dir/vmlinux"
	done
	return 0
}

# kernel_size: what would be fetched, in words.
kernel_size() {
	local -a packages=()
	local bytes release digest addresses

	# Without lists, apt is asked for them before it is for a kernel.
	if command -v apt-cache >/dev/null; then
		! kernel_packages || {
			echo "${packages[0]}, $((bytes / 1000000)) MB"
			return
		}
	elif pinned_read; then
		echo "Linux $release, $((bytes / 1000000)) MB"
		return
	fi
	echo "Debian's, 70 to 107 MB"
}

PATH+=:/usr/sbin:/sbin
case ${1:?} in
--size) kernel_size ;;
*) kernel_fetch "$1" ;;
esac
