"""lab.sh up, fetch and kernel."""
import argparse
import collections.abc
import hashlib
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
import typing

from lib.lab import keeper
from lib.lab.machines import machine
from lib.lab.settings import DEVICES, ENGINES, REPOSITORY, Failed, Misuse, Settings, in_words
from lib.lab.state import State

# The programs that the lab needs, and Debian's packages of them.
PROGRAMS = {
    'busybox': 'busybox-static', 'cpio': 'cpio', 'modprobe': 'kmod',
    'rdma': 'iproute2', 'setpriv': 'util-linux'}
# Another `up` or `down` may take so long.
WAIT_SECONDS = 240
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Words(argparse.ArgumentParser):
    """The options that say which lab is asked for; the settings learn of them."""

    def __init__(self, verb: str, settings: Settings):
        super().__init__(verb, add_help=False, allow_abbrev=False)
        self.add_argument('--nodes', type=int, choices=range(1, 5))
        self.add_argument('--engine', choices=ENGINES, default=settings.engine)
        self.add_argument('--device', choices=DEVICES, default=settings.asked_device)
        self.settings = settings

    def parse_args(self, words: typing.Any, _: object = None) -> argparse.Namespace:
        """And the engine and the device are settings."""
        options = super().parse_args(words)
        self.settings.engine, self.settings.asked_device = options.engine, options.device
        return options

    def error(self, message: str) -> typing.NoReturn:
        raise Misuse(f'{self.prog}: {message}')


def say(text: str) -> None:
    """A line, which may need the room of one that is being rewritten."""
    if sys.stderr.isatty():
        text = '\r\033[K' + text
    print(text, file=sys.stderr, flush=True)


class Progress:
    """What the keeper is doing, and for how long.

    On a terminal it is one line that is rewritten, elsewhere a line after 5 s, 10 s,
    20 s and so on.
    """

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.next = 5
        self.step = self.detail = ''

    @property
    def seconds(self) -> int:
        """Since the beginning."""
        return int(time.monotonic() - self.began)

    def set_step(self, text: str) -> None:
        """Something new begins."""
        self.step, self.detail = text, ''
        if not sys.stderr.isatty():
            say(f'lab: {text}')
        self.show()

    def set_detail(self, text: str) -> None:
        """How far it is."""
        self.detail = f': {text}'
        self.show()

    def show(self) -> None:
        """Brings what is shown up to date."""
        if sys.stderr.isatty():
            sys.stderr.write(f'\r\033[Klab: {self.step}{self.detail} '
                             f'({self.seconds} s)')
            sys.stderr.flush()
        elif self.seconds >= self.next:
            self.next = 2 * self.seconds
            say(f'lab:   after {self.seconds} s: {self.step}{self.detail}')

    @staticmethod
    def clear() -> None:
        """Takes the line away that is rewritten."""
        if sys.stderr.isatty():
            sys.stderr.write('\r\033[K')
            sys.stderr.flush()


class Interrupted(Exception):
    """By a signal, which is the argument."""


def check() -> None:
    """Failed: something is not there that starting a lab needs."""
    path = os.environ.get('PATH', '') + ':/usr/sbin:/sbin'
    needed = {machine().qemu: machine().qemu_package} | PROGRAMS
    missing = [name for name in needed if not shutil.which(name, path=path)]
    if missing:
        packages = dict.fromkeys(needed[name] for name in missing)
        raise Failed(f'not installed: {" ".join(missing)}',
                     'The lab needs them to start its virtual machines.',
                     f'On Debian, as root: apt-get install {" ".join(packages)}')


def messages(connection: socket.socket,
             progress: Progress) -> collections.abc.Iterator[list[str]]:
    """What the keeper says, to its end."""
    text = b''
    while True:
        if not select.select([connection], [], [], 1)[0]:
            progress.show()
            continue
        try:
            data = connection.recv(65536)
        except OSError:
            data = b''
        if not data:
            return
        *lines, text = (text + data).split(b'\n')
        yield from (json.loads(line) for line in lines)


def follow(connection: socket.socket, progress: Progress) -> list[str]:
    """Shows how a keeper gets on; returns its last word, if there is one."""
    last: list[str] = []
    for word, *texts in messages(connection, progress):
        if word == 'step':
            progress.set_step(*texts)
        elif word == 'detail':
            progress.set_detail(*texts)
        elif word == 'warning':
            say(f'lab: warning: {texts[0]}')
        else:
            last = [word, *texts]
        if word == 'ready':
            connection.send(b'k')
    progress.clear()
    return last


def interrupted(number: int, _: object) -> None:
    """A signal's handler."""
    raise Interrupted(number)


