#!/usr/bin/env bats
#
# setup_rxe.sh --check: what it says of kernels, modules, Secure Boot, the rdma
# command and the provider library, on machines made of files. No device needed.
# shellcheck disable=SC2154 # can and cannot are those of rxe_tree.bash

load rxe_tree

@test "all is there but the device: can be set up" {
	told 1 'rdma_rxe is there, but not loaded' 'eth0 (it has the default route)'
	[ "${lines[-1]}" = "$can" ]
	[[ $output != *MISSING* ]]
}

@test "module: loaded, or built in" {
	no_module
	mkdir -p "$RXE_ROOT/sys/module/rdma_rxe"
	told 1 'ok       module' "$can"
	rmdir "$RXE_ROOT/sys/module/rdma_rxe"
	put "$MODULES/modules.builtin" kernel/drivers/rdma_rxe.ko
	told 1 'ok       module' "$can"
	rm "$RXE_ROOT$MODULES/modules.builtin"
	put "/boot/config-$RELEASE" 'CONFIG_RDMA_RXE=y'
	told 1 'ok       module' "$can"
}

@test "module: a kernel without support for modules" {
	rm "$RXE_ROOT/proc/modules"
	told 2 MISSING 'no support for modules at all' "$cannot"
}

@test "module: in a container" {
	ln -sfn 'pid:[4026532001]' "$RXE_ROOT/proc/self/ns/pid"
	touch "$RXE_ROOT/.dockerenv"
	told 2 MISSING 'this is a container (docker)' 'on the host' "$cannot"
	rm "$RXE_ROOT/.dockerenv"
	put /run/systemd/container lxc
	told 2 'this is a container (lxc)'
	rm "$RXE_ROOT/run/systemd/container"
	put /run/.containerenv ''
	told 2 'this is a container (podman)'
	rm "$RXE_ROOT/run/.containerenv"
	KUBERNETES_SERVICE_HOST=192.0.2.9 check 2
	says 'this is a container (kubernetes)'
	# It is the host's matter even where the module is loaded.
	mkdir -p "$RXE_ROOT/sys/module/rdma_rxe"
	told 2 MISSING 'this is a container' "$cannot"
}

@test "module: a virtual machine made of a container's image is none" {
	touch "$RXE_ROOT/.dockerenv"
	check 1
	[[ $output != *container* ]]
}

@test "module: WSL2" {
	put /proc/sys/kernel/osrelease 5.15.167.4-microsoft-standard-WSL2
	ln -sfn 'pid:[4026532001]' "$RXE_ROOT/proc/self/ns/pid"
	told 2 MISSING 'this is WSL2' .wslconfig "$cannot"
}

@test "module: a cloud kernel" {
	put /proc/sys/kernel/osrelease 6.1.0-9-cloud-arm64
	put /lib/modules/6.1.0-9-cloud-arm64/modules.dep ''
	told 2 MISSING 'a cloud kernel' 'linux-image-arm64' "$cannot"
}

@test "module: built without it" {
	no_module
	put "/boot/config-$RELEASE" '# CONFIG_RDMA_RXE is not set'
	told 2 MISSING 'CONFIG_RDMA_RXE is not set' "$cannot"
	rm "$RXE_ROOT/boot/config-$RELEASE"
	echo 'CONFIG_INET=y' | gzip >"$RXE_ROOT/proc/config.gz"
	told 2 MISSING 'CONFIG_RDMA_RXE is not set' "$cannot"
}

@test "siw: there to be loaded, or not built, which the lab mends" {
	put "/boot/config-$RELEASE" '# CONFIG_RDMA_SIW is not set'
	check 2 --driver siw
	says MISSING 'built without siw (CONFIG_RDMA_SIW is not set)' \
		'libsiw-rdmav*.so is absent' \
		'siw: cannot be had here: use scripts/lab.sh up --device siw'
	put "$MODULES/kernel/siw.ko" ''
	put "$MODULES/modules.dep" 'kernel/siw.ko:'
	put /usr/lib/x86_64-linux-gnu/libibverbs/libsiw-rdmav34.so ''
	check 1 --driver siw
	says 'there is no siw0 yet' 'siw is there, but not loaded' \
		'siw: can be set up with sudo scripts/setup_rxe.sh --driver siw'
	rxe 64 --check --driver rxx
	says '--driver is rxe or siw'
}

@test "module: a package is missing" {
	no_module
	put "/boot/config-$RELEASE" 'CONFIG_RDMA_RXE=m'
	told 1 MISSING "--reinstall linux-image-$RELEASE" "$can, after"
	put /etc/os-release 'ID=ubuntu'
	told 1 "apt-get install linux-modules-extra-$RELEASE" "$can, after"
	put /etc/os-release 'ID="fedora"'
	told 1 "dnf install kernel-modules-extra-$RELEASE"
	put /etc/os-release 'ID=arch'
	told 1 "the package that has rdma_rxe.ko for $RELEASE"
}

@test "module: an update without a reboot, or no modules at all" {
	mv "$RXE_ROOT$MODULES" "$RXE_ROOT/lib/modules/6.1.0-10-amd64"
	told 1 MISSING "$RELEASE" 'those of 6.1.0-10-amd64' 'fix: reboot' "$can"
	rm -r "$RXE_ROOT/lib/modules"
	told 2 MISSING "running kernel ($RELEASE) are not in" "$cannot"
}

@test "the rdma command: absent" {
	local tool
	rm "$STUBS/rdma"
	for tool in bash sed grep id gzip; do
		ln -s "$(command -v "$tool")" "$STUBS/$tool"
	done
	PATH=$STUBS run -1 "$STUBS/bash" "$SCRIPT" --check
	says MISSING 'rdma command' 'there is none' 'apt-get install iproute2'
	stub ip 'exit 127'
	PATH=$STUBS run -1 "$STUBS/bash" "$SCRIPT" --check
	says MISSING 'netdev' 'there is no ip command' 'apt-get install iproute2'
}

@test "the provider library is absent" {
	rm -r "${RXE_ROOT:?}/usr"
	told 1 MISSING 'librxe-rdmav*.so is absent' 'install ibverbs-providers' \
		"$can, after"
	put /etc/os-release 'ID=fedora'
	told 1 'dnf install libibverbs'
	put /usr/lib64/libibverbs/librxe-rdmav57.so ''
	told 1 'ok       provider'
}

@test "wrong usage" {
	rxe 64 -i
	says '-i needs a name'
	rxe 64 -n ../x
	says 'cannot be a name'
	rxe 64 --setup
	says "unknown argument '--setup'"
	rxe 0 -h
	says usage: 'Exit status of --check: 0 usable now, 1 can be set up, 2'
}

@test "this machine: the last line says what the exit status says" {
	unset RXE_ROOT
	run "$SCRIPT" --check
	case $status in
	0) [[ ${lines[-1]} == 'rxe: usable now: '* ]] ;;
	1) [[ ${lines[-1]} == 'rxe: can be set up'* ]] ;;
	2) [[ ${lines[-1]} == "$cannot"* ]] ;;
	*) false ;;
	esac
	[[ $status == 0 || $output == *MISSING* || $output == *todo* ]]
}

@test "a lab that is up already is named where one would start it" {
	rm "$RXE_ROOT/proc/modules"
	told 2 "$cannot (the lab, a throwaway VM)"
	lab_is_up
	check 2
	lab_is_gone
	says 'rxe: cannot be had here: use scripts/lab.sh shell a (the lab is up)'
}
