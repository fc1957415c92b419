"""Compares the logs of a run with the expected ones.

Usage: compare_logs.sh [-w] RUN_DIR EXPECTED_DIR

compare_logs.sh -h explains.
"""
import difflib
import pathlib
import re
import signal
import sys

from lib.arguments import Parser
from lib.log_races import Races
from lib.log_tokens import LONGEST, read_log
from lib.printable import printable

MATCHES, DIFFERS, TROUBLE = 0, 1, 2


class Trouble(Exception):
    """The comparison cannot be made."""


def names(folder, pattern):
    """The names of the folder's files that match the pattern."""
    return [path.name for path in folder.glob(pattern) if path.is_file()]


def read_logs(folder, files):
    """{name: lines} of the files, the server's first: it speaks first."""
    # Whoever runs the programs may leave out a stderr that is empty.
    return {name: read_log(folder / name, files)
            if name.endswith('.log') or (folder / name).exists() else []
            for name in sorted(files, key=lambda name: (not name.startswith('server'), name))}


def read_races(folder):
    """The races declared beside the expected logs."""
    path = folder / 'races'
    if not path.is_file():
        return Races([])
    try:
        return Races(path.read_text('utf-8').splitlines(), str(path))
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
    since = {release(sub.name): sub for sub in folder.glob('linux-[0-9]*') if sub.is_dir()}
    fitting = [x for x in since if kernel and x <= kernel]
    return since[max(fitting)] if fitting else folder


def check_files(run, folder):
    """Both folders must hold logs of the same names."""
    ours, theirs = (set(names(place, '*.log')) for place in (run, folder))
    if not theirs:
        raise Trouble(f'{folder}: no *.log in it; '
                      'record the expected logs with scripts/maint/record_logs.sh')
    for name in sorted(theirs - ours):
        raise Trouble(f'{run}: no {name} in it, which is in {folder}; '
                      'did that program of the run start at all?')
    for name in sorted(ours - theirs):
        raise Trouble(f'{folder}: no {name} in it, which is in {run}; '
                      'compare with the logs of the same case')


def prepared(run, folder, files):
    """(the run's logs, the expected ones) with what the races allow undone."""
    races = read_races(folder)
    ours, theirs = (races.split(read_logs(place, files)) for place in (run, folder))
    for where, log, pattern in races.unmatched(theirs):
        raise Trouble(f'{where}: no line of {log} in the expected logs matches '
                      f'the regular expression made of it: {pattern}')
    for wrong in races.count(theirs):
        raise Trouble(f'{folder} does not count so: {wrong}')
    # What is counted wrongly there differs from what is expected.
    list(races.count(ours))
    for logs in ours, theirs:
        races.group(logs)
    ours = {name: races.in_order(ours.get(name, []), theirs.get(name, []))
            for name in {**theirs, **ours}}
    return [{name: [line for unit in logs.get(name, []) for line in unit.lines] for name in ours}
            for logs in (ours, theirs)]


def blocks(one, other):
    """What SequenceMatcher says of two lists, which may be very long and are
    often equal."""
    if one == other:
        return [('equal', 0, len(one), 0, len(other))]
    return difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes()


class Naming:
    """The names of all tokens: PID1, PID2… by first appearance in the expected
    logs; a token of the run has the name of what it first stands for."""

    def __init__(self, run, expected):
        self.counts = {}
        # {key: name} of either run, and {name: (value, owner)} by side.
        self.names = {'run': {}, 'expected': {}}
        self.values = {'run': {}, 'expected': {}}
        self.name_rest(expected, 'expected')
        pairs = [(tag, *pair) for log in run for tag, i, i_end, j, j_end in blocks(
            [line.shape for line in expected[log]], [line.shape for line in run[log]])
                 for pair in zip(expected[log][i:i_end], run[log][j:j_end])]
        # Those of one shape first, and then what may be one event with another value.
        for _, theirs, ours in sorted(pairs, key=lambda pair: pair[0] != 'equal'):
            if [x.label for x in theirs.tokens] == [x.label for x in ours.tokens]:
                self.pair(theirs, ours)
        self.name_rest(run, 'run')

    def pair(self, theirs, ours):
        """The tokens of two lines that may be the same one."""
        for due, mine in zip(theirs.tokens, ours.tokens):
            name = due.identity and self.names['expected'][due.key]
            if name and mine.key not in self.names['run'] and name not in self.values['run']:
                self.take('run', mine, name)

    def take(self, side, token, name):
        self.names[side][token.key] = name
        self.values[side][name] = token

    def name_rest(self, logs, side):
        """Names what has no name yet."""
        for lines in logs.values():
            for token in (token for line in lines for token in line.tokens):
                if token.identity and token.key not in self.names[side]:
                    self.counts[token.cls] = self.counts.get(token.cls, 0) + 1
                    self.take(side, token, f'{token.cls}{self.counts[token.cls]}')

    def of(self, side, token):
        return self.names[side][token.key] if token.identity else token.label

    def text(self, side, line):
        """A line under its tokens' names."""
        return line.render(lambda token: self.of(side, token))

    def legend(self, name):
        """What a name stands for in either run."""
        found = {side: self.values[side][name] for side in ('run', 'expected')
                 if name in self.values[side]}
        said = ', '.join(f'{token.raw} ({side})' for side, token in found.items())
        owner = next(iter(found.values())).key[1]
        return f'{name} = {said}' + (f", the {owner}'s" if owner else '')


