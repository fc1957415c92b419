"""What is said between a command's two ends: the client and a node's agent.

A frame is a kind (1 byte), a channel (4 bytes), a length (4 bytes), all in
network byte order, and a body of that length. A channel is one command. The
client speaks to the keeper of the lab over a UNIX socket, where there is only
one channel, 0; the keeper numbers the channels of all clients and passes the
frames on over the node's serial line.

    OPEN    client to agent   words, with a zero byte between them: the user,
                              rows and columns of a terminal, its kind (nothing,
                              all three, if there is none), the directory, and
                              those of the command
    IN OUT ERR                bytes of standard input, output, error
    END     client to agent   a byte: no more comes of, or is wanted for, that
                              stream, 0 to 2
    CREDIT  both ways         a byte (the stream) and 4 bytes: that many more
                              bytes may be sent
    SIGNAL  client to agent   the signal's name, such as INT
    SIZE    client to agent   rows and columns of the terminal, 2 bytes each
    EXIT    agent to client   a byte: the command's status
    GONE    keeper to agent   the client has left: end the command
    RESET   client to keeper  switch the node off and on again
    FAILED  keeper to client  text: why there will be no EXIT
    TAKEN   agent to keeper   4 bytes: that many more bytes were read off the line
    DATE    agent to keeper   nothing: it is here, or the clock has been set
            keeper to agent   8 bytes, seconds since 1970 as a float: set the clock

A sender begins with CREDIT bytes of credit for each stream, so nobody has to
keep more than that for a reader who is slow.
"""
from __future__ import annotations

import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    import collections.abc

(OPEN, IN, OUT, ERR, END, CREDIT, SIGNAL, SIZE, EXIT, GONE, RESET,
 FAILED, TAKEN, DATE) = range(1, 15)
HEADER = struct.Struct('!BII')
GRANT = struct.Struct('!BI')
TERMINAL = struct.Struct('!HH')
COUNT = struct.Struct('!I')
MOMENT = struct.Struct('!d')
# The longest body: an OPEN with all the arguments that Linux would take.
LONGEST = 1 << 22
# How much of a stream may be under way, and how much of it a frame has.
WINDOW = 1 << 16
PIECE = 4096


class Broken(Exception):
    """What came is no frame."""


def pack(kind: int, channel: int = 0, body: bytes = b'') -> bytes:
    """A frame as bytes."""
    return HEADER.pack(kind, channel, len(body)) + body


def grant(channel: int, stream: int, count: int) -> bytes:
    """The frame that lets the other side send count more bytes."""
    return pack(CREDIT, channel, GRANT.pack(stream, count))


class Order:
    """What an OPEN says."""

    def __init__(self, command: list[str], directory: str, user: str = ''):
        self.command, self.directory, self.user = command, directory, user
        # Rows and columns, if it is to be on a terminal.
        self.size: tuple[int, int] | None = None
        self.terminal = ''

    def pack(self) -> bytes:
        """As bytes."""
        rows, columns = self.size or ('', '')
        return b'\0'.join(os.fsencode(str(word)) for word in (
            self.user, rows, columns, self.terminal, self.directory, *self.command))

    @classmethod
    def unpack(cls, body: bytes) -> Order:
        """From bytes."""
        user, rows, columns, terminal, directory, *command = os.fsdecode(body).split('\0')
        order = cls(command, directory, user)
        order.size = (int(rows), int(columns)) if rows else None
        order.terminal = terminal
        return order


class Reader:
    """Makes frames of bytes, however these were cut on their way."""

    def __init__(self) -> None:
        self.data = bytearray()

    def feed(self, data: bytes) -> collections.abc.Iterator[
            tuple[int, int, bytes]]:
        """Yields (kind, channel, body) for each frame that is complete now.

        Raises Broken if there is none of that kind, or one that is too long.
        """
        self.data += data
        while len(self.data) >= HEADER.size:
            kind, channel, length = HEADER.unpack_from(self.data)
            if not OPEN <= kind <= DATE or length > LONGEST:
                raise Broken(f'kind {kind}, length {length}')
            end = HEADER.size + length
            if len(self.data) < end:
                return
            body = bytes(self.data[HEADER.size:end])
            del self.data[:end]
            yield kind, channel, body
