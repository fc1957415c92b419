"""The process that owns a lab.

It takes the folder of the lab's state, starts the nodes, and takes everything away
when it is told to (`down` sends TERM) or when the `up` that has started it is gone
before the lab is ready. Whatever it starts dies with it, even if it is killed with -9.

It has a socket to `up`. What it says there is JSON, one list per line: a word, and text.

    step TEXT, detail TEXT      what it does
    warning TEXT
    error LINE...               why there will be no lab
    busy                        another keeper has the lab
    fetched RELEASE IMAGE       there is a kernel, and nothing else was asked for
    ready                       `up` answers with a byte, or is gone
"""
import collections.abc
import json
import os
import pathlib
import selectors
import shutil
import signal
import socket
import subprocess
import time

from lib.lab import choose, kernel, switch
from lib.lab.engine import Engine
from lib.lab.loop import Loop
from lib.lab.node import Node
from lib.lab.qemu import Qemu
from lib.lab.settings import NODES, Failed, Settings, in_words
from lib.lab.state import State, lock
from lib.lab.uml import Uml

ROOT_WARNING = ('you are root: a node reads all files of this machine but those '
                'in /root, /run and /tmp, and writes those of the repository, '
                'whoever owns them')


class Busy(Exception):
    """Another keeper has the lab."""


class Keeper:
    """The lab."""

    engine: Engine

    def __init__(self, settings: Settings, connection: socket.socket):
        self.settings, self.state = settings, State(settings.folder)
        self.loop = Loop()
        self.nodes: list[Node] = []
        self.up: socket.socket | None = connection
        self.ending = self.is_booting = self.has_lab = False

    def tell(self, word: str, *texts: str) -> None:
        """Tells `up`, as long as it is there."""
        if self.up:
            try:
                self.up.sendall(json.dumps([word, *texts]).encode() + b'\n')
            except OSError:
                self.ending = True

    def take_lab(self) -> None:
        """The folder is ours as long as we hold its lock."""
        folder = pathlib.Path(self.settings.folder)
        try:
            folder.mkdir(0o700)
        except OSError:
            # It may be there; whether it is ours is seen now.
            pass
        self.lock = self.state.open()
        if self.lock is None:
            raise Failed(
                f'{folder} is not a directory of yours', 'The lab keeps its state '
                'there, and it was made by somebody else, or /tmp is not '
                'writable.', 'Set LAB_NAME to another name.')
        if not lock(self.lock) or not self.state.is_same(self.lock):
            raise Busy
        self.has_lab = True
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        log = os.open(folder / 'keeper', os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 2)
        os.close(log)
        self.state.note(keeper=os.getpid())

    def listen(self) -> None:
        """To signals and to `up`."""
        wake, ring = os.pipe()
        os.set_blocking(ring, False)
        signal.set_wakeup_fd(ring)
        self.loop.want(wake, selectors.EVENT_READ, lambda: os.read(wake, 512))
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
            signal.signal(number, self.end)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        assert self.up
        self.loop.want(self.up.fileno(), selectors.EVENT_READ, self.hear_up)

    def end(self, *_: object) -> None:
        """A signal has come."""
        self.ending = True

    def hear_up(self) -> None:
        """`up` knows that the lab is ready; or it is dead."""
        assert self.up
        try:
            answer = self.up.recv(64)
        except OSError:
            answer = b''
        self.loop.forget(self.up.fileno())
        if not answer:
            self.ending = True
            return
        self.state.set_up()
        self.up.close()
        self.up = None

    def turn(self, timeout: float | None = None) -> None:
        """Waits for what comes, and does it."""
        if timeout is None and any(
                not node.ready for node in self.nodes if node.process):
            timeout = 1
        self.loop.turn(timeout)
        if self.ending:
            raise SystemExit
        for node in self.nodes:
            node.watch()

    def wait(self, condition: collections.abc.Callable[[], object],
             seconds: float) -> None:
        """Until it is so, or the time is up."""
        end = time.monotonic() + seconds
        while not condition() and time.monotonic() < end:
            self.turn(max(0, min(1, end - time.monotonic())))

    def run(self, command: list[str], hear: collections.abc.Callable[[str], None],
            environment: dict[str, str]) -> int:
        """Runs a program, which ends with the lab; hear gets each line."""
        text = b''
        ended = False

        def read() -> None:
            nonlocal text, ended
            data = os.read(output, 65536)
            ended = not data
            *lines, text = (text + data).split(b'\n')
            for line in lines:
                hear(line.decode(errors='replace'))

        with subprocess.Popen(
                ['setpriv', '--pdeathsig', 'KILL', *command], env=environment,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                start_new_session=True) as process:
            assert process.stdout
            output = process.stdout.fileno()
            self.loop.want(output, selectors.EVENT_READ, read)
            try:
                while not ended:
                    self.turn()
                return process.wait()
            finally:
                self.loop.forget(output)
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)

    def boot(self, count: int) -> None:
        """Until every node is ready."""
        if os.getuid() == 0:
            self.tell('warning', ROOT_WARNING)
        self.engine = Uml(self) if choose.choose(self.settings) == 'uml' \
            else Qemu(self)
        self.engine.prepare()
        pairs = switch.cables(count)
        if count == 2:
            # One cable is enough.
            ends = list(pairs[0])
        else:
            ends = [pair[0] for pair in pairs]
            self.switch = switch.Switch([pair[1] for pair in pairs], self.loop)
        self.nodes = [Node(self, name, end) for name, end in zip(NODES, ends)]
        self.engine.settle(self.nodes[0])
        if self.engine.name == 'tcg' and (why := choose.why_slower(self.settings)):
            self.tell('warning', 'the nodes are emulated, about ten times slower than User-Mode Linux, which '
                      f'cannot run here: {why}')
        self.tell('step', f'booting {in_words(count)}, {self.engine.name}')
        self.is_booting = True
        for node in self.nodes:
            if not node.process:
                node.start()
        while not all(node.ready for node in self.nodes):
            self.turn()
        self.is_booting = False
        self.state.note(nodes=count, accel=self.engine.name,
                        device=self.settings.device, kernel=self.engine.release,
                        image=self.engine.image, started=int(time.time()))

    def lost(self, why: str, node: str) -> None:
        """A node has died. While the lab is booting, that means that there will be no lab."""
        if self.is_booting:
            raise Failed(why, *self.state.console_end(node))

    def close(self) -> None:
        """Takes everything away."""
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
            signal.signal(number, signal.SIG_IGN)
        for node in self.nodes:
            node.stop()
        if self.has_lab:
            shutil.rmtree(self.settings.folder, ignore_errors=True)


