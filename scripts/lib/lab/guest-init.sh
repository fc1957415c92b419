#!/lab/busybox sh
# shellcheck shell=dash disable=SC2086 # no place here has a space
# The first program in a node: loads modules, lays a writable layer in memory over the
# machine's own files, puts the repository in its place and hands over to guest-setup.sh.
# A virtual machine begins in the initramfs, with qemu's shares; a User-Mode Linux kernel
# has the machine's files as its root already. All of it is one static busybox, because
# under software emulation starting a program is what costs time.

here=${0%/*} b=${0%/*}/busybox

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

# Load the modules that FILE lists. One marked "optional" may fail: it may
# be for a processor that this is not.
load() {
	while read -r module optional; do
		$b insmod "/modules/$module" 2>/dev/console ||
			[ -n "$optional" ] || die "insmod $module"
	done <"$1"
}

# Mount the host's directory that is shared as TAG.
share() {
	must $b mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,$3" "$1" "$2"
}

# memory DIR MODE: an empty file system in memory.
memory() {
	$b mkdir -p "$1"
	must $b mount -t tmpfs -o "mode=$2" tmpfs "$1"
}

must $b mount -t devtmpfs dev /dev
say hello
# shellcheck source=/dev/null
. "$here/lab.conf"
must $b mount -t proc proc /proc
must $b mount -t sysfs sys /sys
if [ "$LAB_ENGINE" = uml ]; then
	say "step files"
	layer=/run lower=/
	memory $layer 755
else
	say "step modules"
	load /modules/first
	load /modules/second &
	say "step files"
	layer=/layer lower=/layer/lower
	memory $layer 755
	$b mkdir $lower
	share root $lower ro,access=any,cache=loose
fi
new=$layer/new
$b mkdir -p $new $layer/upper $layer/work
must $b mount -t overlay -o "lowerdir=$lower,upperdir=$layer/upper,workdir=$layer/work" root $new
cd $new || die "cannot enter the new root"
$b mkdir -p dev proc sys
memory $new/run 755
memory $new/tmp 1777
memory $new/var/tmp 1777
# Of an unprivileged user's host, /root is unreadable even for root here.
memory $new/root 700

# A directory above the repository may be closed to others (a home of mode 0700):
# open it for `exec -u`, in the layer only.
path='' rest=${LAB_REPO#/}
while [ "$rest" != "${rest#*/}" ]; do
	path=$path/${rest%%/*} rest=${rest#*/}
	[ -d "$new$path" ] || $b mkdir "$new$path"
	$b chmod o+x "$new$path"
done
[ -d "$new$LAB_REPO" ] || $b mkdir "$new$LAB_REPO"
modules=$new/lib/modules/$LAB_VERSION
$b mkdir -p "$modules" $new/run/lab
if [ "$LAB_ENGINE" = uml ]; then
	must $b mount -t hostfs -o "$LAB_REPO" none "$new$LAB_REPO"
	# Everything is built into this kernel, and modprobe is to know.
	must $b cp "$here"/modules/* "$modules"
	must $b cp "$here"/cpuinfo $new/run/lab
else
	share repo "$new$LAB_REPO" rw,cache=mmap
	share modules "$modules" ro,access=any,cache=loose
	wait
fi
for file in busybox guest-setup.sh lab.conf; do
	must $b cp "$here/$file" $new/run/lab
done
for dir in dev proc sys; do
	must $b mount --move "/$dir" "$new/$dir"
done
[ "$LAB_ENGINE" = uml ] || exec $b switch_root $new /run/lab/busybox sh /run/lab/guest-setup.sh
$b mkdir -p run/old
must $b pivot_root . run/old
exec /run/lab/busybox chroot . /run/lab/busybox sh /run/lab/guest-setup.sh
