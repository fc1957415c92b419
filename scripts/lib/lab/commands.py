"""lab.sh exec, shell and reset: what is done on a node."""
from __future__ import annotations

import os
import pwd

from lib.lab import client, frames
from lib.lab.settings import REPOSITORY, Failed, Misuse, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    import collections.abc


class Unreachable(Failed):
    """A node cannot be talked to; as with ssh, the status is 255."""

    status = 255


def talk(settings: Settings, node: str,
         what: collections.abc.Callable[[client.Client], int]) -> int:
    """Connects to a node, and does that there; returns the status."""
    # Of what state.py knows, which takes time to load, only these two names.
    socket = f'{settings.folder}/{frames.socket_name(node)}'
    if not os.path.exists(f'{settings.folder}/up') or not os.path.exists(socket):
        from lib.lab.manage import why_not
        raise Unreachable(*why_not(settings, node))
    try:
        return what(client.Client(socket))
    except client.Lost as error:
        raise Unreachable(*error.args or (
            f"the lab '{settings.name}' is no longer up",
            'Start it: scripts/lab.sh up')) from error


def directory() -> str:
    """Where a command starts: here, if that is in the repository."""
    here = os.getcwd()
    return here if f'{here}/'.startswith(f'{REPOSITORY}/') else REPOSITORY


def execute(settings: Settings, node: str, user: str, words: list[str]) -> int:
    """Runs a command on a node."""
    def run(connection: client.Client) -> int:
        if user:
            try:
                pwd.getpwnam(user)
            except KeyError as error:
                raise Unreachable(f"there is no user '{user}'", 'The nodes have '
                                  "this machine's users.") from error
        return connection.run(frames.Order(words, directory(),
                                           user if user != 'root' else ''))

    return talk(settings, node, run)


def shell(settings: Settings, node: str) -> int:
    """Opens a shell on a node."""
    if not os.isatty(0):
        raise Misuse('shell needs a terminal; without one use: '
                     'scripts/lab.sh exec')
    return talk(settings, node,
                lambda connection: client.shell(connection, directory()))


def reset(settings: Settings, node: str) -> int:
    """The button."""
    return talk(settings, node, client.reset)
