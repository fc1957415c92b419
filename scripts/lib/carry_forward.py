"""Keeps what chapters have in common the same.

Usage: carry_forward.sh [-r ROOT] [--force] [FILE...]
       carry_forward.sh [-r ROOT] --check
       carry_forward.sh [-r ROOT] --reconciled CHAPTER/FILE[=ANCESTOR]... | all
       carry_forward.sh [-r ROOT] --new CHAPTER/FILE WHY

Each chapter is complete in itself, so most of its files are copies. The ancestor of
a file is the one of the same name in the chapter that its chapter starts from (see
chapters.tsv), or in the one before that, and so on; or else in the last earlier
chapter that has it. A file is a byte for byte copy of its ancestor, or it has grown
out of it and has a row in scripts/maint/carry_forward.reborn:

  CHAPTER/FILE VERSION [ANCESTOR]    ANCESTOR is not the one described above
  CHAPTER/FILE new # why this one has nothing of its older namesake

Copies have no rows. A file that is as in the chapter that its chapter starts from stands
in carried/, so that the top level has what is new. What is in plumbing/ is the same in
each chapter that has it, and includes nothing that is not in plumbing/.

VERSION is git's hash of the ancestor's content as it was when somebody last compared
the two: every clone can compute it, and one that has the history finds the content.

Without an option, carries FILE, such as plumbing/log.c, to all later chapters, and
without FILE all files: into copies it is copied, into the others what has changed in
the ancestor is merged three-way. Refuses, and changes nothing, if a copy has changes
that no committed version of its ancestor has. Where a merge is a conflict, the file
is left as it is, the merge goes to build/carry_forward/, and you are told how to go
on.

  --force       copy all the same
  --check       compare only: name what drifted, each ancestor that has changed
                without anybody looking at what has grown out of it, and what to do
  --reconciled  you have compared these files with their ancestors, and they have all
                that belongs there: that is noted. all: each row is written again, as
                after a merge of two branches that left a conflict in the table
  --new         this file has no ancestor, only an older namesake, and WHY
  -r ROOT       the tree to work on (default: the one this script is in)

Exit status: 0 done or no drift, 1 drifted, refused or a conflict, 2 usage.
Examples: carry_forward.sh plumbing/log.c
          carry_forward.sh --reconciled 05/tls.c
"""
import difflib
import pathlib
import shutil
import sys

from lib.arguments import Parser
from lib.chapter_files import COMMAND, Refused, Tree, is_carried, is_plumbing, name_of


class Check(Tree):
    """--check: says what is wrong, and changes nothing."""

    def no_history(self, path):
        """What to do without the old version."""
        return (f'What it was like then, {self.rows[path][0]}, is not in this clone. If '
                'the clone is shallow, git fetch --unshallow brings it.',)

    def difference(self, path, old, before_it, after):
        """Shows it."""
        new = (self.root / path).read_text('utf-8').splitlines()
        lines = difflib.unified_diff(old.splitlines(), new, before_it, after, lineterm='')
        return list(lines) or ['only one of them is executable']

    @staticmethod
    def to_differ(path):
        """What to do with a copy that has drifted."""
        if is_carried(path):
            own = path.replace('carried/', '', 1)
            return [f'If {path} is to differ: git mv {path} {own}; '
                    f'{COMMAND} --reconciled {own}']
        if is_plumbing(path):
            return ['If the two are to differ, they are not plumbing: move them, and what '
                    'includes them, to the top level.']
        return [f'If {path} is to differ, and has all that was mended in the other: '
                f'{COMMAND} --reconciled {path}',
                'If the two have nothing but the name in common: '
                f"{COMMAND} --new {path} 'WHY'"]

    def drifted(self, path):
        """Says how a copy differs and what mends it."""
        origin, file = self.origin[path], name_of(path)
        told = [f'{path} has drifted from {origin}:',
                *self.difference(path, (self.root / origin).read_text('utf-8'), origin, path)]
        if self.is_older(path):
            told += ['It is an older version. To carry the newer one forward: '
                     f'{COMMAND} {file}']
        else:
            told += [f'To keep its changes, make them in {self.first(origin)}; then, and '
                     f'also to lose them: {COMMAND} --force {file}',
                     *self.to_differ(path)]
        self.complain(*told)

    def moved(self, path):
        """An ancestor has changed, and nobody has looked."""
        origin, old = self.origin[path], self.old(path)
        self.complain(
            f'{origin} has changed, and nobody has looked at {path}, '
            'which has grown out of it:',
            *(self.no_history(path) if old is None else self.difference(
                origin, old.decode(), f'{origin}, as it was', origin)),
            f'To merge that: {COMMAND} {name_of(origin)}',
            f'If {path} has it already, or must not have it:',
            f'{COMMAND} --reconciled {path}')

    def needed(self, path):
        """Whether a row stands for a file, and one that has an older namesake."""
        return path in self.files and (self.namesake(path) or self.rows[path][1])

    def check(self):
        """Looks at all files, and at all rows."""
        states = {path: self.state(path) for path in self.files}
        for path, state in states.items():
            if state in ('drifted', 'moved'):
                getattr(self, state)(path)
        for path in self.files:
            if place := self.misplaced(path):
                self.complain(f'{path} belongs in {place}: what is as in the chapter '
                              'before, and nothing else, stands in carried/',
                              f'git mv {path} {place}')
            for name in self.leaks(path):
                self.complain(f'{path} includes {name}, which is not in plumbing/: pass '
                              'what it needs as plain types, or move it to the top level')
        for path in self.rows:
            if not self.needed(path) or states[path] == 'outlived':
                self.complain(f'{path} has outlived its row: the file is gone, or what it '
                              'has grown out of, or it is a copy now',
                              f'{COMMAND} --reconciled {path}')
        if not self.bad:
            found = list(states.values())
            print(f"carried forward: {found.count('copy')} copies, none has drifted; "
                  f"grown out of others: {found.count('merged')}, all looked at")


