"""The wire between the nodes: cables, and for more than two of them, a switch."""
import collections
import selectors
import socket

from lib.lab.loop import Loop

BROADCAST = 1
# What waits for a port that is full; more is dropped, as on a real wire.
DEPTH = 1000
# One frame is one datagram; a node may be slower to read than the other one is to
# write.
BUFFER = 8 << 20


def cables(count: int) -> list[tuple[socket.socket, socket.socket]]:
    """For each of count nodes, its own end and the other one of a cable."""
    pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
             for _ in range(count)]
    for end in (end for pair in pairs for end in pair):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
    return pairs


class Switch:
    """Passes frames on between sockets.

    It learns which address is at which port, as any switch does.
    """

    def __init__(self, ports: list[socket.socket], loop: Loop):
        self.ports, self.loop = ports, loop
        self.where: dict[bytes, socket.socket] = {}
        self.waiting: dict[socket.socket, collections.deque[bytes]] = {
            port: collections.deque(maxlen=DEPTH) for port in ports}
        for port in ports:
            port.setblocking(False)
            self.listen(port)

    def listen(self, port: socket.socket) -> None:
        """Takes what comes at a port."""
        self.loop.want(port.fileno(), selectors.EVENT_READ,
                       lambda: self.receive(port))

    def receive(self, port: socket.socket) -> None:
        """Takes one frame, and sends it where it belongs."""
        try:
            frame = port.recv(65536)
        except OSError:
            return
        self.where[frame[6:12]] = port
        known = None if frame[0] & BROADCAST else self.where.get(frame[:6])
        for other in [known] if known else self.ports:
            if other is not port:
                self.waiting[other].append(frame)
                self.send(other)

    def send(self, port: socket.socket) -> None:
        """Sends what waits for a port, as far as it takes it."""
        queue = self.waiting[port]
        while queue:
            try:
                port.send(queue[0])
            except BlockingIOError:
                break
            except OSError:
                # The node is off.
                pass
            queue.popleft()
        self.loop.want(port.fileno(), selectors.EVENT_WRITE,
                       (lambda: self.send(port)) if queue else None)
