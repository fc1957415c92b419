"""Chapter 07 between two nodes, on networks that lose packets, are slow, or are away for a while: each
file arrives once, whole. Each node makes its own outgoing packets go astray."""
import contextlib
import hashlib
import re
import subprocess
import time

import pytest

import builds
from nodes import serve
from pair import netem

CHAPTER = '07_full_speed'
WAYS = pytest.mark.parametrize('way', ['send', 'write', 'read'])


def keep(pair, packets, *words):
    """On node a: a server, when it is no longer needed, and the digests of what it has stored."""
    with netem(*packets):
        server = serve(pair, '-d', pair.inbox, *words)
    return server, {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in pair.inbox.iterdir()}


@contextlib.contextmanager
def keeping(lab, programs, packets, *words):
    """A server on node a, as long as the with goes on; to the list that it gives belong the digests
    that clients say. All of these have arrived, each was stored once, and nothing else is there."""
    lab.start('a', keep, programs, packets, *words)
    lab.hear('a')
    said = {}
    yield said
    lab.channels['a'].send(b'')
    server, kept = lab.result('a')
    assert kept == said
    assert sorted(re.findall(r'(?m)^stored: .* SHA-256 (\w+)$', server.out)) == sorted(said.values())


def sent(file, client):
    """The digest that it says is that of the file."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert client.has(rf'^{file.name}: stored, .* SHA-256 {digest}$')
    return {file.name: digest}


def send_slowly(pair, packets, way, size, *words):
    """On node b."""
    file = pair.file(f'by_{way}', size)
    with netem(*packets):
        client = pair.client(*words, way, file, status=(0, 1) if words else 0)
    if not words:
        client.quiet()
    # The packets of the goodbye get lost, too, and the connection manager repeats them only after 6 s.
    if client.status:
        assert client.has('^error: RDMA_CM_EVENT_DISCONNECTED: nothing came within 9 s', stream='err')
    return sent(file, client)


@WAYS
def test_a_network_that_loses_ten_percent_nothing_is_lost_or_doubled(lab, programs, way):
    with keeping(lab, programs, ('loss', '10%'), '-t', 9) as said:
        # With rxe (6.1), each lost packet of what is read costs a second.
        said.update(lab.call('b', send_slowly, programs, ('loss', '10%'), way, 40_001 if way == 'read' else 700_001,
                             '-R', 100, '-t', 9, '-q', 16, '-b', 4096))


@WAYS
def test_a_network_of_1_mb_per_s_is_slow_and_no_more_than_that(lab, programs, way):
    """A part takes 0.6 s: who repeats seven times what is not acknowledged in a tenth of that never gets through."""
    with keeping(lab, programs, ('delay', '1ms')) as said:
        said.update(lab.call('b', send_slowly, programs, ('rate', '1mbit'), way, 300_001))


def measure(pair, env):
    """On node b: a benchmark in which much time passes between an operation and its completion."""
    with netem('delay', '10ms'):
        client = pair.client('-t', 2, '-q', 1, '-n', 100, 'measure', program='bench/bench', env=env)
    client.quiet()
    assert client.has('ADDR_CHANGE: only a hint')


def test_a_bond_that_fails_over_in_a_benchmark_ends_it_at_neither_end(lab, programs):
    """Again and again: see hints.c."""
    env = builds.environment(builds.helper('tests/hints', '-shared'), 'HINTS', 300)
    with lab.serving(programs, '-t', 2, 'lend', program='bench/bench', env=env) as server:
        lab.call('b', measure, programs, env)
    server.quiet()
    assert server.has('ADDR_CHANGE: only a hint')


def run(line):
    subprocess.run(line.split(), check=True)


def send_over_cut(pair, way):
    """On node b: 5 s without a link, in the middle. If the connection manager sends anything meanwhile,
    rxe (6.1) receives nothing for it ever after [docs/troubleshooting.md#link-back]: so the device is
    made anew. The server is called by its name, hence first by its IPv6 address; this node loses its
    own with the link, so that the connection manager has nothing to send from."""
    file = pair.file(f'by_{way}', 1_500_000)
    client = pair.start('client', './client', '-a', 'a', '-R', 100, '-t', 3, '-q', 8, '-b', 16384, way, file,
                        at=('ibv_post_send 25', 'stop'))
    client.stops()
    try:
        run('ip link set eth0 down')
        client.resume()
        time.sleep(5)
        run('ip link set eth0 up')
        client.end()
    finally:
        client.gone()
        run('ip link set eth0 up')
        run('ip addr replace 2001:db8::2/64 dev eth0 nodad')
        run('rdma link delete rxe0')
        run('rdma link add rxe0 type rxe netdev eth0')
    assert client.has('^trying again in', f'^by_{way}: the server has [1-9][0-9]* of')
    return sent(file, client)


@WAYS
def test_the_link_is_down_for_5_s_in_the_middle(lab, programs, way):
    with keeping(lab, programs, ('delay', '1ms'), '-t', 3) as said:
        said.update(lab.call('b', send_over_cut, programs, way))
