#!/tmp/lab/busybox sh
# shellcheck shell=dash
# The first program in a node that is a User-Mode Linux kernel. The machine's own
# file system is its root already; this puts a writable layer over it, the repository
# at its place, and hands over to guest-setup.sh.

b=/tmp/lab/busybox

say() {
	echo "lab: $1" >/dev/console
}

die() {
	say "failed: $1"
	$b poweroff -f
}

# must COMMAND...: or the node is gone.
must() {
	"$@" || die "$*"
}

# memory DIR MODE: an empty file system in memory.
memory() {
	$b mkdir -p "$1"
	must $b mount -t tmpfs -o "mode=$2" tmpfs "$1"
}

must $b mount -t devtmpfs dev /dev
say hello
# shellcheck source=/dev/null
. /tmp/lab/lab.conf
must $b mount -t proc proc /proc
must $b mount -t sysfs sys /sys
say "step files"
memory /run 755
$b mkdir -p /run/new /run/upper /run/work
must $b mount -t overlay -o lowerdir=/,upperdir=/run/upper,workdir=/run/work \
	root /run/new
cd /run/new || die "cannot enter the new root"
$b mkdir -p dev proc sys
memory /run/new/run 755
memory /run/new/tmp 1777
memory /run/new/var/tmp 1777
memory /run/new/root 700

# A directory above the repository may be closed to others (a home of mode 0700):
# open it for `exec -u`, in the layer only.
path='' rest=${LAB_REPO#/}
while [ "$rest" != "${rest#*/}" ]; do
	path=$path/${rest%%/*} rest=${rest#*/}
	[ -d "/run/new$path" ] || $b mkdir "/run/new$path"
	$b chmod o+x "/run/new$path"
done
[ -d "/run/new$LAB_REPO" ] || $b mkdir "/run/new$LAB_REPO"
must $b mount -t hostfs -o "$LAB_REPO" none "/run/new$LAB_REPO"

# Everything is built into this kernel, and modprobe is to know.
$b mkdir -p "/run/new/lib/modules/$LAB_VERSION" /run/new/run/lab
$b cp /tmp/lab/modules/* "/run/new/lib/modules/$LAB_VERSION" &&
	$b cp /tmp/lab/* /run/new/run/lab 2>/dev/null
[ -x /run/new/run/lab/busybox ] || die "cannot copy to /run/lab"
for dir in dev proc sys; do
	must $b mount --move "/$dir" "/run/new/$dir"
done
$b mkdir -p /run/new/run/old
must $b pivot_root . run/old
exec /run/lab/busybox chroot . /run/lab/busybox sh /run/lab/guest-setup.sh
