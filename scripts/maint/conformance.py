#!/usr/bin/python3 -B
"""What of others' RDMA tests and tools passes in the lab: runs it, and makes docs/conformance.md's tables.

Usage: conformance.py [--kernel DIR] [--device rxe|siw] [--only NAME,NAME]
       conformance.py --write

NAME is pyverbs, for rdma-core's own test suite, or a tool, such as rping (default: all of them).
Each device (default: rxe, then siw) has a lab of its own: the suite runs on node a, of each tool a
server on b and a client on a. --kernel boots the kernel of unpacked packages of Debian's, in
virtual machines, with rxe, since they have no siw. What came of it is in
docs/conformance/DEVICE-KERNEL.tsv (with --only: in build/conformance), and the tables are made of
all that is there. --write only does that. Exit status: 0 all ran, whatever came of it; 1 not, 2 usage.
"""
import collections
import datetime
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from lib import others
from lib.arguments import Parser, folder

TOP = pathlib.Path(__file__).resolve().parents[2]
KEPT, PAGE = TOP / 'docs/conformance', TOP / 'docs/conformance.md'
PACKED = pathlib.Path('/usr/share/doc/rdma-core/tests')
NAMES = ['pyverbs', *others.TOOLS]


def unpack():
    """rdma-core's suite, which its package has packed."""
    shutil.rmtree(others.SUITE, ignore_errors=True)
    others.SUITE.mkdir(parents=True)
    for file in sorted(PACKED.iterdir()):
        with gzip.open(file) if file.suffix == '.gz' else file.open('rb') as source:
            (others.SUITE / file.name.removesuffix('.gz')).write_bytes(source.read())
    if not (others.SUITE / 'run_tests.py').exists():
        sys.exit(f'conformance: no tests in {PACKED}: scripts/install_deps.sh conformance')


def plain(text):
    """One line, without what differs from run to run: addresses, and numbers of queue pairs and processes."""
    text = re.sub(r'0x[0-9a-fA-F]+|\b(?:QPN|PSN|pid) \d+', 'N', ' '.join(text.split()))
    return re.sub(r'\br\^2: [\d.]+', 'r^2', text)[:240]


def run(device, kernel, names):
    """Runs them on a lab of their own; returns the lines of a file."""
    words = ['/usr/bin/python3', '-B', 'scripts/lib/others.py']
    begun = datetime.datetime.now()
    ran = subprocess.run(
        ['scripts/lab.sh', 'run', '--device', device, *(['--kernel', str(kernel)] if kernel else []), '--on', 'b',
         ' '.join(words) + ' serve', '--', 'sh', '-c',
         'dmesg -C; echo "kernel $(uname -r)"; "$@"; status=$?\n'
         'dmesg | grep -E "WARNING:|BUG:|Oops|RIP:" | sed "s/^/dmesg /"; exit $status',
         'sh', *words, 'run', f'{device}0', *names], cwd=TOP, check=False, text=True, stdout=subprocess.PIPE)
    lines = ran.stdout.splitlines()
    release = next((line.split()[1] for line in lines if line.startswith('kernel ')), '')
    if ran.returncode or not release:
        sys.exit(f'conformance: could not run all on {device}: {lines[-3:]}')
    found = {}
    for line in lines:
        if line.startswith('["'):
            name, test, result, why = json.loads(line)
            found[name, test] = (result, plain(why))
    versions = subprocess.run(['dpkg-query', '-W', '-f', '${Package} ${Version}, ', 'rdma-core', 'python3-pyverbs',
                               'perftest'], check=False, text=True, stdout=subprocess.PIPE).stdout.strip(', ')
    took = (datetime.datetime.now() - begun).seconds
    return release, [f'# {device}, Linux {release}, {begun:%d %B %Y}, {took} s, {versions}',
                     *('\t'.join((*key, *value)).rstrip('\t') for key, value in found.items()),
                     *(plain(line).replace('dmesg ', '# dmesg: ', 1) for line in lines if line.startswith('dmesg '))]


class Column:
    """A file of docs/conformance."""

    def __init__(self, path):
        lines = path.read_text('utf-8').splitlines()
        self.head = re.match(r'# (\w+), Linux (\d+\.\d+)(\S*), (\d+ \w+ \d+), (\d+) s, (.*)', lines[0])
        self.name = f'{self.head[1]}, {self.head[2]}'
        rows = [(line + '\t').split('\t')[:4] for line in lines if not line.startswith('#')]
        self.found = {(name, test): (result, why) for name, test, result, why in rows}

    def suite(self, result):
        """The tests of rdma-core with this result, and why."""
        return {test: why for (name, test), (what, why) in self.found.items() if name == 'pyverbs' and what == result}

    def key(self):
        """To sort them."""
        return self.head[1], [int(number) for number in self.head[2].split('.')]