def keep(settings: Settings, count: int, connection: socket.socket) -> None:
    """Keeps a lab of that many nodes to its end; of 0, only fetches a kernel."""
    keeper = Keeper(settings, connection)
    try:
        keeper.listen()
        keeper.take_lab()
        if count:
            keeper.boot(count)
            keeper.tell('ready')
            while True:
                keeper.turn()
        keeper.tell('step', 'looking for a kernel')
        found = kernel.find(keeper)
        keeper.tell('fetched', found.release, found.image)
    except Busy:
        keeper.tell('busy')
    except Failed as error:
        keeper.tell('error', *error.args)
    except OSError as error:
        keeper.tell('error', 'the lab cannot go on', str(error))
    finally:
        keeper.close()


def detach(connection: socket.socket) -> None:
    """From whoever has started `up` and may wait for the end of a pipe."""
    os.setsid()
    os.chdir('/')
    os.umask(0o022)
    os.environ['PATH'] += ':/usr/sbin:/sbin'
    nothing = os.open(os.devnull, os.O_RDWR)
    for file in range(3):
        os.dup2(nothing, file)
    os.closerange(3, connection.fileno())
    os.closerange(connection.fileno() + 1, os.sysconf('SC_OPEN_MAX'))


def start(settings: Settings, count: int) -> tuple[int, socket.socket]:
    """Starts a keeper; returns its process and the socket to it."""
    ours, theirs = socket.socketpair()
    process = os.fork()
    if process:
        theirs.close()
        return process, ours
    try:
        detach(theirs)
        keep(settings, count, theirs)
    except BaseException:
        os._exit(1)
    os._exit(0)
