#!/usr/bin/python3 -B
"""Whether modules of a chapter include each other in a circle.

Usage: include_cycles.py CHAPTER...

A module is a .c and a .h of one name, here or in carried/ or plumbing/. If one includes
another, directly or not, the other must not include it: such two can be read
only together. Prints a circle of each chapter that has one.

Exit status: 0 none, 1 some, 2 usage.
"""
import pathlib
import re
import sys

from lib.arguments import Parser

INCLUDE = re.compile(r'^#include "(?:[^"/]*/)*([\w-]+)\.h"', re.MULTILINE)


def includes(chapter):
    """{module: the modules that it includes}"""
    found = {}
    for folder in (chapter, chapter / 'carried', chapter / 'plumbing'):
        for path in folder.glob('*.[ch]'):
            names = set(INCLUDE.findall(path.read_text('utf-8')))
            found.setdefault(path.stem, set()).update(names - {path.stem})
    return found


def circle(graph):
    """The modules of one circle, or None."""
    done = set()

    def visit(name, way):
        if name in way:
            return way[way.index(name):]
        if name in done:
            return None
        for other in sorted(graph.get(name, ())):
            if found := visit(other, [*way, name]):
                return found
        done.add(name)
        return None

    for name in sorted(graph):
        if found := visit(name, []):
            return found
    return None


def main():
    """Checks the chapters; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_argument('chapters', nargs='+', type=pathlib.Path)
    status = 0
    for chapter in parser.parse_args().chapters:
        if found := circle(includes(chapter)):
            print(f'{chapter}: {" -> ".join([*found, found[0]])}')
            status = 1
    return status


if __name__ == '__main__':
    sys.exit(main())
