"""The command line."""
import subprocess
import sys
import unittest

from lib.lab.__main__ import command_line, one_node, run
from lib.lab.options import options
from lib.lab.settings import Misuse, Settings


class Up(unittest.TestCase):
    """The options of up."""

    def test_both_forms(self) -> None:
        """--nodes 3 and --nodes=3."""
        for words in (['--nodes', '3', '--engine', 'tcg', '--device', 'siw'],
                      ['--nodes=3', '--engine=tcg', '--device=siw']):
            settings = Settings({})
            self.assertEqual(options(settings, words), 3)
            self.assertEqual((settings.engine, settings.device), ('tcg', 'siw'))
        self.assertIsNone(options(Settings({}), []))

    def test_environment(self) -> None:
        """An option is stronger than a variable."""
        settings = Settings({'LAB_ENGINE': 'kvm', 'LAB_DEVICE': 'siw'})
        options(settings, ['--engine', 'tcg'])
        self.assertEqual((settings.engine, settings.device), ('tcg', 'siw'))

    def test_misuse(self) -> None:
        """What there is not, and what does not go together."""
        for words, text in (
                (['--nodes'], 'needs a number'), (['--nodes', '5'], '1 to 4'),
                (['--nodes=x'], '1 to 4'), (['--engine', 'fast'], 'kvm, uml'),
                (['--device', 'mlx5'], 'rxe or siw'), (['now'], "'now'")):
            with self.assertRaises(Misuse) as caught:
                options(Settings({}), words)
            self.assertIn(text, caught.exception.args[0])


class Others(unittest.TestCase):
    """exec, and the verbs with one argument or none."""

    def test_exec(self) -> None:
        """What stands after -- is the command's."""
        self.assertEqual(command_line(['--', 'a', '-u', '--']),
                         ('a', '', ['a', '-u', '--']))
        self.assertEqual(command_line(['-u', 'nobody', 'c', '--', 'id']),
                         ('c', 'nobody', ['id']))

    def test_exec_is_light(self) -> None:
        """Whoever waits for it does not wait for what it does not need."""
        loaded = subprocess.run(
            [sys.executable, '-B', '-S', '-c', 'import sys, lib.lab.__main__, '
             'lib.lab.commands; print(*sys.modules)'], check=True, text=True,
            stdout=subprocess.PIPE).stdout.split()
        self.assertIn('lib.lab.client', loaded)
        for name in 'enum', 'json', 'pathlib', 're', 'typing':
            self.assertNotIn(name, loaded)

    def test_exec_misuse(self) -> None:
        """No command, no node, no user."""
        for line in '', 'a', 'e -- true', 'true', '-u', 'ab -- x', '--':
            with self.assertRaises(Misuse):
                command_line(line.split())

    def test_one_node(self) -> None:
        """shell and reset."""
        self.assertEqual(one_node('reset', ['d']), 'd')
        for line in '', 'e', 'a b', 'abcd':
            with self.assertRaises(Misuse):
                one_node('reset', line.split())

    def test_verbs(self) -> None:
        """Each is known, and those without an argument take none."""
        for line in '', 'start', 'status x', 'down x', 'fetch x':
            with self.assertRaises(Misuse):
                run(Settings({}), line.split())
