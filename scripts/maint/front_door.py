#!/usr/bin/python3 -B
"""Writes the minutes of each chapter in README.md's table of chapters; and in each chapter's
reference.md or README.md the lines of its files.

Usage: front_door.py [-r ROOT] [--check]

The table has a row for each row of chapters.tsv: a link, its concept, and the minutes that
it takes to read: of its first.c, if it has one, and of all (see lesson.sh); and a last row
with the sums. In a chapter, the table below "The files" has names in its first cell and
their lines in the second, rounded to tens (`name.[ch]`: of both together); a row whose
second cell is empty is left alone.

  --check   write nothing; say what is not up to date
  -r ROOT   the tree to work on (default: the one this script is in)

Exit status: 0 written or up to date, 1 not up to date, 2 usage.
"""
import pathlib
import re
import sys

from lib.arguments import Parser
from lib.chapters import chapters, folders
from lib.lesson import both_paths

HERE = pathlib.Path(__file__).resolve().parent


def table(root, text):
    """text with the table of chapters as it has to be."""
    rows, sums = '', [0, 0]
    for name, chapter in chapters(root).items():
        if (root / name).is_dir():
            paths = both_paths(root / name)
            sums = [sum(pair) for pair in zip(sums, paths)]
            rows += (f'| [{name}]({name}/README.md) | {chapter.concept} | '
                     f'{paths[0] or "–"} | {paths[1]} |\n')
    rows += f'| together | | {sums[0]} | {sums[1]} |\n'
    return re.sub(r'^(\| chapter \|.*\n\|[-|:]+\n)(\|.*\n)*', lambda head: head[1] + rows,
                  text, count=1, flags=re.MULTILINE)


def lines_of(folder, text):
    """text, a page of a chapter, with the lines of its files put right."""
    def cell(names):
        sizes = [sum(file.read_text('utf-8').count('\n')
                     for file in folder.glob(name))
                 for name in re.findall(r'`([^`]+)`', names)]
        return ', '.join(str((size + 5) // 10 * 10) for size in sizes)

    def section(match):
        return re.sub(r'^\| (`[^|]*`) \| [\d, ]+ \|',
                      lambda row: f'| {row[1]} | {cell(row[1])} |',
                      match[0], flags=re.MULTILINE)

    return re.sub(r'^## The files.*?^## ', section, text,
                  flags=re.MULTILINE | re.DOTALL)


def main(arguments):
    """Writes or checks all; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_root(HERE.parents[1])
    parser.add_argument('--check', action='store_true')
    options = parser.parse_args(arguments)
    root, check = options.root, options.check
    readme = root / 'README.md'
    without = set(folders(root)) ^ set(chapters(root))
    for chapter in sorted(without):
        print(f'{chapter} needs a row in chapters.tsv, and a folder with a Makefile')
    wrong = bool(without)
    due = {readme: table(root, readme.read_text('utf-8'))}
    for page in sorted([*root.glob('[0-9][0-9]_*/README.md'),
                        *root.glob('[0-9][0-9]_*/reference.md')]):
        due[page] = lines_of(page.parent, page.read_text('utf-8'))
    for path, text in due.items():
        if path.read_text('utf-8') == text:
            continue
        if check:
            print(f'{path.relative_to(root)} is not up to date; '
                  'scripts/maint/front_door.py writes it')
            wrong = True
        else:
            path.write_text(text, 'utf-8')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
