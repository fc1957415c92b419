"""Which engine runs the nodes, by what works here and what is there.

Usage: python3 -m lib.lab.choose engine|kernel

Says in words what a lab would take: for demo.sh --plan and doctor.sh.
"""
import os
import sys

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


def engine_in_words(settings: Settings) -> str:
    """For `make doctor`."""
    name = choose(settings)
    if name == 'kvm':
        return 'kvm, if a guest really boots in /dev/kvm, which is tried first'
    if name == 'uml':
        return ("uml: each node's kernel is a process; not kvm: "
                + why_not_kvm(settings))
    return ('tcg, emulated, about ten times slower; not kvm: '
            f'{why_not_kvm(settings)}; not uml: {uml.why_not(settings)}')


def kernel_in_words(settings: Settings) -> str:
    """Which kernel the lab would boot, and what it costs to get it."""
    try:
        if choose(settings) == 'uml':
            release = (uml.folder_of(settings) / 'release').read_text().strip()
            return f"the lab's own, {release}, which is in {settings.cache} already"
        if settings.kernel:
            kernel.from_caller(settings)
            return f'{settings.kernel}, as LAB_KERNEL says'
        if found := kernel.from_host():
            return f"this machine's own, {found.release}"
        if found := kernel.from_cache(settings):
            return f'{found.release}, which is in {settings.cache} already'
        return (f'to be fetched into {settings.cache}: {kernel.size(settings)}, '
                'and 350 MB on disk there')
    except Failed as error:
        raise Failed(f'none yet, and none can be fetched: {error.args[0]}'
                     ) from error


def main(what: str) -> int:
    """As the usage says."""
    settings = Settings(dict(os.environ))
    try:
        settings.check()
        print(engine_in_words(settings) if what == 'engine'
              else kernel_in_words(settings))
    except Failed as error:
        print(' '.join(error.args))
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
