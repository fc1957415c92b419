"""lab.sh status, down, exec, shell and reset: what is done with a lab that is up."""
import collections.abc
import contextlib
import os
import pwd
import shutil
import signal
import sys
import time

from lib.lab import client
from lib.lab.settings import NODES, REPOSITORY, Failed, Misuse, Settings, in_words
from lib.lab.state import State, lock


class Unreachable(Failed):
    """A node cannot be talked to; as with ssh, the status is 255."""

    status = 255


def status(settings: Settings) -> int:
    """Says what runs; returns 0 if the lab is up."""
    state = State(settings.folder)
    if not state.is_alive():
        print(f"lab '{settings.name}': not up")
        return 1
    notes = state.notes()
    keeper = f'keeper: process {notes.get("keeper", "unknown")}'
    if not state.is_up:
        print(f"lab '{settings.name}': starting or ending ({keeper})")
        return 1
    seconds = int(time.time()) - int(notes['started'])
    print(f"lab '{settings.name}': up for {seconds // 3600}:"
          f'{seconds // 60 % 60:02}:{seconds % 60:02}')
    print(f'engine: {notes["accel"]}')
    if 'time' in notes:
        print('time: its own, which passes only while a command waits in it')
    print(f'kernel: {notes["kernel"]} ({notes["image"]})')
    print(f'repository: {REPOSITORY}')
    print(f'state: {settings.folder} ({keeper})')
    for number, node in enumerate(NODES[:int(notes['nodes'])], 1):
        print(f'node {node}: {"died" if state.is_dead(node) else "up"}, '
              f'{notes.get("device", "rxe")}0 on eth0: 192.0.2.{number} '
              f'2001:db8::{number}; process {notes[f"pid_{node}"]}')
    return 1 if state.dead() else 0


def down(settings: Settings) -> None:
    """Ends the lab."""
    state = State(settings.folder)
    file = state.open() if state.is_alive() else None
    if file is None:
        print(f"lab '{settings.name}': not up", file=sys.stderr)
        return
    tenths = 0
    while not lock(file):
        # A keeper that has just begun may not have written its number.
        number = {0: signal.SIGTERM, 10: signal.SIGTERM,
                  100: signal.SIGKILL}.get(tenths)
        keeper = state.notes().get('keeper')
        if number and keeper:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(keeper), number)
        if tenths == 150:
            raise Failed(
                f"the lab '{settings.name}' does not end", 'Its keeper, process '
                f'{keeper or "unknown"}, holds {settings.folder}.',
                'Look for processes that cannot be killed: ps -ef | grep rdma-lab')
        tenths += 1
        time.sleep(0.1)
    # The keeper removes its files itself, unless it had to be killed.
    if state.is_same(file):
        shutil.rmtree(settings.folder, ignore_errors=True)
    print(f"lab '{settings.name}': down", file=sys.stderr)


def why_not(settings: Settings, node: str) -> list[str]:
    """Why a node cannot be talked to, or nothing."""
    state = State(settings.folder)
    if state.is_up and state.socket(node).exists() and not state.is_dead(node):
        return []
    if not state.is_alive() or not state.is_up:
        return [f"the lab '{settings.name}' is not up",
                'Start it: scripts/lab.sh up']
    if state.is_dead(node):
        return state.obituary(node)
    nodes = in_words(int(state.notes()['nodes']))
    return [f'there is no node {node}: the lab is up with {nodes}',
            'Start it again: scripts/lab.sh down, then up --nodes '
            f'{NODES.index(node) + 1}.']


def talk(settings: Settings, node: str,
         what: collections.abc.Callable[[client.Client], int]) -> int:
    """Connects to a node, and does that there; returns the status."""
    if why := why_not(settings, node):
        raise Unreachable(*why)
    try:
        return what(client.Client(str(State(settings.folder).socket(node))))
    except client.Lost as error:
        raise Unreachable(*error.args or (
            f"the lab '{settings.name}' is no longer up",
            'Start it: scripts/lab.sh up')) from error


def directory() -> str:
    """Where a command starts: here, if that is in the repository."""
    here = os.getcwd()
    return here if f'{here}/'.startswith(f'{REPOSITORY}/') else str(REPOSITORY)


def execute(settings: Settings, node: str, user: str, words: list[str]) -> int:
    """Runs a command on a node."""
    if why := why_not(settings, node):
        raise Unreachable(*why)
    if user:
        try:
            pwd.getpwnam(user)
        except KeyError as error:
            raise Unreachable(f"there is no user '{user}'", 'The nodes have this '
                              "machine's users.") from error
    return talk(settings, node, lambda connection: connection.run({
        'argv': words, 'cwd': directory(), 'size': None,
        'user': user if user not in ('', 'root') else None}))


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