def start(settings: Settings, count: int) -> list[str]:
    """Starts a keeper; returns its last word. Failed: there is no lab."""
    progress = Progress()
    process, connection = keeper.start(settings, count)
    try:
        for number in SIGNALS:
            signal.signal(number, interrupted)
        last = follow(connection, progress)
    except Interrupted as error:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        os.kill(process, signal.SIGTERM)
        os.waitpid(process, 0)
        progress.clear()
        say('lab: interrupted; nothing is left behind')
        os.kill(os.getpid(), error.args[0])
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    state = State(settings.folder)
    if last[:1] == ['error']:
        raise Failed(*last[1:])
    if last[:1] == ['ready'] and state.is_up:
        notes = state.notes()
        say(f'lab: up after {progress.seconds} s: {in_words(count)}, '
            f'{notes["accel"]}, kernel {notes["kernel"]}')
    elif last[:1] not in (['busy'], ['fetched']):
        raise Failed('the lab was ended while it was starting',
                     "Somebody said 'down', or killed its keeper.")
    return last


def is_running(settings: Settings, count: int) -> bool:
    """Whether that lab is up already. Failed: another one of that name is.

    Waits for one that is just being started or stopped.
    """
    state = State(settings.folder)
    end = time.monotonic() + WAIT_SECONDS
    told = False
    while state.is_alive():
        if state.is_up:
            compare(settings, state, count)
            say('lab: already up, with '
                f'{in_words(int(state.notes()["nodes"]))}: '
                'scripts/lab.sh shell is a shell in it')
            return True
        if not told:
            say("lab: waiting for another 'up' or 'down' of "
                f"'{settings.name}'")
        told = True
        if time.monotonic() >= end:
            raise Failed(
                f"the lab '{settings.name}' has been starting for minutes",
                "End it with 'scripts/lab.sh down', then start it again.")
        time.sleep(0.2)
    return False


def compare(settings: Settings, state: State, count: int) -> None:
    """Failed: the lab that is up is not what is asked for."""
    notes, name = state.notes(), settings.name
    if dead := state.dead():
        raise Failed(
            f"the lab '{name}' is broken: node {' '.join(dead)} has died",
            "End it with 'scripts/lab.sh down', then start it again.")
    if int(notes['nodes']) < count:
        raise Failed(
            f"the lab '{name}' is up with {in_words(int(notes['nodes']))}, and "
            f'{count} are asked for', "A node cannot be added: 'scripts/lab.sh "
            f"down', then 'up --nodes {count}'.")
    for has, asked in (
            (notes['device'], settings.asked_device),
            (notes['accel'], settings.engine)):
        if has and asked and has != asked:
            raise Failed(
                f"the lab '{name}' is up with {has}, and {asked} is asked for",
                "End it with 'scripts/lab.sh down', then start it again; or give "
                'LAB_NAME another name.')


def up(settings: Settings, words: list[str]) -> None:
    """Starts the lab, unless it is up."""
    count = Words('up', settings).parse_args(words).nodes
    if os.environ.get('CLI_CHECK'):
        return
    check()
    for _ in range(6):
        if is_running(settings, count or 1):
            return
        if start(settings, count or 2) != ['busy']:
            return
        # Another `up` of the same lab was faster.
    raise Failed(f"the lab '{settings.name}' is being started and ended by others")


def fetch(settings: Settings) -> None:
    """What `make demo` needs from the network: packages and a kernel."""
    if subprocess.run([f'{REPOSITORY}/scripts/install_deps.sh', 'build', 'lab'],
                      check=False).returncode:
        raise SystemExit(1)
    check()
    # Beside a lab that may be up.
    settings.name = f'fetch-{os.getpid()}'
    _, release, image = start(settings, 0)
    print(f'lab: the kernel is {release}: {image}')
    print("lab: all is here that 'make demo' needs; it asks the network for "
          'nothing more')


def build_kernel(settings: Settings) -> None:
    """The engine uml's kernel in the cache, made of what is here now."""
    if os.environ.get('CLI_CHECK'):
        return
    if os.uname().machine != 'x86_64':
        raise Failed(f'the engine uml is for x86_64 only, and this is {os.uname().machine}')
    out = pathlib.Path(settings.cache, 'uml')
    parts = pathlib.Path(REPOSITORY, 'scripts/lib/kernel')
    sources = [parts / 'build.sh', parts / 'lab.config',
               *sorted(parts.glob('*.patch'))]
    digest = hashlib.sha256(b''.join(path.read_bytes() for path in sources))
    made = f'{digest.hexdigest()}  -\n'
    if (out / 'linux').exists() and (out / 'made').is_file() and \
            (out / 'made').read_text() == made:
        return
    if subprocess.run([parts / 'build.sh', 'lab', out], check=False).returncode:
        raise SystemExit(1)
    (out / 'made').write_text(made)
    say(f'lab: its own kernel is Linux {(out / "release").read_text().strip()}, '
        f'in {out}')
