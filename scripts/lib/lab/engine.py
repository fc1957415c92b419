"""What runs the nodes: what all engines have in common. See uml.py and qemu.py."""
from __future__ import annotations

import abc
import os
import pathlib
import shlex
import shutil
import subprocess

from lib.lab.settings import PARTS, REPOSITORY, Failed, Settings


class Engine(abc.ABC):
    """The nodes of one lab are run by it."""

    # How many bytes may be under way on the line to a node's agent.
    line_room: int
    # Whether a node has a clock of its own, which must be set.
    has_clock: bool

    def __init__(self, settings: Settings):
        self.settings = settings
        # What it is called, and the kernel that it boots.
        self.name = self.release = self.image = ''

    @abc.abstractmethod
    def prepare(self) -> None:
        """Makes what the nodes boot from, before there are any."""

    @abc.abstractmethod
    def start(self, node: str, cable: int, line: int,
              console: int) -> subprocess.Popen[bytes]:
        """Starts a node.

        The files are its end of the wire, of the line to its agent, and where its
        console goes.
        """

    def guest(self, folder: pathlib.Path, place: str, line: str) -> None:
        """Makes the folder with which a node begins, and which it has at that place; line
        is the agent's device."""
        folder.mkdir(parents=True)
        shutil.copy(busybox(), folder / 'busybox')
        shutil.copy(f'{PARTS}/guest-setup.sh', folder)
        text = pathlib.Path(PARTS, 'guest-init.sh').read_text('utf-8')
        (folder / 'init').write_text(text.replace('#!/lab', f'#!{place}', 1))
        for program in 'init', 'busybox':
            (folder / program).chmod(0o755)
        (folder / 'lab.conf').write_text(''.join(f'{name}={shlex.quote(value)}\n' for name, value in (
            ('LAB_ENGINE', self.name), ('LAB_REPO', REPOSITORY), ('LAB_VERSION', self.release),
            ('LAB_DEVICE', self.settings.device), ('LAB_LINE', line))))


def busybox() -> str:
    """A static busybox, which needs no libraries. Failed: there is none."""
    found = shutil.which('busybox', path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin')
    if not found:
        raise Failed('there is no busybox',
                     'Install the package busybox-static.')
    ran = subprocess.run(['ldd', found], check=False, text=True,
                         stderr=subprocess.DEVNULL, stdout=subprocess.PIPE)
    if '=>' in ran.stdout:
        raise Failed(f'{found} is not a static program',
                     "It is a node's first program and runs before there are "
                     'libraries.', 'Install the package busybox-static.')
    return found
