"""The process that owns a lab.

It takes the folder of the lab's state, starts the nodes, and takes everything away
when it is told to (`down` sends TERM) or when the `up` that has started it is gone
before the lab is ready. Whatever it starts dies with it, even if it is killed with -9.

It has a socket to `up`, and tells how it gets on on the standard error output that both
have. When the lab is ready, it sends a byte; `up` answers with one, or is gone.
"""
import os
import pathlib
import selectors
import shutil
import signal
import socket
import sys
import time

from lib.lab import switch
from lib.lab.engine import Engine
from lib.lab.loop import Loop
from lib.lab.node import Node
from lib.lab.settings import NODES, Failed, Settings, in_words, say
from lib.lab.state import State, lock

ROOT_WARNING = ('warning: you are root: a node reads all files of this machine but those '
                'in /root, /run and /tmp, and writes those of the repository, '
                'whoever owns them')
# Its exit status: it has told why there is no lab, or another keeper has it.
FAILED, BUSY = 1, 3


class Busy(Exception):
    """Another keeper has the lab."""


class Keeper:
    """The lab."""

    def __init__(self, settings: Settings, engine: Engine, connection: socket.socket):
        self.settings, self.engine, self.state = settings, engine, State(settings.folder)
        self.loop = Loop()
        self.nodes: list[Node] = []
        self.up = connection
        self.ending = self.is_booting = self.has_lab = False

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
        self.loop.want(self.up.fileno(), selectors.EVENT_READ, self.hear_up)

    def end(self, *_: object) -> None:
        """A signal has come."""
        self.ending = True

    def hear_up(self) -> None:
        """`up` knows that the lab is ready; or it is dead."""
        self.loop.forget(self.up.fileno())
        try:
            self.ending = not self.up.recv(1)
        except OSError:
            self.ending = True
        if not self.ending:
            self.state.note(started=int(time.time()))
            self.up.close()

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

    def boot(self, count: int) -> None:
        """Until every node is ready."""
        if os.getuid() == 0:
            say(ROOT_WARNING)
        self.engine.prepare()
        pairs = switch.cables(count)
        if count == 2:
            # One cable is enough.
            ends = list(pairs[0])
        else:
            ends = [pair[0] for pair in pairs]
            self.switch = switch.Switch([pair[1] for pair in pairs], self.loop)
        self.nodes = [Node(self, name, end) for name, end in zip(NODES, ends)]
        say(f'booting {in_words(count)}, {self.engine.name}')
        self.is_booting = True
        began, told = time.monotonic(), 5
        for node in self.nodes:
            node.start()
        while missing := [node for node in self.nodes if not node.ready]:
            self.turn()
            if (seconds := int(time.monotonic() - began)) >= told:
                told = 2 * seconds
                say(f'  after {seconds} s: ' + ', '.join(
                    f'node {node.name}: {node.step or "nothing yet"}' for node in missing))
        self.is_booting = False
        self.state.note(nodes=count, accel=self.engine.name,
                        device=self.settings.device, kernel=self.engine.release,
                        image=self.engine.image)

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


def keep(settings: Settings, engine: Engine, count: int, connection: socket.socket) -> None:
    """Keeps a lab of that many nodes to its end."""
    keeper = Keeper(settings, engine, connection)
    try:
        keeper.listen()
        keeper.take_lab()
        keeper.boot(count)
        # From here on nobody reads it, and whoever waits for its end is not to wait for us.
        os.dup2(0, 2)
        connection.send(b'r')
        while True:
            keeper.turn()
    finally:
        keeper.close()


def detach(connection: socket.socket) -> None:
    """From whoever has started `up` and may wait for the end of a pipe."""
    os.setsid()
    os.chdir('/')
    os.umask(0o022)
    os.environ['PATH'] += ':/usr/sbin:/sbin'
    nothing = os.open(os.devnull, os.O_RDWR)
    for file in range(2):
        os.dup2(nothing, file)
    os.closerange(3, connection.fileno())
    os.closerange(connection.fileno() + 1, os.sysconf('SC_OPEN_MAX'))


def start(settings: Settings, engine: Engine, count: int) -> tuple[int, socket.socket]:
    """Starts a keeper; returns its process and the socket to it."""
    ours, theirs = socket.socketpair()
    process = os.fork()
    if process:
        theirs.close()
        return process, ours
    status = 0
    try:
        detach(theirs)
        keep(settings, engine, count, theirs)
    except Busy:
        status = BUSY
    except (Failed, OSError) as error:
        status = FAILED
        (error if isinstance(error, Failed) else Failed('the lab cannot go on', str(error))).tell()
    except Exception:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)
