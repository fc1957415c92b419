#!/usr/bin/python3 -B
"""How many lines somebody has to look after: those that are no copy of others.

Usage: count_lines.py [-r ROOT]

Of the chapters' C files those lines count that the ancestor of the file has not (see
carry_forward.sh -h); of scripts, tests and pages, all lines. Logs, patches, tables and
Markdown are none.

  -r ROOT  the tree to look at (default: the one this script is in)
"""
import difflib
import pathlib
import sys

from lib.arguments import Parser
from lib.chapter_files import Tree

TOP = pathlib.Path(__file__).resolve().parents[2]

KINDS = ('.c', '.h', '.sh', '.py', '.bash', '.bats', '.js', '.mjs', '.css', '.html')


def lines(path):
    """Those of a file."""
    return path.read_text('utf-8').splitlines()


def new_lines(tree, path):
    """How many lines of a chapter's file its ancestor has not."""
    mine = lines(tree.root / path)
    if not tree.origin[path]:
        return len(mine)
    same = difflib.SequenceMatcher(None, lines(tree.root / tree.origin[path]), mine, False)
    return len(mine) - sum(block.size for block in same.get_matching_blocks())


def main(arguments):
    """Prints a row a kind."""
    parser = Parser(__doc__)
    parser.add_root(TOP)
    tree = Tree(parser.parse_args(arguments).root)
    code = [path for path in tree.files if path.endswith(('.c', '.h'))]
    found = {'C': sum(new_lines(tree, path) for path in code)}
    for kind, place in (('scripts', 'scripts'), ('tests', 'tests'), ('pages', 'web')):
        listed = tree.git('ls-files', '-z', place, text=True).stdout.split('\0')
        files = [tree.root / name for name in listed if name.endswith(KINDS)]
        found[kind] = sum(len(lines(path)) for path in files
                          if path.is_file() and not path.is_symlink())
    copies = sum(len(lines(tree.root / path)) for path in code) - found['C']
    print('lines that are no copy: ' + ', '.join(
        f'{kind} {count:,}' for kind, count in found.items()) +
        f'; together {sum(found.values()):,}, beside {copies:,} of C that are copies')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
