#!/bin/busybox sh
# The first program in the guest, from the initramfs: loads the few modules
# that boot needs, puts the host's file system (read-only, with a writable
# layer in memory) in place and hands over to guest-setup.sh.

say()
{
	echo "lab: $1" >/dev/console
}

die()
{
	say "failed: $1"
	busybox poweroff -f
}

export PATH=/bin
busybox mount -t devtmpfs dev /dev
say hello
. /lab.conf
busybox mount -t proc proc /proc || die "mount /proc"
busybox mount -t sysfs sys /sys || die "mount /sys"

say "step modules"
while read -r module; do
	busybox insmod "/modules/$module" || die "insmod $module"
done </modules/order

# Share TAG on DIRECTORY with OPTIONS.
share()
{
	busybox mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,$3" \
		"$1" "$2" || die "9p share $1 on $2"
}

say "step file-system"
busybox mkdir -p /lower /layer /new
share root /lower ro,access=any,cache=loose
busybox mount -t tmpfs -o mode=755 layer /layer || die "tmpfs"
busybox mkdir /layer/upper /layer/work
busybox mount -t overlay -o \
	lowerdir=/lower,upperdir=/layer/upper,workdir=/layer/work \
	root /new || die "overlay"
for dir in dev proc sys run tmp root var/tmp; do
	busybox mkdir -p "/new/$dir"
done
for dir in dev proc sys; do
	busybox mount --move "/$dir" "/new/$dir" || die "move /$dir"
done
busybox mount -t tmpfs -o mode=755 run /new/run || die "tmpfs"
busybox mount -t tmpfs -o mode=1777 tmp /new/tmp || die "tmpfs"
busybox mount -t tmpfs -o mode=1777 vartmp /new/var/tmp || die "tmpfs"
busybox mount -t tmpfs -o mode=700 home /new/root || die "tmpfs"

version=$(busybox uname -r)
busybox mkdir -p "/new/lib/modules/$version"
share modules "/new/lib/modules/$version" ro,access=any,cache=loose

# Where a directory above the repository is closed to others (a home of mode
# 0700), open it for `exec -u nobody`: in the layer only.
path=
rest=${LAB_REPO#/}
while [ "$rest" != "${rest#*/}" ]; do
	path=$path/${rest%%/*}
	rest=${rest#*/}
	[ -d "/new$path" ] || busybox mkdir "/new$path"
	busybox chmod o+x "/new$path"
done
busybox mkdir -p "/new$LAB_REPO"
share repo "/new$LAB_REPO" rw,cache=mmap

busybox mkdir -p /new/run/lab
busybox cp -r /lab.conf /lab /bin/busybox /new/run/lab/ || die "copy"
exec busybox switch_root /new /bin/bash /run/lab/lab/guest-setup.sh
