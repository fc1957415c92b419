#!/usr/bin/python3 -B
"""The repair tasks as the page hands them out: JSON.

Usage: repairs.py CHAPTER

CHAPTER is a folder. For each of its tasks, in their order: what the reader is told, the
files that are broken, the three hints as Markdown, the file that says how it was run,
the folder of what both ends said, and the check.
"""
from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from lib.arguments import Parser, folder
from lib.repair.tasks import Task, tasks


def broken(task: Task) -> dict[str, str]:
    """{path: text} of the files in which something is broken."""
    with tempfile.TemporaryDirectory() as place:
        copy = pathlib.Path(place)
        for part in ('.', 'carried', 'plumbing', 'load', 'bench'):
            for path in sorted((task.chapter / part).glob('*')):
                if path.name == 'Makefile' or path.suffix in ('.c', '.h', '.sh'):
                    (copy / part).mkdir(exist_ok=True)
                    shutil.copy(path, copy / part)
        subprocess.run(('patch', '-f', '-s', '-p1', '--no-backup-if-mismatch', '-d', copy),
                       input=task.patch(), text=True, check=True)
        texts = {str(path.relative_to(copy)): path.read_text('utf-8')
                 for path in sorted(copy.rglob('*')) if path.is_file()}
    return {name: text for name, text in texts.items()
            if not (task.chapter / name).is_file()
            or (task.chapter / name).read_text('utf-8') != text}


def described(task: Task) -> dict[str, object]:
    """All that the page has of it."""
    title, symptom = task.told()
    return {'name': task.path.name, 'title': title, 'symptom': symptom,
            'hints': task.hints(), 'files': broken(task),
            'commands': str(task.commands()), 'said': str(task.said()),
            'judge': (task.path / 'judge.sh').read_text('utf-8')}


def main(arguments: list[str]) -> int:
    """Prints them; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_argument('chapter', type=folder)
    options = parser.parse_args(arguments)
    json.dump([described(task) for task in tasks(options.chapter)], sys.stdout,
              ensure_ascii=False)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
