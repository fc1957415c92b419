"""The wire between more than two nodes: a switch.

It learns which address is at which port, as any switch does.
"""
import collections
import selectors

BROADCAST = 1
# What waits for a port that is full; more is dropped, as on a real wire.
DEPTH = 1000


class Switch:
    """Passes frames on between sockets; one frame is one datagram."""

    def __init__(self, ports, loop):
        self.ports, self.loop = ports, loop
        self.where = {}
        self.waiting = {port: collections.deque(maxlen=DEPTH)
                        for port in ports}
        for port in ports:
            port.setblocking(False)
            loop.want(port, selectors.EVENT_READ,
                      lambda port=port: self.receive(port))

    def receive(self, port):
        """Takes one frame, and sends it where it belongs."""
        try:
            frame = port.recv(65536)
        except (BlockingIOError, ConnectionRefusedError):
            return
        self.where[frame[6:12]] = port
        known = None if frame[0] & BROADCAST else self.where.get(frame[:6])
        for other in [known] if known else self.ports:
            if other is not port:
                self.waiting[other].append(frame)
                self.send(other)

    def send(self, port):
        """Sends what waits for a port, as far as it takes it."""
        queue = self.waiting[port]
        while queue:
            try:
                port.send(queue[0])
            except BlockingIOError:
                break
            except ConnectionRefusedError:
                # The node is off.
                pass
            queue.popleft()
        self.loop.want(port, selectors.EVENT_WRITE,
                       (lambda: self.send(port)) if queue else None)
