"""One node of a lab, and those who run commands in it.

keeper.py has the nodes; client.py and agent.py are the two ends of a command.
"""
from __future__ import annotations

import os
import select
import selectors
import socket
import subprocess
import time
import typing

from lib.lab import frames, sandbox
from lib.lab.loop import Output

if typing.TYPE_CHECKING:
    from lib.lab.keeper import Keeper

# From nothing to ready, User-Mode Linux takes two seconds. With ten emulated nodes at
# once on two processors, the longest step of a boot took 37 s; alone, 4 s.
BOOT_SECONDS = 240
# A clock that took longer than this to set is set again, up to this many times.
DATE_SECONDS = 0.2
DATE_TRIES = 10
# How long what has been killed may take to be gone.
END_SECONDS = 10


class Visitor:
    """A `lab.sh exec`, `shell` or `reset` that is connected to a node: see client.py."""

    def __init__(self, keeper: Keeper, node: Node, connection: socket.socket):
        self.keeper, self.node, self.connection = keeper, node, connection
        self.reader = frames.Reader()
        self.output = Output(keeper.loop, connection.fileno())
        self.channel = 0
        self.closed = False
        keeper.loop.want(connection.fileno(), selectors.EVENT_READ, self.hear)

    def hear(self) -> None:
        """Passes on what the client says; its end is the command's."""
        if self.closed:
            return
        try:
            data = self.connection.recv(65536)
            for kind, _, body in self.reader.feed(data):
                self.take(kind, body)
        except (OSError, frames.Broken):
            data = b''
        if not data:
            self.leave()

    def take(self, kind: int, body: bytes) -> None:
        """One frame of the client's."""
        if kind == frames.RESET:
            self.node.reset(self)
        elif kind == frames.OPEN and not self.node.ready:
            self.node.refuse(self)
        else:
            if kind == frames.OPEN:
                self.channel = self.node.add(self)
            self.node.say(kind, self.channel, body)

    def leave(self) -> None:
        """The client is gone."""
        if self.channel in self.node.visitors:
            # The node has it until its command has ended.
            self.node.say(frames.GONE, self.channel, b'')
        self.close()

    def say(self, kind: int, body: bytes = b'') -> None:
        """Sends the client a frame. After EXIT or FAILED nothing follows."""
        if self.closed:
            return
        try:
            self.output.write(frames.pack(kind, 0, body))
        except OSError:
            pass

    def close(self) -> None:
        """Ends the connection, after what is still to be sent."""
        if self.closed:
            return
        self.closed = True
        self.keeper.loop.forget(self.connection.fileno())
        try:
            self.connection.settimeout(5)
            self.connection.sendall(self.output.data)
        except OSError:
            pass
        self.connection.close()


