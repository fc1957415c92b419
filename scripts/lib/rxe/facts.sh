# facts.sh - what this machine's kernel is and can do, read from its own files
#
# Sourced by setup_rxe.sh. Every path below begins with RXE_ROOT, which is
# empty except in tests: there it names a small tree of files that stands for
# a machine that is not at hand (WSL2, a cloud kernel).
# shellcheck shell=bash disable=SC2034,SC2154 # variables cross the files

RXE_ROOT=${RXE_ROOT:-}

have() { command -v "$1" >/dev/null; }

# Sets line to the first line of a file below RXE_ROOT, or to nothing. No
# subshell and no cat: --quiet-check runs often, and a fork is what costs.
read_line() {
	line=''
	{ IFS= read -r line <"$RXE_ROOT$1"; } 2>/dev/null || [[ -n $line ]]
}

# Sets release, as uname -r would say.
kernel_release() {
	read_line /proc/sys/kernel/osrelease
	release=$line
}

# Sets distribution to its own name for itself: debian, ubuntu, fedora, ...
find_distribution() {
	distribution=$(sed -n 's/^ID="\{0,1\}\([a-z0-9._-]*\)"\{0,1\}$/\1/p' \
		"$RXE_ROOT/etc/os-release" 2>/dev/null)
}

# Prints the command that installs a package, by its name in Debian and in
# Fedora; for other distributions just both names.
how_to_install() {
	find_distribution
	case $distribution in
	debian | ubuntu) echo "sudo apt-get install $1" ;;
	fedora) echo "sudo dnf install $2" ;;
	*) echo "install the package $1 (Debian) or $2 (Fedora)" ;;
	esac
}

module_loaded() {
	[[ -d $RXE_ROOT/sys/module/$1 ]]
}

# Prints the name that a module has in the kernel's configuration.
config_name() {
	case $1 in
	siw) echo CONFIG_RDMA_SIW ;;
	*) echo "CONFIG_${1^^}" ;;
	esac
}

module_builtin() {
	kernel_release
	grep -qs "/$1\.ko" "$RXE_ROOT/lib/modules/$release/modules.builtin" ||
		[[ $(config_of "$(config_name "$1")") == y ]]
}

module_here() {
	module_loaded "$1" || module_builtin "$1"
}

# Sets file to the path of a module of the running kernel, or to nothing.
module_file() {
	local dir

	kernel_release
	dir=$RXE_ROOT/lib/modules/$release
	file=$(grep -m 1 "^[^:]*/$1\.ko[.a-z0-9]*:" "$dir/modules.dep" \
		2>/dev/null)
	file=${file:+$dir/${file%%:*}}
	[[ -e $file ]] || file=''
}

# Prints y, m, or n as the running kernel was configured, or nothing if its
# configuration is not published here.
config_of() {
	local config said

	kernel_release
	for config in /proc/config.gz "/boot/config-$release" \
		"/lib/modules/$release/config"; do
		[[ -r $RXE_ROOT$config ]] || continue
		said=$(gzip -dcf "$RXE_ROOT$config" 2>/dev/null | grep "^$1=")
		case $said in
		*=y) echo y ;;
		*=m) echo m ;;
		*) echo n ;;
		esac
		return
	done
}

is_wsl() {
	grep -qis microsoft "$RXE_ROOT/proc/sys/kernel/osrelease"
}

# Prints what kind of container this is, or nothing. A container has a
# namespace of its own for process ids; the number of the initial one is fixed
# in the kernel. Left-over marks such as /.dockerenv prove nothing (an image may
# be booted as a virtual machine): they only give the kind its name.
container_kind() {
	local space

	is_wsl && return
	space=$(readlink "$RXE_ROOT/proc/self/ns/pid")
	[[ -z $space || $space == 'pid:[4026531836]' ]] && return
	if [[ -e $RXE_ROOT/.dockerenv ]]; then
		echo docker
	elif [[ -e $RXE_ROOT/run/.containerenv ]]; then
		echo podman
	elif [[ -s $RXE_ROOT/run/systemd/container ]]; then
		read_line /run/systemd/container && echo "$line"
	elif [[ -n ${KUBERNETES_SERVICE_HOST:-} ]]; then
		echo kubernetes
	else
		echo 'of a kind that it does not name'
	fi
}

# Why the driver cannot be loaded here; nothing to say if it is loaded, built in
# or there to be loaded. Sets level (fix: a person can mend it; no: not on
# this kernel), cause and fix.
module_trouble() {
	local container other file

	level=no cause='' fix=''
	container=$(container_kind)
	if [[ -n $container ]]; then
		cause="this is a container ($container): the kernel and its modules"
		cause+=" are the host's"
		fix="set it up on the host, and give the container the device"
		return
	fi
	if module_here "$driver_module"; then
		level=''
		return
	fi
	module_file "$driver_module"
	if [[ ! -e $RXE_ROOT/proc/modules ]]; then
		cause="kernel $release has no support for modules at all (there is no"
		cause+=" /proc/modules), and no $driver_module built in"
		fix="boot a kernel that has it"
	elif [[ -n $file ]]; then
		level=''
	elif is_wsl; then
		cause="this is WSL2, whose kernel ($release) has no $driver_module"
		fix="build a kernel with $(config_name "$driver_module") and name it in .wslconfig"
	elif [[ ! -d $RXE_ROOT/lib/modules/$release ]]; then
		other=$(basename -a "$RXE_ROOT"/lib/modules/*/ 2>/dev/null | tail -n 1)
		cause="the modules of the running kernel ($release) are not in"
		cause+=" /lib/modules"
		fix="boot a kernel that comes with its modules"
		if [[ -n $other && $other != '*' ]]; then
			level=fix
			cause+=", which has those of $other: an update, and no reboot"
			fix="reboot"
		fi
	elif [[ $release == *-cloud-* ]]; then
		cause="$release is a cloud kernel, which leaves $driver_module out"
		fix="sudo apt-get install linux-image-${release##*-}, remove the cloud"
		fix+=" kernel and reboot"
	else
		if [[ $(config_of "$(config_name "$driver_module")") == n ]]; then
			cause="kernel $release was built without $driver_module"
			cause+=" ($(config_name "$driver_module") is not set)"
			fix="boot a kernel that has it"
			return
		fi
		level=fix
		cause="$driver_module is not among the installed modules of $release"
		find_distribution
		case $distribution in
		ubuntu) fix="sudo apt-get install linux-modules-extra-$release" ;;
		debian) fix="sudo apt-get install --reinstall linux-image-$release" ;;
		fedora) fix="sudo dnf install kernel-modules-extra-$release" ;;
		*) fix="install the package that has $driver_module.ko for $release" ;;
		esac
	fi
}

# What to do about the lab: start it, or where it is up already, go there.
lab_hint() {
	if [[ ${driver:-} == siw ]]; then
		echo 'scripts/lab.sh up --device siw (the lab, a throwaway VM)'
	elif "${BASH_SOURCE[0]%/*}/../../lab.sh" status >/dev/null 2>&1; then
		echo 'scripts/lab.sh shell a (the lab is up)'
	else
		echo 'scripts/lab.sh up (the lab, a throwaway VM)'
	fi
}
