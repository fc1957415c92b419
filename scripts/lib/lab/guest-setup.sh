#!/run/lab/busybox sh
# shellcheck shell=dash
# The second program in the guest, on the host's file system: devices, names,
# limits, network, RDMA, the agent that runs commands. Then busybox's init stays as
# process 1.

b=/run/lab/busybox

say() {
	echo "lab: $1" >/dev/console
}

# must COMMAND...: or the guest says which one failed, and is gone.
must() {
	"$@" && return
	say "failed: $*"
	$b poweroff -f
}

# write FILE TEXT: for the kernel's own files too.
write() {
	printf '%s\n' "$2" >"$1" || must false "cannot write $1"
}

# faster_clock: the TSC is read in a hundredth of the time that hpet takes, but
# how fast it counts was measured at boot, on a busy host sometimes wrong by a
# factor of four. "Refined" is what the kernel says when a second, longer
# measurement agreed with the first; without it, the clock stays.
faster_clock() {
	$b timeout 60 $b grep -q 'tsc: Refined TSC' /dev/kmsg &&
		write "$clocks/current_clocksource" tsc
}

exec </dev/null >/dev/console 2>&1
# shellcheck source=/dev/null
. /run/lab/lab.conf
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
read -r arguments </proc/cmdline
node=${arguments##*lab.node=}
node=${node%% *}
number=1
case $node in
b) number=2 ;;
c) number=3 ;;
d) number=4 ;;
esac

# First of all: until then, each look at the clock is slow.
clocks=/sys/devices/system/clocksource/clocksource0
read -r line <"$clocks/current_clocksource"
[ "$line" != hpet ] || faster_clock &

must $b mkdir -p /dev/pts /dev/shm
must $b mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts
must $b mount -t tmpfs -o mode=1777 shm /dev/shm
$b mount -t debugfs debugfs /sys/kernel/debug
must $b ln -sfn /proc/self/fd /dev/fd
must $b ln -sfn fd/0 /dev/stdin
must $b ln -sfn fd/1 /dev/stdout
must $b ln -sfn fd/2 /dev/stderr

# Names. What differs between hosts must differ between the nodes.
write /proc/sys/kernel/hostname "node-$node"
$b rm -f /etc/hostname /etc/machine-id /etc/hosts /etc/nologin
write /etc/hostname "node-$node"
read -r line </proc/sys/kernel/random/uuid
write /etc/machine-id "$($b echo "$line" | $b tr -d -)"
write /etc/hosts '127.0.0.1 localhost
::1 localhost ip6-localhost
192.0.2.1 a node-a
2001:db8::1 a node-a
192.0.2.2 b node-b
2001:db8::2 b node-b
192.0.2.3 c node-c
2001:db8::3 c node-c
192.0.2.4 d node-d
2001:db8::4 d node-d'
must $b sed -i 's|^root:.*|root:x:0:0:root:/root:/bin/bash|' /etc/passwd
# Root here may own none of the files of the repository.
printf '[safe]\n\tdirectory = *\n' >>/etc/gitconfig

# Each RDMA program loads the library of every device driver that is listed
# there, which costs more than half of its start.
for file in /etc/libibverbs.d/*.driver; do
	case ${file##*/} in
	rxe.driver | siw.driver | '*.driver') ;;
	*) must $b rm "$file" ;;
	esac
done

# Root's limits; `exec -u` lowers the locked memory again.
write /proc/sys/fs/file-max 1048576
write /proc/sys/kernel/core_pattern core
ulimit -c 0
ulimit -n 65536
ulimit -l unlimited

[ ! -e /run/lab/cpuinfo ] || must $b mount --bind /run/lab/cpuinfo /proc/cpuinfo

say "step network"
write /proc/sys/net/ipv6/conf/default/accept_dad 0
write /proc/sys/net/ipv6/conf/default/accept_ra 0
must $b ip link set lo up
[ "$LAB_ENGINE" != uml ] ||
	must $b ip link set vec0 address "52:54:00:52:44:0$number" name eth0
must $b ip addr add "192.0.2.$number/24" dev eth0
must $b ip addr add "2001:db8::$number/64" dev eth0
must $b ip link set eth0 up

say "step $LAB_DEVICE"
must rdma link add "${LAB_DEVICE}0" type "$LAB_DEVICE" netdev eth0

# Since Linux 6.5, threads do the work of rxe. On a node's one processor they would wait
# for the program to sleep, or for the clock's tick, and an answer that is there would be
# flushed with the queue pair. Programs of this policy give way to them at once.
case $LAB_ENGINE/$LAB_VERSION in
uml/6.1.*) ;;
uml/*) must chrt --idle --pid 0 $$ ;;
esac

write /run/lab/profile "PS1='node-$node:\\w# '"
: >/etc/inittab
say "step agent"
PYTHONPATH=$LAB_REPO/scripts /usr/bin/python3 -B -s -S -m lib.lab.agent "$LAB_LINE" &
exec $b init
