"""Which engine is chosen, and with which command lines it starts nodes."""
import os
import pathlib
import tempfile
import unittest
import unittest.mock

from lib.lab import choose, qemu, uml
from lib.lab.engine import Engine
from lib.lab.settings import REPOSITORY, Failed, Settings


def engine_of(kind: type[Engine], **environment: str) -> Engine:
    """One without a keeper."""
    keeper = unittest.mock.Mock()
    keeper.settings = Settings({f'LAB_{name}': value for name, value
                                in environment.items()})
    return kind(keeper)


class Qemu(unittest.TestCase):
    """qemu.Qemu"""

    def words(self, name: str, **environment: str) -> list[str]:
        """The command line of node b."""
        engine = engine_of(qemu.Qemu, ARCH='x86_64', NAME='x', **environment)
        assert isinstance(engine, qemu.Qemu)
        engine.name, engine.image = name, '/boot/vmlinuz'
        engine.modules, engine.initrd = '/lib/a,b', pathlib.Path('/s/initrd')
        engine.keeper.nodes, engine.sandbox = ['a', 'b'], ['bwrap']
        return engine.command('b', 7, 8)

    def test_tcg_and_kvm(self) -> None:
        """Only what is emulated needs other clocks, and does without a part."""
        words = self.words('tcg', MEMORY='512')
        self.assertRegex(words[words.index('-accel') + 1],
                         'tcg,thread=(multi|single),tb-size=256')
        self.assertIn('clocksource=hpet', words[words.index('-append') + 1])
        self.assertIn('max,-erms,', words[words.index('-cpu') + 1])
        self.assertEqual(words[words.index('-m') + 1], '512')
        words = self.words('kvm')
        self.assertEqual(words[words.index('-accel') + 1], 'kvm')
        self.assertEqual(words[words.index('-cpu') + 1], 'max')
        for text in 'clocksource', 'maxcpus', 'mitigations':
            self.assertNotIn(text, ' '.join(words))

    def test_threads(self) -> None:
        """One for each processor only where this machine has more than the nodes."""
        for processors, cpus, want in (
                (4, '2', 'single'), (5, '2', 'multi'), (4, '1', 'multi')):
            with unittest.mock.patch.object(os, 'sched_getaffinity',
                                            lambda _: range(processors)):
                self.assertIn(f'tcg,thread={want},tb-size=256',
                              self.words('tcg', CPUS=cpus))

    def test_shares(self) -> None:
        """The machine's files are read-only; a comma is doubled."""
        shares = [word for word in self.words('tcg') if word.startswith('local,')]
        self.assertEqual(shares, [
            'local,id=root,path=/tmp/files,readonly=on,multidevs=remap,security_model=none',
            'local,id=modules,path=/lib/a,,b,readonly=on,security_model=none',
            f'local,id=repo,path={qemu.escape(REPOSITORY)},multidevs=remap,'
            'security_model=none'])

    def test_wire_and_line(self) -> None:
        """Its ends of them are open files; its address has its number."""
        words = ' '.join(self.words('tcg'))
        self.assertIn('local.type=fd,local.str=7', words)
        self.assertIn('socket,id=line,fd=8', words)
        self.assertIn('mac=52:54:00:52:44:02', words)
        self.assertIn('rdma-lab-x-b', words)

    def test_verdict(self) -> None:
        """It holds until this machine boots again."""
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings({'LAB_CACHE': folder})
            self.assertEqual(qemu.verdict(settings), '')
            for text, want in ((f'{qemu.boot_id()} tcg\n', 'tcg'),
                               ('another kvm\n', ''), ('rubbish\n', '')):
                pathlib.Path(folder, 'kvm').write_text(text)
                self.assertEqual(qemu.verdict(settings), want)