def reason(text):
    """Why one is skipped, in short."""
    for pattern, words in (('MLX5|mlx5', 'card of NVIDIA (mlx5)'), ('EFA', 'EFA, of Amazon'),
                           ('cuda|dmabuf|GPU', 'GPU'), ('ODP', 'on-demand paging'), ('Device memory', 'device memory'),
                           ('XRC|QP type 8', 'XRC'),
                           ('Raw Packet', 'raw packets'), ('net interface', 'network device that the suite finds'),
                           ('No supported port', 'GID that the suite counts as one'), ('[Hh]uge pages', 'huge pages'),
                           ('Advise MR', 'advice on pages'),
                           ('Extended CQ|create CQ', 'extended completion queues'), ('UD QP|Create AH', 'UD'),
                           ('UC QP', 'UC'), ('Parent Domain', 'parent domains'), ('[Rr]ereg', 'changing of a region'),
                           ('PCI device', 'PCI device')):
        if re.search(pattern, text):
            return words
    return f"`{text.split('.')[0]}`"


def quoted(why):
    """What a program says, in a cell."""
    return f"`{re.sub('[|`]', '/', why)}`"


def table(head, rows):
    """In Markdown."""
    return ['| ' + ' | '.join(head) + ' |', '|---' * len(head) + '|',
            *('| ' + ' | '.join(map(str, row)) + ' |' for row in rows)]


def tables(columns):
    """The page's, by name."""
    names = [column.name for column in columns]
    notes = collections.OrderedDict()
    # On some, only the suite was run.
    ran = [column for column in columns if ('rping', '') in column.found]

    def cell(column, name):
        result, why = column.found.get((name, ''), ('not run', ''))
        if why:
            notes.setdefault((result, name, why), []).append(column.name)
        return result + (', not always' if why and result == 'passes' else '')

    whole = table(['', *names], [
        ['Linux', *(column.head[2] + column.head[3] for column in columns)],
        ['on', *(column.head[4] for column in columns)],
        ['seconds', *(column.head[5] for column in columns)]])
    suite = table(['rdma-core\'s suite', *names], [
        [result, *(len(column.suite(result)) for column in columns)]
        for result in ('passes', 'fails', 'skipped', 'begins') if any(column.suite(result) for column in columns)])
    failing = {}
    for column in columns:
        for test, why in column.suite('fails').items():
            failing.setdefault((test, why), []).append(column.name)
    counts = {column.name: collections.Counter(map(reason, column.suite('skipped').values())) for column in columns}
    total = sum(counts.values(), collections.Counter())
    return {
        'runs': whole,
        'suite': suite,
        'failing': table(['test', 'where', 'what it says'], [
            [f'`{test}`', '; '.join(where), quoted(why)] for (test, why), where in failing.items()]),
        'skipped': table(['skipped, since there is no', *names], [
            [why, *(counts[name][why] for name in names)] for why, _ in total.most_common()]),
        'tools': table(['tool', *(column.name for column in ran)],
                       [[f'`{name}`', *(cell(column, name) for column in ran)] for name in others.TOOLS]),
        'said': table(['tool', 'where', 'what it says'], [
            [f'`{name}`', '; '.join(where), quoted(why)] for (_, name, why), where in notes.items()])}


def made(page, columns):
    """The page with its tables as they should be."""
    for name, lines in tables(columns).items():
        page = re.sub(rf'(<!-- recorded: {name} -->\n)(?:\|.*\n)*(<!-- end -->)',
                      lambda mark, lines=lines: mark[1] + '\n'.join(lines) + '\n' + mark[2], page)
    return page


def recorded():
    """All columns."""
    return sorted(map(Column, KEPT.glob('*.tsv')), key=Column.key)


def main(words):
    """As the usage says."""
    parser = Parser(__doc__)
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--kernel', type=folder)
    parser.add_argument('--device', choices=('rxe', 'siw'))
    parser.add_argument('--only', type=lambda text: text.split(','), default=NAMES)
    options = parser.parse_args(words)
    if wrong := set(options.only) - set(NAMES):
        parser.error(f'there is no {", ".join(sorted(wrong))}; there are {", ".join(NAMES)}')
    if os.environ.get('CLI_CHECK'):
        return
    if options.write:
        PAGE.write_text(made(PAGE.read_text('utf-8'), recorded()), 'utf-8')
        return
    if 'pyverbs' in options.only:
        unpack()
    kept = KEPT if options.only == NAMES else TOP / 'build/conformance'
    kept.mkdir(parents=True, exist_ok=True)
    for device in [options.device] if options.device else ['rxe'] if options.kernel else ['rxe', 'siw']:
        release, lines = run(device, options.kernel, options.only)
        path = kept / f'{device}-{re.match("[0-9]+.[0-9]+", release)[0]}.tsv'
        path.write_text('\n'.join(lines) + '\n', 'utf-8')
        counts = collections.Counter(line.split('\t')[2] for line in lines if not line.startswith('#'))
        print(f'{path.relative_to(TOP)}: ' + ', '.join(f'{count} {what}' for what, count in sorted(counts.items())))
    if kept == KEPT:
        PAGE.write_text(made(PAGE.read_text('utf-8'), recorded()), 'utf-8')


if __name__ == '__main__':
    main(sys.argv[1:])
