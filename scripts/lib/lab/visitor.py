"""The keeper's end of a `lab.sh exec`, `shell` or `reset`: see client.py."""
from __future__ import annotations

import selectors
import socket
import typing

from lib.lab import frames
from lib.lab.loop import Output

if typing.TYPE_CHECKING:
    from lib.lab.keeper import Keeper
    from lib.lab.node import Node


class Visitor:
    """A `lab.sh exec`, `shell` or `reset` that is connected to a node."""

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
            return
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
