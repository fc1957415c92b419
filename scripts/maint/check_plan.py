#!/usr/bin/python3 -B
"""Which tests a chapter needs, or a change.

Usage: check_plan.py [-r ROOT] [-l DIR] chapter CH
       check_plan.py [-r ROOT] [-l DIR] changed [FILE...]
       check_plan.py [-r ROOT] [-l DIR] fast

chapter: a test is one of chapter 04 if it is in tests/04_*.bats, if its name has
the chapter's number (as "04: ..." or "03 to 05: ..."), or if CHAPTER_TESTS, below,
has it, for those that go through all chapters. Left out are the pages in a browser,
and what tests the scripts.

changed: the files that differ from main, committed or not; or else those that are
named. RULES says what a changed file needs. Where none says it, that is everything.

fast: what says in a minute and a half of a processor's time whether the chapters and
the book are as they should be. Left out are what tests the scripts, shellcheck, the
builds with two compilers, fuzzing, and what needs a device.

Prints a line for each file of tests: its name, how much of it, and why.
"unit_programs" stands for the programs of tests/unit. With -l, DIR gets what check.sh reads: the file `files`,
one name a line, and for those of which only a part is to run NAME.part, with a
regular expression for the tests' names, and the chapters that they go through.

Exit status: 0, or 2 for wrong usage.
"""
import collections
import pathlib
import re
import sys

from lib.arguments import Parser, folder
from lib.chapter_files import Tree
from lib.changes import differing, naming

TOP = pathlib.Path(__file__).resolve().parents[2]

PROGRAMS = 'unit_programs'

# Of these files, each chapter needs the tests that the expression finds. They go
# through the chapters in $CHECK_CHAPTERS; those marked * look at the whole book.
CHAPTER_TESTS = """
peers            .
every_chapter    .
ends             ^01 to
commands         ^every command that is marked
exercises        ^each exercise is listed
exercises_wrong  ^each exercise has three
style            ^(each chapter builds|nothing in a chapter|no file is longer|C is formatted|shellcheck has|whitespace is|files say|nothing is left|a message is|no modules of)
unit *           ^each version of a module
carry_forward *  ^this repository
docs *           ^(the map of calls is|the links of this|the front door|what can be broken|the chapters have|every error|an error )
readme *         ^(what this|each chapter|each race)
spelling *       ^(the spelling|the commands)
option_letters * each option that one names
wire_replay *    ^wire: (each|what is recorded)
web_compiler     .
"""

# What a change of the documentation needs.
DOCS_TESTS = """
docs             .
readme           .
spelling         .
concepts         .
explain          .
carry_forward *  ^this repository
style *          ^(no file is longer|whitespace is|nothing is left)
"""

# make check-fast, with the programs of tests/unit, which take half of the time.
FAST_TESTS = """
unit             .
lab_parts        .
readme           .
spelling         .
concepts         .
option_letters   .
logged_lines     .
docs *           ^([^ae]|a |another|each|every picture)
style *          ^(nothing in a chapter|no file is longer|C is formatted|whitespace is|files say|nothing is left|a message is|no modules of)
carry_forward *  ^this repository
wire_replay *    ^wire: what is recorded
"""

# The first that fits a changed file says what it needs: a method of Plan.
RULES = (
    (r'.*\.md|docs/.*|LICENSE|tests/words\.txt', 'docs'),
    (r'tests/(\d\d_)?\w+\.bats', 'itself'), (r'tests/long/.*', 'script_style'),
    (r'\d\d_\w+/.*', 'of_chapter'),
    (r'tests/unit/.*', 'unit'),
    (r'tests/wrong/\d\d_.*', 'wrong'),
    (r'tests/mutants/.*\.tsv', 'mutant'),
    (r'web/.*|tests/web/.*', 'web'),
    (r'(scripts|tests)/.*', 'named'),
    (r'.*', 'everything'),
)


def numbers(number):
    """An expression for the names that have a chapter's number, as 04."""
    last = int(number[1])
    return (rf'(^|[ ,]){number}([ :,.]|$)|'
            rf'0[1-{last}] to 0[{last}-9]')


