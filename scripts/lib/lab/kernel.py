"""A kernel for virtual machines, and its modules.

It is the one that the caller names, this machine's own, or one that is fetched once
into the cache (fetch.sh).
"""
from __future__ import annotations

import fcntl
import os
import pathlib
import re
import subprocess
import typing

from lib.lab.machines import machine
from lib.lab.settings import PARTS, Failed, Settings, say

# Without these the lab cannot boot, or has no rxe.
NEEDED = ('9pnet_virtio', '9p', 'overlay', 'virtio_pci', 'virtio_net',
          'virtio_console', 'rdma_rxe', 'rdma_ucm')


class Kernel(typing.NamedTuple):
    """An image to boot, the folder of its modules, and its release."""

    image: str
    modules: str
    release: str

    def lacks(self) -> list[str]:
        """The needed modules that it has neither as files nor built in."""
        return [name for name in NEEDED if not self.has(name)]

    def has(self, name: str) -> bool:
        """Whether it has a module."""
        text = ''
        for file in 'modules.dep', 'modules.builtin':
            path = pathlib.Path(self.modules, file)
            if path.is_file():
                text += path.read_text('utf-8', 'replace')
        return re.search(rf'/{name}\.ko', text) is not None

    def is_complete(self) -> bool:
        """Whether the lab can boot it."""
        return (is_readable(self.image) and
                is_readable(f'{self.modules}/modules.dep') and
                not self.lacks())


def is_readable(path: str) -> bool:
    """Whether it is a file of which we may read."""
    return os.path.isfile(path) and os.access(path, os.R_OK)


def from_caller(settings: Settings) -> Kernel:
    """The kernel of LAB_KERNEL, with LAB_MODULES or what belongs to it."""
    image = settings.kernel
    if not is_readable(image):
        raise Failed(
            f'LAB_KERNEL={image} is not a file that can be read',
            'It must name the kernel image to boot in the lab '
            '(vmlinuz, bzImage).', 'Correct it, or unset it: then the lab finds '
            'or fetches a kernel itself.')
    modules = settings.modules.rstrip('/') or (
        '/lib/modules/' + os.path.basename(image).removeprefix('vmlinuz-'))
    kernel = Kernel(image, modules, os.path.basename(modules))
    if not is_readable(f'{modules}/modules.dep'):
        raise Failed(
            f'no modules for the kernel {image} in {modules}',
            'LAB_MODULES must name the directory of its modules: the one with '
            'modules.dep,', "which is called as the kernel's version (depmod "
            'writes modules.dep).')
    if lacks := kernel.lacks():
        raise Failed(
            f'the modules in {modules} lack: {" ".join(lacks)}',
            'The lab cannot boot without them (kernels for clouds leave '
            'rdma_rxe and 9p out).',
            'Unset LAB_KERNEL: then the lab finds or fetches a kernel itself.')
    return kernel


def from_host() -> Kernel | None:
    """This machine's own, where all of it is readable and complete."""
    release = subprocess.run(['uname', '-r'], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.strip()
    modules = f'/lib/modules/{release}'
    for image in f'/boot/vmlinuz-{release}', f'{modules}/vmlinuz':
        kernel = Kernel(image, modules, release)
        if kernel.is_complete():
            return kernel
    return None


def by_version(path: pathlib.Path) -> list[tuple[int, str]]:
    """A key to sort by: 6.9 is before 6.12."""
    return [(int(number or 0), text)
            for number, text in re.findall(r'(\d*)(\D*)', path.name)]


def newest(settings: Settings) -> Kernel | None:
    """The newest one in the cache."""
    folders = sorted((path for path in pathlib.Path(settings.kernels).glob('*/')
                      if path.is_dir()), key=by_version)
    if not folders:
        return None
    release = folders[-1].name
    image = folders[-1] / 'vmlinux'
    if not image.exists():
        image = folders[-1] / 'vmlinuz'
    return Kernel(str(image), str(folders[-1] / 'modules' / release), release)


def from_cache(settings: Settings) -> Kernel | None:
    """The newest one in the cache, if it is complete."""
    kernel = newest(settings)
    return kernel if kernel and kernel.is_complete() else None


def at_hand(settings: Settings) -> Kernel | None:
    """The one that is asked for, or one that need not be fetched."""
    if settings.kernel:
        return from_caller(settings)
    return from_host() or from_cache(settings)


def fetch(settings: Settings) -> Kernel:
    """Fetches one, unless another lab does so meanwhile."""
    try:
        os.makedirs(settings.kernels, exist_ok=True)
        cache = os.open(settings.kernels, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise Failed(
            f'cannot write in the cache directory {settings.cache}',
            "The guest's kernel is fetched into it, once.", 'Set LAB_CACHE to a '
            'directory where you may write and that has 350 MB free.') from error
    try:
        try:
            fcntl.flock(cache, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say('waiting for another lab that fetches the kernel')
            fcntl.flock(cache, fcntl.LOCK_EX)
        # It tells what it does, and what is wrong.
        if not from_cache(settings) and subprocess.run(
                ['setpriv', '--pdeathsig', 'TERM', f'{PARTS}/fetch.sh', settings.kernels,
                 machine().kernel_package], check=False).returncode:
            raise SystemExit(1)
        kernel = newest(settings)
    finally:
        os.close(cache)
    if not kernel or not kernel.is_complete():
        lacks = ' '.join(kernel.lacks()) if kernel else 'everything'
        raise Failed('the fetched kernel '
                     f'{kernel.release if kernel else ""} lacks: {lacks}',
                     'Name another one with LAB_KERNEL and LAB_MODULES.')
    return kernel
