#!/usr/bin/python3 -B
"""Which entries scripts/explain.py finds for the lines of a table.

Usage: explain_lines.py TABLE

The table has a line's entry, where it is from or how sure that is, and the line itself,
separated by tabs. An entry is - for none, and rtr* for any whose name begins so. Prints
each line that leads elsewhere, and how many were right, wrong, and without an entry that
should have had one. Status 1 if not all are right.
"""
import importlib.util
import pathlib
import sys

from lib.arguments import Parser

ROOT = pathlib.Path(__file__).resolve().parent.parent


def load(path):
    """The Python file at this path, as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def main(table):
    """Compares; returns the exit status."""
    explain = load(ROOT / 'scripts/explain.py')
    entries = explain.read_entries()
    count = {'right': 0, 'wrong': 0, 'none': 0}
    for row in pathlib.Path(table).read_text('utf-8').splitlines():
        if row.startswith('#'):
            continue
        want, sure, line = row.split('\t')
        hit = explain.look_up(line, 0, entries)
        got = hit.entries[0].anchor if hit else '-'
        if want.endswith('*') and hit and got.startswith(want[:-1]):
            want = got
        if hit and sure in explain.SURE:
            want, got = f'{want} ({sure})', f'{got} ({hit.sure})'
        verdict = 'right' if got == want else 'none' if got == '-' else 'wrong'
        count[verdict] += 1
        if verdict != 'right':
            print(f'{verdict}: {got}, should be {want}: {line}')
    print(', '.join(f'{number} {name}' for name, number in count.items()))
    return 0 if count['wrong'] + count['none'] == 0 else 1


if __name__ == '__main__':
    parser = Parser(__doc__)
    parser.add_argument('table')
    sys.exit(main(parser.parse_args().table))
