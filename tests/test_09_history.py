"""09 under fire: four clients at a time put, get and count, some are killed while they have a lock, packets are lost,
and the table moves twice. No value is wrong, and nothing that was acknowledged is lost."""
import collections
import concurrent.futures
import math
import random
import re
import signal
import subprocess
import time

import pytest

import in_node
from linear import Operation, wrong
from pair import netem

CHAPTER = '09_key_value'
KEYS, COUNTERS = ('k0', 'k1', 'k2', 'k3'), (0, 1)


def operation(*words, told=None, begin=0, end=math.inf):
    """Of a history that is written here."""
    kind, key, *rest = words
    return Operation(key, kind, tuple(rest), told, begin, end)


def test_the_checker_takes_what_can_be():
    assert wrong([
        operation('put', 'a', 'one', begin=0, end=1),
        # While the second PUT is under way, either may be seen, but never the first one after the second.
        operation('put', 'a', 'two', begin=2, end=9),
        operation('get', 'a', told='one', begin=3, end=5), operation('get', 'a', told='two', begin=4, end=6),
        # Their clients were killed: one was done, and one was not.
        operation('put', 'a', 'three', begin=2), operation('put', 'a', 'four', begin=2),
        operation('get', 'a', told='three', begin=20, end=21),
        operation('get', 'b', begin=0, end=1),
        operation('incr', '0', told=2, begin=0, end=9), operation('incr', '0', told=1, begin=0, end=9),
        operation('cas', '0', 1, 5, told=2, begin=10, end=11), operation('cas', '0', 2, 7, told=2, begin=12, end=13),
        operation('incr', '0', told=8, begin=14, end=15),
        operation('incr', '0', begin=16), operation('incr', '0', told=10, begin=18, end=19)]) is None


@pytest.mark.parametrize('last', [
    operation('get', 'a', told='one', begin=4, end=5), operation('get', 'a', told='mixed', begin=4, end=5),
    operation('get', 'a', begin=4, end=5), operation('incr', '0', told=1, begin=4, end=5)],
    ids=['an old value', 'none that was put', 'a key that is lost', 'a count that is lost'])
def test_the_checker_finds_a_wrong_answer(last):
    assert wrong([operation('put', 'a', 'one', begin=0, end=1), operation('put', 'a', 'two', begin=2, end=3),
                  operation('incr', '0', told=1, begin=0, end=1), last]) == last


