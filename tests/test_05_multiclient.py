"""Chapter 05: many clients, clients too many, and the end. With more of each: tests/long/test_05_many.py."""
import os
import re
import signal
import socket
import struct
import subprocess
import time

import pytest

import in_node
from nodes import TOP
from pair import ENOUGH, objects, until

CHAPTER = '05_multiclient'
HELD = r'^\[figures\] objects held: .*'
HOLDS = ': holding the connection'
VARIANTS = pytest.mark.parametrize('variant', ['plain', 'sanitized', 'threads'])
# libcrypto is not built with ThreadSanitizer, which so sees its memory (through malloc and memcmp) and
# not its atomic counters and locks. What has no function of libcrypto in its stack is reported.
os.environ['TSAN_OPTIONS'] = f'suppressions="{TOP}/tests/05_tsan.txt"'


def figures(server):
    """What it says when it is asked for them."""
    before = server.count(HELD)
    server.kill('USR1')
    server.says(HELD, before + 1)
    return '\n'.join(re.findall(r'(?m)^\[figures\].*', server.out)[-4:])


def holds_nothing(server):
    """Nobody is connected, and nothing is held for anybody."""
    text = figures(server)
    return 'connected: 0 of ' in text and 'objects held: 0 PDs, 0 CQs, 0 QPs, 0 MRs' in text


def idle(server):
    """Waits until it holds nothing: a client ends a little earlier than what is done for it."""
    until('a server that holds nothing', holds_nothing, server)


def is_served(pair, *words):
    """One client is."""
    pair.client('-t', 60, *words, 'write').quiet()


def are_served(pair, *words):
    """Those of load/ are."""
    client = pair.client('-t', 60, *words, 'write', program='./load/load')
    client.quiet()
    return client


def holding(pair, count, *words, **more):
    """So many clients, which hold their connections."""
    load = pair.begin_client('-t', 600, '-n', count, '-w', 3600, *words, 'write', program='./load/load')
    load.says(HOLDS, count, **more)
    return load


def leave(load, status=0):
    """They are asked to."""
    load.kill('TERM')
    load.end(status)


def many_at_once(pair, many):
    """All bytes are verified, nothing is left; returns what it has cost."""
    signal.alarm(in_node.LIMIT + 2 * many)
    begin = time.monotonic()
    server = pair.server('-t', 600, '-b', 1024, 'write')
    is_served(pair)
    before = server.memory()
    load = holding(pair, many, seconds=ENOUGH + many)
    load.quiet()
    text = figures(server)
    assert f'connected: {many} of 1024;' in text
    assert f'objects held: {many} PDs, {many} CQs, {many} QPs, {3 * many} MRs' in text
    each, took = (server.memory() - before) / many, time.monotonic() - begin
    leave(load)
    idle(server)
    assert f'served: {many + 1}; refused: 0; failed: 0' in figures(server)
    server.stop().quiet()
    assert load.count(r': 1024 bytes verified\.') == many
    assert server.count(r': 1024 bytes verified\.') == many + 1
    assert server.count('Opened shared RDMA device: ') == 1
    assert not objects()
    psns = re.findall(r'Local PSN: (.*), Remote PSN: (.*)$', server.out, re.MULTILINE)
    every = [psn for both in psns for psn in both]
    return (f"{many} clients at a time: {each:.0f} kB of the server's memory each; "
            f'{len(every) - len(set(every))} repeats among {len(every)} PSNs; {took:.0f} s')


@pytest.mark.parametrize('variant, many', [('plain', 50), ('sanitized', 20), ('threads', 20)])
def test_many_at_once(pair, many):
    many_at_once(pair, many)


def in_sequence(pair, warm, count):
    """After the first clients, nothing may grow; returns what it has cost."""
    signal.alarm(in_node.LIMIT + count)
    server = pair.server('-t', 60, 'write')
    are_served(pair, '-N', warm)
    idle(server)
    before, memory = (objects(), server.descriptors()), server.memory()
    load = pair.begin_client('-t', 60, '-N', count, 'write', program='./load/load')
    load.end(seconds=ENOUGH + count).quiet()
    idle(server)
    assert (objects(), server.descriptors()) == before
    grown = server.memory() - memory
    assert grown < 512
    assert f'served: {warm + count}; refused: 0; failed: 0' in figures(server)
    server.stop().quiet()
    return f'{load.out.splitlines()[-1]}; memory +{grown} kB'


def test_a_hundred_in_sequence_leave_nothing_behind(pair):
    in_sequence(pair, 20, 100)


