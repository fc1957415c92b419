#!/usr/bin/python3 -B
"""Which entries scripts/explain.py finds for the lines of a table.

Usage: explain_lines.py TABLE

The table has a line's entry, where it is from or how sure that is, and the line itself,
separated by tabs. An entry is - for none, rtr* for any whose name begins so, and a|b for either.
Prints each line that leads elsewhere; and how many were right, wrong, and without an entry that
should have had one; how many have it first, and among three; and how many were wrong and called
sure. Status 1 if not all are right.
"""
import collections
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


def fits(name, want):
    """Is this entry one of those?"""
    return any(name.startswith(one[:-1]) if one.endswith('*') else name == one for one in want.split('|'))


def main(table):
    """Compares; returns the exit status."""
    explain = load(ROOT / 'scripts/explain.py')
    known = explain.Table()
    count = collections.Counter()
    for row in pathlib.Path(table).read_text('utf-8').splitlines():
        if row.startswith('#'):
            continue
        want, sure, line = row.split('\t')
        hit = known.look_up(line)
        named = [entry.anchor for entry, _ in known.three(hit, [line])]
        got = named[0] if hit else '-'
        good = fits(got, want) and not (hit and sure in explain.SURE and hit.sure != sure)
        verdict = 'right' if good else 'none' if got == '-' else 'wrong'
        count[verdict] += 1
        count['lines'] += want != '-'
        count['first'] += want != '-' and bool(named) and fits(named[0], want)
        count['three'] += want != '-' and any(fits(name, want) for name in named)
        count['sure'] += bool(hit) and hit.sure == 'sure' and not fits(got, want)
        if not good:
            print(f'{verdict}: {got} ({hit.sure if hit else "no rule"}; {", ".join(named)}), should be {want}: {line}')
    print(f'{count["right"]} right, {count["wrong"]} wrong, {count["none"]} none')
    print(f'of {count["lines"]}: {count["first"]} first, {count["three"]} among three; {count["sure"]} wrong and sure')
    return 0 if count['wrong'] + count['none'] == 0 else 1


if __name__ == '__main__':
    parser = Parser(__doc__)
    parser.add_argument('table')
    sys.exit(main(parser.parse_args().table))