class Uml(unittest.TestCase):
    """uml.Uml"""

    def words(self, **environment: str) -> list[str]:
        """The command line of node c."""
        engine = engine_of(uml.Uml, NAME='x', CACHE='/c', **environment)
        assert isinstance(engine, uml.Uml)
        return engine.command('c', 7, 8)

    def test_sandbox(self) -> None:
        """All that it can write is the repository, without .git."""
        words = self.words(ROOT='/r')
        before = words[:words.index('--')]
        self.assertEqual(words[words.index('--') + 1], '/tmp/linux')
        self.assertEqual([before[at + 1:at + 3] for at, word in enumerate(before)
                          if word == '--bind'], [[REPOSITORY] * 2])
        git = f'{REPOSITORY}/.git'
        self.assertGreater(before.index(git), before.index('--bind'))
        self.assertIn('--unshare-net', before)
        at = before.index('--ro-bind')
        self.assertEqual(before[at + 1:at + 3], ['/r', '/'])

    def test_no_ptrace(self) -> None:
        """It is said why nodes are emulated, unless somebody wants it so."""
        with tempfile.TemporaryDirectory() as folder:
            kernel = pathlib.Path(folder, 'uml/linux')
            self.assertEqual(choose.why_slower(Settings({'LAB_CACHE': folder})), '')
            kernel.parent.mkdir()
            kernel.write_text('#!/bin/sh\necho "check_ptrace : it is not"\n')
            kernel.chmod(0o755)
            self.assertEqual(choose.why_slower(Settings({'LAB_CACHE': folder})),
                             'ptrace is forbidden here: check_ptrace : it is not')
            self.assertEqual(choose.why_slower(Settings({'LAB_CACHE': folder, 'LAB_ENGINE': 'tcg'})), '')

    def test_options(self) -> None:
        """siw keeps RDS from the port that it needs."""
        self.assertIn('vec0:transport=fd,fd=7,vec=0', self.words())
        self.assertIn('initcall_blacklist=rds_tcp_init', self.words(DEVICE='siw'))

    def test_why_not(self) -> None:
        """What is asked for may be in the way."""
        for name, value, text in (
                ('ENGINE', 'tcg', 'LAB_ENGINE=tcg'), ('CPUS', '2', 'one processor'),
                ('KERNEL', '/x', 'another kernel'), ('ARCH', 'vax', 'another kernel'),
                ('CACHE', '/nonexistent', 'make lab-kernel')):
            self.assertIn(text, uml.why_not(Settings({f'LAB_{name}': value})))


class Choice(unittest.TestCase):
    """choose.choose"""

    def choice(self, likely: bool, why_not: str, **environment: str) -> str:
        """What is chosen where KVM is likely, and User-Mode Linux is not."""
        settings = Settings({f'LAB_{name}': value
                             for name, value in environment.items()})
        with unittest.mock.patch.object(choose, 'is_kvm_likely', lambda _: likely), \
                unittest.mock.patch.object(uml, 'why_not', lambda _: why_not):
            return choose.choose(settings)

    def test_order(self) -> None:
        """KVM, User-Mode Linux, emulation."""
        self.assertEqual(self.choice(True, ''), 'kvm')
        self.assertEqual(self.choice(False, ''), 'uml')
        self.assertEqual(self.choice(False, 'no'), 'tcg')

    def test_siw(self) -> None:
        """Only the lab's own kernel is sure to have it."""
        self.assertEqual(self.choice(True, '', DEVICE='siw'), 'uml')
        self.assertEqual(self.choice(True, 'no', DEVICE='siw'), 'tcg')

    def test_asked(self) -> None:
        """What is asked for is taken, or it is said why not."""
        self.assertEqual(self.choice(True, '', ENGINE='tcg'), 'tcg')
        self.assertEqual(self.choice(True, '', ENGINE='uml'), 'uml')
        with self.assertRaises(Failed) as caught:
            self.choice(True, 'no ptrace', ENGINE='uml')
        self.assertEqual(caught.exception.args[1], 'no ptrace')