def test_thirteen_clients_from_another_node_ten_of_them_served(run, programs, tmp_path):
    expected = TOP / CHAPTER / 'expected/thirteen'
    ran = run('scripts/pair.sh', '-n', 2, '-d', programs.folder, expected / 'commands', tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert 'matches' in run('scripts/compare_logs.sh', tmp_path, expected).stdout


def test_a_full_server_says_so_and_serves_when_there_is_room(pair):
    server = pair.server('-t', 60, '-m', 2, 'write')
    load = holding(pair, 2)
    third = pair.client('-t', 60, 'write', status=1)
    third.one_error(r'server full \(2 of 2\)')
    # Nothing was made for it at either end.
    assert len(third.out.splitlines()) == 1
    assert 'refused: 1; failed: 0' in figures(server)
    leave(load)
    idle(server)
    is_served(pair)
    server.stop().quiet()


def test_who_is_to_make_a_million_connections_makes_them_not_as_fast_as_it_can_and_stops(pair):
    client = pair.begin_client('-p', 4499, '-n', 3, '-N', 1_000_000, 'write', program='./load/load')
    client.says('refused', 12, 'err')
    # Each of three pauses 0.1 s, 0.2 s and so on, or at least half of it.
    assert client.count('refused', 'err') < 100
    leave(client, 1)
    assert client.count('refused', 'err') < 100, 'it went on'
    assert client.has('asked to stop: connections that were not made: 29')


def test_the_same_where_there_is_a_server_that_is_full(pair):
    server = pair.server('-t', 60, '-m', 1, 'write')
    holds = holding(pair, 1)
    client = pair.begin_client('-t', 60, '-N', 1000, 'write', program='./load/load')
    client.says('server full', 2, 'err')
    client.kill('INT')
    assert client.end(1).count('server full', 'err') < 20
    leave(holds)
    server.stop()


@pytest.mark.parametrize('variant', ['sanitized'])
def test_a_connection_that_cannot_be_taken_leaves_nothing(pair):
    """The sanitizer would say so, and it is taken a moment later."""
    server = pair.server('-1', 'write', at=('accept4 1', 'fail'))
    pair.client('-t', 60, 'write').quiet()
    server.end().one_error('accept')
    assert pair.happened == 'accept4'


def test_connections_that_are_reset_at_once_keep_nobody_waiting(pair):
    server = pair.server('write')
    server.kill('STOP')
    server.stops()
    for _ in range(60):
        with socket.create_connection((pair.address, 4433)) as peer:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    server.resume()
    # A second for each of them would be longer than this waits.
    pair.client('-t', 30, 'write').quiet()
    server.stop()
    assert server.count('TLS handshake: ', 'err') == 60 and server.has(r'^\[figures\] served: 1; refused: 0; failed: 60$')


def test_connections_that_a_signal_ends_at_a_time_wait_for_a_busy_server(pair):
    """It takes longer than a client's second."""
    server = pair.server('-t', 60, 'write')
    load = holding(pair, 3)
    server.kill('STOP')
    load.kill('TERM')
    time.sleep(3)
    server.resume()
    load.end().quiet()
    idle(server)
    server.stop()


@VARIANTS
def test_a_signal_lets_the_last_clients_finish(pair):
    server = pair.server('-t', 100, '-G', 60, 'write')
    load = holding(pair, 3)
    server.kill('TERM')
    server.says('asked to stop: no new clients, up to 60 s')
    pair.client('write', status=1).one_error('Connection refused')
    # The others finish, and so does the server, long before the 60 s.
    leave(load)
    server.end(seconds=40).quiet()
    assert server.has(r'^\[figures\] served: 3; refused: 0; failed: 0')


@VARIANTS
def test_a_second_signal_does_not_let_them_finish_nor_does_the_grace_periods_end(pair):
    server = pair.server('-t', 100, '-G', 3600, 'write')
    load = holding(pair, 3)
    server.kill('INT')
    server.says('asked to stop')
    assert server.is_running()
    server.stop('INT')
    load.end(1)
    assert load.count('the server ended the connection', 'err') == 3
    assert server.has('objects held: 0 PDs, 0 CQs, 0 QPs, 0 MRs')
    server = pair.server('-t', 100, '-G', 0, 'write')
    load = holding(pair, 1)
    server.stop()
    load.end(1)
    assert not objects()


def test_descriptors_run_out_refused_politely_served_when_they_are_back(pair):
    few = pair.start('server', 'bash', '-c', 'ulimit -n 16 && exec ./server write')
    few.end(1).one_error('too few for a server')
    # Started by a shell that may have no more.
    server = pair.server('-c', 'ulimit -n 80 && exec ./server -t 60 write', program='bash')
    room = int(re.search(r' more descriptors: room for (\d+) clients and ', server.out)[1])
    assert 10 <= room < 30
    load = pair.begin_client('-t', 60, '-n', room + 5, '-w', 3600, 'write', program='./load/load')
    load.says(HOLDS, room)
    load.says(rf'server full \({room} of {room}\)', 5, 'err')
    leave(load, 1)
    idle(server)
    are_served(pair, '-n', room)
    idle(server)
    # And where nobody has counted: the limit falls while it runs.
    def limit(count):
        subprocess.run(['prlimit', '--pid', str(server.pid), f'--nofile={count}:80'], check=True)
    limit(server.descriptors() + 1)
    pair.client('-t', 5, '-n', 3, 'write', program='./load/load', status=1)
    limit(80)
    are_served(pair, '-n', 3)
    server.stop()
