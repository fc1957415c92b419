"""Which file of a chapter has come from which of an earlier one.

Used by carry_forward.py, whose -h explains it.
"""
import os
import re
import subprocess
import sys

from lib.chapters import before, folders

TABLE = 'scripts/maint/carry_forward.reborn'
COMMAND = 'scripts/maint/carry_forward.sh'
CODE = re.compile(r'(?!exercises/|expected/|break/|repair/|fill_in/|first\.c|loopback\.c)(.*\.([ch]|sh)|(.*/)?Makefile|LICENSE)')
HEAD = """\
# What has grown out of an earlier chapter's file: CHAPTER/FILE VERSION [ANCESTOR] # comment
# scripts/maint/carry_forward.sh -h explains it, and writes it: sorted, a file a row."""
INCLUDE = re.compile(r'^#include "(.*)"', re.MULTILINE)
MARKS = ('<<<<<<<', '=======', '>>>>>>>', '|||||||')
DIGITS = 12  # of a version: git needs no more to find it


def is_plumbing(path):
    """Whether CHAPTER/FILE is the same in all chapters that have it."""
    return path.split('/')[1:2] == ['plumbing']


def is_carried(path):
    """Whether CHAPTER/FILE is a copy of the one in the chapter that its starts from."""
    return path.split('/')[1:2] == ['carried']


def name_of(path):
    """What the other chapters call CHAPTER/FILE."""
    return path.split('/', 1)[1].removeprefix('carried/')


class Refused(Exception):
    """What cannot be done, and why."""


