# shellcheck shell=bash
# The nodes: choosing the accelerator, starting qemu, waiting for what the
# guest says on its console, connecting. Sourced by keeper.sh.

# Seconds that a guest under KVM gets for its first line. It needs less than
# one; where /dev/kvm opens but does not work, it would hang for ever.
kvm_deadline=6

# boot: every node up to its line "ready", and an ssh connection to each.
boot()
{
	local node

	sandbox_make
	choose_accel
	step "booting $(lab_nodes "${#names[@]}"), $accel"
	[ "${#names[@]}" -le 2 ] || start_switch
	for node in "${names[@]}"; do
		[ -n "${pid_of[$node]:-}" ] || node_start "$node"
	done
	for node in "${names[@]}"; do
		node_boot "$node"
	done
	for node in "${names[@]}"; do
		step "connecting to node $node"
		node_connect "$node"
	done
}

# start_switch: the wire of more than two nodes.
start_switch()
{
	"${lab_python[@]}" lab.switch "$LAB_STATE" "${names[@]}" {lock}<&- </dev/null \
		>"$LAB_STATE/switch" 2>&1 &
	pid_of["switch"]=$!
}

# node_boot NODE: wait until the node, which has been started, is ready. With ten
# nodes at once on two processors, the longest step of a boot took 37 s; alone, 4 s.
# An emulated kernel has hung early in its boot, though, and said no more: it gets a
# second try, with twice the patience.
node_boot()
{
	local status=0

	node_await "$1" ready 240 "$LAB_SILENCE" || status=$?
	if [ "$status" -eq 3 ]; then
		step "node $1 said nothing new for $LAB_SILENCE s: booting it again"
		node_end "$1"
		node_start "$1"
		status=0
		node_await "$1" ready 240 $((2 * LAB_SILENCE)) || status=$?
	fi
	[ "$status" -eq 0 ] || fail_boot "$1" "$status"
}

# fail_boot NODE STATUS: say why node_await gave up.
fail_boot()
{
	local what="node $1 was not ready after 240 s" last

	last=$(sed -n 's/^lab: //p' "$LAB_STATE/console-$1" | tail -n 1)
	[ "$2" -ne 2 ] || what="node $1 ended during the boot"
	[ "$2" -ne 3 ] || what="node $1 hung during the boot, twice"
	if [ ! -s "$LAB_STATE/console-$1" ]; then
		fail_log "$what: the guest said nothing" "$LAB_STATE/qemu-$1" \
			"LAB_ENGINE=tcg excludes KVM. Two nodes need qemu 7.2 or newer."
	fi
	fail_log "$what; it last said: ${last:-nothing}" "$LAB_STATE/console-$1"
}

# choose_accel: kvm if a guest really boots in it. The answer holds until the
# host boots again, so only the first `up` pays for finding out.
choose_accel()
{
	local boot_id verdict='' notes=$LAB_CACHE/kvm

	accel=$LAB_ENGINE
	# Only a processor of the same kind can lend itself.
	[ "$LAB_ARCH" = "$(uname -m)" ] || accel=tcg
	[ "$accel" != tcg ] || return
	if [ ! -r /dev/kvm ] || [ ! -w /dev/kvm ]; then
		[ "$accel" != kvm ] ||
			fail "LAB_ENGINE=kvm, and /dev/kvm cannot be opened" \
				"It is absent or not yours to use (often it belongs to the group kvm)." \
				"Unset LAB_ENGINE: the lab then runs in software, about ten times slower."
		accel=tcg
		return
	fi
	read -r boot_id </proc/sys/kernel/random/boot_id
	[ "$accel" = kvm ] || read -r verdict 2>/dev/null <"$notes"
	case $verdict in
	"$boot_id kvm" | "$boot_id tcg")
		accel=${verdict##* }
		return
		;;
	esac
	step "trying KVM (at most $kvm_deadline s)"
	accel=kvm
	node_start a
	if ! node_await a hello "$kvm_deadline"; then
		[ -z "$LAB_ENGINE" ] ||
			fail_log "LAB_ENGINE=kvm, and no guest boots in it" "$LAB_STATE/qemu-a" \
				"/dev/kvm opens, but a guest in it did not come to its first line within $kvm_deadline s." \
				"Unset LAB_ENGINE: the lab then runs in software, about ten times slower."
		node_end a
		accel=tcg
	fi
	mkdir -p "$LAB_CACHE" 2>/dev/null &&
		printf '%s %s\n' "$boot_id" "$accel" 2>/dev/null >"$notes"
}

# node_end NODE: kill its qemu.
node_end()
{
	kill -KILL "${pid_of[$1]}" 2>/dev/null
	wait "${pid_of[$1]}"
	unset "pid_of[$1]"
}

# node_start NODE: start qemu; pid_of[NODE] is its process, or that of its sandbox,
# which ends with it.
node_start()
{
	local node=$1 number peer="wire-b" wire=hubport,id=wire,hubid=0
	local state=${LAB_STATE//,/,,} how=$accel arguments=''

	number=$(($(printf %d "'$node") - 96))
	[ "$node" = a ] || peer="wire-a"
	[ "${#names[@]}" -le 2 ] || peer="port-$node"
	# Datagrams over unix sockets: a wire of TCP (-netdev socket) would
	# delay every packet by Nagle's algorithm.
	[ "${#names[@]}" -eq 1 ] ||
		wire="dgram,id=wire,local.type=unix,local.path=$state/wire-$node,remote.type=unix,remote.path=$state/$peer"
	# Translated code would otherwise fill a gigabyte.
	[ "$accel" = kvm ] ||
		how=tcg,thread=multi,tb-size=256 arguments=$LAB_EMULATED
	rm -f "$LAB_STATE/wire-$node" "$LAB_STATE/monitor-$node".{in,out}
	# Where `lab.sh reset` talks to qemu.
	mkfifo "$LAB_STATE/monitor-$node".{in,out}
	: >"$LAB_STATE/console-$node"
	setpriv --pdeathsig KILL "${sandbox[@]}" "$LAB_QEMU" \
		-name "rdma-lab-$LAB_NAME-$node" "${LAB_QEMU_MACHINE[@]}" \
		-accel "$how" -smp "$LAB_CPUS" -m "$LAB_MEMORY" \
		-nodefaults -no-user-config -display none -no-reboot \
		-rtc base=utc,clock=host \
		-kernel "$kernel" -initrd "$LAB_STATE/initrd" -append \
		"console=$LAB_CONSOLE quiet loglevel=4 panic=-1 net.ifnames=0 rdma_lab=1 lab.node=$node $arguments" \
		-chardev "file,id=console,path=$state/console-$node" \
		-serial chardev:console \
		-chardev "pipe,id=monitor,path=$state/monitor-$node" \
		-mon chardev=monitor,mode=control \
		-object rng-random,id=rng,filename=/dev/urandom \
		-device virtio-rng-pci,rng=rng \
		-fsdev "local,id=root,path=${LAB_ROOT//,/,,},readonly=on,security_model=none,multidevs=remap" \
		-device virtio-9p-pci,fsdev=root,mount_tag=root \
		-fsdev "local,id=modules,path=${modules//,/,,},readonly=on,security_model=none" \
		-device virtio-9p-pci,fsdev=modules,mount_tag=modules \
		-fsdev "local,id=repo,path=${LAB_REPO//,/,,},security_model=none,multidevs=remap" \
		-device virtio-9p-pci,fsdev=repo,mount_tag=repo \
		-netdev user,id=mgmt,restrict=on,hostfwd=tcp:127.0.0.1:0-10.0.2.15:22 \
		-device "virtio-net-pci,netdev=mgmt,mac=52:54:00:52:45:0$number,romfile=" \
		-netdev "$wire" \
		-device "virtio-net-pci,netdev=wire,mac=52:54:00:52:44:0$number,romfile=" \
		{lock}<&- 9<"$sandbox_filter" </dev/null >"$LAB_STATE/qemu-$node" 2>&1 &
	pid_of["$node"]=$!
	note "pid_$node=$!"
}

# node_await NODE TEXT SECONDS [SILENCE]: wait for the guest's line "lab: TEXT".
# 1: the time is up. 2: the guest is gone, or said that it failed. 3: it has said
# nothing new for SILENCE seconds.
node_await()
{
	local deadline=$((SECONDS + $3)) lines line last='' told='' said=0 since=$SECONDS

	while :; do
		mapfile -t lines <"$LAB_STATE/console-$1"
		[ "${#lines[@]}" -eq "$said" ] || since=$SECONDS
		said=${#lines[@]}
		for line in "${lines[@]}"; do
			line=${line%$'\r'}
			case $line in
			"lab: $2") return 0 ;;
			"lab: failed"*) return 2 ;;
			"lab: step "*) last=${line#lab: step } ;;
			esac
		done
		[ "$last" = "$told" ] || detail "node $1: $last"
		told=$last
		kill -0 "${pid_of[$1]}" 2>/dev/null || return 2
		[ "$SECONDS" -lt "$deadline" ] || return 1
		[ $((SECONDS - since)) -lt "${4:-$3}" ] || return 3
		pause 0.05
	done
}

# node_connect NODE: find the port that qemu got from the host's kernel, write
# ssh's configuration, and open the first connection.
node_connect()
{
	local node=$1 port inner

	inner=$(sandbox_inner "${pid_of[$node]}")
	port=$(ss -Hltnp | sed -n \
		"s/^.* 127\.0\.0\.1:\([0-9]*\) .*pid=$inner,.*/\1/p")
	[ -n "$port" ] || fail "cannot find the port of node $node's ssh" \
		"ss -ltnp does not show process $inner (qemu) listening on 127.0.0.1."
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
			ConnectTimeout 60
			LogLevel ERROR
	END
	watched node_clock "$node" ||
		fail_log "cannot connect to node $node with ssh" "$LAB_STATE/ssh-$node"
}
