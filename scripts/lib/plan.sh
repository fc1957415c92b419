# plan.sh - what a run here would install, fetch and need; to be sourced
#
# Nothing here changes anything. For demo.sh --plan and doctor.sh.
# shellcheck shell=bash disable=SC2154 # set by the parts of the lab

plan_top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# plan_packages SET…: what of these sets of install_deps.sh is missing, in a line.
plan_packages() {
	"$plan_top/scripts/install_deps.sh" --size "$@"
}

# Which kernel the lab would boot, and what it costs to get it, in a line. In a
# shell of its own, as the lab's parts set a lot.
plan_kernel() (
	size="Debian's, 70 to 107 MB"
	# shellcheck source=/dev/null
	. "$plan_top/scripts/lib/lab/common.sh"
	# shellcheck source=/dev/null
	. "$LAB_PARTS/kernel.sh"
	# shellcheck source=/dev/null
	. "$LAB_PARTS/fetch.sh"
	# shellcheck source=/dev/null
	. "$LAB_PARTS/engine.sh"
	# kernel.sh says by this what cannot be done.
	fail() {
		echo "none yet, and none can be fetched: $1"
		exit 1
	}
	engine_choose
	if [[ $accel == uml ]]; then
		echo "the lab's own, $(<"$LAB_CACHE/uml/release"), which is in $LAB_CACHE already"
	elif [[ -n $LAB_KERNEL ]]; then
		kernel_from_caller
		echo "$LAB_KERNEL, as LAB_KERNEL says"
	elif kernel_from_host; then
		echo "this machine's own, $version"
	elif kernel_from_cache; then
		echo "$version, which is in $LAB_CACHE already"
	else
		# Without lists, apt is asked for them before it is for a kernel.
		if command -v apt-cache >/dev/null; then
			! kernel_packages ||
				size="${packages[0]}, $((bytes / 1000000)) MB"
		elif pinned_read; then
			size="Linux $release, $((bytes / 1000000)) MB"
		fi
		echo "to be fetched into $LAB_CACHE: $size, and 350 MB on disk there"
	fi
)

# Which engine the lab would take, and why no better one, in a line.
plan_engine() (
	# shellcheck source=/dev/null
	. "$plan_top/scripts/lib/lab/common.sh"
	# shellcheck source=/dev/null
	. "$LAB_PARTS/kernel.sh"
	# shellcheck source=/dev/null
	. "$LAB_PARTS/engine.sh"
	fail() {
		echo "$*"
		exit 1
	}
	engine_choose
	case $accel in
	kvm) echo "kvm, if a guest really boots in /dev/kvm, which is tried first" ;;
	uml) echo "uml: each node's kernel is a process; not kvm: $(engine_kvm_not)" ;;
	*)
		echo "tcg, emulated, about ten times slower; not kvm: $(engine_kvm_not);" \
			"not uml: $(engine_uml_not)"
		;;
	esac
)

# plan_memory NODES: what the lab takes of it, and whether that is there.
plan_memory() (
	# shellcheck source=/dev/null
	. "$plan_top/scripts/lib/lab/common.sh"
	need=$((LAB_MEMORY * $1))

	free=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
	echo "at most $need MB; $free MB are free here"
	[[ $free -ge $need ]]
)
