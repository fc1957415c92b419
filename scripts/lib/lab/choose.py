"""Which engine runs the nodes, by what works here and what is there.

Usage: python3 -m lib.lab.choose engine|kernel

Says in words what a lab would take: for demo.sh --plan and doctor.sh.
"""
import collections.abc
import os
import sys

from lib.lab import kernel, qemu, uml
from lib.lab.kernel import Kernel
from lib.lab.settings import Failed, Settings


def choose(settings: Settings,
           fetch: collections.abc.Callable[[Settings], Kernel | None] = kernel.fetch
           ) -> tuple[str, Kernel | None]:
    """kvm, uml or tcg, and for a virtual machine, its kernel.

    To fetch one takes longer than KVM saves. So where the other engine is quick, too, KVM
    is taken with a kernel that is there. Only the lab's own kernel is sure to have siw.
    """
    why_not = uml.why_not(settings)
    if why_not and settings.engine == 'uml':
        raise Failed('LAB_ENGINE=uml, and a User-Mode Linux node cannot run here', why_not,
                     'Unset LAB_ENGINE: the lab then takes what works.')
    found = kernel.at_hand(settings)
    if not why_not and (not found or settings.device != 'rxe'):
        return 'uml', None
    found = found or fetch(settings)
    if found and settings.device == 'siw' and not found.has('siw'):
        raise Failed(
            f'the kernel {found.release} has no siw', "The lab's own kernel has it: make "
            'lab-kernel builds that, once.', f'Why it is not used: {why_not}',
            "Or name a kernel that has siw, as Ubuntu's have: LAB_KERNEL and LAB_MODULES.")
    why_not_kvm = qemu.why_not_kvm(settings, found)
    if why_not_kvm and settings.engine == 'kvm':
        raise Failed('LAB_ENGINE=kvm, and no guest boots in it', why_not_kvm, 'Unset LAB_ENGINE: '
                     'the lab then runs in software, about ten times slower.')
    if why_not_kvm and not why_not:
        return 'uml', None
    return 'tcg' if why_not_kvm else 'kvm', found


def why_slower(settings: Settings) -> str:
    """Why nodes are emulated although the kernel of User-Mode Linux has been built; '' if that is as asked for."""
    if settings.engine or settings.kernel or \
            not (uml.folder_of(settings) / 'linux').exists():
        return ''
    return uml.why_not(settings)


def engine_in_words(settings: Settings) -> str:
    """For `make doctor`."""
    name, found = choose(settings, lambda _: None)
    if name == 'kvm':
        return 'kvm' if found else 'kvm, if a guest really boots in /dev/kvm'
    why_not = qemu.why_not_kvm(settings, found) or 'the kernel for it would have to be fetched'
    if name == 'uml':
        return f"uml: each node's kernel is a process; not kvm: {why_not}"
    return ('tcg, emulated, about ten times slower; not kvm: '
            f'{why_not}; not uml: {uml.why_not(settings)}')


def kernel_in_words(settings: Settings) -> str:
    """Which kernel the lab would boot, and what it costs to get it."""
    try:
        name, found = choose(settings, lambda _: None)
    except Failed as error:
        raise Failed(f'none yet: {error.args[0]}') from error
    if name == 'uml':
        release = (uml.folder_of(settings) / 'release').read_text().strip()
        return f"the lab's own, {release}, which is in {settings.cache} already"
    if found:
        return f'{found.release}, which is here already: {found.image}'
    return f'to be fetched into {settings.cache}: 70 to 107 MB, and 350 MB on disk there'


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