class Tree:
    """The chapters of a tree, their files, and the table."""

    def __init__(self, root, broken=False):
        self.root, self.bad = root, False
        self.names = folders(root)
        self.start = {name: before(root, name) for name in self.names}
        self.files = [f'{name}/{file}' for name in self.names
                      for file in self._listed(name) if CODE.fullmatch(file)]
        # {path: (version or 'new', ancestor or '', why)}
        self.rows = {}
        self._read(broken)
        self.origin = {path: self._ancestor(path) for path in self.files}

    def git(self, *words, **more):
        """What git does in this tree."""
        return subprocess.run(['git', '-C', self.root, *words], capture_output=True,
                              check=False, **more)

    def complain(self, *lines):
        """Says what is wrong, and that something is."""
        print(f'carry_forward.sh: {lines[0]}', *lines[1:], sep='\n', file=sys.stderr)
        self.bad = True

    def _listed(self, name):
        """The files of a chapter, without those that git ignores."""
        there = self.root / name
        done = self.git('-C', name, 'ls-files', '-coz', '--exclude-standard', text=True)
        found = done.stdout.split('\0') if done.returncode == 0 else [
            str(path.relative_to(there)) for path in there.rglob('*')]
        return sorted({file for file in found if file and (there / file).is_file()})

    def _read(self, broken):
        """The table; broken: whatever a merge has left of it."""
        table = self.root / TABLE
        lines = table.read_text('utf-8').splitlines() if table.exists() else []
        for number, line in enumerate(lines, 1):
            try:
                self._read_line(line, broken)
            except Refused as why:
                raise Refused(f'carry_forward.reborn:{number}: {why}') from why

    def _read_line(self, line, broken):
        words, _, why = line.partition('#')
        path, *rest = words.split() or ['']
        if path in MARKS and not broken:
            raise Refused('a conflict; once it is resolved in the chapters: '
                          f'{COMMAND} --reconciled all')
        if not path or path in MARKS:
            return
        self.may_differ(path)
        version = [word for word in rest if re.fullmatch('new|[0-9a-f]{12,64}', word)]
        other = [word for word in rest if word not in version]
        if len(version) != 1 or len(other) > 1 or (version == ['new'] and not why.strip()):
            raise Refused('give CHAPTER/FILE VERSION, or CHAPTER/FILE new # and why')
        if path in self.rows and not broken:
            raise Refused(f'{path} is in two rows: {COMMAND} --reconciled all')
        if other and not other[0].split('/')[0] < path.split('/')[0]:
            raise Refused(f'{other[0]} is not of an earlier chapter than {path}')
        self.rows[path] = version[0], ''.join(other), why.strip()

    @staticmethod
    def may_differ(path):
        """Refuses a row for what is a copy wherever it is."""
        if is_carried(path):
            raise Refused(f'{path}: what is in carried/ is as in the chapter before; '
                          'what is to differ stands at the top level')
        if is_plumbing(path):
            raise Refused(f'{path}: what is in plumbing/ is the same in all chapters; '
                          'what is to differ stands at the top level')

    def write(self):
        """The table, sorted."""
        lines = [HEAD]
        for path, (version, other, why) in sorted(self.rows.items()):
            if other and self.first(other) == self.first(self.namesake(path)):
                other = ''
            lines.append(' '.join(filter(None, (
                f'{path:<35}', version[:DIGITS], other, why and f'# {why}'))))
        (self.root / TABLE).write_text('\n'.join(lines) + '\n', 'utf-8')

    def namesake(self, path):
        """The nearest file of this name in an earlier chapter, or ''."""
        chapter = path.split('/', 1)[0]
        line = self.start.get(chapter)
        while line and not self.in_chapter(line, path):
            line = self.start[line]
        line = line or max((name for name in self.names if name < chapter and
                            self.in_chapter(name, path)), default='')
        return line and self.in_chapter(line, path)

    def in_chapter(self, chapter, path):
        """The file of a chapter that has the name of this one, or ''."""
        return next((file for folder in ('', 'carried/') if
                     (file := f'{chapter}/{folder}{name_of(path)}') in self.files), '')

    def misplaced(self, path):
        """Where a file belongs, if that is not where it is: what is as in the chapter
        before, in carried/."""
        chapter, file = path.split('/', 1)
        before_it = self.in_chapter(self.start.get(chapter), path)
        if is_carried(path) and not before_it:
            return f'{chapter}/{name_of(path)}'
        if before_it and re.fullmatch(r'\w+\.[ch]', file) and self.same(path, before_it):
            return f'{chapter}/carried/{file}'
        return ''

    def _ancestor(self, path):
        """What a file has grown out of or is a copy of, or ''."""
        version, other, _ = self.rows.get(path, ('', '', ''))
        return '' if version == 'new' else other or self.namesake(path)

    def version(self, path):
        """Git's hash of the content."""
        return self.git('hash-object', '--no-filters', path, text=True).stdout.strip()

    def same(self, one, two):
        """Equal in content and in the right to execute."""
        one, two = self.root / one, self.root / two
        return (one.read_bytes() == two.read_bytes() and
                os.access(one, os.X_OK) == os.access(two, os.X_OK))

    def state(self, path):
        """What a file is beside its ancestor."""
        origin = self.origin[path]
        if not origin:
            return 'first'
        if path not in self.rows:
            return 'copy' if self.same(path, origin) else 'drifted'
        if not (self.root / origin).is_file() or self.same(path, origin):
            return 'outlived'
        return 'merged' if self.version(origin).startswith(self.rows[path][0]) else 'moved'

    def first(self, path):
        """Where the copies that this one comes from begin."""
        while self.origin.get(path) and path not in self.rows:
            path = self.origin[path]
        return path

    def is_older(self, path):
        """Whether a copy is a committed version of its ancestor."""
        versions = self.git('log', '-m', '--format=', '--raw', '--no-abbrev', '--',
                            self.origin[path], text=True).stdout.split()
        return self.version(path) in versions

    def leaks(self, path):
        """The headers that a file of plumbing/ includes from elsewhere."""
        chapter = path.split('/')[0]
        if not is_plumbing(path):
            return []
        return [name for name in INCLUDE.findall((self.root / path).read_text('utf-8'))
                if f'{chapter}/plumbing/{name}' not in self.files]

    def old(self, path):
        """The ancestor as it was when the two were compared; None: not in here."""
        done = self.git('cat-file', 'blob', self.rows[path][0])
        return done.stdout if done.returncode == 0 else None
