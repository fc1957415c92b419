"""What a lab is told before it begins: its settings, from the environment.

Each `exec` reads this. So it has no pathlib, no re and no typing, which take longer to
load than a short command takes.
"""
from __future__ import annotations

import os
import sys
import zlib

PARTS = os.path.dirname(os.path.realpath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(PARTS)))
NODES = 'abcd'
ENGINES = ('kvm', 'uml', 'tcg')
DEVICES = ('rxe', 'siw')


class Failed(Exception):
    """It cannot be done; the arguments are the lines that say why."""

    status = 1

    def tell(self) -> None:
        """Says them."""
        print(f'lab.sh: {self.args[0]}', *self.args[1:], sep='\n        ', file=sys.stderr)


class Refused(Failed):
    """A setting cannot work."""

    status = 2


class Misuse(Refused):
    """A mistake in the command line."""

    def __init__(self, text: str):
        super().__init__(text, 'See: scripts/lab.sh -h')


def default_name(repository: str) -> str:
    """The name of a repository's lab: two clones get two labs."""
    name = ''.join(c if c.isascii() and c.isalnum() else '-'
                   for c in os.path.basename(repository))[:20]
    return f'{name}-{zlib.crc32(os.fsencode(repository))}'


def default_cache(environment: dict[str, str]) -> str:
    """Where kernels are kept, unless LAB_CACHE says it."""
    home = environment.get('HOME') or '/nonexistent'
    return (environment.get('XDG_CACHE_HOME') or f'{home}/.cache') + '/rdma-lab'


class Settings:
    """All of them; those of the command line are put in later."""

    def __init__(self, environment: dict[str, str]):
        def setting(name: str, default: str = '') -> str:
            return environment.get(f'LAB_{name}') or default

        def path(name: str, default: str = '') -> str:
            value = setting(name, default)
            # The keeper works in another directory.
            return os.path.join(os.getcwd(), value) if value else ''

        self.name = setting('NAME', default_name(REPOSITORY))
        self.engine = setting('ENGINE')
        self.asked_device = setting('DEVICE')
        self.memory = setting('MEMORY', '1024')
        self.kernel = path('KERNEL')
        self.modules = path('MODULES')
        self.cache = path('CACHE', default_cache(environment))

    @property
    def device(self) -> str:
        """The driver of the nodes' device."""
        return self.asked_device or 'rxe'

    @property
    def kernels(self) -> str:
        """The folder of the kernels that have been fetched, one folder each."""
        return f'{self.cache}/kernel'

    @property
    def folder(self) -> str:
        """The lab's state.

        The path is short and fixed, because those of UNIX sockets may have 107 bytes
        only, and because `status` must find it from any terminal.
        """
        return f'/tmp/rdma-lab.{os.getuid()}.{self.name}'

    def check(self) -> None:
        """Refuses what cannot work."""
        if self.name[0] in '.-' or not all(
                c.isascii() and (c.isalnum() or c in '._-') for c in self.name):
            raise Refused(
                f"LAB_NAME '{self.name}' cannot be used",
                "It becomes part of a path: letters, digits, '.', '_' and '-'; "
                'a letter or digit first.')
        if len(self.name) > 40:
            raise Refused(
                f"LAB_NAME '{self.name}' is too long: at most 40 characters")
        if self.asked_device not in ('', *DEVICES):
            raise Refused(
                f"LAB_DEVICE '{self.asked_device}' is unknown: rxe or siw")
        if self.engine not in ('', *ENGINES):
            raise Refused(
                f"LAB_ENGINE '{self.engine}' is unknown: kvm, uml or tcg")
        if not (self.memory.isascii() and self.memory.isdecimal()) or int(self.memory) < 256:
            raise Refused(f"LAB_MEMORY '{self.memory}' is no number of MB, 256 or more")


def say(text: str) -> None:
    """A line of how the lab gets on."""
    print(f'lab: {text}', file=sys.stderr, flush=True)


def in_words(count: int) -> str:
    """A number of nodes."""
    return ('', 'one node', 'two nodes', 'three nodes', 'four nodes')[count]
