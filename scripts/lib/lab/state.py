"""The folder of a lab's state, by which all that has to do with the lab finds it.

The keeper holds a lock on the folder as long as it lives, so no reboot and no kill
leaves a lab behind that seems to be up. In it are

    notes        what is so of the lab, a KEY=VALUE a line: started when it is ready,
                 dead_N the exit status of node N when it has died
    console-N    what the console of node N has said
    socket-N     where commands for node N are taken
"""
from __future__ import annotations

import fcntl
import os
import sys

from lib.lab.settings import NODES

# The lines of a console that are shown: reasons, and the end.
REASONS = ('lab: failed', 'Kernel panic', 'BUG:', 'Oops', 'Out of memory',
           'sysrq triggered')
END_LINES = 12


def end_of(text: str) -> list[str]:
    """The lines of a console that tell most."""
    lines = [''.join(c for c in line if c.isprintable())
             for line in text.splitlines()]
    reasons = [line for line in lines[:-END_LINES]
               if any(reason in line for reason in REASONS)]
    return reasons[:3] + lines[-END_LINES:]


class State:
    """The folder."""

    def __init__(self, folder: str):
        self.folder = folder

    def open(self) -> int | None:
        """The folder as an open file, if there is one of ours."""
        try:
            if os.lstat(self.folder).st_uid != os.getuid():
                return None
            return os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY
                           | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None

    def is_same(self, file: int) -> bool:
        """Whether the open folder is still the one that the path leads to."""
        try:
            return os.path.samestat(os.fstat(file), os.stat(self.folder))
        except OSError:
            return False

    def is_alive(self) -> bool:
        """Whether there is a keeper.

        Removes what a keeper that was killed has left behind, and says so.
        """
        file = self.open()
        if file is None:
            return False
        try:
            if not lock(file):
                return True
            if self.is_same(file):
                remove(self.folder)
                print("lab.sh: removed what a lab that did not end by 'down' "
                      'left behind', file=sys.stderr)
            return False
        finally:
            os.close(file)

    @property
    def is_up(self) -> bool:
        """Whether the lab has been ready."""
        return 'started' in self.notes()

    def notes(self) -> dict[str, str]:
        """What is so of the lab."""
        try:
            text = read(f'{self.folder}/notes')
        except OSError:
            return {}
        return dict(line.split('=', 1) for line in text.splitlines()
                    if '=' in line)

    def note(self, **values: object) -> None:
        """Adds to the notes; the last word of a kind counts."""
        with open(f'{self.folder}/notes', 'a', encoding='utf-8') as file:
            for key, value in values.items():
                file.write(f'{key}={value}\n')

    def console(self, node: str) -> str:
        """The file that has what the node's console has said."""
        return f'{self.folder}/console-{node}'

    def console_end(self, node: str) -> list[str]:
        """The lines of it that tell most, to be shown."""
        try:
            text = read(self.console(node))
        except OSError:
            text = ''
        return ['From its console:'] + [f'| {line}' for line in end_of(text)]

    def socket(self, node: str) -> str:
        """Where commands for the node are taken."""
        return f'{self.folder}/socket-{node}'

    def dead(self) -> list[str]:
        """The nodes that have died."""
        notes = self.notes()
        return [node for node in NODES if notes.get(f'dead_{node}')]

    def obituary(self, node: str) -> list[str]:
        """What is to be said of a node that has died."""
        notes = self.notes()
        what = 'kernel' if notes.get('accel') == 'uml' else 'qemu'
        return [f'node {node} has died (its {what} ended with status {notes[f"dead_{node}"]})',
                'Start the lab again: scripts/lab.sh down, then up.',
                *self.console_end(node)]


def read(path: str) -> str:
    """The text of a file."""
    with open(path, encoding='utf-8', errors='replace') as file:
        return file.read()


def remove(folder: str) -> None:
    """Takes it away, with all that is in it."""
    import shutil
    shutil.rmtree(folder, ignore_errors=True)


def lock(file: int) -> bool:
    """Whether nobody else has a lock on the open folder; if so, it is ours now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
