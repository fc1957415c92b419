"""Exercises that ask for the body of one function: the chapter without it.

Usage: bodies.py list CHAPTER            each with what it is about
       bodies.py names CHAPTER           their names
       bodies.py take CHAPTER NAME COPY  takes the body out of a copy of the chapter
       bodies.py told CHAPTER NAME       what the reader is told

CHAPTER is a folder. Its table is CHAPTER/exercises/bodies.tsv: name, file, function, how
many minutes it may take, and what it is about. What stands before the function, and
in the header, says what it must do. CHAPTER/exercises/NAME.sh, if there is one, checks
what the logged runs do not show.
"""
from __future__ import annotations

import dataclasses
import pathlib
import re
import sys

from lib.arguments import Parser, folder


@dataclasses.dataclass(frozen=True)
class Body:
    """A row of the table."""
    name: str
    file: str
    function: str
    minutes: str
    about: str

    def without(self, text: str) -> str:
        """The text of its file without the body."""
        head = rf'^(?P<type>[a-z].*?\b\**){self.function}\((?:[^;{{}}]*?)\)\n{{\n'
        match = re.search(head, text, re.MULTILINE)
        if not match:
            raise SystemExit(f'{self.file}: there is no function {self.function}')
        end = text.index('\n}\n', match.end() - 1)
        kind = match['type'].replace('static', '').strip()
        failed = {'void': '', 'int': '\treturn -1;'}.get(kind, '\treturn 0;')
        body = '\n'.join(filter(None, ('\t/* Yours. */', failed)))
        return text[:match.end()] + body + text[end:]


def bodies(chapter: pathlib.Path) -> list[Body]:
    """Those of a chapter."""
    table = chapter / 'exercises/bodies.tsv'
    rows = table.read_text('utf-8').splitlines() if table.is_file() else []
    return [Body(*row.split('\t')) for row in rows if not row.startswith('#')]


def named(chapter: pathlib.Path, name: str) -> Body:
    """The one of that name."""
    for task in bodies(chapter):
        if task.name == name:
            return task
    raise SystemExit(f'bodies: {chapter.name} has no {name}')


def main(arguments: list[str]) -> int:
    """Prints or does what was asked for; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_argument('what', choices=('list', 'names', 'take', 'told'))
    parser.add_argument('places', nargs='+')
    options = parser.parse_args(arguments)
    what, places = options.what, options.places
    if what in ('take', 'told') and len(places) != {'take': 3, 'told': 2}[what]:
        parser.error('which NAME?')
    chapter = folder(places[0])
    if what == 'list':
        for task in bodies(chapter):
            print(f'  make exercise CH={chapter.name[:2]} EX={task.name:<10} Write the body of '
                  f'{task.function}: {task.minutes} minutes')
    elif what == 'names':
        print(''.join(f'{task.name}\n' for task in bodies(chapter)), end='')
    elif what == 'take':
        task = named(chapter, places[1])
        file = folder(places[2]) / task.file
        file.write_text(task.without(file.read_text('utf-8')), 'utf-8')
    else:
        task = named(chapter, places[1])
        print(f'{task.about} Write {task.function}() in {task.file}; it should take '
              f'{task.minutes} minutes.')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
