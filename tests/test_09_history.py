"""09's PUTs without the server, under fire: four clients at a time put, get and count, some are killed while they have
the lock, and packets are lost. No value is wrong, and nothing that was acknowledged is lost."""
import collections
import concurrent.futures
import math
import os
import random
import re
import signal
import subprocess
import time

import pytest

from linear import Operation, wrong
from pair import netem

CHAPTER = '09_key_value'
# Of a PUT: from the request after the one that locks to the one that unlocks.
LOCKED = range(3, 7)
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
        operation('incr', '0', told=8, begin=14, end=15)]) is None


@pytest.mark.parametrize('last', [
    operation('get', 'a', told='one', begin=4, end=5), operation('get', 'a', told='mixed', begin=4, end=5),
    operation('get', 'a', begin=4, end=5), operation('incr', '0', told=1, begin=4, end=5)],
    ids=['an old value', 'none that was put', 'a key that is lost', 'a count that is lost'])
def test_the_checker_finds_a_wrong_answer(last):
    assert wrong([operation('put', 'a', 'one', begin=0, end=1), operation('put', 'a', 'two', begin=2, end=3),
                  operation('incr', '0', told=1, begin=0, end=1), last]) == last


def ask(pair, words, post):
    """One client, which may be killed before it posts a request; returns the operation."""
    environment = dict(os.environ)
    if post:
        environment.update(LD_PRELOAD=os.path.relpath(pair.shim, pair.folder), AT_CALL=f'ibv_post_send {post}',
                           AT_ACTION='kill', AT_REPORT=os.devnull)
    begin = time.monotonic()
    ran = subprocess.run(['./client', '-a', pair.address, '-t', '60', '--one-sided', *map(str, words)], text=True,
                         cwd=pair.folder, env=environment, capture_output=True, check=False)
    end, said = time.monotonic(), ran.stdout + ran.stderr
    kind, key, *rest = words
    if ran.returncode == -signal.SIGKILL and post:
        return Operation(key, kind, tuple(rest), None, begin, math.inf)
    patterns = {'put': r'(?m)^put: version \d+$()', 'get': rf'{key} = (.*)|this key is not in the table',
                'incr': r'counter \d: (\d+)', 'cas': r'it is (\d+) and not|counter \d: \d+'}
    found = re.search(patterns[kind], said)
    assert found, f'{words}: {ran.returncode}\n{said}'
    told = found[1]
    if kind in ('incr', 'cas'):
        told = int(told) if told else rest[0]
    return Operation(key, kind, tuple(rest), told, begin, end)


def asks(chance, number):
    """What the nth client does, and before which request it is killed, if it is."""
    kind = chance.choice(('get',) * 4 + ('put',) * 4 + ('incr', 'cas'))
    if kind == 'get':
        return (kind, chance.choice(KEYS)), 0
    if kind == 'put':
        # Long enough to be torn, and different from all others.
        return (kind, chance.choice(KEYS), f'{number}.' * 40), chance.random() < 0.02 and chance.choice(LOCKED)
    counter = chance.choice(COUNTERS)
    return ((kind, counter) if kind == 'incr' else (kind, counter, chance.randint(1, 9), 1)), 0


def history(pair, count, loss):
    """On node b: so many clients, four at a time; then what each key is. Returns how many of which there were."""
    signal.alarm(300 + count)
    chance = random.Random(count)
    with netem('loss', loss), concurrent.futures.ThreadPoolExecutor(4) as four:
        told = [each.result() for each in [four.submit(ask, pair, *asks(chance, number)) for number in range(count)]]
    told += [ask(pair, ('get', key), 0) for key in KEYS]
    assert (found := wrong(told)) is None, found
    killed = sum(operation.end == math.inf for operation in told)
    return {**collections.Counter(operation.kind for operation in told), 'killed': killed}


@pytest.mark.parametrize('count, loss', [(600, '0%'), (150, '2%')])
def test_no_value_is_wrong_and_no_acknowledged_one_is_lost(lab, programs, count, loss):
    with lab.serving(programs, '--one-sided') as server:
        done = lab.call('b', history, programs, count, loss)
    assert done['put'] > 20 and done['killed'] > 1
    print(done, server.err)
