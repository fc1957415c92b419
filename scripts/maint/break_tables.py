#!/usr/bin/python3 -B
"""Checks the table of the cases in each chapter's reference.md (or README.md).

Usage: break_tables.py [-r ROOT] [--write]

It has a row for each folder in CHAPTER/break, with the question that the
README.md there begins with, and the command that runs the case. --write puts it
right: rows keep their order, those of new cases come last.

A case's folder has README.md and `commands`, and mostly a patch. The question
ends with a question mark; the story that follows it has a paragraph that begins
with **Remember:**.

Exit status: 0 all is so, 1 not, 2 usage.
"""
import pathlib
import re
import sys

from lib.arguments import Parser
from lib.cases import cases, parts

TOP = pathlib.Path(__file__).resolve().parents[2]
HEAD = '| case | what it asks | the command |\n|---|---|---|\n'
TABLE = re.compile(re.escape(HEAD) + r'(?:\|.*\n)*')


def table(chapter):
    """The table as it should be."""
    return HEAD + ''.join(
        f'| [{case.name}](break/{case.name}/README.md) | {parts(case)[0]} | '
        f'`make break CH={chapter.name[:2]} CASE={case.name}` |\n'
        for case in cases(chapter))


def wrong_with(case):
    """What is wrong with the folder of a case."""
    for name in ('README.md', 'commands'):
        if not (case / name).is_file():
            yield f'has no {name}'
            return
    question, story = parts(case)
    if not question:
        yield ('README.md does not begin with the heading '
               f'"# {case.name}" and a quotation, the question')
        return
    if not question.endswith('?'):
        yield f'README.md: what it asks is no question: {question}'
    if not re.search(r'^\*\*Remember:\*\* ', story, re.MULTILINE):
        yield 'README.md: no paragraph begins with **Remember:**'


def main(arguments):
    """Checks all chapters; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_root(TOP)
    parser.add_argument('--write', action='store_true')
    options = parser.parse_args(arguments)
    wrong = 0
    for folder in sorted(options.root.glob('[0-9][0-9]_*/break')):
        said = [f'{case.relative_to(options.root)} {what}'
                for case in sorted(folder.iterdir()) for what in wrong_with(case)]
        readme = folder.parent / 'reference.md'
        if not readme.is_file():
            readme = folder.parent / 'README.md'
        text = readme.read_text('utf-8')
        if not said and not TABLE.search(text):
            said.append(f'{readme.relative_to(options.root)} has no such table')
        if not said:
            due = TABLE.sub(lambda _, now=table(folder.parent): now, text, count=1)
            if due != text and options.write:
                readme.write_text(due, 'utf-8')
            elif due != text:
                said.append(f'{readme.relative_to(options.root)}: the table of '
                            'cases is not as their READMEs are; `make docs` '
                            'puts it right')
        for line in said:
            print(line)
            wrong = 1
    return wrong


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
