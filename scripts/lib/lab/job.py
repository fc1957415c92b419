"""A command that runs in a node, and its streams: a part of agent.py."""
from __future__ import annotations

import fcntl
import os
import pwd
import resource
import selectors
import signal
import struct
import subprocess
import termios
import typing

from lib.lab import frames
from lib.lab.frames import Order
from lib.lab.loop import Output

if typing.TYPE_CHECKING:
    from lib.lab.agent import Agent

ENVIRONMENT = {
    'PATH': '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'LANG': 'C.UTF-8', 'SHELL': '/bin/bash', 'HOME': '/root',
    'USER': 'root', 'LOGNAME': 'root'}
# What a user who is not root may lock: the kernel's default, in bytes.
LOCKED = 8 << 20


class Job:
    """A command that runs, and its streams."""

    def __init__(self, agent: Agent, channel: int, order: Order):
        self.agent, self.channel = agent, channel
        self.credit = {1: frames.WINDOW, 2: frames.WINDOW}
        self.files: dict[int, int] = {}
        if order.size:
            self.start_on_terminal(order)
        else:
            self.start_on_pipes(order)
        self.input = Output(agent.loop, self.files[0], self.took) \
            if 0 in self.files else None

    def start_on_pipes(self, order: Order) -> None:
        """Starts the command with a pipe for each stream."""
        self.process = start(
            order, subprocess.PIPE if order.has_input else subprocess.DEVNULL,
            subprocess.PIPE, subprocess.PIPE)
        # The files are ours from here on, and not Popen's.
        for stream, file in enumerate((self.process.stdin,
                                       self.process.stdout,
                                       self.process.stderr)):
            if not file:
                continue
            self.files[stream] = os.dup(file.fileno())
            file.close()
            os.set_blocking(self.files[stream], False)
            if stream:
                self.listen(stream)

    def start_on_terminal(self, order: Order) -> None:
        """Starts the command with a terminal of its own."""
        master, slave = os.openpty()
        set_size(slave, *order.size or (0, 0))
        self.process = start(order, slave, slave, slave, terminal=True)
        os.close(slave)
        self.files = {0: os.dup(master), 1: master}
        self.listen(1)

    def listen(self, stream: int) -> None:
        """Read from the stream when there is something."""
        self.agent.loop.want(self.files[stream], selectors.EVENT_READ,
                             lambda: self.pump(stream))

    def pump(self, stream: int) -> bool:
        """Passes on a piece of what the command has said; whether it did."""
        count = min(self.credit[stream], frames.PIECE)
        if stream not in self.files:
            return False
        if not count:
            self.agent.loop.want(self.files[stream], selectors.EVENT_READ,
                                 None)
            return False
        try:
            data = os.read(self.files[stream], count)
        except BlockingIOError:
            return False
        except OSError:
            # A terminal that nobody has open any more.
            data = b''
        if not data:
            self.close(stream)
            return False
        self.credit[stream] -= len(data)
        self.agent.say(frames.OUT if stream == 1 else frames.ERR,
                       self.channel, data)
        return True

    def close(self, stream: int) -> None:
        """No more comes of, or is wanted for, the stream."""
        file = self.files.pop(stream, None)
        if file is not None:
            self.agent.loop.forget(file)
            os.close(file)

    def took(self, count: int) -> None:
        """The command has read so much of its input."""
        self.agent.output.write(frames.grant(self.channel, 0, count))

    def feed(self, data: bytes) -> None:
        """Input for the command."""
        if 0 not in self.files or not self.input:
            return
        try:
            self.input.write(data)
        except OSError:
            self.close(0)

    def end_of_input(self) -> None:
        """Closes the input, once all of it has been written."""
        if self.input and self.input.data:
            self.input.done = self.took_at_end
        else:
            self.close(0)

    def took_at_end(self, count: int) -> None:
        """As took(), and then the end."""
        self.took(count)
        if self.input and not self.input.data:
            self.close(0)

    def granted(self, stream: int, count: int) -> None:
        """The client can take more."""
        self.credit[stream] += count
        if stream in self.files:
            self.listen(stream)

    def finish(self) -> bool:
        """The command has ended: its last words, and its status."""
        for stream in (1, 2):
            while self.pump(stream):
                pass
            # The rest goes when the client has room for it.
            if stream in self.files and not self.credit[stream]:
                return False
        status = self.process.returncode
        self.agent.say(frames.EXIT, self.channel,
                       bytes([128 - status if status < 0 else status]))
        for stream in list(self.files):
            self.close(stream)
        return True

    def signal(self, number: int) -> None:
        """Sends a signal to the command, and to all that it has started."""
        for pid in below(self.process.pid):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def kill(self) -> None:
        """Ends the command, and all that it has started."""
        for _ in range(10):
            if self.process.poll() is not None:
                return
            self.signal(signal.SIGKILL)


def below(pid: int) -> list[int]:
    """The process pid and all that descend from it."""
    parents: dict[int, int] = {}
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open(f'/proc/{name}/stat', 'rb') as file:
                    stat = file.read()
            except OSError:
                continue
            parents[int(name)] = int(stat[stat.rindex(b')') + 2:].split()[1])
    found = [pid] if pid in parents else []
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def set_size(file: int, rows: int, columns: int) -> None:
    """Sets the size of a terminal."""
    fcntl.ioctl(file, termios.TIOCSWINSZ,
                struct.pack('HHHH', rows, columns, 0, 0))


def start(order: Order, stdin: int, stdout: int, stderr: int,
          terminal: bool = False) -> subprocess.Popen[bytes]:
    """Starts the command of an OPEN.

    Raises OSError, KeyError (there is no such user).
    """
    environment = dict(ENVIRONMENT)
    user = pwd.getpwnam(order.user) if order.user else None
    if terminal:
        environment['TERM'] = order.terminal or 'linux'
    if user:
        environment.update(HOME='/tmp', USER=user.pw_name, LOGNAME=user.pw_name)

    def prepare() -> None:
        if user:
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (LOCKED, LOCKED))
        if terminal:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    # With nothing to prepare, there is no copy of this process on the way (vfork), which
    # costs most of the time that a small command takes.
    return subprocess.Popen(
        order.command, cwd=order.directory, env=environment, stdin=stdin,
        stdout=stdout, stderr=stderr, start_new_session=True,
        preexec_fn=prepare if user or terminal else None,
        user=user.pw_uid if user else None, group=user.pw_gid if user else None,
        extra_groups=os.getgrouplist(user.pw_name, user.pw_gid) if user else None)
