"""A hand-in: one file with what a learner has changed.

Usage: hand_in.py ROOT OUT      writes to OUT what has been changed in ROOT/work

It is JSON: the learner's name, and of each task the text of the C files that differ
from what was handed out. Nothing else of the machine is in it: no progress, no hints.
"""
from __future__ import annotations

import json
import os
import pathlib
import re
import sys
import tempfile

from lib.arguments import Parser, folder
from lib.repair.work import SOURCE, all_work, hand_out, sources

VERSION = 1
FILE_MAX, HAND_IN_MAX, FILES_MAX = 256 * 1024, 2 * 1024 * 1024, 200

Files = dict[str, dict[str, str]]


class Refused(Exception):
    """Why a hand-in, or a part of it, is not even looked at."""


def changes(root: pathlib.Path) -> Files:
    """{task: {path: text}} of what differs from what was handed out."""
    found = {}
    for work in all_work(root):
        theirs = root / 'work' / work.name
        if not theirs.is_dir():
            continue
        with tempfile.TemporaryDirectory() as place:
            given = pathlib.Path(place, 'given')
            hand_out(work, given)
            before = sources(given)
        found[work.name] = {name: text for name, text in sources(theirs).items()
                            if before.get(name) != text}
    return found


def check_path(task: str, name: str) -> None:
    """A path leads nowhere but to a C file of the task."""
    if not re.fullmatch(r'[0-9]{2}_[a-z0-9_]+', task):
        raise Refused(f'{task[:40]!r} is no name of a task')
    if not SOURCE.fullmatch(name):
        raise Refused(f'{task}: {name[:60]!r} is no C file of a chapter; only .c and .h '
                      'files are taken, beside server.c or in carried, plumbing, load')


def check_text(task: str, name: str, text: object) -> None:
    """It is text, and of a size that somebody may have written."""
    if not isinstance(text, str) or '\0' in text:
        raise Refused(f'{task}/{name} is no text')
    if len(text.encode('utf-8', 'replace')) > FILE_MAX:
        raise Refused(f'{task}/{name} has more than {FILE_MAX} bytes')


def read(path: pathlib.Path) -> tuple[str, Files]:
    """The name and the files of a hand-in, of which nothing is believed."""
    if path.is_symlink() or not path.is_file():
        raise Refused(f'{path.name} is no file; a hand-in is one that make hand-in wrote')
    if path.stat().st_size > HAND_IN_MAX:
        raise Refused(f'{path.name} has more than {HAND_IN_MAX} bytes')
    try:
        whole = json.loads(path.read_text('utf-8'))
    except (ValueError, RecursionError):
        raise Refused(f'{path.name} is no JSON; a hand-in is one that make hand-in '
                      'wrote') from None
    if not isinstance(whole, dict) or whole.get('hand-in') != VERSION:
        raise Refused(f'{path.name} is no hand-in of version {VERSION}')
    files, name = whole.get('files'), whole.get('name')
    if not isinstance(files, dict) or not isinstance(name, str) or \
            not all(isinstance(part, dict) for part in files.values()):
        raise Refused(f'{path.name} does not have the form of a hand-in')
    if sum(map(len, files.values())) > FILES_MAX:
        raise Refused(f'{path.name} has more than {FILES_MAX} files')
    for task, part in files.items():
        for one, text in part.items():
            check_path(task, one)
            check_text(task, one, text)
    return re.sub(r'[^\w .@-]', '?', name)[:60], files


def main(arguments: list[str]) -> int:
    """Writes the file; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_argument('root', type=folder)
    parser.add_argument('out', type=pathlib.Path)
    options = parser.parse_args(arguments)
    files = changes(options.root)
    if not files:
        print('hand_in: there is nothing in work/ yet; make repair CH=01 TASK=1 begins',
              file=sys.stderr)
        return 1
    whole = {'hand-in': VERSION, 'name': os.environ.get('NAME', ''), 'files': files}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(whole, indent=1) + '\n', 'utf-8')
    for task, part in files.items():
        print(f'{task:24} ' + (', '.join(part) or 'nothing has been changed'))
    try:
        read(options.out)
    except Refused as why:
        print(f'hand_in: it would be refused: {why}', file=sys.stderr)
        return 1
    print(f'Hand in this file: {options.out}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
