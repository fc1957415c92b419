"""The folder of a lab's state."""
import contextlib
import io
import os
import pathlib
import tempfile
import unittest

from lib.lab.state import State, end_of, lock


class Folder(unittest.TestCase):
    """state.State"""

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name, 'lab')
        self.folder.mkdir()
        self.state = State(str(self.folder))

    def test_alive(self) -> None:
        """As long as somebody has the lock; then nothing is left."""
        file = self.state.open()
        assert file is not None
        self.assertTrue(lock(file))
        self.assertTrue(self.state.is_alive())
        self.assertTrue(self.folder.exists())
        os.close(file)
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertFalse(self.state.is_alive())
        self.assertIn('left behind', said.getvalue())
        self.assertFalse(self.folder.exists())
        self.assertFalse(self.state.is_alive())

    def test_link(self) -> None:
        """A symbolic link is not ours, wherever it leads."""
        link = self.folder.with_name('link')
        link.symlink_to(self.folder)
        self.assertIsNone(State(str(link)).open())
        self.assertFalse(State(str(link)).is_alive())
        self.assertTrue(self.folder.exists())

    def test_same(self) -> None:
        """Another folder at the same path is another one."""
        file = self.state.open()
        assert file is not None
        self.assertTrue(self.state.is_same(file))
        self.folder.rename(self.folder.with_name('old'))
        self.assertFalse(self.state.is_same(file))
        self.folder.mkdir()
        self.assertFalse(self.state.is_same(file))
        os.close(file)

    def test_notes(self) -> None:
        """The last word counts, and a value may have a = in it."""
        self.assertEqual(self.state.notes(), {})
        self.state.note(pid_a=1, image='/x=y')
        self.state.note(pid_a=2)
        self.assertEqual(self.state.notes(), {'pid_a': '2', 'image': '/x=y'})

    def test_dead(self) -> None:
        """A node that has died is named, with the reason, until it is back."""
        self.state.note(accel='uml')
        pathlib.Path(self.state.console('b')).write_text(
            'one\nlab: failed: x\n' + 'y\n' * 12)
        self.state.set_dead('b', -9)
        self.assertEqual(self.state.dead(), ['b'])
        lines = self.state.obituary('b')
        self.assertEqual(
            lines[0], 'node b has died (its kernel ended with status -9)')
        self.assertEqual(lines[2:5],
                         ['From its console:', '| lab: failed: x', '| y'])
        self.state.forget_death('b')
        self.assertEqual(self.state.dead(), [])


class Console(unittest.TestCase):
    """state.end_of"""

    def test_reasons_come_first(self) -> None:
        """At most three of them, unless they are at the end anyhow."""
        lines = [f'BUG: {n}' for n in range(5)] + [f'line {n}' for n in range(12)]
        self.assertEqual(end_of('\n'.join(lines)), lines[:3] + lines[5:])
        self.assertEqual(end_of('Oops\nend'), ['Oops', 'end'])
        self.assertEqual(end_of('a\x1b[31m\r\nb\0'), ['a[31m', 'b'])
