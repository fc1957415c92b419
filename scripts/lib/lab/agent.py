"""Runs commands in a node: the far end of `lab.sh exec` and `lab.sh shell`.

Usage: python3 -m lib.lab.agent DEVICE

DEVICE is the node's line to the keeper of the lab. For what is said
over it, see frames.py. Runs in the node only, as root, until the node ends.
"""
from __future__ import annotations

import fcntl
import os
import pwd
import resource
import selectors
import signal
import struct
import subprocess
import sys
import termios
import time
import tty

from lib.lab import frames
from lib.lab.frames import Order
from lib.lab.loop import Loop, Output

# From the loading of a driver to its device.
DEVICE_SECONDS = 60
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
        self.input = Output(agent.loop, self.files[0], self.took)
        self.input_ends = False

    def start_on_pipes(self, order: Order) -> None:
        """Starts the command with a pipe for each stream."""
        self.process = start(order, subprocess.PIPE, subprocess.PIPE, subprocess.PIPE)
        # The files are ours from here on, and not Popen's.
        for stream, file in enumerate((self.process.stdin,
                                       self.process.stdout,
                                       self.process.stderr)):
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
        """The command has read so much of its input, and after all of it sees its end."""
        self.agent.output.write(frames.grant(self.channel, 0, count))
        if self.input_ends and not self.input.data:
            self.close(0)

    def feed(self, data: bytes) -> None:
        """Input for the command."""
        if 0 not in self.files:
            return
        try:
            self.input.write(data)
        except OSError:
            self.close(0)

    def end_of_input(self) -> None:
        """Closes the input, once all of it has been written."""
        self.input_ends = True
        if not self.input.data:
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


class Agent:
    """The line, and all commands that run."""

    def __init__(self, line: int):
        self.line = line
        self.loop = Loop()
        self.output = Output(self.loop, line)
        self.reader = frames.Reader()
        self.jobs: dict[int, Job] = {}

    def say(self, kind: int, channel: int, body: bytes) -> None:
        """Sends a frame."""
        self.output.write(frames.pack(kind, channel, body))

    def run(self) -> None:
        """Serves until the node ends."""
        children, ring = os.pipe()
        os.set_blocking(ring, False)
        signal.set_wakeup_fd(ring)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.loop.want(self.line, selectors.EVENT_READ, self.hear)
        self.loop.want(children, selectors.EVENT_READ,
                       lambda: os.read(children, 512))
        self.say(frames.DATE, 0, b'')
        while True:
            self.loop.turn()
            self.reap()

    def reap(self) -> None:
        """Looks which commands have ended."""
        for channel, job in list(self.jobs.items()):
            if job.process.poll() is not None and job.finish():
                del self.jobs[channel]

    def hear(self) -> None:
        """Reads what came, and does it."""
        data = os.read(self.line, 65536)
        if not data:
            # Nobody has the line of a virtual machine open on the other side yet.
            return
        self.say(frames.TAKEN, 0, frames.COUNT.pack(len(data)))
        for kind, channel, body in self.reader.feed(data):
            if kind == frames.OPEN:
                self.open(channel, Order.unpack(body))
            elif kind == frames.DATE:
                time.clock_settime(time.CLOCK_REALTIME,
                                   frames.MOMENT.unpack(body)[0])
                self.say(frames.DATE, 0, b'')
            elif channel in self.jobs:
                self.tell(self.jobs[channel], kind, body)

    def open(self, channel: int, order: Order) -> None:
        """Starts a command; reports why one cannot be started."""
        try:
            self.jobs[channel] = Job(self, channel, order)
        except OSError as error:
            name = order.command[0] if error.filename != order.directory else \
                order.directory
            self.say(frames.ERR, channel,
                     f'{name}: {error.strerror}\n'.encode())
            self.say(frames.EXIT, channel,
                     bytes([127 if isinstance(error, FileNotFoundError)
                            else 126]))

    @staticmethod
    def tell(job: Job, kind: int, body: bytes) -> None:
        """Passes a frame on to the command that it is for."""
        if kind == frames.IN:
            job.feed(body)
        elif kind == frames.END and body[0] == 0:
            job.end_of_input()
        elif kind == frames.END:
            job.close(body[0])
        elif kind == frames.CREDIT:
            job.granted(*frames.GRANT.unpack(body))
        elif kind == frames.SIGNAL:
            job.signal(signal.Signals[f'SIG{body.decode()}'])
        elif kind == frames.SIZE and 1 in job.files:
            set_size(job.files[1], *frames.TERMINAL.unpack(body))
        elif kind == frames.GONE:
            job.credit = {1: 1 << 40, 2: 1 << 40}
            job.kill()


def main() -> None:
    """Opens the line, and serves."""
    # A shell starts its jobs in the background without these, and so would be our
    # commands.
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    # The driver may just be making it.
    end = time.monotonic() + DEVICE_SECONDS
    while not os.path.exists(sys.argv[1]) and time.monotonic() < end:
        time.sleep(0.01)
    line = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    if os.isatty(line):
        tty.setraw(line)
    Agent(line).run()


if __name__ == '__main__':
    main()
