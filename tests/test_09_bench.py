"""09's benchmark: what is asked for is done and counted, of each way; what is wrong with a value is said."""
import re
import subprocess

import pytest

import builds
from nodes import TOP

CHAPTER = '09_key_value'
BENCH = 'bench/bench'


def table(client):
    """Of its line: column, value."""
    names, values = [line.split() for line in client.out.split('\n') if re.match('way |(read|send|add) ', line)]
    # Two names have two words.
    names = ' '.join(names).replace('per s', 'rate').replace('us each', 'each') \
        .replace('program us', 'program').replace('node us', 'node').split()
    return dict(zip(names, values, strict=True))


@pytest.mark.parametrize('variant, way, words', [
    ('plain', 'read', (1, 1, 1, 300)), ('plain', 'read', (2, 64, 7, 3001)), ('plain', 'send', (1, 1, 1, 300)),
    ('plain', 'send', (3, 64, 64, 2000)), ('plain', 'add', (8, 2, 2, 999)), ('sanitized', 'read', (2, 16, 4, 500)),
    ('sanitized', 'send', (2, 16, 4, 500)), ('sanitized', 'add', (2, 16, 4, 500))], ids=str)
def test_each_way_does_as_many_as_are_asked_for(pair, way, words):
    clients, depth, chain, count = words
    server = pair.server('-j', clients, 'lend', program=BENCH)
    client = pair.client('-j', clients, '-q', depth, '-c', chain, '-n', count, way, program=BENCH)
    client.quiet()
    server.end().quiet()
    said = table(client)
    assert [said[name] for name in ('way', 'clients', 'depth', 'chain', 'count', 'puts', 'torn/10^6')] == \
        [way, *map(str, words), '0', '0.0']
    assert float(said['rate']) > 0 and float(said['each']) > 0


def test_a_server_that_polls_and_one_that_writes_meanwhile(pair):
    server = pair.server('-P', 'lend', program=BENCH)
    said = table(pair.client('-q', 4, '-n', 500, '-w', 'send', program=BENCH))
    server.end().quiet()
    assert int(said['puts']) > 0 and said['way'] == 'send'


def bare(folder):
    """Changes a build: the end that lends has but one key."""
    builds.edit(folder / 'bench/lend.c', r'lender->keys\[i\], "value"', 'lender->keys[0], "value"')


@pytest.fixture
def one_key():
    """The path of such a build's."""
    return builds.build(CHAPTER, 'bare', bare) / BENCH


def test_what_has_come_is_looked_at_unless_it_is_to_be_believed(pair, one_key):
    for words, status in ((), 1), (('-b',), 0):
        server = pair.server('lend', program=one_key)
        client = pair.client(*words, '-n', 300, 'read', program=BENCH, status=status)
        server.any_end()
        if status:
            client.one_error('the value of another key has come')
        else:
            client.quiet()


def there(pair):
    """On node b."""
    return pair.client('-q', 16, '-c', 4, '-n', 20000, 'read', program=BENCH)


def test_a_get_by_read_takes_none_of_the_servers_program(lab, programs):
    with lab.serving(programs, 'lend', program=BENCH) as server:
        said = table(lab.call('b', there, programs))
    server.quiet()
    # Two ticks of the node's clock, at most, are for the two messages about it.
    assert float(said['program']) * 20000 <= 20000 and float(said['node']) > 0


@pytest.mark.parametrize('words, says', [
    (('-q', 2, '-c', 3, 'read'), '-c is more than -q'), (('lend', 'read'), 'usage|see -h'), (('-q', 65, 'read'), '-q')],
    ids=str)
def test_what_cannot_be_is_said_and_ends_with_2(pair, words, says):
    pair.client(*words, program=BENCH, status=2).one_error(says)


def test_a_ratio_is_judged_by_the_limit_that_its_aim_names():
    """And one without an aim or a ratio is not."""
    rows = 'a\t104\t100\tus\t<= 1.05\nb\t96\t100\t\t>= 0.95\nc\t2\t3\t\t>=\nd\t2\t3\t\t-\ne\t2\t3\t\tnone\n'
    said = subprocess.run([TOP / 'scripts/lib/python.sh', 'bench.table'], input='#t\tone\tother\n' + rows, text=True,
                          check=True, stdout=subprocess.PIPE).stdout.split('\n')[1:]
    assert [row[50:].strip() for row in said] == [
        '1.04 (1.04 .. 1.04)  aim <= 1.05: met', '0.96 (0.96 .. 0.96)  aim >= 0.95: met',
        '0.67 (0.67 .. 0.67)  aim >= 1: MISSED', '0.67 (0.67 .. 0.67)', '', '']
