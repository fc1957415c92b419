#!/bin/bash
# The second program in the guest, on the host's own file system: network,
# rxe, limits, dropbear; then busybox's init stays as process 1.
set -euo pipefail

say()
{
	echo "lab: $1" >/dev/console
}

step='start'
trap 'say "failed: $step (line $LINENO)"; /run/lab/busybox poweroff -f' ERR
exec </dev/null >/dev/console 2>&1

# shellcheck source=/dev/null
. /run/lab/lab.conf
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
read -r cmdline </proc/cmdline
node=${cmdline##*lab.node=}
node=${node%% *}

step='mounts'
mkdir -p /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t debugfs debugfs /sys/kernel/debug || true
ln -sfn /proc/self/fd /dev/fd
ln -sfn /proc/self/fd/0 /dev/stdin
ln -sfn /proc/self/fd/1 /dev/stdout
ln -sfn /proc/self/fd/2 /dev/stderr

step='identity'
echo "node-$node" >/proc/sys/kernel/hostname
rm -f /etc/hostname /etc/machine-id /etc/hosts /etc/nologin
echo "node-$node" >/etc/hostname
tr -d - </proc/sys/kernel/random/uuid >/etc/machine-id
cat >/etc/hosts <<-EOF2
	127.0.0.1 localhost
	::1 localhost ip6-localhost
	192.0.2.1 a node-a
	2001:db8::1 a node-a
	192.0.2.2 b node-b
	2001:db8::2 b node-b
EOF2
# dropbear starts the shell that /etc/passwd names, and refuses an account
# whose shell is not in /etc/shells.
sed -i 's|^root:.*|root:x:0:0:root:/root:/bin/bash|' /etc/passwd
echo /bin/bash >>/etc/shells

step='limits'
echo 1048576 >/proc/sys/fs/file-max
ulimit -c 0
ulimit -n 65536
ulimit -l unlimited
echo core >/proc/sys/kernel/core_pattern

step='network'
say "step network"
modprobe -a virtio_net virtio_rng
netdev_of()
{
	local dir

	for dir in /sys/class/net/*; do
		if [ "$(cat "$dir/address")" = "$1" ]; then
			echo "${dir##*/}"
			return 0
		fi
	done
	return 1
}
case $node in
a) number=1 ;;
b) number=2 ;;
esac
echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
echo 0 >/proc/sys/net/ipv6/conf/default/accept_ra
ip link set lo up
wire=$(netdev_of "52:54:00:52:44:0$number")
ip link set "$wire" name wire0
mgmt=$(netdev_of "52:54:00:52:45:0$number")
ip link set "$mgmt" name mgmt
ip link set wire0 name eth0
echo 1 >/proc/sys/net/ipv6/conf/mgmt/disable_ipv6
ip addr add 10.0.2.15/24 dev mgmt
ip link set mgmt up
ip addr add "192.0.2.$number/24" dev eth0
ip -6 addr add "2001:db8::$number/64" dev eth0 nodad
ip link set eth0 up

step='rxe'
say "step rxe"
modprobe crc32_generic
modprobe -q crc32_pclmul || true
modprobe -a rdma_rxe ib_uverbs rdma_ucm
rdma link add rxe0 type rxe netdev eth0

step='ssh'
say "step ssh"
mkdir -p -m 700 /root/.ssh
cp /run/lab/lab/authorized_keys /root/.ssh/
chmod 600 /root/.ssh/authorized_keys /run/lab/lab/hostkey
cat >/root/.profile <<-EOF2
	export PATH=$PATH LANG=C.UTF-8
	[ -r /root/.bashrc ] && . /root/.bashrc
	cd $(printf %q "$LAB_REPO")
EOF2
echo "PS1='node-$node:\\w# '" >/root/.bashrc
# It goes into the background once it listens.
/usr/sbin/dropbear -s -j -k -p 10.0.2.15:22 -P /run/lab/dropbear.pid \
	-r /run/lab/lab/hostkey
: >/etc/inittab
trap - ERR
say ready
exec /run/lab/busybox init
