#!/usr/bin/python3 -B
"""Puts faults in, one at a time, and sees whether a test notices.

Usage: tests/mutants/run.py [OPTION...] [NAME...]     (make check-mutants)

A mutant is a fault, and a row in one of the tables tests/mutants/*.tsv. Between
the columns stand tabs; within them, \\n is a newline, \\t a tab, \\\\ a backslash.

  name   what it is called
  file   what it changes; 03/psn.c is that of 03_pure_verbs, and 03,04,05/psn.c
         is a mutant in each of these chapters
  old    a text that is in the file exactly once
  new    what stands there instead
  test   what must notice it: "unit test_03_psn", or "bats tests/lab.bats REGEX";
         or "pytest tests/test_ends.py WORD", a part of their names;
         NN is the chapter's number, if there are several
  fault  what is wrong with it, and what it would cost

Where a mutant changes several places, the rows below the first have the same
name, and + for the test. The test must pass without the mutant and fail with it:
then the mutant was killed. If the test passes all the same, the mutant lived, and
the test is not worth much. A text that is not there once, a program that does not
compile, and a test that fails without any mutant prove nothing: such a mutant is
broken. All is done in a copy of the tree, build/mutants/tree. If a test needs a
device and this host has none, a lab is booted from the copy and taken down again.

NAME is TABLE/NAME, or 04/NAME for one of several chapters; TABLE or NAME alone is
for all of these. Without any, all run.

  -l, --list     print the names and what notices them, and run nothing
  -c, --check    print the rows that are not in order, and run nothing
  --sample N     only N, chosen by the hash of the commit: the same for the same
                 commit. None boots a lab of its own, and one at most uses one
  --seed TEXT    chosen by TEXT instead
  -h, --help     print this

Prints a line for each mutant and "N killed, N lived, N broken". Exit status:
0 all were killed, 1 some were not, 2 usage.
"""
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from lib.arguments import Parser
from table import read_tables

TOP = pathlib.Path(__file__).resolve().parents[2]

WORK = TOP / 'build/mutants'
TREE, SAID = WORK / 'tree', WORK / 'said'
# Seconds for a build, and for a test that has no fault in it.
DEADLINE = int(os.environ.get('MUTANTS_DEADLINE', '600'))
# What a file of tests has that boots virtual machines or takes long; and a device.
COSTLY = r'full_size|on_device -s|build_sanitized|tcg|(?m:^load (\.\./\w*|lab)$)' \
    r'|(?m:^\s*"\$top/scripts/lab\.sh" up)'
DEVICE = r'(?m:^\s*open_device)'


def has(test, regex):
    """Whether the file of tests has it; a unit test has none of this."""
    kind, name = (test or 'none -').split()[:2]
    return kind == 'bats' and (TOP / name).is_file() and \
        re.search(regex, (TOP / name).read_text('utf-8'))


def environment():
    """A lab and its settings belong to whoever set them, and bats inside of bats
    must not take itself for the outer one; there, PATH begins with its inner parts."""
    kept = {name: value for name, value in os.environ.items() if not
            re.match('LAB_NAME$|MAKEFLAGS$|TEST_DEVICE_|BATS_', name)}
    path = [folder for folder in kept['PATH'].split(':') if 'bats-core' not in folder]
    # One lab of virtual machines is enough for all tests that ask for it.
    return {**kept, 'PATH': ':'.join(path), 'LC_ALL': 'C',
            'EMULATED_LAB': f'mutants-{os.getpid()}-tcg'}


class Late(Exception):
    """A command was not done by its deadline."""


