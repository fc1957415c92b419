#!/usr/bin/python3
"""Tries to get out of the lab's sandbox, in the place of a node's kernel or of qemu.

Usage: lab_escapes.py, where the test has put its own facts in for the words in capitals

It is what a node can do at most: its root may have found a way to have that process do
what it likes. What came of each try stands in FOLDER/tries; whether there are setuid
files in FOLDER is for the test to see.
"""
import ctypes
import glob
import os
import pathlib
import socket
import struct
import typing

FOLDER, PID, PORT = pathlib.Path('@FOLDER@'), '@PID@', int('@PORT@')
IS_X86 = os.uname().machine == 'x86_64'
# chmod(), keyctl() and clone() there; the other calls have the same number everywhere.
CHMOD, KEYCTL, CLONE = (90, 250, 56) if IS_X86 else (-1, 219, 220)
URING_SETUP, OPENAT2, FCHMODAT2, X32 = 425, 437, 452, 0x40000000
HERE, NEW_USER, CHILD_ENDS, USER_KEYRING = -100, 0x10000000, 17, -4
MODE = 0o6755
libc = ctypes.CDLL(None, use_errno=True)


def made(name: str) -> bytes:
    """The name of a file that is there."""
    (FOLDER / name).touch()
    return bytes(FOLDER / name)


def opened() -> int:
    """openat2() has its mode in memory."""
    how = struct.pack('QQQ', os.O_CREAT | os.O_WRONLY, MODE, 0)
    return int(libc.syscall(OPENAT2, HERE, bytes(FOLDER / 'opened'), how, len(how)))


def cloned() -> int:
    """A child in a user namespace."""
    child = libc.syscall(CLONE, NEW_USER | CHILD_ENDS, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    return int(child)


def connects(family: int, address: tuple[str, int] | str) -> bool:
    """To somebody of this machine's."""
    with socket.socket(family) as end:
        end.connect(address)
    return True


def knows_the_caller() -> bool:
    """By the environment, its own or anybody's."""
    return any(b'LAB_SECRET' in pathlib.Path(path).read_bytes()
               for path in glob.glob('/proc/*/environ')) or 'LAB_SECRET' in os.environ


TRIES: dict[str, typing.Callable[[], object]] = {
    'a TCP port of 127.0.0.1':
        lambda: connects(socket.AF_INET, ('127.0.0.1', PORT)),
    'a socket that has a name and no file':
        lambda: connects(socket.AF_UNIX, f'\0lab.bats.{PID}'),
    'a process': lambda: os.path.exists(f'/proc/{PID}'),
    'the environment': knows_the_caller,
    'files of the kernel and of services':
        lambda: [path for folder in ('/run', '/sys') for path in os.listdir(folder)],
    'the keys': lambda: libc.syscall(KEYCTL, 0, USER_KEYRING, 1) != -1,
    'io_uring': lambda: libc.syscall(URING_SETUP, 8, bytes(120)) != -1,
    'a user namespace by clone()': lambda: cloned() != -1,
    'a user namespace by unshare()': lambda: libc.unshare(NEW_USER) != -1,
    'setuid by openat2()': lambda: opened() != -1,
    'setuid by open()': lambda: os.open(FOLDER / 'born', os.O_CREAT, MODE),
    'setuid by chmod()': lambda: libc.chmod(made('changed'), 0o4755) != -1,
    'setuid by a chmod() of x32': lambda: IS_X86 and libc.syscall(
        X32 + CHMOD, made('x32'), 0o4755) != -1,
    'setuid by fchmodat2()': lambda: libc.syscall(
        FCHMODAT2, HERE, made('fchmodat2'), 0o4755, 0) != -1,
}


def main() -> None:
    """Tries all; the lab then sees a kernel that has ended."""
    lines = []
    for name, call in TRIES.items():
        try:
            done = bool(call())
        except OSError:
            done = False
        lines.append(f'{"DONE" if done else "refused"}: {name}\n')
    (FOLDER / 'tries').write_text(''.join(lines))
    # By this, a User-Mode Linux kernel is known to start.
    print('Kernel panic')


main()
