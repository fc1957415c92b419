#!/usr/bin/python3 -B
"""Checks links to lines of code: the line is the one that was meant.

Usage: code_links.py [-r ROOT] [--write]

In Markdown, a link to a line of a file names in its title what that line has:

    [rdma.c:117](../01_send_recv/rdma.c#L117 "ibv_alloc_pd")

Where the line has it no longer, because lines were added above it, the nearest
line that has it is meant; --write puts the number right, in the link's text as
well. A link to a line of C without such a title is an error: nobody would
notice when it comes to point elsewhere. (docs/api_map.md is written whole.)

Exit status: 0 all are right, 1 not, 2 usage.
"""
import pathlib
import re
import subprocess
import sys

from lib.arguments import Parser

TOP = pathlib.Path(__file__).resolve().parents[2]
# One in backticks is an example.
LINK = re.compile(r'(?<!`)\[([^\]]*)\]\(([^()\s#]+\.[ch])#L(\d+)(?:\s+"([^"]*)")?\)')
WRITTEN_WHOLE = {'docs/api_map.md'}


def markdown_files(root):
    """The Markdown files that git does not ignore."""
    git = subprocess.run(
        ['git', '-C', root, 'ls-files', '-coz', '--exclude-standard', '*.md'],
        capture_output=True, text=True, check=False)
    names = git.stdout.split('\0') if git.returncode == 0 else [
        str(path.relative_to(root)) for path in root.rglob('*.md')]
    return [name for name in sorted(names) if name not in WRITTEN_WHOLE
            and not name.startswith('tests/fixtures/')
            and (root / name).is_file()]


def nearest(lines, needle, number):
    """The number of the line with needle that is nearest to number, or 0."""
    having = [n for n, line in enumerate(lines, 1) if needle in line]
    return min(having, key=lambda n: abs(n - number), default=0)


def check_file(root, name, write):
    """Checks one Markdown file; returns how many links are wrong."""
    path = root / name
    wrong = 0

    def look(match):
        nonlocal wrong
        text, target, number, needle = match.groups()
        where = f'{name}: {target}#L{number}'
        file = path.parent / target
        if needle is None:
            print(f'{where}: the title does not say what the line has')
        elif not file.is_file():
            print(f'{where}: no such file')
        else:
            lines = file.read_text('utf-8').split('\n')
            due = nearest(lines, needle, int(number))
            if due == int(number):
                return match[0]
            if due and write:
                return (f'[{text.replace(":" + number, f":{due}")}]'
                        f'({target}#L{due} "{needle}")')
            print(f'{where}: ' + (
                f'"{needle}" is in line {due}; scripts/maint/code_links.py --write '
                'puts it right' if due else f'no line has "{needle}"'))
        wrong += 1
        return match[0]

    text = path.read_text('utf-8')
    new = LINK.sub(look, text)
    if new != text:
        path.write_text(new, 'utf-8')
    return wrong


def main(arguments):
    """Checks all Markdown; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_root(TOP)
    parser.add_argument('--write', action='store_true')
    options = parser.parse_args(arguments)
    root, write = options.root, options.write
    wrong = sum(check_file(root, name, write) for name in markdown_files(root))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