class Session:
    """A client that does one thing after the other."""
    patterns = {'put': r'put: version \d+$()', 'get': r'version \d+: \w+ = (.*)|error: \w+: this key is not in',
                'incr': r'counter \d: (\d+)$', 'cas': r'error: counter \d: it is (\d+) and not|counter \d: \d+$'}

    def __init__(self, pair, words):
        while not self.is_told_where_the_table_is(pair, words):
            assert re.search(f'{SLOW}|try again in a few seconds', ''.join(self.said)), self.said

    def is_told_where_the_table_is(self, pair, words):
        """The other end's kernel may refuse it for a while, since it still knows an older connection."""
        self.said = []
        self.process = subprocess.Popen(
            ['./client', '-a', pair.address, '-t', '60', *words, 'do', '/proc/self/fd/0'], text=True, cwd=pair.folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for line in self.process.stdout:
            self.said.append(line)
            if line.startswith("the server's table: "):
                return True
        return False

    def ask(self, kind, key, *rest, kill=None):
        """Returns the operation, which is the last one if the client is killed so many seconds after its begin."""
        begin = time.monotonic()
        print(kind, key, *rest, file=self.process.stdin, flush=True)
        if kill:
            time.sleep(kill)
            self.process.kill()
        for line in self.process.stdout:
            if found := re.match(self.patterns[kind], line):
                told, end = found[1], time.monotonic()
                if kind in ('incr', 'cas'):
                    told = int(told) if told else rest[0]
                return Operation(key, kind, tuple(rest), told, begin, end)
            self.said.append(line)
        assert kill or re.search(SLOW, ''.join(self.said)), f'{kind} {key}\n{self.said}'
        return Operation(key, kind, tuple(rest), None, begin, math.inf)

    def leave(self):
        """Returns what it said besides."""
        if self.process.poll() is None:
            self.said += self.process.communicate()[0].splitlines(True)
        return self.said


# It may have done what it was asked for, and does not know. On a busy machine, a device may have too little patience.
SLOW = 'the lock has been taken from us|took longer than the lease|status (?:5|12) '


def asks(chance, number, count):
    """What the nth of so many operations is. New keys come now and then, and with them the table moves."""
    if number % (count // 20) == 0:
        return 'put', f'new{number}', f'{number}.' * 36
    kind = chance.choice(('get',) * 4 + ('put',) * 4 + ('incr', 'cas'))
    if kind == 'get':
        return kind, chance.choice(KEYS)
    if kind == 'put':
        # Long enough to be torn, and different from all others.
        return kind, chance.choice(KEYS), f'{number}.' * 36
    counter = chance.choice(COUNTERS)
    return (kind, counter) if kind == 'incr' else (kind, counter, chance.randint(1, 9), 1)


def worker(pair, words, count, number):
    """One of four that share them: one client after another, of which each but the last is killed while it puts a
    value. Returns what they were told, and what they said besides."""
    chance = random.Random(4 * count + number)
    told, said, session, took = [], [], None, 0.001
    for each in range(number, count, 4):
        session = session or Session(pair, words)
        asked = asks(chance, each, count)
        # Most of them have answered before: some forty of 100,000 operations have no answer, and not much fewer of few.
        last = asked[0] == 'put' and chance.random() * count < 60 + count / 400
        told.append(session.ask(*asked, kill=last and chance.random() * took))
        if last or told[-1].end == math.inf:
            said, session = said + session.leave(), None
        elif asked[0] == 'put':
            took = told[-1].end - told[-1].begin
    return told, said + (session.leave() if session else [])


def killed_owner(pair, words):
    """A client that is killed while it has a lock. The four have theirs for so short a time that it may never happen."""
    began = time.monotonic()
    pair.client(*words, 'put', 'k0', 'lost', at=('ibv_post_send 4', 'kill'), status=128 + signal.SIGKILL)
    return operation('put', 'k0', 'lost', begin=began)


def history(pair, words, count, loss):
    """On node b: so many operations; then what each key is. Returns how many of which there were."""
    signal.alarm(in_node.LIMIT + count // 10)
    first = [killed_owner(pair, words)] if words else []
    with netem('loss', loss), concurrent.futures.ThreadPoolExecutor(4) as four:
        done = [each.result() for each in [four.submit(worker, pair, words, count, number) for number in range(4)]]
    told, said = sum((told for told, _ in done), first), ''.join(line for _, said in done for line in said)
    last = Session(pair, words)
    keys = {operation.key for operation in told if operation.kind == 'put'}
    told += [last.ask('get', key) for key in sorted(keys)]
    last.leave()
    assert (found := wrong(told)) is None, found
    killed = sum(operation.end == math.inf for operation in told)
    return {**collections.Counter(operation.kind for operation in told), 'killed': killed,
            'lapsed': len(re.findall('let its lease lapse', said)), 'slow': len(re.findall(SLOW, said))}


def under_fire(lab, programs, words, count, loss):
    """Returns what was done, when nothing was wrong."""
    with lab.serving(programs, *words, '-t', 3600, limit=in_node.LIMIT + count // 10) as server:
        done = lab.call('b', history, programs, words, count, loss)
    assert done['killed'] > 1 and server.count('the table has moved: ') == 2
    assert bool(done['lapsed']) == bool(words)
    print(done)


@pytest.mark.parametrize('words', [(), ('--one-sided',)], ids=['sent', 'one_sided'])
@pytest.mark.parametrize('count, loss', [(2000, '0%'), (1000, '2%')])
def test_no_value_is_wrong_and_no_acknowledged_one_is_lost(lab, programs, words, count, loss):
    under_fire(lab, programs, words, count, loss)