class Node:
    """One node, on or off."""

    def __init__(self, keeper: Keeper, name: str, cable: socket.socket):
        self.keeper, self.name, self.cable = keeper, name, cable
        self.state, self.engine = keeper.state, keeper.engine
        self.process: subprocess.Popen[bytes] | None = None
        self.listener: socket.socket | None = None
        self.visitors: dict[int, Visitor] = {}
        self.channels = 0
        self.waits_for_boot: list[Visitor] = []
        self.status, self.ready = 0, False

    def start(self) -> None:
        """Switches it on."""
        self.state.note(**{f'dead_{self.name}': ''})
        if self.listener:
            self.keeper.loop.forget(self.listener.fileno())
        self.text, self.step = b'', ''
        self.reader = frames.Reader()
        self.dates, self.sent = 0, 0.0
        self.began = time.monotonic()
        self.line, theirs = socket.socketpair()
        self.from_console, console = os.pipe()
        self.process = self.engine.start(
            self.name, self.cable.fileno(), theirs.fileno(), console)
        theirs.close()
        os.close(console)
        os.set_blocking(self.from_console, False)
        loop = self.keeper.loop
        self.output = Output(loop, self.line.fileno(),
                             room=self.engine.line_room)
        loop.want(self.line.fileno(), selectors.EVENT_READ, self.hear)
        loop.want(self.from_console, selectors.EVENT_READ, self.read)
        self.state.note(**{f'pid_{self.name}': self.process.pid})

    def read(self) -> bool:
        """Keeps what the console says, and looks at each line; False: it is closed."""
        try:
            data = os.read(self.from_console, 65536)
        except BlockingIOError:
            return True
        if not data:
            self.keeper.loop.forget(self.from_console)
            return False
        with open(self.state.console(self.name), 'ab') as file:
            file.write(data)
        *lines, self.text = (self.text + data).split(b'\n')
        for line in lines:
            self.look(line.decode(errors='replace').strip())
        return True

    def look(self, line: str) -> None:
        """At a line of the console's."""
        if line.startswith('lab: '):
            self.step = line[5:].removeprefix('step ')
        if line.startswith('lab: failed') and self.process:
            sandbox.kill(self.process)

    def hear(self) -> None:
        """Passes on what the agent says."""
        try:
            data = self.line.recv(1 << 17)
        except OSError:
            data = b''
        if not data:
            self.keeper.loop.forget(self.line.fileno())
            return
        for kind, channel, body in self.reader.feed(data):
            self.take(kind, channel, body)

    def take(self, kind: int, channel: int, body: bytes) -> None:
        """One frame of the agent's."""
        if kind == frames.TAKEN:
            self.output.more(frames.COUNT.unpack(body)[0])
        elif kind == frames.DATE:
            self.send_date()
        elif visitor := self.visitors.get(channel):
            visitor.say(kind, body)
            if kind == frames.EXIT:
                del self.visitors[channel]
                visitor.close()

    def send_date(self) -> None:
        """An emulated clock chip knows whole seconds only, and a certificate made
        just now must be valid in the node."""
        before, self.sent = self.sent, time.monotonic()
        if not self.engine.has_clock or self.sent - before < DATE_SECONDS or \
                self.dates > DATE_TRIES:
            self.set_ready()
            return
        self.dates += 1
        self.output.write(frames.pack(
            frames.DATE, 0, frames.MOMENT.pack(time.time())))

    def set_ready(self) -> None:
        """It takes commands now."""
        self.ready = True
        self.listen()
        for visitor in self.waits_for_boot:
            visitor.say(frames.EXIT, b'\0')
            visitor.close()
        self.waits_for_boot = []

    def listen(self) -> None:
        """Lets clients connect. Until now, those of a node that boots again have waited."""
        if not self.listener:
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(self.state.socket(self.name))
            self.listener.listen(100)
        self.keeper.loop.want(self.listener.fileno(), selectors.EVENT_READ,
                              self.accept)

    def accept(self) -> None:
        """A new visitor."""
        assert self.listener
        connection, _ = self.listener.accept()
        Visitor(self.keeper, self, connection)

    def refuse(self, visitor: Visitor) -> None:
        """Says why nothing comes of its command."""
        visitor.say(frames.FAILED, '\n'.join(
            self.state.obituary(self.name) if self.name in self.state.dead() else
            [f'node {self.name} was reset, and this command was on it',
             f'Open another one: scripts/lab.sh shell {self.name}']).encode())
        visitor.close()

    def add(self, visitor: Visitor) -> int:
        """A number for a visitor's command."""
        self.channels += 1
        self.visitors[self.channels] = visitor
        return self.channels

    def say(self, kind: int, channel: int, body: bytes) -> None:
        """Tells the agent."""
        if self.ready:
            self.output.write(frames.pack(kind, channel, body))

    def stop(self) -> None:
        """Switches it off; it knows nothing of it. Waits until it is gone: until the last of its
        processes has closed the console."""
        if not self.process:
            return
        self.ready = False
        sandbox.kill(self.process)
        self.status, self.process = self.process.wait(), None
        while select.select([self.from_console], [], [], END_SECONDS)[0] and self.read():
            pass
        self.keeper.loop.forget(self.line.fileno())
        self.keeper.loop.forget(self.from_console)
        self.line.close()
        os.close(self.from_console)

    def watch(self) -> None:
        """Looks after the node; the keeper calls it now and then."""
        if not self.process:
            return
        if self.process.poll() is not None:
            self.lost('ended during the boot')
        elif not self.ready and time.monotonic() >= self.began + BOOT_SECONDS:
            self.lost(f'was not ready after {BOOT_SECONDS} s')

    def lost(self, why: str) -> None:
        """It has died, or nobody waits for it any longer."""
        self.stop()
        self.state.note(**{f'dead_{self.name}': self.status})
        self.refuse_all()
        self.listen()
        self.keeper.lost(
            f'node {self.name} {why}; it last said: {self.step}' if self.step
            else f'node {self.name} {why}: the guest said nothing', self.name)

    def refuse_all(self) -> None:
        """Nothing comes of what is under way."""
        for visitor in list(self.visitors.values()) + self.waits_for_boot:
            self.refuse(visitor)
        self.visitors, self.waits_for_boot = {}, []

    def reset(self, visitor: Visitor) -> None:
        """The button."""
        if not self.process:
            self.refuse(visitor)
            return
        self.stop()
        self.refuse_all()
        self.waits_for_boot.append(visitor)
        self.start()
