#!/usr/bin/python3 -B
"""Checks docs/links.md, the addresses of errors that others may link to.

Usage: links.py [-r ROOT] [--write]

It lists each entry of docs/troubleshooting.md that an error of the programs names, with
the chapter's page that opens the lab with a case that ends so. --write adds what is new
and chooses the cases; an address that was listed once stays, so its entry must, too.

Exit status: 0 all is so, 1 not, 2 usage.
"""
import pathlib
import re
import sys

from lib.arguments import Parser

TOP = pathlib.Path(__file__).resolve().parents[2]
NAMED = re.compile(r'\[docs/troubleshooting\.md#([a-z0-9-]+)\]')
ROW = re.compile(r'(?m)^- \[`([a-z0-9-]+)`\]\(troubleshooting\.md#')
HEAD = """# Addresses to link to

Each error that the programs name has an address, which stays. In the pages that `make web` makes, the second one opens
the lab with a case that ends with this error (`make break` runs it, too).

"""


def named(root, *patterns):
    """Which entries are named, and where first: {entry: path}."""
    return {entry: path for path in sorted((path for each in patterns for path in root.glob(each)), reverse=True)
            for entry in NAMED.findall(path.read_text('utf-8'))}


def table(root, listed):
    """The page, with the entries that were listed before."""
    cases = named(root, '[0-9]*_*/break/*/*.err')
    rows = []
    for entry in sorted({*listed, *named(root, '[0-9]*_*/*.c', '[0-9]*_*/*/*.c')}):
        page = ''
        if case := cases.get(entry):
            page = f': `{case.parents[2].name}/index.html?lab&case={case.parent.name}`'
        rows.append(f'- [`{entry}`](troubleshooting.md#{entry}){page}\n')
    return HEAD + ''.join(rows)


def main(arguments):
    """Checks or writes; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_root(TOP)
    parser.add_argument('--write', action='store_true')
    options = parser.parse_args(arguments)
    page = options.root / 'docs/links.md'
    old = page.read_text('utf-8') if page.exists() else ''
    listed = ROW.findall(old)
    entries = (options.root / 'docs/troubleshooting.md').read_text('utf-8')
    gone = [entry for entry in listed if f'<a id="{entry}"></a>' not in entries]
    for entry in gone:
        print(f'docs/links.md: others may link to docs/troubleshooting.md#{entry}, which is gone')
    new = table(options.root, listed)
    if options.write:
        page.write_text(new, 'utf-8')
    elif new != old:
        print('docs/links.md is not up to date: scripts/maint/links.py --write')
        return 1
    return 1 if gone else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
