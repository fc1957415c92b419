#!/bin/busybox sh
# shellcheck shell=dash
# The first program in the guest, from the initramfs: loads the modules, puts
# the host's file system (read-only, under a writable layer in memory) in
# place and hands over to guest-setup.sh. All of it is one static busybox,
# because under software emulation starting a program is what costs time.

say() {
	echo "lab: $1" >/dev/console
}

die() {
	say "failed: $1"
	/bin/busybox poweroff -f
}

# Load the modules that FILE lists. One marked "optional" may fail: it may
# be for a processor that this is not.
load() {
	while read -r module optional; do
		/bin/busybox insmod "/modules/$module" 2>/dev/console ||
			[ -n "$optional" ] || die "insmod $module"
	done <"$1"
}

# Mount the host's directory that is shared as TAG.
share() {
	/bin/busybox mount -t 9p \
		-o "trans=virtio,version=9p2000.L,msize=512000,$3" "$1" "$2" ||
		die "cannot mount the share '$1' on $2"
}

# Mount an empty file system in memory.
memory() {
	/bin/busybox mkdir -p "$1"
	/bin/busybox mount -t tmpfs -o "mode=$2" tmpfs "$1" ||
		die "cannot mount a tmpfs on $1"
}

/bin/busybox mount -t devtmpfs dev /dev
say hello
# shellcheck source=/dev/null
. /lab.conf
/bin/busybox mount -t proc proc /proc || die "cannot mount /proc"
/bin/busybox mount -t sysfs sys /sys || die "cannot mount /sys"
say "step modules"
load /modules/first
load /modules/second &
loader=$!

say "step files"
memory /layer 755
/bin/busybox mkdir -p /lower /new /layer/upper /layer/work
share root /lower ro,access=any,cache=loose
/bin/busybox mount -t overlay -o \
	lowerdir=/lower,upperdir=/layer/upper,workdir=/layer/work \
	root /new || die "cannot mount the writable layer"
for dir in dev proc sys; do
	[ -d "/new/$dir" ] || /bin/busybox mkdir "/new/$dir"
done
memory /new/run 755
memory /new/tmp 1777
memory /new/var/tmp 1777
# Of an unprivileged user's host, /root is unreadable even for root here.
memory /new/root 700
/bin/busybox mkdir -p "/new/lib/modules/$LAB_VERSION"
share modules "/new/lib/modules/$LAB_VERSION" ro,access=any,cache=loose

# A directory above the repository may be closed to others (a home of mode
# 0700): open it for `exec -u`, in the layer only.
path='' rest=${LAB_REPO#/}
while [ "$rest" != "${rest#*/}" ]; do
	path=$path/${rest%%/*} rest=${rest#*/}
	[ -d "/new$path" ] || /bin/busybox mkdir "/new$path"
	/bin/busybox chmod o+x "/new$path"
done
[ -d "/new$LAB_REPO" ] || /bin/busybox mkdir "/new$LAB_REPO"
share repo "/new$LAB_REPO" rw,cache=mmap

wait "$loader"
/bin/busybox mkdir /new/run/lab
/bin/busybox cp -r /lab.conf /lab/. /bin/busybox /new/run/lab/ ||
	die "cannot copy to /run/lab"
for dir in dev proc sys; do
	/bin/busybox mount --move "/$dir" "/new/$dir" || die "cannot move /$dir"
done
exec /bin/busybox switch_root /new /run/lab/busybox sh /run/lab/guest-setup.sh
