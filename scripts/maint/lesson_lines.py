#!/usr/bin/python3 -B
"""Checks what each chapter's README.md says of its lesson.

Usage: lesson_lines.py [-r ROOT] [--write]

The first line below the heading has the command that prints the lesson, and how
many lines that is; --write puts the line right, or there.

Exit status: 0 all is so, 1 not, 2 usage.
"""
import pathlib
import sys

from lib.arguments import Parser
from lib.lesson import sentence

TOP = pathlib.Path(__file__).resolve().parents[2]
# Where the line is, counted from 0: the heading, a blank line, and then it.
OPENING = 2


def put_right(lines, due):
    """The README's lines with the right one in its place."""
    if '`make lesson CH=' in ''.join(lines[OPENING:OPENING + 1]):
        return [*lines[:OPENING], due, *lines[OPENING + 1:]]
    return [*lines[:OPENING], due, '', *lines[OPENING:]]


def main(arguments):
    """Checks all chapters; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_root(TOP)
    parser.add_argument('--write', action='store_true')
    options = parser.parse_args(arguments)
    wrong = 0
    for readme in sorted(options.root.glob('[0-9][0-9]_*/README.md')):
        name = readme.relative_to(options.root)
        lines, due = readme.read_text('utf-8').split('\n'), sentence(readme.parent)
        if lines[OPENING:OPENING + 1] == [due]:
            continue
        if options.write:
            readme.write_text('\n'.join(put_right(lines, due)), 'utf-8')
        else:
            print(f'{name}:{OPENING + 1}: should say: {due}\n\t'
                  '`make docs` puts it right')
            wrong = 1
    return wrong


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
