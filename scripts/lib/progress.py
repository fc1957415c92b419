"""How far a reader is, and what comes next.

Usage: progress.py show ROOT FILE     what is done of each chapter, in a table
       progress.py next ROOT FILE     one step that comes next, and why

FILE has a line for each thing that was done (see progress.sh), such as

  read 01_send_recv
  run 01_send_recv/default
  guess 01_send_recv/no_recv yes
  repair 01_send_recv/deaf
  exercise 01_send_recv/echo
"""
from __future__ import annotations

import pathlib
import re
import sys

from lib.arguments import Parser, folder
from lib.bodies import bodies
from lib.cases import cases
from lib.repair.tasks import tasks

# What there is to do in a chapter, in this order, with the heading of its column.
KINDS = {'read': 'read', 'run': 'runs', 'guess': 'guesses', 'exercise': 'exercises',
         'repair': 'repairs'}
LINK = re.compile(r'\]\(([a-z0-9_]+)\.md\)')


def things(chapter: pathlib.Path, kind: str) -> list[str]:
    """The names of what there is of a kind, in the order in which one does them."""
    if kind == 'read':
        return ['']
    if kind == 'run':
        return sorted(path.parent.name for path in chapter.glob('expected/*/commands'))
    if kind == 'guess':
        return [case.name for case in cases(chapter)]
    if kind == 'repair':
        return [task.path.name for task in tasks(chapter)]
    page = chapter / 'exercises/README.md'
    return [task.name for task in bodies(chapter)] + (
        LINK.findall(page.read_text('utf-8')) if page.is_file() else [])


def done(notes: pathlib.Path) -> dict[tuple[str, str], str]:
    """{(kind, name): value} of the notes."""
    lines = notes.read_text('utf-8').splitlines() if notes.is_file() else []
    words = [(line.split() + ['', '', ''])[:3] for line in lines]
    return {(kind, name): value for kind, name, value in words}


def left(chapter: pathlib.Path, kind: str,
         have: dict[tuple[str, str], str]) -> list[str]:
    """The names of what is not yet done."""
    return [name for name in things(chapter, kind)
            if (kind, f'{chapter.name}/{name}'.rstrip('/')) not in have]


def show(root: pathlib.Path, have: dict[tuple[str, str], str]) -> None:
    """A row for each chapter."""
    print(f'{"chapter":16}' + ''.join(f'{head:>12}' for head in KINDS.values()))
    for makefile in sorted(root.glob('[0-9][0-9]_*/Makefile')):
        chapter, row = makefile.parent, []
        for kind in KINDS:
            total = len(things(chapter, kind))
            missing = len(left(chapter, kind, have))
            cell = f'{total - missing} of {total}' if total else '-'
            row.append({0: 'yes', 1: 'no'}[missing] if kind == 'read' else cell)
        print(f'{chapter.name:16}' + ''.join(f'{cell:>12}' for cell in row))
    guesses = [value for (kind, _), value in have.items() if kind == 'guess']
    if guesses:
        print(f'\nOf {len(guesses)} guesses, {guesses.count("yes")} were right.')


def step(chapter: pathlib.Path, have: dict[tuple[str, str], str]) -> str:
    """What comes next in a chapter, and why; empty if all is done."""
    number, name = chapter.name[:2], chapter.name
    # A reader who has read it has run it, perhaps by hand.
    if left(chapter, 'read', have) and left(chapter, 'run', have) == things(chapter, 'run'):
        return (f'make demo CH={number}\n\nSee {name} run first: the text refers to '
                'what both ends say.')
    if left(chapter, 'read', have):
        half = ' Its first half goes through first.c.' if (chapter / 'first.c').is_file() else ''
        return (f'{name}/README.md\n\nFollow it from top to bottom, and guess where it asks '
                f'you to.{half} Then: make next READ={number}')
    reasons = {
        'guess': ('break', 'CASE', 'Guess what both ends will say before it runs: what '
                  'one has guessed, one remembers.'),
        'exercise': ('exercise', 'EX', 'You know what it does: make it do something new, or write a '
                     'part of it.'),
        'repair': ('repair', 'TASK', 'You have seen such faults made. Now find one that '
                   'nobody names.')}
    for kind, (target, what, reason) in reasons.items():
        names = left(chapter, kind, have)
        if names:
            return f'make {target} CH={number} {what}={names[0]}\n\n{reason}'
    return ''


def main(arguments: list[str]) -> int:
    """Prints what was asked for; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_argument('what', choices=('show', 'next'))
    parser.add_argument('root', type=folder)
    parser.add_argument('file', type=pathlib.Path)
    options = parser.parse_args(arguments)
    have = done(options.file)
    if options.what == 'show':
        show(options.root, have)
        return 0
    chapters = [path.parent for path in sorted(options.root.glob('[0-9][0-9]_*/Makefile'))]
    for chapter in chapters:
        text = step(chapter, have)
        if not text:
            continue
        print(text)
        unread = [other.name for other in chapters if left(other, 'read', have)]
        if unread and unread[0] > chapter.name:
            print(f'\nOr leave the rest for later: the next first file is in {unread[0]}/README.md')
        return 0
    print('You have done all that is here. Take a real card: docs/beyond.md')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
