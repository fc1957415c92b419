"""Which engine runs the nodes, by what works here and what is there."""
import os

from lib.lab import kernel, qemu, uml
from lib.lab.settings import Failed, Settings


def is_kvm_likely(settings: Settings) -> bool:
    """Whether KVM is the first to be tried.

    Where it is not known that a guest really boots in it, finding out takes some
    seconds. So that is done only with a kernel that is there, or where there is no
    other way to be quick.
    """
    if not qemu.kvm_opens():
        return False
    known = qemu.verdict(settings)
    if known:
        return known == 'kvm'
    return bool(uml.why_not(settings) or kernel.from_host() or
                kernel.from_cache(settings))


def choose(settings: Settings) -> str:
    """uml, kvm (which qemu.py then tries), or tcg (if qemu.py finds no KVM)."""
    if settings.engine == 'uml':
        if why := uml.why_not(settings):
            raise Failed(
                'LAB_ENGINE=uml, and a User-Mode Linux node cannot run here',
                why, 'Unset LAB_ENGINE: the lab then takes what works.')
        return 'uml'
    if settings.engine:
        return settings.engine
    # Only the lab's own kernel is sure to have siw.
    if settings.device == 'rxe' and is_kvm_likely(settings):
        return 'kvm'
    return 'tcg' if uml.why_not(settings) else 'uml'


def why_slower(settings: Settings) -> str:
    """Why nodes are emulated although the kernel of User-Mode Linux has been built; '' if that is as asked for."""
    if settings.engine or settings.kernel or settings.asked_cpus or \
            not (uml.folder_of(settings) / 'linux').exists():
        return ''
    return uml.why_not(settings)


def why_not_kvm(settings: Settings) -> str:
    """Why KVM is not taken, in words."""
    if not os.path.exists('/dev/kvm'):
        return 'there is no /dev/kvm'
    if not qemu.kvm_opens():
        return '/dev/kvm is not yours to use'
    if settings.engine:
        return f'LAB_ENGINE={settings.engine}'
    if qemu.verdict(settings) == 'tcg':
        return 'no guest boots in /dev/kvm'
    return 'not known whether a guest boots in /dev/kvm; --engine kvm tries'
