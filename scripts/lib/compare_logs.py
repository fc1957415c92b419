"""Compares the logs of a run with the expected ones: see compare_logs.sh -h.

Usage: compare_logs.py [-v|-w] RUN_DIR EXPECTED_DIR
"""
import pathlib
import re
import signal
import sys

from lib.arguments import Parser
from lib.log_diff import Difference, Naming
from lib.log_order import TooManyOrders, pairing
from lib.log_races import Races
from lib.log_tokens import read_log
from lib.printable import printable

MATCHES, DIFFERS, TROUBLE = 0, 1, 2


class Trouble(Exception):
    """The comparison cannot be made."""


class Expected:
    """The expected logs, and the races that apply to them."""

    def __init__(self, folder):
        self.folder = folder
        self.files = names(folder, '*.log') + names(folder, '*.err')
        self.races = Races([])
        if (folder / 'races').is_file():
            self.races = read_races(folder / 'races')
        if not names(folder, '*.log'):
            raise Trouble(f'{folder}: no *.log in it; '
                          'record the expected logs with scripts/maint/record_logs.sh')
        self.logs = self.races.split(read_logs(folder, self.files))
        self.races.reword(self.logs)
        for where, wrong in self.races.count(self.logs):
            raise Trouble(f'{where}: {folder} does not count so: {wrong}')
        self.races.choose(self.logs)


def names(folder, pattern):
    """The names of the folder's files that match the pattern."""
    return [path.name for path in folder.glob(pattern) if path.is_file()]


def by_server(name):
    """Sorts the server's logs before the clients': it speaks first."""
    return not name.startswith('server'), name


def read_logs(folder, files):
    """{name: lines} of the files, the server's first."""
    # Whoever runs the programs may leave out a stderr that is empty.
    return {name: read_log(folder / name, files) if name.endswith('.log') or
            (folder / name).exists() else []
            for name in sorted(files, key=by_server)}


def read_races(path):
    """The races declared in a file."""
    with open(path, encoding='utf-8') as file:
        try:
            return Races(file.readlines(), str(path))
        except ValueError as error:
            raise Trouble(str(error)) from error


def release(name):
    """The numbers that a kernel's release, or a folder's name, begins with:
    6.12.117+deb13-amd64 is (6, 12, 117)."""
    found = re.match(r'(?:linux-)?(\d+(?:\.\d+)*)', name)
    return tuple(int(x) for x in found[1].split('.')) if found else None


def for_kernel(run, folder):
    """The folder of the logs that hold for the kernel of the run: linux-X.Y in
    folder is for X.Y and what is newer, folder itself for all others."""
    kernel = None
    if (run / 'kernel').is_file():
        kernel = release((run / 'kernel').read_text('utf-8').strip())
    since = {release(sub.name): sub for sub in folder.glob('linux-[0-9]*')
             if sub.is_dir()}
    fitting = [x for x in since if kernel and x <= kernel]
    return since[max(fitting)] if fitting else folder


def check_races(expected):
    """A race that names no line is a mistake, or has outlived its line."""
    for where, log, pattern in expected.races.unmatched(expected.logs):
        raise Trouble(f'{where}: no line of {log} in the expected logs matches '
                      f'the regular expression made of it: {pattern.pattern}')


def check_files(run, expected):
    """Both folders must hold logs of the same names."""
    ours, theirs = (set(names(folder, '*.log'))
                    for folder in (run, expected.folder))
    for name in sorted(theirs - ours):
        raise Trouble(f'{run}: no {name} in it, which is in {expected.folder}; '
                      'did that program of the run start at all?')
    for name in sorted(ours - theirs):
        raise Trouble(f'{expected.folder}: no {name} in it, which is in {run}; '
                      'compare with the logs of the same case')


def story(logs, expected, there):
    """What -v says about a match."""
    for where, *_ in sorted(expected.races.used, key=lambda pair: pair[0]):
        yield f'Lines of this race changed places: {where}'
    naming = Naming(expected.logs)
    naming.adopt(logs, there)
    for name in naming.raw:
        yield naming.legend(name)


def report(difference, run, expected):
    """What is said about a mismatch."""
    yield f'differs from {expected.folder}:'
    for log in difference.pairs:
        lines = list(difference.diff(log))
        if lines:
            yield ''
            yield from lines
    yield ''
    yield 'What differs:'
    for sentence in difference.sentences():
        yield f'  {sentence}'
    legend = list(difference.legend())
    if legend:
        yield ''
        yield 'What the names stand for:'
        for line in legend:
            yield f'  {line}'
    for name, said in not_compared(run, expected):
        yield ''
        yield f'Not compared, but the run has {name}:'
        for line in said[:5]:
            yield f'  {line}'


def not_compared(run, expected):
    """The lines of each stderr of the run that is not expected."""
    for name in sorted(set(names(run, '*.err')) - set(expected.files)):
        said = (run / name).read_text('utf-8', 'backslashreplace').splitlines()
        if said:
            yield name, said


def compare(run, folder, verbose):
    """Compares, prints the outcome and returns the exit status."""
    for path in (run, folder):
        if not path.is_dir():
            raise Trouble(f'{path}: no such folder')
    expected = Expected(for_kernel(run, folder))
    check_files(run, expected)
    check_races(expected)
    logs = expected.races.split(read_logs(run, expected.files))
    expected.races.reword(logs)
    for one, other in ((logs, expected.logs), (expected.logs, logs)):
        for name in other:
            one.setdefault(name, [])
    # What is counted wrongly there differs from what is expected.
    list(expected.races.count(logs))
    expected.races.choose(logs)
    names_found = pairing(logs, expected.logs, expected.races)
    if not names_found:
        difference = Difference(logs, expected.logs, expected.races)
        print('\n'.join(map(printable, report(difference, run, expected))))
        return DIFFERS
    print('matches')
    for line in story(logs, expected, names_found.there):
        if verbose:
            print(printable(line))
    for name, said in not_compared(run, expected):
        print(f'compare_logs.sh: not compared: {len(said)} lines of '
              f'{run / name}', file=sys.stderr)
    return MATCHES


def main(arguments):
    """Compares; returns the exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    parser = Parser(__doc__)
    parser.add_argument('-v', dest='verbose', action='store_true')
    parser.add_argument('-w', dest='which', action='store_true')
    parser.add_argument('run', type=pathlib.Path)
    parser.add_argument('expected', type=pathlib.Path)
    options = parser.parse_args(arguments)
    try:
        if options.which:
            print(for_kernel(options.run, options.expected))
            return MATCHES
        return compare(options.run, options.expected, options.verbose)
    except (Trouble, OSError) as error:
        print(f'compare_logs.sh: {error}', file=sys.stderr)
    except TooManyOrders:
        print('compare_logs.sh: the races allow more orders than can be tried; '
              'write patterns that fit fewer lines', file=sys.stderr)
    return TROUBLE


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