class Plan:
    """The tests that are to run: parts[file] is None for all of it, or a list of
    (regular expression, chapter or None for all)."""

    def __init__(self, root):
        self.root, self.whole = root, None
        self.parts, self.why = {}, collections.defaultdict(dict)
        self.chapters = sorted(p.parent.name for p in root.glob('[0-9][0-9]_*/Makefile'))
        self.names = {
            path.stem: re.findall(r'^@test "(.*)" \{', path.read_text('utf-8'),
                                  re.MULTILINE)
            for path in sorted(root.glob('tests/*.bats'))}

    def add(self, name, why, part=None):
        """Adds a file, or a part of it if that has any test."""
        if name != PROGRAMS and name not in self.names:
            return
        if part and name != PROGRAMS and \
                not any(re.search(part[0], test) for test in self.names[name]):
            return
        self.why[name][why] = True
        if part is None:
            self.parts[name] = None
        elif name not in self.parts:
            self.parts[name] = [part]
        elif self.parts[name] is not None and part not in self.parts[name]:
            self.parts[name].append(part)

    def add_table(self, table, why, chapter=None):
        """Adds the lines of CHAPTER_TESTS or DOCS_TESTS."""
        for line in table.strip().splitlines():
            name, star, regex = re.fullmatch(r'(\w+) *(\*?) +(\S.*)', line).groups()
            self.add(name, why, None if regex == '.' and not chapter
                     else (regex, None if star else chapter))

    def chapter(self, chapter, why):
        """Adds what a chapter needs."""
        number = chapter[:2]
        self.add(PROGRAMS, why, ('.', chapter))
        for name in self.names:
            if name.startswith(f'{number}_'):
                self.add(name, why)
            else:
                self.add(name, why, (numbers(number), chapter))
        self.add_table(CHAPTER_TESTS, why, chapter)

    def docs(self, name):
        """Documentation: what is said in it is looked at, and no program runs."""
        self.add_table(DOCS_TESTS, name)
        if (match := re.match(r'(\d\d_\w+)/', name)) and match[1] in self.chapters:
            self.add('commands', name, ('^every command that is marked', match[1]))

    def itself(self, name):
        """A file of tests: it, and how it is written."""
        self.add(pathlib.Path(name).stem, name)
        self.script_style(name)

    def script_style(self, name):
        """How a script is written."""
        self.add('style', name, ('^(no file|shellcheck|whitespace|files say|nothing is)',
                                 None))

    def of_chapter(self, name):
        """A chapter's file: the chapter, and all that carry it or descend from it."""
        if name.split('/')[0] not in self.chapters:
            self.everything(name)
            return
        found, new, files = set(), {name}, Tree(self.root)
        while new:
            found |= new
            new = {other for one in new for other in files.relatives(one)} - found
        for chapter in sorted({one.split('/')[0] for one in found}):
            if chapter in self.chapters:
                self.chapter(chapter, name)

    def unit(self, name):
        """Something of the unit tests."""
        self.add(PROGRAMS, name)
        self.itself('tests/unit.bats')
        self.add('style', name, ('^(no file is longer|C is formatted)', None))

    def wrong(self, name):
        """A wrong solution of an exercise."""
        self.add('exercises_wrong', name,
                 (numbers(name.split('/')[2][:2]) + '|^each exercise', None))
        self.add('docs', name, ('^the patches of', None))

    def mutant(self, name):
        """A mutant: that it is well-formed."""
        self.add('mutants', name, ('^every row', None))

    def web(self, name):
        """The pages."""
        for test in self.names:
            if test.startswith('web'):
                self.add(test, name)
        self.script_style(name)

    def named(self, name):
        """A script: the tests that name it, or something else that names it."""
        found = naming(self.root, name)
        tests = sorted(path.stem for path in found
                       if path.suffix == '.bats' and path.stem in self.names)
        for test in tests:
            self.add(test, name)
        if not tests:
            self.everything(name)
        self.script_style(name)
        # Its command line.
        if name.endswith(('.sh', '.py')):
            self.add('cli', name)

    def everything(self, name):
        """Nobody has said what it needs."""
        self.whole = self.whole or name
        for test in [PROGRAMS, *self.names]:
            self.add(test, name)

    def change(self, name):
        """Adds what a changed file needs."""
        rule = next(rule for regex, rule in RULES if re.fullmatch(regex, name))
        getattr(self, rule)(name)

    def lines(self):
        """For people: file, how much of it, why."""
        if not self.parts:
            yield 'nothing'
        if self.whole:
            yield f'everything, for {self.whole}'
            return
        for name, parts in sorted(self.parts.items()):
            chapters = self.goes_through(name)
            much = 'all' if parts is None else chapters or 'a part'
            why = list(self.why[name])
            more = f' and {len(why) - 1} more' if len(why) > 1 else ''
            yield f'{name:<18} {much:<26} for {why[0]}{more}'

    def goes_through(self, name):
        """The chapters that a part of a file goes through, or '' for all."""
        chapters = {chapter for _, chapter in self.parts[name] or [('', None)]}
        return '' if None in chapters else ' '.join(sorted(chapters))

    def write(self, out):
        """For check.sh."""
        files = ['unit' if name == PROGRAMS else f'tests/{name}.bats' for name in self.parts]
        (out / 'files').write_text('\n'.join([*files, '']), 'utf-8')
        for name, parts in self.parts.items():
            if parts is not None:
                regex = '|'.join(dict.fromkeys(regex for regex, _ in parts))
                (out / f'{name}.part').write_text(
                    f'{regex}\n{self.goes_through(name)}\n', 'utf-8')


def main(arguments):
    """Prints the plan; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_root(TOP)
    parser.add_argument('-l', dest='lists', type=folder)
    parser.add_argument('what', choices=('chapter', 'changed', 'fast'))
    parser.add_argument('names', nargs='*')
    options = parser.parse_args(arguments)
    plan = Plan(options.root)
    if options.what == 'chapter':
        found = [chapter for chapter in plan.chapters
                 if len(options.names) == 1 and options.names[0] in
                 (chapter, chapter[:2])]
        if not found:
            parser.error(f'which chapter? There is: {" ".join(plan.chapters)}')
        plan.chapter(found[0], found[0])
    elif options.what == 'fast':
        plan.add(PROGRAMS, 'a quick look')
        plan.add_table(FAST_TESTS, 'a quick look')
    else:
        for name in options.names or differing(options.root):
            plan.change(name)
    for line in plan.lines():
        print(line)
    if options.lists:
        plan.write(options.lists)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
