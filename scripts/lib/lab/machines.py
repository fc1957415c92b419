"""What is different from one processor to another."""
import os
import typing

from lib.lab.settings import Failed


class Machine(typing.NamedTuple):
    """One kind of processor."""

    qemu: str
    qemu_package: str
    options: tuple[str, ...]
    console: str
    # Where the processor is emulated: what it does without, and what stands on the
    # kernel's command line.
    without: str
    emulated: str
    kernel_package: str


# aarch64 has been run emulated only.
MACHINES = {
    # Emulated on a busy machine, the kernel's check of the timer fails now and then,
    # and the TSC, the one clock that can be read without leaving the guest, is
    # distrusted or taken for a much slower one. So the clock is hpet, until
    # guest-setup.sh knows that the TSC is right. For the rest see docs/decisions.md.
    'x86_64': Machine('qemu-system-x86_64', 'qemu-system-x86',
                      ('-machine', 'q35,sata=off,smbus=off'), 'ttyS0',
                      ',-erms,-fsrm,-smap,-umip,-mpx,-pku',
                      'no_timer_check tsc=reliable clocksource=hpet '
                      'mitigations=off cryptomgr.notests pci=noearly',
                      'linux-image-amd64'),
    # What is slow to emulate, and of no use here.
    'aarch64': Machine('qemu-system-aarch64', 'qemu-system-arm',
                       ('-machine', 'virt'), 'ttyAMA0', '',
                       'arm64.nopauth arm64.nosve', 'linux-image-arm64'),
}


def machine() -> Machine:
    """This one. Failed: it is unknown."""
    name = os.uname().machine
    if name not in MACHINES:
        raise Failed(f'the lab does not know the processor {name}',
                     f'It is written for {" and ".join(MACHINES)}: see scripts/lib/lab/machines.py.')
    return MACHINES[name]
