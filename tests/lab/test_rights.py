"""The filter of system calls, run as the kernel would."""
import errno
import struct
import subprocess
import sys
import unittest

from lib.lab import rights

X86, NR = rights.CALLS['x86_64']


def verdict(machine: str, architecture: int, number: int,
            *arguments: int) -> int:
    """What the filter says to a call."""
    data = struct.pack('=IIQ6Q', number, architecture, 0,
                       *arguments, *[0] * (6 - len(arguments)))
    program = list(struct.iter_unpack('=HBBI', rights.program(machine)))
    at = word = 0
    while True:
        code, yes, no, operand = program[at]
        at += 1
        if code == rights.LOAD:
            [word] = struct.unpack_from('=I', data, operand)
        elif code == rights.END:
            return int(operand)
        else:
            is_so = {rights.IF_EQUAL: word == operand,
                     rights.IF_AT_LEAST: word >= operand,
                     rights.IF_SET: word & operand}[code]
            at += yes if is_so else no


class Filter(unittest.TestCase):
    """rights.program"""

    def said(self, name: str, *arguments: int) -> int:
        """Of a call of x86_64's."""
        return verdict('x86_64', X86, NR[name][0], *arguments)

    def test_setuid(self) -> None:
        """Refused, whichever call asks for it."""
        refused = rights.FAIL | errno.EPERM
        self.assertEqual(self.said('chmod', 0, 0o4755), refused)
        self.assertEqual(self.said('fchmodat', 0, 0, 0o6755), refused)
        self.assertEqual(self.said('mknod', 0, 0o4600), refused)
        self.assertEqual(self.said('open', 0, 0o101, 0o4600), refused)
        self.assertEqual(verdict('aarch64', rights.CALLS['aarch64'][0], 52, 3, 0o4755),
                         refused)

    def test_setgid(self) -> None:
        """chmod seems to succeed; nothing is made with it."""
        self.assertEqual(self.said('chmod', 0, 0o2755), rights.FAIL)
        self.assertEqual(self.said('creat', 0, 0o2755), rights.FAIL | errno.EPERM)

    def test_allowed(self) -> None:
        """All else; a mode that no file is made with is no mode."""
        self.assertEqual(self.said('chmod', 0, 0o1777), rights.ALLOW)
        self.assertEqual(self.said('open', 0, 0, 0o4755), rights.ALLOW)
        self.assertEqual(self.said('openat', 0, 0, 0o100, 0o644), rights.ALLOW)
        self.assertEqual(verdict('x86_64', X86, 0, 0o4755, 0o4755), rights.ALLOW)

    def test_ways_past_it(self) -> None:
        """Calls that have their modes or flags elsewhere do not exist."""
        absent = rights.FAIL | errno.ENOSYS
        for machine, (architecture, _) in rights.CALLS.items():
            for number in rights.ABSENT[machine].values():
                self.assertEqual(verdict(machine, architecture, number), absent)
            clone = rights.CLONE[machine]
            self.assertEqual(verdict(machine, architecture, clone, 0x10000011),
                             rights.FAIL | errno.EPERM)
            self.assertEqual(verdict(machine, architecture, clone, 0x11),
                             rights.ALLOW)
        self.assertEqual(verdict('x86_64', X86, 0x40000000 + 90, 0, 0o4755), absent)

    def test_given(self) -> None:
        """bwrap gets it, also from a process that has no other file open."""
        subprocess.run([sys.executable, '-B', '-c', 'import sys; from lib.lab import sandbox; '
                        'sys.exit(sandbox.run(sandbox.command([]) + ["true"], (), 1).wait())'], check=True)

    def test_other_architecture(self) -> None:
        """Calls have other numbers there, so there are none."""
        self.assertEqual(verdict('x86_64', 0x40000003, 15, 0, 0o4755),
                         rights.FAIL | errno.ENOSYS)