class Runner:
    """Tries mutants, one after another, in the copy of the tree."""

    def __init__(self):
        self.environment, self.lab, self.limits = environment(), False, {}
        self.copy()

    def within(self, seconds, *command, **variables):
        """The exit status of a command in the copy; what it says goes to SAID."""
        with SAID.open('wb') as said, subprocess.Popen(
                command, cwd=TREE, stdin=subprocess.DEVNULL, stdout=said,
                stderr=subprocess.STDOUT, start_new_session=True,
                env={**self.environment, **variables}) as running:
            try:
                return running.wait(seconds)
            except BaseException as error:
                # With all that it has started.
                os.killpg(running.pid, signal.SIGTERM)
                try:
                    running.wait(9)
                except subprocess.TimeoutExpired:
                    os.killpg(running.pid, signal.SIGKILL)
                if isinstance(error, subprocess.TimeoutExpired):
                    raise Late from error
                raise

    def copy(self):
        """Copies what git would commit, with uncommitted changes and all, and the
        objects of the unit tests. It becomes a repository, since some tests ask git."""
        shutil.rmtree(TREE, ignore_errors=True)
        TREE.mkdir()
        status = self.within(DEADLINE, 'bash', '-c', r'''set -e; cd "$0"
            { git ls-files -z -co --exclude-standard 2>/dev/null ||
                find . -path ./build -prune -o ! -type d -print0; } |
                perl -0ne 'chomp; print "$_\0" if -f || -l' |
                xargs -0 cp -a --parents -t "$OLDPWD"
            [[ ! -d build/unit ]] || cp -a --parents -t "$OLDPWD" build/unit
            cd "$OLDPWD"; git init -q; git add -A
            git -c user.name=me -c user.email=me@localhost commit -qm "a copy"''', TOP)
        if status:
            sys.exit(f'run.py: no copy could be made:\n{SAID.read_text()}')

    def lab_up(self, test):
        """Boots the lab for the first test that expects a device to be there."""
        if not self.lab and os.environ.get('DEVICE') != 'host' and has(test, DEVICE):
            self.lab = True
            self.within(DEADLINE, 'scripts/lab.sh', 'up', '--nodes', '2')

    def lab_down(self):
        """Takes down what was booted."""
        if self.lab:
            self.within(DEADLINE, 'scripts/lab.sh', 'down')
            self.within(DEADLINE, 'scripts/lab.sh', 'down',
                        LAB_NAME=self.environment['EMULATED_LAB'])
        self.lab = False

    def builds(self, test, files=()):
        """Whether it compiles: a unit test, or the files; scripts are only read."""
        kind, name = test.split()[:2]
        commands = []
        if kind == 'unit':
            commands += [('make', '-s', '-C', 'tests/unit', 'all', f'TESTS={name}')]
        for file in files:
            chapter = file.split('/')[0]
            if file.endswith(('.sh', '.bash')):
                commands += [('bash', '-n', file)]
            elif file.endswith('.py'):
                commands += [('python3', '-c', 'import ast; ast.parse(open'
                              f'({file!r}).read())')]
            elif kind != 'unit' and re.match(r'\d\d_.*\.[ch]$', file):
                commands += [('cc', '-std=gnu11', '-Wall', '-Wextra', '-Werror',
                              '-fsyntax-only', f'-I{chapter}', f'-I{chapter}/carried',
                              f'-I{chapter}/plumbing',
                              f'-I{chapter}/load', file)]
        return not any(self.within(DEADLINE, *command) for command in commands)

    def passes(self, test, seconds, **variables):
        """Whether a test passes, and really ran something."""
        kind, name, *regex = test.split(maxsplit=2)
        if kind == 'unit':
            # What spins is ended by how much it computes; what waits, by the deadline.
            cpu = max(3, int(seconds - DEADLINE / 10) // 3)
            return not self.within(seconds, 'prlimit', f'--cpu={cpu}', 'make', '-s', '-C',
                                   'tests/unit', 'check', f'TESTS={name}')
        if kind == 'pytest':
            return not self.within(seconds, '/usr/bin/python3', '-m', 'pytest', '-q', '-x', name,
                                   '-k', regex[0])
        self.lab_up(test)
        some = ('-f', regex[0]) if regex else ()
        status = self.within(seconds, 'bats', '--tap', '--print-output-on-failure', *some,
                             name, **variables)
        said = SAID.read_text('utf-8', 'replace')
        return not status and re.search('(?m)^ok ', said) and \
            not re.search('(?m)^ok .*# skip', said)

    def limit(self, test):
        """How long the test may take with a fault in it, or 0 if it fails without one.
        Ten times as long as it took means that it would never have ended."""
        if test not in self.limits:
            self.limits[test], begin = 0, time.monotonic()
            try:
                if self.builds(test) and self.passes(test, DEADLINE):
                    self.limits[test] = 10 * (time.monotonic() - begin + 1) + DEADLINE / 10
            except Late:
                self.lab_down()
        return self.limits[test]

    def outcome(self, mutant):
        """killed, lived or broken; and why."""
        test, late = mutant.test, False
        if mutant.problem or not self.limit(test):
            return 'broken', mutant.problem or f'fails without the mutant: {test}'
        texts = mutant.mutated(TREE)
        try:
            for file, text in texts.items():
                (TREE / file).write_bytes(text.encode())
            if not self.builds(test, texts):
                return 'broken', 'it does not build with the mutant'
            well = self.passes(test, self.limits[test])
            return 'lived' if well else 'killed', test
        except Late:
            late = True
            return 'killed', f'{test} (by the deadline)'
        finally:
            subprocess.run(('git', 'checkout', '-qf', '.'), cwd=TREE, check=True)
            # New dates: make must not take what was built for what is there.
            for file in texts:
                (TREE / file).touch()
            if late:
                # Whatever hangs there goes with it.
                self.lab_down()


def chosen(options, parser):
    """The mutants that are meant."""
    mutants = read_tables(TOP)
    names = {re.sub(r'^tests/mutants/|\.tsv$|/$', '', name)
             for word in options.names for name in word.split()}
    called = {mutant: {mutant.id, mutant.name, mutant.id.split('/')[0]} & names
              for mutant in mutants}
    for name in names.difference(*called.values()):
        parser.error(f'{name}: no such mutant')
    found = [mutant for mutant in mutants if called[mutant] or not names]
    if options.sample:
        found = [one for one in found if not has(one.test, COSTLY) and
                 not one.test.startswith('pytest')]
        found.sort(key=lambda one: hashlib.sha256(f'{options.seed} {one.id}'.encode()).digest())
        on_lab = [one for one in found if has(one.test, DEVICE)]
        found = [one for one in found if one not in on_lab[1:]]
    return found[:options.sample] or parser.error('there are no mutants')


def try_all(mutants):
    """Tries them, and returns the exit status. Those that the same test notices come
    one after another, so that it is run without a fault only once."""
    count = {'killed': 0, 'lived': 0, 'broken': 0}
    runner = Runner()
    try:
        for mutant in sorted(mutants, key=lambda one: (one.test, one.id)):
            SAID.write_bytes(b'')
            state, why = runner.outcome(mutant)
            count[state] += 1
            print(f'{state:<6} {mutant.id:<40} {why}', flush=True)
            if state == 'broken':
                print(*SAID.read_text('utf-8', 'replace').splitlines()[-15:], sep='\n    ')
    finally:
        runner.lab_down()
        shutil.rmtree(TREE)
    print(', '.join(f'{number} {state}' for state, number in count.items()))
    return int(count['killed'] != len(mutants))


def main(arguments):
    """Returns the exit status."""
    os.chdir(TOP)
    parser = Parser(__doc__)
    parser.add_argument('-l', '--list', action='store_true')
    parser.add_argument('-c', '--check', action='store_true')
    parser.add_argument('--sample', type=int, choices=range(1, 10000))
    parser.add_argument('--seed', default=subprocess.getoutput(
        'git rev-parse HEAD 2>/dev/null || echo none'))
    parser.add_argument('names', nargs='*')
    options = parser.parse_args(arguments)
    mutants = chosen(options, parser)
    if options.list or options.check:
        said = [f'{one.id:<40} {one.problem if options.check else one.test}'
                for one in mutants if one.problem or not options.check]
        print(*said, sep='\n', end='\n' * bool(said))
        return int(options.check and bool(said))
    if options.sample:
        print(f'a sample of {options.sample}, by the seed {options.seed}')
    WORK.mkdir(parents=True, exist_ok=True)
    with (WORK / 'lock').open('w', encoding='utf-8') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            parser.error('another run.py is at work in this tree')
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda got, _: sys.exit(128 + got))
        return try_all(mutants)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
