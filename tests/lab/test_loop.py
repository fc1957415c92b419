"""Waiting for files, and writing without waiting."""
import os
import selectors
import unittest

from lib.lab.loop import Loop, Output


class Outputs(unittest.TestCase):
    """loop.Output"""

    def setUp(self) -> None:
        self.loop = Loop()
        self.end, file = os.pipe()
        self.addCleanup(os.close, self.end)
        self.addCleanup(os.close, file)
        self.file = file

    def test_room(self) -> None:
        """No more is written than there is room for."""
        output = Output(self.loop, self.file, room=4)
        output.write(b'abcdefgh')
        self.assertEqual(os.read(self.end, 100), b'abcd')
        output.more(2)
        self.assertEqual(os.read(self.end, 100), b'ef')
        self.loop.turn(0)
        self.assertEqual(output.data, b'gh')

    def test_full(self) -> None:
        """What a full pipe does not take goes later, and all of it is counted."""
        counts: list[int] = []
        output = Output(self.loop, self.file, counts.append)
        data = os.urandom(300000)
        output.write(data)
        self.assertTrue(output.data)
        got = b''
        while len(got) < len(data):
            got += os.read(self.end, 65536)
            self.loop.turn(0)
        self.assertEqual(got, data)
        self.assertEqual(sum(counts), len(data))

    def test_forget(self) -> None:
        """A file that one call has closed is not given to the next."""
        other, ring = os.pipe()
        called = []

        def call(file: int, rest: int) -> None:
            called.append(file)
            self.loop.forget(rest)

        self.loop.want(self.end, selectors.EVENT_READ,
                       lambda: call(self.end, other))
        self.loop.want(other, selectors.EVENT_READ,
                       lambda: call(other, self.end))
        os.write(self.file, b'x')
        os.write(ring, b'x')
        self.loop.turn(0)
        self.assertEqual(len(called), 1)
        os.close(other)
        os.close(ring)
