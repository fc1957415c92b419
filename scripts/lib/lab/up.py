"""lab.sh up, fetch and kernel."""
import argparse
import contextlib
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import time
import typing

from lib.lab import choose, keeper, kernel
from lib.lab.machines import machine
from lib.lab.qemu import Qemu
from lib.lab.settings import DEVICES, ENGINES, REPOSITORY, Failed, Misuse, Settings, in_words, say
from lib.lab.state import State
from lib.lab.uml import Uml

# The programs that the lab needs, and Debian's packages of them.
PROGRAMS = {
    'busybox': 'busybox-static', 'cpio': 'cpio', 'modprobe': 'kmod',
    'rdma': 'iproute2', 'setpriv': 'util-linux'}
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


def start(settings: Settings, count: int) -> bool:
    """Starts a lab; False: another `up` of it was faster. Failed: there is no lab."""
    began = time.monotonic()
    name, found = choose.choose(settings)
    if name == 'tcg' and (why := choose.why_slower(settings)):
        say('warning: the nodes are emulated, about ten times slower than User-Mode Linux, which '
            f'cannot run here: {why}')
    process, connection = keeper.start(settings, Qemu(settings, name, found, count) if found else
                                       Uml(settings), count)

    def interrupted(number: int, _: object) -> None:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGTERM)
            os.waitpid(process, 0)
        say('interrupted; nothing is left behind')
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for number in SIGNALS:
        signal.signal(number, interrupted)
    if not connection.recv(1):
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if status == keeper.BUSY:
            return False
        if status == keeper.FAILED:
            raise SystemExit(1)
    else:
        connection.send(b'k')
        # The keeper knows that it is known.
        connection.recv(1)
    state = State(settings.folder)
    if not state.is_up:
        raise Failed('the lab was ended while it was starting',
                     "Somebody said 'down', or killed its keeper.")
    notes = state.notes()
    say(f'up after {int(time.monotonic() - began)} s: {in_words(count)}, '
        f'{notes["accel"]}, kernel {notes["kernel"]}')
    return True


def is_running(settings: Settings, count: int) -> bool:
    """Whether that lab is up already. Failed: another one of that name is.

    Waits for one that is just being started or stopped.
    """
    state = State(settings.folder)
    told = False
    while state.is_alive():
        if state.is_up:
            compare(settings, state, count)
            say(f'already up, with {in_words(int(state.notes()["nodes"]))}: '
                'scripts/lab.sh shell is a shell in it')
            return True
        if not told:
            say(f"waiting for another 'up' or 'down' of '{settings.name}'")
        told = True
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
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.environ.get('CLI_CHECK'):
        return
    check()
    while not is_running(settings, count or 1) and not start(settings, count or 2):
        # Another `up` of the same lab was faster.
        pass


def fetch(settings: Settings) -> None:
    """What `make demo` needs from the network: packages and a kernel."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if subprocess.run([f'{REPOSITORY}/scripts/install_deps.sh', 'build', 'lab'],
                      check=False).returncode:
        raise SystemExit(1)
    check()
    found = kernel.at_hand(settings) or kernel.fetch(settings)
    print(f'lab: the kernel is {found.release}: {found.image}')
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
    say(f'its own kernel is Linux {(out / "release").read_text().strip()}, '
        f'in {out}')
