#!/usr/bin/python3 -B
"""Others' RDMA tools and tests on two nodes: what runs there of scripts/maint/conformance.py.

Usage: others.py serve                on node b: starts the servers that node a asks for
       others.py run DEVICE NAME...   on node a: these tools, and pyverbs, rdma-core's suite
       others.py suite DEVICE         the suite alone, which is in build/pyverbs

Both print a line of JSON for each result: [name, test or '', result, what it said].
"""
import contextlib
import json
import os
import pathlib
import re
import shlex
import socket
import subprocess
import sys
import time
import unittest

PORT = 4000
SUITE = pathlib.Path(__file__).resolve().parents[2] / 'build/pyverbs/tests'
# An emulated node is slow. None of the tools takes half of that.
SECONDS = 60

BY_HAND = '-d {device} -x {gid}'
# What both ends have, what the server has besides, and the client.
TOOLS = {f'ibv_{kind}_pingpong': (f'ibv_{kind}_pingpong -d {{device}} -g {{gid}}', '', '{server}')
         for kind in ('rc', 'uc', 'ud', 'srq', 'xsrq')}
for tool in 'send_bw', 'send_lat', 'write_bw', 'write_lat', 'read_bw', 'read_lat', 'atomic_bw', 'atomic_lat':
    words = f'ib_{tool} -n {3000 if tool.endswith("bw") else 1000} {BY_HAND}' + (' -s 4096' * ('atomic' not in tool))
    TOOLS[f'ib_{tool}'] = words, '', '{server}'
    TOOLS[f'ib_{tool} -R'] = f'{words} -R', '', '{server}'
TOOLS |= {
    'rping': ('rping -C 10 -V', '-s', '-c -a {server}'),
    'ucmatose': ('ucmatose', '', '-s {server}'),
    'udaddy': ('udaddy', '', '-s {server}'),
    'mckey': ('mckey -m 239.192.1.1 -b {own}', '', '-s'),
    'cmtime': ('cmtime -c 10', '', '-s {server}'),
    'rstream': ('rstream -S 4096 -I 100', '', '-s {server}'),
    'riostream': ('riostream -S 4096 -I 100', '', '-s {server}'),
    'udpong': ('udpong -S 1024 -C 100', '', '-s {server}'),
    'rdma_server': ('', 'rdma_server', 'rdma_client -s {server}'),
    'rdma_xserver': ('', 'rdma_xserver', 'rdma_xclient -s {server}'),
}
# Their servers go on when a client has left.
STAY = 'cmtime', 'udpong'


class Program:
    """One that runs, and what it says, line by line."""

    def __init__(self, words):
        self.file = open(f'/tmp/others.{os.getpid()}', 'w+', encoding='utf-8', errors='replace')
        self.process = subprocess.Popen(['stdbuf', '-oL', *words], stdin=subprocess.DEVNULL, stdout=self.file,
                                        stderr=subprocess.STDOUT)

    def said(self):
        """Until now."""
        return pathlib.Path(self.file.name).read_text('utf-8', 'replace')

    def is_ready(self):
        """Whether it listens, at a port or for the connection manager, or has joined a group, or has ended."""
        return self.process.poll() is not None or 'joined' in self.said() or \
            re.search(rf'LISTEN .*pid {self.process.pid} ', subprocess.run(
                ['rdma', 'resource', 'show', 'cm_id'], check=False, text=True, stdout=subprocess.PIPE).stdout) or \
            re.search(rf'(?:LISTEN|UNCONN).*pid={self.process.pid},', subprocess.run(
                ['ss', '-ltunp'], check=False, text=True, stdout=subprocess.PIPE).stdout)

    def end(self, seconds):
        """Its status (None: it did not end), and what it said at last."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = None
        with self.file:
            lines = [line.strip() for line in self.said().splitlines()]
        # The last words; not the tables and rulers of perftest.
        words = [line for line in lines if re.search('[a-z]{3}', line) and not line.startswith('#')]
        return status, words[-3:]


def serve():
    """One server after another, each as long as the other end stays connected, and then until it ends by itself."""
    with socket.create_server(('', PORT)) as listening:
        while True:
            connection = listening.accept()[0]
            with connection, connection.makefile('rw') as line:
                program = Program(json.loads(line.readline()))
                end = time.monotonic() + SECONDS / 2
                while not program.is_ready() and time.monotonic() < end:
                    time.sleep(0.1)
                print('ready', file=line, flush=True)
                client = line.readline()
                print(json.dumps(program.end(10 if client == 'good\n' else 0.5)), file=line, flush=True)


def reach(address):
    """A connection to the other node's serve(), which may not be there yet."""
    end = time.monotonic() + SECONDS
    while True:
        try:
            return socket.create_connection((address, PORT), 5)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def pair(name, device):
    """A server on the other node, and its client here: a result."""
    both, there, here = TOOLS[name]
    # The GID of rxe's IPv4 address; siw has but one.
    known = {'device': device, 'server': os.environ['LAB_B'], 'gid': 1 if device == 'rxe0' else 0}
    with reach(os.environ['LAB_B']) as connection, connection.makefile('rw') as line:
        connection.settimeout(None)
        words = shlex.split(f'{both} {there}'.format(own=os.environ['LAB_B'], **known))
        print(json.dumps(words), file=line, flush=True)
        line.readline()
        words = shlex.split(f'{both} {here}'.format(own=os.environ['LAB_A'], **known))
        ends = [('client', *Program(words).end(SECONDS))]
        print('good' if ends[0][1] == 0 and name not in STAY else 'bad', file=line, flush=True)
        ends.append(('server', *json.loads(line.readline())))
    if name in STAY and ends[1][1] is None:
        ends.pop()
    wrong = [f'{who}: ' + ('did not end; ' if status is None else f'status {status}; ') + ' / '.join(said)
             for who, status, said in ends if status != 0]
    return [name, '', 'fails' if wrong else 'passes', ' | '.join(wrong)]


