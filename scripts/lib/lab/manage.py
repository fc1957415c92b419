"""lab.sh status and down, and why a node cannot be talked to."""
import os
import sys
import time

from lib.lab.light import signal
from lib.lab.settings import NODES, REPOSITORY, Settings, in_words
from lib.lab.state import State, lock, remove

# A keeper that needs longer to end is killed; what it has started dies with it.
END_SECONDS = 10


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
    print(f'kernel: {notes["kernel"]} ({notes["image"]})')
    print(f'repository: {REPOSITORY}')
    print(f'state: {settings.folder} ({keeper})')
    for number, node in enumerate(NODES[:int(notes['nodes'])], 1):
        print(f'node {node}: {"died" if node in state.dead() else "up"}, '
              f'{notes.get("device", "rxe")}0 on eth0: 192.0.2.{number} '
              f'2001:db8::{number}; process {notes[f"pid_{node}"]}')
    return 1 if state.dead() else 0


def down(settings: Settings) -> int:
    """Ends the lab; returns 0."""
    state = State(settings.folder)
    file = state.open() if state.is_alive() else None
    if file is None:
        print(f"lab '{settings.name}': not up", file=sys.stderr)
        return 0
    end = time.monotonic() + END_SECONDS
    while not lock(file):
        # A keeper that has just begun may not have written its number yet.
        if keeper := state.notes().get('keeper'):
            try:
                os.kill(int(keeper), signal.SIGTERM if time.monotonic() < end else signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.1)
    # The keeper removes its files itself, unless it had to be killed.
    if state.is_same(file):
        remove(settings.folder)
    print(f"lab '{settings.name}': down", file=sys.stderr)
    return 0


def why_not(settings: Settings, node: str) -> list[str]:
    """Why a node cannot be talked to."""
    state = State(settings.folder)
    if not state.is_alive() or not state.is_up:
        return [f"the lab '{settings.name}' is not up",
                'Start it: scripts/lab.sh up']
    return [f'there is no node {node}: the lab is up with '
            f'{in_words(int(state.notes()["nodes"]))}',
            'Start it again: scripts/lab.sh down, then up --nodes '
            f'{NODES.index(node) + 1}.']
