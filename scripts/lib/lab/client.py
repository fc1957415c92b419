"""The near end of `lab.sh exec`, `shell` and `reset`.

See usage.py for what they promise, frames.py for what is said to the keeper.
"""
from __future__ import annotations

import os
import pwd
import select

from lib.lab import frames
from lib.lab.light import signal, socket
from lib.lab.settings import REPOSITORY, Failed, Misuse, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    import collections.abc
    import types

PASSED_ON = {getattr(signal, f'SIG{name}'): name
             for name in ('INT', 'TERM', 'HUP', 'QUIT', 'USR1', 'USR2')}


class Lost(Exception):
    """There will be no status; the arguments are lines that say why, if any do."""


class Unreachable(Failed):
    """A node cannot be talked to; as with ssh, the status is 255."""

    status = 255


class Client:
    """A command in a node."""

    def __init__(self, path: str):
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            self.socket.connect(path)
        except OSError as error:
            raise Lost from error
        self.reader = frames.Reader()
        self.credit = frames.WINDOW
        self.open = {0: True, 1: True, 2: True}
        self.pending: list[tuple[int, bytes]] = []
        self.owed = {1: 0, 2: 0}
        # A signal's handler only rings.
        self.wake, ring = os.pipe()
        os.set_blocking(ring, False)
        signal.set_wakeup_fd(ring)
        self.signals: list[int] = []

    def say(self, kind: int, body: bytes = b'') -> None:
        """Tells the keeper, which always reads. If it has hung up, hear() sees it."""
        try:
            self.socket.sendall(frames.pack(kind, 0, body))
        except OSError:
            pass

    def catch(self, number: int, _: types.FrameType | None) -> None:
        """A signal's handler."""
        self.signals.append(number)

    def run(self, order: frames.Order) -> int:
        """Runs the command to its end; returns its status."""
        for number in PASSED_ON:
            signal.signal(number, self.catch)
        if order.size:
            signal.signal(signal.SIGWINCH, self.catch)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        # In the background there is no terminal to read from.
        signal.signal(signal.SIGTTIN, signal.SIG_IGN)
        self.say(frames.OPEN, order.pack())
        if not order.size and is_empty(0):
            self.end_input()
        while True:
            status = self.turn()
            if status is not None:
                return status

    def turn(self) -> int | None:
        """Waits once. Returns the status of the command, if it has ended."""
        reads = [self.wake, self.socket.fileno()]
        if self.open[0] and self.credit:
            reads.append(0)
        ready, writable, _ = select.select(
            reads, [stream for stream, _ in self.pending[:1]], [])
        if self.wake in ready:
            os.read(self.wake, 512)
            self.pass_signals()
        if writable:
            self.write()
        elif 0 in ready:
            self.read_input()
        if self.socket.fileno() in ready:
            return self.hear()
        return None

    def pass_signals(self) -> None:
        """Tells which signals have come."""
        while self.signals:
            number = self.signals.pop(0)
            if number == signal.SIGWINCH:
                self.say(frames.SIZE, frames.TERMINAL.pack(
                    *os.get_terminal_size(0)[::-1]))
            else:
                self.say(frames.SIGNAL, PASSED_ON[number].encode())

    def read_input(self) -> None:
        """Sends a piece of the input."""
        try:
            data = os.read(0, min(self.credit, frames.PIECE))
        except OSError:
            data = b''
        if not data:
            self.end_input()
            return
        self.credit -= len(data)
        self.say(frames.IN, data)

    def end_input(self) -> None:
        """There is no more input."""
        self.open[0] = False
        self.say(frames.END, b'\0')

    def hear(self) -> int | None:
        """Does what the node says; returns the status when there is one."""
        try:
            data = self.socket.recv(1 << 17)
        except OSError:
            data = b''
        if not data:
            raise Lost
        for kind, _, body in self.reader.feed(data):
            if kind in (frames.OUT, frames.ERR):
                self.pending.append((1 if kind == frames.OUT else 2, body))
            elif kind == frames.CREDIT:
                self.credit += frames.GRANT.unpack(body)[1]
            elif kind == frames.EXIT:
                while self.pending:
                    self.write()
                return body[0]
            elif kind == frames.FAILED:
                while self.pending:
                    self.write()
                raise Lost(*body.decode().splitlines())
        return None

    def write(self) -> None:
        """Writes a piece of what the command has said.

        It may wait: a file that others write to, too, must stay as it is.
        """
        stream, body = self.pending.pop(0)
        if not self.open[stream]:
            return
        length = len(body)
        try:
            while body:
                body = body[os.write(stream, body):]
            self.owed[stream] += length
            if self.owed[stream] >= frames.WINDOW // 2:
                self.say(frames.CREDIT, frames.GRANT.pack(
                    stream, self.owed[stream]))
                self.owed[stream] = 0
        except OSError:
            # Nobody reads any more, so the command is to see that, too.
            self.open[stream] = False
            self.say(frames.END, bytes([stream]))


def is_empty(file: int) -> bool:
    """Whether it is closed, or /dev/null: nothing will ever come of it."""
    try:
        return os.fstat(file).st_rdev == os.stat(os.devnull).st_rdev
    except OSError:
        return True


def on_terminal(client: Client) -> int:
    """A shell on the terminal that is standard input."""
    import termios
    import tty
    before = termios.tcgetattr(0)
    order = frames.Order(['bash', '--rcfile', '/run/lab/profile', '-i'], directory())
    columns, rows = os.get_terminal_size(0)
    order.size, order.terminal = (rows, columns), os.environ.get('TERM', '')
    try:
        tty.setraw(0)
        return client.run(order)
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def wait_for_reset(client: Client) -> int:
    """Pushes the button; returns when the node is back."""
    client.say(frames.RESET)
    status = None
    while status is None:
        status = client.hear()
    return status


def talk(settings: Settings, node: str,
         what: collections.abc.Callable[[Client], int]) -> int:
    """Connects to a node, and does that there; returns the status."""
    # All that this knows of state.py, which takes time to load.
    path = f'{settings.folder}/socket-{node}'
    if not os.path.exists(path):
        from lib.lab.manage import why_not
        raise Unreachable(*why_not(settings, node))
    try:
        return what(Client(path))
    except Lost as error:
        raise Unreachable(*error.args or (
            f"the lab '{settings.name}' is no longer up",
            'Start it: scripts/lab.sh up')) from error


def directory() -> str:
    """Where a command starts: here, if that is in the repository."""
    here = os.getcwd()
    return here if f'{here}/'.startswith(f'{REPOSITORY}/') else REPOSITORY


def execute(settings: Settings, node: str, user: str, words: list[str]) -> int:
    """Runs a command on a node."""
    def run(connection: Client) -> int:
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
    return talk(settings, node, on_terminal)


def reset(settings: Settings, node: str) -> int:
    """The button."""
    return talk(settings, node, wait_for_reset)
