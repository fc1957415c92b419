"""Chapter 07 when all goes well: files each of the three ways, credits, and the benchmark."""
import os
import re
import subprocess
import time

import pytest

import builds

CHAPTER = '07_full_speed'
WAYS = pytest.mark.parametrize('way', ['send', 'write', 'read'])


def not_ready():
    """How often a device here was not, or met one that was not."""
    said = subprocess.run(['rdma', 'statistic', 'show', 'link', 'rxe0/1'], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    counts = re.findall(r'(?:rcvd|send)_rnr_err (\d+)', said)
    assert counts
    return sum(map(int, counts))


@pytest.mark.parametrize('variant, shape', [
    ('plain', ''), ('plain', '-q 4'), ('plain', '-q 5 -b 1000'), ('plain', '-q 1024 -b 4096'),
    ('sanitized', '-q 8 -b 4096')], ids=['default', 'least', 'odd', 'most', 'sanitized'])
@WAYS
def test_files_arrive_whole_and_no_receiver_was_not_ready(pair, way, variant, shape):
    """An empty one, a small one, and some that are no whole number of parts; and nothing else."""
    files = [pair.file(f'out/{name}', content) for name, content in (
        ('a name with blanks', 'small\n'), ('empty', ''), ('many', 1_000_001), ('one part', 65536))]
    before = not_ready()
    server = pair.server('-d', pair.inbox)
    for file in files:
        pair.client(*shape.split(), way, file).quiet()
        assert (pair.inbox / file.name).read_bytes() == file.read_bytes()
    server.stop().quiet()
    assert sorted(os.listdir(pair.inbox)) == [file.name for file in files]
    assert not_ready() == before


@WAYS
def test_a_slow_receiver_is_waited_for_and_never_overrun(pair, way):
    """The server stops in the middle, for longer than it takes to use up all credits."""
    file, before = pair.file('more', 3_000_000), not_ready()
    server = pair.server('-1', '-d', pair.inbox, at=('ibv_post_recv 40', 'stop'))
    client = pair.begin_client('-q', 8, '-b', 16384, way, file)
    server.stops()
    client.sleeps()
    time.sleep(1)
    server.resume()
    client.end().quiet()
    server.end().quiet()
    assert (pair.inbox / 'more').read_bytes() == file.read_bytes()
    assert not_ready() == before


def begins_late(folder):
    """Changes a build: it numbers its parts and its requests from 20 before 2^32 on."""
    builds.edit(folder / 'hello.c', r'^\tuint8_t timeout = 18;\n\n',
                r'\g<0>\tstream->posted = stream->complete = stream->taken = stream->arrived =\n'
                r'\t\tstream->chain.sends = stream->chain.sent = 0xffffffec;\n')


@pytest.fixture
def late():
    """The folder of such a build."""
    return builds.build(CHAPTER, 'late', begins_late)


@WAYS
def test_after_four_thousand_million_parts_files_arrive_as_before(pair, way, late):
    """2^32 is no multiple of most depths."""
    file = pair.file('file', 60 * 256 + 7)
    server = pair.server('-d', pair.inbox, program=late / 'server')
    for depth in 4, 5, 7, 48:
        pair.client('-q', depth, '-b', 256, way, file, program=late / 'client').quiet()
        assert (pair.inbox / 'file').read_bytes() == file.read_bytes()
        (pair.inbox / 'file').unlink()
    server.stop()


@WAYS
def test_parts_and_receives_are_posted_in_chains(pair, way):
    """Of 16 at a depth of 64; the first receives, too."""
    lists = {role: pair.scratch / role for role in ('server', 'client')}
    more = {role: {'env': {'LD_PRELOAD': str(pair.shim), 'AT_LIST': str(path)}} for role, path in lists.items()}
    server = pair.server('-1', '-d', pair.inbox, **more['server'])
    pair.client('-q', 64, '-b', 256, way, pair.file('file', 250 * 256), **more['client'])
    server.end()
    made = {role: path.read_text('utf-8').splitlines() for role, path in lists.items()}
    reader = 'server' if way == 'read' else 'client'
    assert made['client'].count('ibv_post_send') < 253 / 3 > made['server'].count('ibv_post_recv')
    assert made[reader].count('ibv_post_send') < 253 / 3


def rows(client):
    """Of the table that it prints, by their operations: the first table's and the second's."""
    assert client.has(r'^op *bytes depth *count *min us *median *p99 *p99\.9 *max *MB/s *ops/s$')
    found = [line.split() for line in re.findall('(?m)^(?:write|read|send) .*', client.out)]
    long, short = ([row for row in found if len(row) == length] for length in (11, 3))
    assert [row[0] for row in long] == [row[0] for row in short] == ['write', 'read', 'send']
    return [(row, half) for row, half in zip(long, short)]


def check_table(client, *shape):
    """It is in order."""
    for row, half in rows(client):
        assert tuple(row[1:4]) == tuple(map(str, shape))
        low, median, p99, p999, high, rate, ops = map(float, row[4:])
        assert 0 < low <= median <= p99 <= p999 <= high and rate >= 0 and ops > 0
        # MB/s is rounded to 0.1, operations to 1.
        assert abs(rate - shape[0] * ops / 1e6) <= 0.06 + shape[0] / 1e6
        # Each sample is of one operation, as the rate is.
        assert shape[1] > 1 or median < 20 * 1e6 / ops
        # Half of the median, and more.
        assert abs(float(half[1]) - median / 2) <= 0.11 and float(half[2]) >= 0


BENCH = 'bench/bench'


def lend(pair, *words):
    """The end of a benchmark that lends memory."""
    return pair.server(*words, 'lend', program=BENCH)


def bench(pair, server, size, depth, count, *words, **more):
    """One run; the data was right at both ends."""
    heard = len(server.out)
    client = pair.client('-b', size, '-n', count, '-q', depth, *words, 'measure', program=BENCH, **more)
    client.quiet()
    assert client.has(rf'^benchmark: {size} bytes verified\.$', '^benchmark: at most [1-9][0-9]* reads at a '
                      r'time, as was agreed; the device can do [1-9][0-9]*\.$')
    server.done()
    assert re.findall('(?m)^benchmark: .*', server.out[heard:])[-3:] == \
        [f'benchmark: lending {size} bytes.', *2 * [f'benchmark: {size} bytes verified.']]
    server.quiet()
    return client


@pytest.mark.parametrize('variant, shape', [
    *(('plain', shape) for shape in ((1, 1, 300), (1, 128, 1000), (64, 1, 1), (65, 3, 100), (4097, 1024, 100),
                                     (1 << 20, 2, 5))),
    ('sanitized', (64, 4, 20))], ids=str)
def test_benchmark_one_byte_a_mebibyte_odd_sizes_and_depths(pair, variant, shape):
    server = lend(pair)
    check_table(bench(pair, server, *shape), *shape)
    server.stop()


@pytest.fixture
def traced():
    """Makes the environment of a program that writes its calls to a file: see calls.c."""
    return builds.preloaded('scripts/lib/calls', 'CALLS')


@pytest.mark.parametrize('without', ['selective', 'chains', 'batches', 'inline', 'selective,chains,batches,inline'])
def test_benchmark_without_each_of_its_four_steps_and_all_of_them(pair, traced, without):
    """A chain is a quarter of the queue, and its last one reports."""
    server, trace = lend(pair), pair.scratch / 'trace'
    client = bench(pair, server, 64, 32, 200, '-W', without, env=traced(trace))
    check_table(client, 64, 32, 200)
    server.stop()
    calls = trace.read_text('utf-8')
    # Once in chains, and once one by one, for the table's second half.
    assert (len(re.findall('(?m)^completion status=0 opcode=1$', calls)) >= 400) == ('selective' in without)
    assert (calls.count('\nwith one call: 8\n') >= 25) == ('chains' not in without)
    assert 'batches' not in without or not re.search('completion.*\ncompletion', calls)


@pytest.mark.parametrize('call', ['ibv_post_send 3', 'ibv_post_send 30', 'ibv_post_send 200'])
def test_benchmark_a_request_that_the_device_refuses_ends_it_at_once(pair, call):
    """What was posted before it comes back, and nothing else is waited for: in a chain, in another one, and among SENDs."""
    server = lend(pair, '-t', 60)
    client = pair.client('-t', 60, '-n', 400, '-q', 32, 'measure', program=BENCH, at=(call, 'fail'), status=1)
    client.one_error('ibv_post_send: Input/output error')
    assert client.ms < 30_000
    server.done()
    server.stop()


def lies(folder):
    """Changes a build: LIE says what its lending end does."""
    for file, old, new in (
            ('echo', r'NULL, owed\)', "NULL, LIES('n') ? 0 : owed + LIES('m'))"),
            ('echo', 'IBV_WR_SEND_WITH_IMM :', "LIES('w') ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND_WITH_IMM :"),
            ('lend', r'SLOT_SEND_FIRST, &head\) \|\|$',
             r"\g<0> (LIES('t') && talk_send(bench->talk, SLOT_SEND_LAST, &head)) ||")):
        builds.edit(folder / f'bench/{file}.c', old, new)
    builds.edit(folder / 'bench/bench.h', r'\A', '#include <stdlib.h>\n#define LIES(how) (*getenv("LIE") == (how))\n')


@pytest.fixture
def liar():
    return builds.build(CHAPTER, 'liar', lies) / BENCH


@pytest.mark.parametrize('lie, error', [
    ('no credits', '0 credits, of 0'), ('more credits', r'\d+ credits, of \d+'),
    ('writes', 'a completion with opcode 129, where SENDs were to come'),
    ('two answers', 'a message in the middle of a benchmark')])
def test_benchmark_an_end_that_lends_and_lies_is_refused(pair, liar, lie, error):
    """About its receives, by writes of nothing with immediate data, and by a message that is not due."""
    server = pair.server('lend', program=liar, env={'LIE': lie})
    pair.client('-n', 100, '-q', 8, 'measure', program=BENCH, status=1).one_error(f'protocol error: {error}$')
    server.done()
    server.stop()


def test_benchmark_has_comma_separated_values(pair):
    server = lend(pair)
    client = bench(pair, server, 512, 8, 50, '-c')
    values = r'512,8,50(,[0-9]+\.[0-9]){6},[0-9]+\n'
    assert client.has('^op,bytes,depth,count,min_us,median_us,p99_us,p99.9_us,max_us,mb_per_s,ops_per_s\n'
                      f'write,{values}read,{values}')
    assert client.has(r'^op,half_us,cpu_per_gb_s\n(.*\n){2}send,[0-9]+\.[0-9],[0-9]+\.[0-9]{2}$')
    assert not client.has('^op '), 'there is an aligned table, too'
    server.stop()


def bench_there(pair):
    """On node b."""
    return pair.client('-n', 20, '-c', 'measure', program=BENCH)


def test_a_benchmark_between_two_nodes(lab, programs):
    with lab.serving(programs, 'lend', program=BENCH) as server:
        client = lab.call('b', bench_there, programs)
    client.quiet()
    assert client.has('^write,4096,64,20,', '^read,4096,64,20,')
    assert server.has(r'benchmark: 4096 bytes verified\.')


def test_a_benchmark_that_takes_longer_than_t_has_its_table(pair):
    """Several times as long, at either end."""
    server = lend(pair, '-t', 1)
    client = pair.client('-t', 1, '-b', 4096, '-n', 6000, '-q', 4, 'measure', program=BENCH)
    assert client.has('^read +4096 +4 +6000 ')
    server.quiet()
    server.stop()