class Carry(Check):
    """Copies and merges, and notes down what somebody has compared."""

    def reconcile(self, path, other=''):
        """It has been compared with its ancestor as that is now."""
        origin = self.origin[path] = other or self._ancestor(path) or self.namesake(path)
        # The content too: it may be changed again before it is committed.
        self.git('hash-object', '-w', '--no-filters', origin)
        was, others, why = self.rows.get(path, ('', '', ''))
        why = '' if was == 'new' else why
        self.rows[path] = self.version(origin), other or others, why
        (self.root / 'build/carry_forward' / path).unlink(missing_ok=True)
        if self.same(path, origin):
            del self.rows[path]
        self.write()

    def merge(self, path):
        """What its ancestor has learned, if that can be done without a question."""
        origin, old = self.origin[path], self.old(path)
        by_hand = (f'Make the change in {path}, or see that it does not belong there; '
                   'then:', f'{COMMAND} --reconciled {path}')
        if old is None:
            self.complain(f'{origin} has changed, and cannot be merged into {path}',
                          *self.no_history(path), *by_hand)
            return
        side = self.root / 'build/carry_forward' / path
        side.parent.mkdir(parents=True, exist_ok=True)
        side.write_bytes(old)
        done = self.git('merge-file', '-p', '-L', path, '-L', f'{origin}, as it was',
                        '-L', origin, path, side, origin)
        side.write_bytes(done.stdout)
        if done.returncode != 0:
            self.complain(f'{origin} -> {path}: a conflict; {path} is as it was, and the '
                          f'merge with its marks in build/carry_forward/{path}', *by_hand)
            return
        mine = self.root / path
        has = mine.read_bytes() == done.stdout
        mine.write_bytes(done.stdout)
        print(f'{origin} -> {path}: ' + ('it has the change already' if has else
                                         f'merged; read it: git diff {path}'))
        self.reconcile(path)

    def carry(self, files, force):
        """Chapter by chapter, as what is merged into a file is carried on from there."""
        within = {path: {name_of(path), name_of(origin)}
                  for path, origin in self.origin.items() if origin}
        for file in files:
            if not any(file in names for names in within.values()):
                self.complain(f'no later chapter has a {file}, or one that has grown '
                              'out of it')
        wanted = [path for path in within if not files or within[path] & set(files)]
        for path in wanted:
            if self.state(path) == 'drifted' and not force and not self.is_older(path):
                self.drifted(path)
        if self.bad:
            raise Refused('nothing was copied')
        for path in wanted:
            state = self.state(path)
            if state == 'drifted':
                shutil.copy(self.root / self.origin[path], self.root / path)
                print(f'{self.origin[path]} -> {path}')
            elif state == 'moved':
                self.merge(path)

    def found(self, name):
        """The CHAPTER/FILE that is meant, such as 05/tls.c."""
        chapter, _, file = name.removeprefix('./').partition('/')
        found = [path for path in self.files if path.split('/', 1)[1] == file and
                 path.startswith(chapter) and chapter]
        if len(found) != 1:
            raise Refused(f'there is no {name}')
        return found[0]

    def reconciled(self, names):
        """Notes what somebody has compared: with the ancestor that it has."""
        if names == ['all']:
            self.rows = {path: row for path, row in self.rows.items()
                         if self.needed(path)}
            names = [path for path, row in self.rows.items() if row[0] != 'new']
            self.write()
        for name in names:
            name, _, other = name.partition('=')
            if name in self.rows and not self.needed(name):
                del self.rows[name]
                self.write()
                continue
            path, other = self.found(name), other and self.found(other)
            self.may_differ(path)
            if other and not other.split('/')[0] < path.split('/')[0]:
                raise Refused(f'{other} is not of an earlier chapter than {path}')
            origin = other or self.origin[path] or self.namesake(path)
            if not origin or not (self.root / origin).is_file():
                raise Refused(f"no earlier chapter has a {path.split('/', 1)[1]}; name "
                              f'what {path} has grown out of: {path}=CHAPTER/FILE')
            if self.state(path) == 'copy':
                raise Refused(f'{path} is a copy of {self.first(path)}')
            self.reconcile(path, other)
            print(f'{path} has been compared with {origin}')

    def new(self, name, why):
        """Notes that a file has nothing of its older namesake."""
        path = self.found(name)
        self.may_differ(path)
        if self.state(path) == 'copy':
            raise Refused(f'{path} is a copy of {self.first(path)}')
        self.rows[path] = 'new', '', why
        self.write()


def main(arguments):
    """Does what is asked; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_root(pathlib.Path(__file__).resolve().parents[2])
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument('--check', action='store_true')
    mode.add_argument('--reconciled', nargs='+', metavar='FILE')
    mode.add_argument('--new', nargs=2)
    mode.add_argument('--force', action='store_true')
    parser.add_argument('files', nargs='*')
    options = parser.parse_args(arguments)
    if options.files and (options.check or options.reconciled or options.new) or \
            options.new and not options.new[1]:
        parser.error('these do not go together')
    try:
        tree = Carry(options.root, broken=options.reconciled == ['all'])
        if options.check:
            tree.check()
        elif options.reconciled:
            tree.reconciled(options.reconciled)
        elif options.new:
            tree.new(*options.new)
        else:
            tree.carry(options.files, options.force)
    except Refused as why:
        print(f'carry_forward.sh: {why}', file=sys.stderr)
        return 1
    return 1 if tree.bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
