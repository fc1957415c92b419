"""Frames, however they are cut on their way."""
import unittest

from lib.lab import frames


class Reader(unittest.TestCase):
    """frames.Reader"""

    def test_any_cut(self) -> None:
        """Frames come out as they went in."""
        want = [(frames.OPEN, 1, b'{}'), (frames.IN, 2, bytes(range(256))),
                (frames.EXIT, 1 << 31, b''), (frames.DATE, 0, b'12345678')]
        data = b''.join(frames.pack(*frame) for frame in want)
        for size in 1, 2, 8, 9, 10, 100, len(data):
            reader = frames.Reader()
            got: list[tuple[int, int, bytes]] = []
            for start in range(0, len(data), size):
                got += reader.feed(data[start:start + size])
            self.assertEqual(got, want)
            self.assertEqual(reader.data, b'')

    def test_order(self) -> None:
        """A command comes as it went, whatever its words are."""
        order = frames.Order(['printf', '', 'a\nb', '\udcff', 'ä'], '/a b', 'nobody')
        order.size, order.terminal, order.has_input = (0, 80), 'vt100', False
        other = frames.Order.unpack(order.pack())
        self.assertEqual(vars(other), vars(order))
        plain = frames.Order(['true'], '/')
        self.assertEqual(vars(frames.Order.unpack(plain.pack())), vars(plain))

    def test_what_is_no_frame(self) -> None:
        """An unknown kind, and a body that is too long."""
        for kind, length in ((0, 0), (frames.DATE + 1, 0),
                             (frames.IN, frames.LONGEST + 1)):
            with self.assertRaises(frames.Broken):
                list(frames.Reader().feed(frames.HEADER.pack(kind, 0, length)))

    def test_grant(self) -> None:
        """A credit says the stream, and how much."""
        [(kind, channel, body)] = frames.Reader().feed(frames.grant(7, 2, 4096))
        self.assertEqual((kind, channel), (frames.CREDIT, 7))
        self.assertEqual(frames.GRANT.unpack(body), (2, 4096))
