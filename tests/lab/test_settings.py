"""The settings."""
import os
import unittest

from lib.lab.settings import Failed, Refused, Settings, default_name, in_words


class FromEnvironment(unittest.TestCase):
    """settings.Settings"""

    def test_defaults(self) -> None:
        """All that is not said has one that works."""
        settings = Settings({'HOME': '/home/x', 'LAB_NAME': '', 'LAB_CPUS': ''})
        settings.check()
        self.assertEqual(settings.cache, '/home/x/.cache/rdma-lab')
        self.assertEqual((settings.device, settings.cpus, settings.asked_cpus),
                         ('rxe', '2', ''))
        self.assertEqual(settings.root, '/')
        self.assertRegex(settings.folder, r'^/tmp/rdma-lab\.\d+\.[\w-]+$')

    def test_paths(self) -> None:
        """They are from here, and the keeper is elsewhere."""
        settings = Settings({'LAB_KERNEL': 'vmlinuz', 'LAB_CACHE': '/c'})
        self.assertEqual(settings.kernel, os.path.join(os.getcwd(), 'vmlinuz'))
        self.assertEqual((settings.modules, settings.cache), ('', '/c'))
        self.assertEqual(Settings({'XDG_CACHE_HOME': '/x'}).cache, '/x/rdma-lab')

    def test_refused(self) -> None:
        """What cannot work."""
        for name, value in (
                ('NAME', '../x'), ('NAME', '-x'), ('NAME', '.x'), ('NAME', 'x' * 41),
                ('NAME', 'a b'), ('NAME', 'ä'), ('DEVICE', 'mlx5'), ('ENGINE', 'fast'),
                ('MEMORY', '1G'), ('MEMORY', '255'),
                ('CPUS', '0'), ('CPUS', '-1'), ('SILENCE', '0'),
                ('SILENCE', '1m')):
            with self.assertRaises(Refused) as caught:
                Settings({f'LAB_{name}': value}).check()
            self.assertIn(f'LAB_{name}', caught.exception.args[0])
            self.assertEqual(caught.exception.status, 2)

    def test_machine(self) -> None:
        """Another processor has kernels of its own, and not every one is known."""
        settings = Settings({'LAB_ARCH': 'vax', 'LAB_CACHE': '/c'})
        self.assertEqual(settings.kernels, '/c/kernel.vax')
        with self.assertRaises(Failed) as caught:
            str(settings.machine)
        self.assertIn('the processor vax', caught.exception.args[0])

    def test_names(self) -> None:
        """Two clones get two names, which can be part of a path."""
        one = default_name('/home/a/my repository (2)')
        self.assertRegex(one, r'^my-repository--2--\d+$')
        self.assertNotEqual(one, default_name('/home/b/my repository (2)'))
        self.assertLessEqual(len(default_name('/' + 'x' * 99)), 31)

    def test_words(self) -> None:
        """One node is no nodes."""
        self.assertEqual([in_words(count) for count in (1, 4)],
                         ['one node', 'four nodes'])
