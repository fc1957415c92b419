#!/usr/bin/python3 -B
"""How many lines somebody has to look after, by kind.

Usage: count_lines.py

Of files with the same bytes, such as a chapter's carried/ and plumbing/, one counts. Recorded logs,
captures and generated pictures are not counted.
"""
import collections
import pathlib
import re
import subprocess

from lib.arguments import Parser

TOP = pathlib.Path(__file__).resolve().parents[2]
KINDS = {'lesson in C': r'0\d_\w+/(carried/|plumbing/|load/|bench/)?[^/]+\.[ch]', 'tests': r'tests/.*', 'scripts': r'scripts/.*',
         'pages': r'web/.*', 'tasks': r'0\d_\w+/(break|exercises|repair)/.*', 'docs': r'.*\.md'}
RECORDED = r'.*(\.(log|err|pcapng|svg|png|txt|wasm)|package-lock\.json)'


def main():
    """Prints a row a kind."""
    Parser(__doc__).parse_args()
    listed = subprocess.run(('git', 'ls-files', '-z'), cwd=TOP, check=True, text=True, stdout=subprocess.PIPE)
    seen, lines = set(), collections.Counter()
    for name in listed.stdout.split('\0'):
        path = TOP / name
        if not path.is_file() or path.is_symlink() or re.fullmatch(RECORDED, name):
            continue
        content = path.read_bytes()
        kind = next((kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, name)), 'other')
        if content not in seen:
            lines[kind] += content.count(b'\n')
        seen.add(content)
    for kind, count in lines.most_common():
        print(f'{kind:12}{count:8,}')


if __name__ == '__main__':
    main()
