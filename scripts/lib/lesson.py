"""The lesson of a chapter: what its top level adds to the chapter before.

Used by lesson.sh, which prints it, and by docs.py, which writes how long
it is:  lesson.py ROOT CHAPTER [COLOUR]
"""
import difflib
import os
import pathlib
import re
import sys

from lib.chapters import before, looked_up

# What a person reads in a minute.
WORDS, LINES = 200, 15
# What a chapter has beside its lesson.
ASIDE = ('plumbing', 'load', 'bench')
# Programs of one file, which stay in the chapter that they open.
ALONE = ('loopback.c', 'first.c')
# A row of a table: its first cell.
ROW = re.compile(r'^\|([^|]*)\|.*\|$', re.MULTILINE)


def number(count):
    """A count as prose has it."""
    return f'{count:,}'


def files_of(folder):
    """{name: path} of what can be part of a lesson."""
    found = [*folder.glob('carried/*.[ch]'), *folder.glob('*.[ch]'),
             *folder.glob('*.sh'), *folder.glob('Makefile')]
    return {path.name: path for path in sorted(found)}


def names_in(cell):
    """The files that a cell of the table names: `qp.h`, `data.[ch]`, `addr`."""
    for name in re.findall(r'`([^`]+)`', cell):
        if name.endswith('.[ch]') or re.fullmatch(r'[a-z_0-9]+', name):
            stem = name.removesuffix('.[ch]')
            yield from (stem + '.h', stem + '.c')
        yield name


def minutes(chapter, lines):
    """How long the text and that many lines of code take, to the next 5."""
    readme = chapter / 'README.md'
    text = readme.read_text('utf-8').split('\n') if readme.is_file() else []
    words = sum(len(line.split()) for line in text if '`make lesson' not in line)
    return 5 * max(1, round((words / WORDS + lines / LINES) / 5))


def alone(chapter):
    """(name, lines, words, minutes) of each program of one file, with the README up
    to the end of the section that quotes it last, from where the one before ends. Its words
    are those outside of blocks, its lines those that the lesson prints."""
    lesson, text, since = Lesson(chapter), (chapter / 'README.md').read_text('utf-8'), 0
    for name in ALONE:
        told = re.search(rf'\A.*file={re.escape(name)}$.*?(?=^## |\Z)', text, re.M | re.S)
        if not told:
            continue
        words = len(re.sub(r'^```.*?^```$', '', told[0][since:], flags=re.M | re.S).split())
        since = told.end()
        lines = len(lesson.of_file(name)) - 1
        yield name, lines, words, words / WORDS + lines / LINES


def reading_order(chapter):
    """The names in the order of the table of files, which reference.md or the
    README has."""
    section = re.search(r'^## The files.*?(?=^## |\Z)', looked_up(chapter),
                        re.M | re.S)
    cells = ROW.findall(section[0] if section else '')
    return list(dict.fromkeys(name for cell in cells for name in names_in(cell)))


class Lesson:
    """What is to be read of a chapter, file by file."""

    def __init__(self, chapter):
        start = before(chapter.parent, chapter.name)
        self.chapter, self.start = chapter, start and chapter.parent / start
        self.here = files_of(chapter)
        self.there = files_of(self.start) if self.start else {}
        if 'loopback.c' in self.here:
            # first.c has grown out of that.
            self.there['first.c'] = self.here['loopback.c']
        self.gone = [name for name in self.there
                     if name not in self.here and name not in ALONE and
                     not any((chapter / aside / name).is_file() for aside in ASIDE)]
        if self.start:
            # It may have come out of the plumbing.
            self.there |= {name: self.start / 'plumbing' / name
                           for name in self.here if name not in self.there
                           and (self.start / 'plumbing' / name).is_file()}
        told = reading_order(chapter)
        self.order = [name for name in told if name in self.here]
        self.order += [name for name in self.here if name not in told
                       and name.endswith(('.c', '.h'))]
        self.same = [name for name in self.order if name in self.there and
                     self.here[name].read_bytes() == self.there[name].read_bytes()]
        self.added = self.removed = 0

    def of_file(self, name):
        """The lines to print of a file: a difference, or all of it."""
        new = self.here[name].read_text('utf-8').splitlines()
        title = f'{self.chapter.name}/{name}'
        if name not in self.there:
            self.added += len(new)
            return [f'=== {title}, new, {len(new)} lines', *new]
        old = self.there[name].read_text('utf-8').splitlines()
        lines = list(difflib.unified_diff(
            old, new, str(self.there[name].relative_to(self.chapter.parent)),
            title, lineterm=''))
        added = sum(line.startswith('+') for line in lines[2:])
        self.added += added
        self.removed += added + len(old) - len(new)
        if len(lines) <= len(new):
            return [f'=== {title}, changed', *lines]
        return [f'=== {title}, changed so much that it is printed whole: '
                f'{len(new)} lines', *new]

    def lines(self):
        """The lesson."""
        for name in self.order:
            if name not in self.same:
                yield from self.of_file(name)
                yield ''
        if self.gone:
            yield f'=== no longer here: {", ".join(self.gone)}'

    def left_out(self):
        """What it does not print."""
        for aside in ASIDE:
            sizes = [path.read_text('utf-8').count('\n') for path in
                     (self.chapter / aside).glob('*.[ch]')]
            if sizes:
                yield (f'{aside}/: {len(sizes)} files, '
                       f'{number(sum(sizes))} lines')
        if self.same:
            lines = sum(self.here[name].read_text('utf-8').count('\n')
                        for name in self.same)
            yield (f'as in {self.start.name}: {len(self.same)} files, '
                   f'{number(lines)} lines')


def both_paths(chapter):
    """The minutes of its programs of one file, or 0, and of the whole."""
    short = sum(time for *_, time in alone(chapter))
    return round(short), minutes(chapter, len(list(Lesson(chapter).lines())))


def sentence(chapter):
    """What the chapter's README says of its lesson."""
    lesson = Lesson(chapter)
    due = f'`make lesson CH={chapter.name[:2]}` prints '
    due += (f'what is new here since {lesson.start.name}' if lesson.start else
            "this chapter's code in reading order")
    lines = len(list(lesson.lines()))
    due += f': {number(lines)} lines'
    if lesson.start:
        # The others are those around a change, and those that it removes.
        due += f', of which {number(lesson.added)} are new'
    due += f'. With this text, {minutes(chapter, lines)} minutes to read'
    for name, _, _, time in alone(chapter):
        due += f', {time:.0f} of them for `{name}`'
    return f'{due}.'


def coloured(line):
    """A line for a terminal."""
    for start, code in (('=== ', '1;36'), ('@@', '36'), ('+', '32'), ('-', '31')):
        if line.startswith(start):
            return f'\033[{code}m{line}\033[0m'
    return line


def main(root, name, colour=''):
    """Prints a lesson."""
    lesson = Lesson(pathlib.Path(root).resolve() / name)
    lines = list(lesson.lines())
    print(*(coloured(line) if colour else line for line in lines), sep='\n')
    print()
    print(f'{name}: {number(lesson.added)} lines added, '
          f'{number(lesson.removed)} removed. Not printed:')
    for line in lesson.left_out():
        print(f'  {line}')
    print(f'With the README, {minutes(lesson.chapter, len(lines))} minutes to read ({WORDS} words, {LINES} '
          'lines of code a minute).')
    for name, size, words, time in alone(lesson.chapter):
        print(f'Of these, {name}: {size} lines and {words} words, {time:.1f} minutes.')


if __name__ == '__main__':
    try:
        main(*sys.argv[1:])
    except BrokenPipeError:
        # The reader has left the pager.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
