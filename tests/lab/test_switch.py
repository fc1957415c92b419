"""The switch between more than two nodes."""
import socket
import unittest

from lib.lab.loop import Loop
from lib.lab.switch import BROADCAST, Switch, cables

ALL = b'\xff' * 6


def frame(to: bytes, sender: int) -> bytes:
    """One from a node, by its number."""
    return to + address(sender) + b'\x08\x00 text'


def address(number: int) -> bytes:
    """A node's."""
    return bytes([0x52, 0, 0, 0, 0, number])


class Wire(unittest.TestCase):
    """switch.Switch"""

    def setUp(self) -> None:
        self.loop = Loop()
        pairs = cables(3)
        for end in (end for pair in pairs for end in pair):
            self.addCleanup(end.close)
        self.nodes = [pair[0] for pair in pairs]
        for node in self.nodes:
            node.setblocking(False)
        self.switch = Switch([pair[1] for pair in pairs], self.loop)

    def got(self, node: int) -> list[bytes]:
        """What has come to a node."""
        frames = []
        while True:
            try:
                frames.append(self.nodes[node].recv(65536))
            except BlockingIOError:
                return frames

    def send(self, node: int, data: bytes) -> None:
        """A node sends, and the switch has its turn."""
        self.nodes[node].send(data)
        self.loop.turn(0)

    def test_learns(self) -> None:
        """Who has been heard gets what is for it, and nobody else does."""
        first = frame(ALL, 0)
        self.assertTrue(ALL[0] & BROADCAST)
        self.send(0, first)
        self.assertEqual([self.got(n) for n in range(3)], [[], [first], [first]])
        answer = frame(address(0), 1)
        self.send(1, answer)
        self.assertEqual([self.got(n) for n in range(3)], [[answer], [], []])
        unknown = frame(address(2), 1)
        self.send(1, unknown)
        self.assertEqual([self.got(n) for n in range(3)],
                         [[unknown], [], [unknown]])

    def test_slow_reader(self) -> None:
        """What a node does not read waits, in its order, and keeps nobody up."""
        sent = [frame(ALL, 0) + bytes([n]) for n in range(200)]
        got: list[list[bytes]] = [[], [], []]
        for data in sent:
            self.send(0, data)
            got[1] += self.got(1)
        for _ in range(200):
            got[2] += self.got(2)
            self.loop.turn(0)
        self.assertEqual(got, [[], sent, sent])

    def test_node_off(self) -> None:
        """One that is off does not keep frames from the others."""
        self.nodes[2].shutdown(socket.SHUT_RDWR)
        self.nodes[2].close()
        self.send(0, frame(ALL, 0))
        self.assertEqual(len(self.got(1)), 1)
