"""Runs a command now, and again whenever a file in a folder has been saved.

Usage: watch.py FOLDER COMMAND...

The kernel says when a file has changed (inotify(7)), so nothing is done while
nobody writes. Editors may write several files for each one saved, so the command runs
only after a quiet moment. Ctrl-C ends it.
"""
from __future__ import annotations

import argparse
import ctypes
import os
import pathlib
import select
import subprocess
import sys

from lib.arguments import Parser, folder

# From sys/inotify.h: written and closed, moved here, moved away, deleted.
CHANGES = 0x8 | 0x80 | 0x40 | 0x200
NONBLOCK = os.O_NONBLOCK
QUIET_SECONDS = 0.2


def watch(place: pathlib.Path) -> int:
    """A descriptor that is readable when something in a folder has changed."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(NONBLOCK)
    inner = [path for path in sorted(place.rglob('*')) if path.is_dir()]
    for path in [place, *inner]:
        if fd < 0 or libc.inotify_add_watch(fd, os.fsencode(path), CHANGES) < 0:
            error = os.strerror(ctypes.get_errno())
            raise SystemExit(f'watch: {path}: {error}; see `sysctl fs.inotify`')
    return int(fd)


def changed(fd: int) -> list[str]:
    """Waits until something has changed and then all is quiet: the names."""
    names, timeout = set(), None
    while select.select([fd], [], [], timeout)[0]:
        data = os.read(fd, 65536)
        while data:
            length = int.from_bytes(data[12:16], sys.byteorder)
            names.add(os.fsdecode(data[16:16 + length].rstrip(b'\0')))
            data = data[16 + length:]
        timeout = QUIET_SECONDS
    return sorted(names)


def is_source(name: str) -> bool:
    """Whether what is built may depend on it; editors have files of their own."""
    return name == 'Makefile' or name.endswith(('.c', '.h', '.sh'))


def main(arguments: list[str]) -> int:
    """Never returns by itself."""
    parser = Parser(__doc__)
    parser.add_argument('place', type=folder)
    parser.add_argument('command', nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    fd = watch(options.place)
    try:
        while True:
            subprocess.run(options.command, check=False)
            print(f'watching {options.place.name}; Ctrl-C ends it', flush=True)
            while not any(map(is_source, changed(fd))):
                pass
    except KeyboardInterrupt:
        print()
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