def result(name, device):
    """The same, tried again if it fails; what it said at first remains."""
    first = found = pair(name, device)
    tries = 1
    # On a busy machine, perftest cannot find out how fast the clock is, and prints no figures.
    while found[2] == 'fails' and 'client: did not end' not in found[3] and \
            tries < (10 if 'Correlation' in found[3] else 3):
        found, tries = pair(name, device), tries + 1
    if tries > 1 and found[2] == 'passes' and 'Correlation' not in first[3]:
        found[3] = f'once in {tries} attempts; at first: {first[3]}'
    return found


class Results(unittest.TestResult):
    """Prints each as it comes."""

    def tell(self, test, what, why=''):
        """A line of it."""
        # That of a class that cannot be set up, too.
        print(json.dumps(['pyverbs', re.sub(r'^tests\.', '', test.id()), what, why]), flush=True)

    def startTest(self, test):  # noqa: N802, pylint: disable=invalid-name
        """So that one that ends all is known."""
        super().startTest(test)
        self.tell(test, 'begins')

    def addSuccess(self, test):  # pylint: disable=invalid-name
        """It passed."""
        self.tell(test, 'passes')

    def addSkip(self, test, reason):  # pylint: disable=invalid-name
        """It cannot be run here."""
        self.tell(test, 'skipped', reason)

    def addError(self, test, err):  # pylint: disable=invalid-name
        """It ended by an exception."""
        self.tell(test, 'fails', f'{err[0].__name__}: {err[1]}')

    def addFailure(self, test, err):  # pylint: disable=invalid-name
        """What it asserts is not so."""
        self.tell(test, 'fails', f'{err[0].__name__}: {err[1]}')


def suite(device):
    """As its run_tests.py does, with results that can be read."""
    path = f'{SUITE}:{SUITE.parent}'
    if os.environ.get('PYTHONPATH') != path:
        os.execve(sys.executable, [sys.executable, '-B', *sys.argv], {**os.environ, 'PYTHONPATH': path})
    sys.argv[1:] = ['--dev', device]
    from args_parser import parser  # pylint: disable=import-error, import-outside-toplevel
    parser.parse_args()
    import tests  # pylint: disable=import-outside-toplevel
    unittest.defaultTestLoader.loadTestsFromModule(tests).run(Results())


def main(words):
    """As the usage says."""
    if words[:1] == ['serve']:
        serve()
    elif words[:1] == ['suite']:
        suite(*words[1:])
    elif words[:1] == ['run']:
        for name in words[2:]:
            if name == 'pyverbs':
                with contextlib.suppress(subprocess.TimeoutExpired):
                    subprocess.run([sys.executable, '-B', __file__, 'suite', words[1]], check=False,
                                   timeout=SECONDS * 25)
            else:
                print(json.dumps(result(name, words[1])), flush=True)
    else:
        sys.exit(__doc__)


if __name__ == '__main__':
    main(sys.argv[1:])
