#!/usr/bin/python3 -B
"""Checks that what the Markdown files show and point at is really so.

Usage: check_readme.py [-r ROOT]

- Every ```c block in a chapter's Markdown is a verbatim piece of a C file of
  that chapter, and with `file=` in its first line of that file, from the folder
  of the Markdown file:

      ```c file=conn.c

  A line with only `...` or `/* ... */` stands for any lines left out. The same
  holds for any other block with `file=`, or with `log=` for recorded logs, in
  any Markdown file:

      ```text log=expected/default/server.log

- Relative links lead to files of the repository, and to headings that exist.
- Each chapter has a README.md.
- The `races` files of a chapter declare what may change places in a log. Some Markdown
  file of the chapter links to each of them, or to one with the same lines, where it
  tells the reader.

Prints a line for what is not so. Exit status: 0 all is, 1 not, 2 usage.
"""
import pathlib
import posixpath
import re
import sys
import urllib.parse

from lib.arguments import Parser
from lib.files import files_of
from lib.md_text import Markdown

HERE = pathlib.Path(__file__).resolve().parent
ELISION = re.compile(r'\s*(\.\.\.|/\* \.\.\. \*/)\s*$')


class Tree:
    """The repository: its files, its Markdown and what is wrong with it."""

    def __init__(self, root):
        self.root = root
        # What git ignores is not among them: a link to a built file leads nowhere.
        self.files = set(files_of(root))
        self.folders = {str(parent) for name in self.files
                        for parent in pathlib.PurePath(name).parents}
        self.markdown = {name: Markdown(self.read(name))
                         for name in sorted(self.files)
                         if name.endswith('.md')}
        self.chapters = sorted(name.split('/')[0] for name in self.files
                               if re.fullmatch(r'\d\d_[^/]+/Makefile', name))
        self.wrong = 0

    def read(self, name):
        """The text of a file."""
        return (self.root / name).read_text('utf-8', 'replace')

    def lines(self, name):
        """The lines of a file."""
        return self.read(name).split('\n')

    def say(self, name, line, what):
        """Reports something that is not so."""
        print(f'{name}:{line}: {what}')
        self.wrong += 1


def chunks(block):
    """(line number, lines) of what stands between the lines left out."""
    found, start, lines = [], block.line, []
    for number, line in enumerate(block.lines + ['...'], block.line):
        if not ELISION.match(line):
            lines.append(line)
            continue
        # Blank lines next to what is left out may be left out as well.
        while lines and not lines[0].strip():
            lines.pop(0)
            start += 1
        while lines and not lines[-1].strip():
            lines.pop()
        if lines:
            found.append((start, lines))
        start, lines = number + 1, []
    return found


def find(part, lines, start):
    """Where part is in lines, from start on; -1: nowhere."""
    for at in range(start, len(lines) - len(part) + 1):
        if lines[at:at + len(part)] == part:
            return at
    return -1


def missing(block, lines):
    """The first part of block that lines have not; None if they have all."""
    at = 0
    for number, part in chunks(block):
        at = find(part, lines, at)
        if at < 0:
            return number, part
        at += len(part)
    return None


def check_block(tree, name, block):
    """One code block of a Markdown file."""
    folder = pathlib.PurePath(name).parent
    chapter = name.split('/')[0]
    named = block.options.get('file') or block.options.get('log')
    if not block.closed:
        tree.say(name, block.line - 1, 'code block without an end')
        return
    if named:
        sources = [posixpath.normpath(folder / named)]
        if sources[0] not in tree.files:
            tree.say(name, block.line - 1, f'no file {sources[0]}')
            return
    elif block.language == 'c' and chapter in tree.chapters:
        sources = sorted(x for x in tree.files
                         if x.startswith(f'{chapter}/') and x[-2:] in ('.c', '.h'))
    else:
        return
    if not chunks(block):
        tree.say(name, block.line - 1, 'nothing is shown in this block')
        return
    sources = {x: tree.lines(x) for x in sources}
    gaps = [missing(block, lines) for lines in sources.values()]
    if None in gaps:
        return
    # The source that has most of it is the one that was meant.
    number, part = max(gaps, default=chunks(block)[0])
    # The first line that no file has; each of them may be there, in another order.
    have = {line for lines in sources.values() for line in lines}
    offset = next((at for at, line in enumerate(part) if line not in have), 0)
    tree.say(name, number + offset,
             f'not in {named or f"any one C file of {chapter}"}: {part[offset]}')


def check_link(tree, name, line, target):
    """One link of a Markdown file."""
    if re.match(r'[a-z][a-z0-9+.-]*:|//', target, re.IGNORECASE):
        return
    path, _, fragment = urllib.parse.unquote(target).partition('#')
    place = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
    if place not in tree.files and place not in tree.folders:
        tree.say(name, line, f'link to nothing: {target}')
        return
    if not fragment:
        return
    if place in tree.markdown:
        if fragment not in tree.markdown[place].anchors:
            tree.say(name, line, f'no heading of {place} is #{fragment}')
    elif place in tree.files:
        if not re.fullmatch(r'L\d+', fragment) or int(fragment[1:]) >= len(tree.lines(place)):
            tree.say(name, line, f'{place} has no #{fragment}')


def check_chapter(tree, chapter):
    """What the README of a chapter must say."""
    name = f'{chapter}/README.md'
    if name not in tree.files:
        tree.say(name, 1, 'this chapter has no README.md')
        return
    told = set()
    for readme, markdown in tree.markdown.items():
        if readme.startswith(f'{chapter}/'):
            folder = pathlib.PurePath(readme).parent
            for _, target in markdown.links():
                linked = posixpath.normpath(folder / target)
                if linked in tree.files and linked.endswith('/races'):
                    told.update(races_in(tree, linked))
    for races in sorted(tree.files):
        if re.fullmatch(chapter + r'/(.*/)?races', races):
            for line, number in races_in(tree, races).items():
                if line not in told:
                    tree.say(races, number, f'no Markdown of {chapter} tells of this race, '
                             f'with a link to the file: {line}')
                    told.add(line)


def races_in(tree, name):
    """{line: its number} of what a file `races` declares."""
    return {line.strip(): number for number, line in
            enumerate(tree.lines(name), 1)
            if line.strip() and not line.lstrip().startswith('#')}


def main(arguments):
    """Checks the tree; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_root(HERE.parents[1])
    tree = Tree(parser.parse_args(arguments).root)
    blocks = links = 0
    for chapter in tree.chapters:
        check_chapter(tree, chapter)
    for name, markdown in tree.markdown.items():
        for block in markdown.blocks:
            check_block(tree, name, block)
            blocks += 1
        for line, target in markdown.links():
            check_link(tree, name, line, target)
            links += 1
    if not tree.wrong:
        print(f'{len(tree.markdown)} Markdown files with {blocks} blocks and '
              f'{links} links: all as they say')
    return 1 if tree.wrong else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