class Difference:
    """How the logs of a run differ from the expected ones."""

    def __init__(self, run, expected):
        self.run, self.expected = run, expected
        self.naming = Naming(run, expected)
        # {log: (expected lines, the run's)} as they are shown, of logs that differ.
        self.texts = {}
        for log in run:
            texts = [[self.naming.text(side, line) for line in lines]
                     for side, lines in (('expected', expected[log]), ('run', run[log]))]
            if texts[0] != texts[1]:
                self.texts[log] = texts

    def report(self):
        """A diff under the tokens' names, a sentence for each difference, and what
        the names in those stand for."""
        said = []
        for log, texts in self.texts.items():
            yield from ('', *map(cut, difflib.unified_diff(
                *texts, f'expected {log}', f'run {log}', n=2, lineterm='')))
        yield from ('', 'What differs:')
        for log in self.texts:
            for sentence in self.sentences(log):
                said.append(sentence)
                yield f'  {sentence}'
        used = set(re.findall(r'\w+', ' '.join(said)))
        known = {**self.naming.values['expected'], **self.naming.values['run']}
        legend = [self.naming.legend(name) for name in known if name in used]
        if legend:
            yield from ('', 'What the names stand for:', *(f'  {line}' for line in legend))

    def sentences(self, log):
        """One sentence a difference, in plain words."""
        expected, run = self.texts[log]
        if not run:
            yield f'{log}: the log of the run is empty'
            return
        changes = [x for x in blocks(expected, run) if x[0] != 'equal']
        theirs, ours = self.expected[log], self.run[log]
        missing = {line.shape for _, i, i_end, _, _ in changes for line in theirs[i:i_end]}
        extra = {line.shape for _, _, _, j, j_end in changes for line in ours[j:j_end]}
        for _, i, i_end, j, j_end in changes:
            if i_end - i == j_end - j:
                for at in range(i_end - i):
                    yield from self.changed(log, i + at, j + at)
                continue
            for at in range(i, i_end):
                what = 'another order' if theirs[at].shape in extra else 'missing line'
                yield (f'{log}: {what}: expected as line {theirs[at].number}: '
                       f'"{cut(expected[at])}"')
            for at in range(j, j_end):
                if ours[at].shape not in missing:
                    yield f'{log}: extra line: line {ours[at].number}: "{cut(run[at])}"'

    def changed(self, log, i, j):
        """The sentences about a line in the place of another."""
        theirs, ours = self.expected[log][i], self.run[log][j]
        where = f'{log}: line {ours.number}'
        if ours.shape != theirs.shape:
            expected, run = self.texts[log]
            yield f'{where}: expected "{cut(expected[i])}", got "{cut(run[j])}"'
            return
        for mine, due in zip(ours.tokens, theirs.tokens):
            name, wanted = self.naming.of('run', mine), self.naming.of('expected', due)
            if name != wanted:
                value = self.naming.values['run'].get(wanted)
                value = f'{value.raw} in this run' if value else 'which this run never says'
                yield (f'{where}: token identity broken: {mine.raw} is {name}; '
                       f'expected here: {wanted}, {value}')


def cut(text):
    """The beginning of a text that is too long to be shown."""
    return text if len(text) <= LONGEST else text[:LONGEST] + ' …'


def not_compared(run, files):
    """The first lines of each stderr of the run that is not expected."""
    for name in sorted(set(names(run, '*.err')) - set(files)):
        said = (run / name).read_text('utf-8', 'backslashreplace').splitlines()
        if said:
            yield from ('', f'Not compared, but the run has {name}:',
                        *(f'  {line}' for line in said[:5]))


def compare(run, folder):
    """Compares, prints the outcome and returns the exit status."""
    for path in (run, folder):
        if not path.is_dir():
            raise Trouble(f'{path}: no such folder')
    folder = for_kernel(run, folder)
    check_files(run, folder)
    files = names(folder, '*.log') + names(folder, '*.err')
    difference = Difference(*prepared(run, folder, files))
    if difference.texts:
        said = [f'differs from {folder}:', *difference.report()]
    else:
        said = ['matches']
    print('\n'.join(map(printable, [*said, *not_compared(run, files)])))
    return DIFFERS if difference.texts else MATCHES


def main(arguments):
    """Compares; returns the exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    parser = Parser(__doc__)
    parser.add_argument('-w', dest='which', action='store_true')
    parser.add_argument('run', type=pathlib.Path)
    parser.add_argument('expected', type=pathlib.Path)
    options = parser.parse_args(arguments)
    try:
        if options.which:
            print(for_kernel(options.run, options.expected))
            return MATCHES
        return compare(options.run, options.expected)
    except (Trouble, OSError) as error:
        print(f'compare_logs.sh: {error}', file=sys.stderr)
    return TROUBLE


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
