# shellcheck shell=bash
# One node: a qemu process, its console and its ssh. Sourced by keeper.sh.

# node_start NODE ACCEL: start qemu; node_pid[NODE] is its process.
node_start()
{
	local node=$1 accel=$2 number=1 wire peer=b state=${LAB_STATE//,/,,}

	[ "$node" = a ] || { number=2 peer=a; }
	wire=hubport,id=wire,hubid=0
	if [ "$nodes" = 2 ]; then
		# Datagrams over unix sockets: a wire of TCP (-netdev socket)
		# would delay each packet by Nagle's algorithm.
		wire=dgram,id=wire
		wire+=,local.type=unix,local.path=$state/wire-$node
		wire+=,remote.type=unix,remote.path=$state/wire-$peer
	fi
	[ "$accel" = kvm ] || accel=tcg,thread=multi
	: >"$LAB_STATE/console-$node"
	rm -f "$LAB_STATE/wire-$node"
	setpriv --pdeathsig KILL "$LAB_QEMU" \
		-name "rdma-lab-$LAB_NAME-$node" "${LAB_QEMU_MACHINE[@]}" \
		-accel "$accel" -smp "$LAB_CPUS" -m "$LAB_MEMORY" \
		-nodefaults -no-user-config -display none -no-reboot \
		-rtc base=utc,clock=host \
		-kernel "$kernel" -initrd "$LAB_STATE/initrd" \
		-append "console=$LAB_CONSOLE quiet loglevel=4 panic=-1 net.ifnames=0 rdma_lab=1 lab.node=$node" \
		-chardev "file,id=console,path=$state/console-$node" \
		-serial chardev:console \
		-object rng-random,id=rng,filename=/dev/urandom \
		-device virtio-rng-pci,rng=rng \
		-fsdev local,id=root,path=/,readonly=on,security_model=none,multidevs=remap \
		-device virtio-9p-pci,fsdev=root,mount_tag=root \
		-fsdev "local,id=modules,path=${modules//,/,,},readonly=on,security_model=none" \
		-device virtio-9p-pci,fsdev=modules,mount_tag=modules \
		-fsdev "local,id=repo,path=${LAB_REPO//,/,,},security_model=none,multidevs=remap" \
		-device virtio-9p-pci,fsdev=repo,mount_tag=repo \
		-netdev user,id=mgmt,restrict=on,hostfwd=tcp:127.0.0.1:0-10.0.2.15:22 \
		-device "virtio-net-pci,netdev=mgmt,mac=52:54:00:52:45:0$number,romfile=" \
		-netdev "$wire" \
		-device "virtio-net-pci,netdev=wire,mac=52:54:00:52:44:0$number,romfile=" \
		{lock}<&- </dev/null >"$LAB_STATE/qemu-$node" 2>&1 &
	node_pid[$node]=$!
}

# node_said NODE TEXT: has the guest written the line `lab: TEXT`?
node_said()
{
	grep -qs "^lab: $2" "$LAB_STATE/console-$1"
}

# node_await NODE TEXT SECONDS: wait for a line; 1 if time is up, 2 if the
# node died or said that it failed.
node_await()
{
	local deadline=$((SECONDS + $3)) said line

	while ! node_said "$1" "$2"; do
		kill -0 "${node_pid[$1]}" 2>/dev/null || return 2
		node_said "$1" failed && return 2
		[ "$SECONDS" -lt "$deadline" ] || return 1
		pause 0.05
	done
}

# node_connect NODE: find the port that qemu listens on, and keep one ssh
# connection open, which every exec and shell then shares.
node_connect()
{
	local node=$1 port deadline=$((SECONDS + 20))

	port=$(ss -Hltnp | sed -n \
		"s/^.* 127\.0\.0\.1:\([0-9]*\) .*pid=${node_pid[$node]},.*/\1/p")
	[ -n "$port" ] || return 1
	note "port_$node=$port"
	cat >>"$LAB_STATE/ssh" <<-END
		Host $node
		HostName 127.0.0.1
		Port $port
		HostKeyAlias lab-$node
		User root
		IdentityFile $LAB_STATE/key
		IdentitiesOnly yes
		IdentityAgent none
		UserKnownHostsFile $LAB_STATE/known_hosts
		GlobalKnownHostsFile /dev/null
		StrictHostKeyChecking yes
		PreferredAuthentications publickey
		ControlPath $LAB_STATE/ssh-$node
		ConnectTimeout 20
		LogLevel ERROR
	END
	setpriv --pdeathsig KILL ssh -F "$LAB_STATE/ssh" -M -N "$node" \
		{lock}<&- </dev/null >"$LAB_STATE/master-$node" 2>&1 &
	master_pid[$node]=$!
	while [ ! -S "$LAB_STATE/ssh-$node" ]; do
		kill -0 "${master_pid[$node]}" 2>/dev/null || return 1
		[ "$SECONDS" -lt "$deadline" ] || return 1
		pause 0.05
	done
	# The emulated clock chip knows whole seconds only.
	ssh -F "$LAB_STATE/ssh" "$node" "date -s @$EPOCHREALTIME" \
		</dev/null >/dev/null 2>>"$LAB_STATE/master-$node"
}
