"""The wire between more than two nodes: a switch.

Usage: python3 -m lab.switch FOLDER NODE...

It learns which address is at which port, as any switch does. For virtual machines
it is a process of its own, whose port for NODE is the UNIX socket FOLDER/port-NODE;
the node's own end of the cable is FOLDER/wire-NODE.
"""
import collections
import ctypes
import os
import selectors
import signal
import socket
import sys

from lab.loop import Loop

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
        except OSError:
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
            except OSError:
                # The node is off.
                pass
            queue.popleft()
        self.loop.want(port, selectors.EVENT_WRITE,
                       (lambda: self.send(port)) if queue else None)


class Port:
    """A UNIX socket with a path, and the path at the other end of the cable."""

    def __init__(self, own, other):
        self.socket, self.other = socket.socket(
            socket.AF_UNIX, socket.SOCK_DGRAM), other
        self.socket.bind(own)

    def __getattr__(self, name):
        return getattr(self.socket, name)

    def send(self, frame):
        """Sends a frame; OSError: the node is off."""
        self.socket.sendto(frame, self.other)


def main():
    """Switches until its parent ends it, or ends itself."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    folder, *nodes = sys.argv[1:]
    loop = Loop()
    Switch([Port(os.path.join(folder, f'port-{node}'),
                 os.path.join(folder, f'wire-{node}')) for node in nodes], loop)
    while True:
        loop.turn()


if __name__ == '__main__':
    main()
