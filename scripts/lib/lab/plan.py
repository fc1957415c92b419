"""What a lab would take, in words: for demo.sh --plan and doctor.sh.

Usage: python3 -m lib.lab.plan engine|kernel
"""
import os
import sys

from lib.lab import kernel, uml
from lib.lab.choose import choose, why_not_kvm
from lib.lab.settings import Failed, Settings


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
