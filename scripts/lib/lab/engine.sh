# shellcheck shell=bash
# Which engine runs the nodes: qemu with KVM, User-Mode Linux, or qemu with
# emulation (tcg), in this order, by what works and what is there. Sourced by
# keeper.sh, and by plan.sh for what `make doctor` says.

# engine_choose: sets accel to kvm, uml or tcg; kvm is what choose_accel (node.sh)
# then finds out.
engine_choose()
{
	local why

	accel=$LAB_ENGINE
	case $accel in
	kvm | tcg) return ;;
	uml)
		! why=$(engine_uml_not) ||
			fail "${LAB_TIME:+--time own needs }LAB_ENGINE=uml, and a User-Mode Linux node cannot run here" "$why" \
				"Unset LAB_ENGINE${LAB_TIME:+ and LAB_TIME}: the lab then takes what works."
		return
		;;
	esac
	# Only the lab's own kernel is sure to have siw.
	if [ "$lab_driver" = rxe ] && engine_kvm; then
		accel=kvm
	elif ! engine_uml_not >/dev/null; then
		accel=uml
	fi
}

# engine_kvm: does a guest really boot in KVM here, as far as it is known? What is
# not known is tried only if that takes no more than a moment: with a kernel that is
# there, or if there is no other way to be quick.
engine_kvm()
{
	local boot_id verdict=''

	[ "$LAB_ARCH" = "$(uname -m)" ] && [ -r /dev/kvm ] && [ -w /dev/kvm ] ||
		return 1
	read -r boot_id </proc/sys/kernel/random/boot_id
	read -r verdict 2>/dev/null <"$LAB_CACHE/kvm"
	case $verdict in
	"$boot_id kvm") return 0 ;;
	"$boot_id tcg") return 1 ;;
	esac
	engine_uml_not >/dev/null || kernel_from_host || kernel_from_cache
}

# engine_kvm_not: why kvm is not taken, in words.
engine_kvm_not()
{
	if [ "$LAB_ARCH" != "$(uname -m)" ]; then
		echo "another processor is asked for"
	elif [ ! -e /dev/kvm ]; then
		echo "there is no /dev/kvm"
	elif [ ! -r /dev/kvm ] || [ ! -w /dev/kvm ]; then
		echo "/dev/kvm is not yours to use"
	elif [ -n "$LAB_ENGINE" ]; then
		echo "LAB_ENGINE=$LAB_ENGINE"
	elif grep -qs tcg "$LAB_CACHE/kvm"; then
		echo "no guest boots in /dev/kvm"
	else
		echo "not known whether a guest boots in /dev/kvm; --engine kvm tries"
	fi
}

# engine_uml_not: fails if a node can be a User-Mode Linux kernel here; else says why
# it cannot.
engine_uml_not()
{
	if [ -n "$LAB_ENGINE" ] && [ "$LAB_ENGINE" != uml ]; then
		echo "LAB_ENGINE=$LAB_ENGINE"
	elif [ -n "$LAB_KERNEL" ] || [ "$LAB_ARCH" != "$(uname -m)" ]; then
		echo "another kernel or processor is asked for (LAB_KERNEL, LAB_ARCH)"
	elif [ "$LAB_CPUS_ASKED" ]; then
		echo "a User-Mode Linux node has one processor, and LAB_CPUS=$LAB_CPUS is asked for"
	else
		! "${lab_python[@]}" lab.uml why-not
	fi
}
