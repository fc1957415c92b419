"""Runs commands in a node: the far end of `lab.sh exec` and `lab.sh shell`.

Usage: python3 -m lib.lab.agent DEVICE

DEVICE is the node's line to the keeper of the lab. For what is said
over it, see frames.py. Runs in the node only, as root, until the node ends.
"""
import os
import selectors
import signal
import sys
import time
import tty

from lib.lab import frames
from lib.lab.frames import Order
from lib.lab.job import Job, set_size
from lib.lab.loop import Loop, Output

# From the loading of a driver to its device.
DEVICE_SECONDS = 60


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
        self.output.write(frames.HELLO)
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
