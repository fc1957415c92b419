"""Chapter 08: one thread for a crowd. It is never idle, it stands still, it has to end; and what many
clients have left behind. tests/long/test_08_many.py has the same with more of them."""
import os
import random
import signal
import time

import pytest

import builds
import in_node
from pair import objects, until

CHAPTER = '08_event_loop'


def crowd(pair, count, *words):
    """So many connections, all served."""
    load = pair.client('-n', count, *words, program='./load/load')
    load.quiet()
    assert load.has(rf'^{count} connections: {count} served, 0 refused, 0 failed\.$')


def freed(server, count):
    """Waits until so many clients have come, and the server has freed as many."""
    until(f'a server that has freed {count} clients', lambda: count == server.count(
        r'received connection request\.$') == server.count(r'^Client \d+: (peer disconnected|sent away) after'))


@pytest.mark.parametrize('size', [64, 1000, 1024])
def test_a_crowd_with_the_smallest_an_odd_and_the_largest_message(pair, size):
    server = pair.server()
    crowd(pair, 100, '-b', size, '-N', 5)
    crowd(pair, 1, '-b', size, '-N', 1)
    freed(server, 101)
    assert len(os.listdir(f'/proc/{server.pid}/task')) == 1, 'it has more than one thread'
    server.stop().quiet()


def cycles(pair, count):
    """So many clients, one after another: every tenth is killed, each at another of its calls, and
    every tenth at some time, when it may be done already. Nothing may grow."""
    signal.alarm(in_node.LIMIT + count)
    server, killed, chance = pair.server(), 0, random.Random(count)
    for number in range(1, count + 1):
        words, at, statuses = ['./client', '-a', pair.address, '-t', 60], None, (0,)
        if number > 20 and number % 10 == 0:
            at, statuses = (number // 10 * 7 % 30 + 1, 'kill'), (137,)
        elif number > 20 and number % 10 == 5:
            words[:0], statuses = ('timeout', '-s', 'KILL', chance.randint(1, 100) / 1000), (0, 137)
        killed += pair.start('client', *words, at=at).end(*statuses).status == 137
        if number == 20:
            before = held(server)
            memory = server.memory()
    until('a server that holds what it did', lambda: held(server) == before)
    grown = server.memory() - memory
    assert grown < 512
    server.stop()
    return f'{count} clients, of which {killed} were killed; memory +{grown} kB'


def held(server):
    """By a server to which nobody is connected."""
    until('a server without a queue pair', lambda: not [line for line in objects(server) if 'qpn' in line])
    return len(objects(server)), server.descriptors()


def ends_with(pair, count, messages):
    """A server with so many clients, who send so often or are silent then, ends long before their time is up."""
    signal.alarm(in_node.LIMIT + 3 * count)
    server = pair.server('-t', 60)
    load = pair.begin_client('-n', count, '-N', messages, '-w', 300, '-t', 60, program='./load/load')
    load.says(f'^{count} connections in')
    if messages == 1:
        load.says(r' are held\.$')
    begin = time.monotonic()
    server.stop()
    took = time.monotonic() - begin
    assert took < 30
    load.end(1)
    until('a device that nobody uses', lambda: not objects())
    return f'{count} clients: it ended {1000 * took:.0f} ms after SIGTERM'


def test_two_hundred_clients_one_after_another_of_whom_some_are_killed_nothing_grows(pair):
    cycles(pair, 200)


@pytest.mark.parametrize('messages', [100000, 1])
def test_sigterm_ends_a_server_with_300_clients_soon_and_nothing_is_left(pair, messages):
    ends_with(pair, 300, messages)


def works(folder):
    """Changes a build: its server works a millisecond for each message."""
    builds.edit(folder / 'guests.c', r'\A', '#include <time.h>\n')
    builds.edit(folder / 'guests.c', r'^\tguest->count\+\+;', r'''	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < 1000000);
\g<0>''')


@pytest.fixture
def slow():
    return builds.build(CHAPTER, 'slow', works) / 'server'


def test_clients_leave_a_server_that_is_never_idle_and_it_hears_sigterm_within_a_second(pair, slow):
    """It is the bottleneck: its CQ is never empty."""
    server = pair.server('-t', 3, program=slow)
    load = pair.begin_client('-t', 120, '-n', 256, '-q', 256, '-N', 2000, program='./load/load')
    load.says('^256 connections in')
    leavers = pair.begin_client('-t', 120, '-n', 16, '-j', 16, '-N', 1, program='./load/load')
    server.says(': peer disconnected after', 16)
    leavers.end()
    # So long that each of their deadlines has passed.
    time.sleep(5)
    assert server.is_running()
    for program in server, load:
        program.quiet()
    begin = time.time()
    server.kill('TERM')
    server.says('asked to stop', stream='err')
    # When it said so; what waits for it has the same processor.
    assert os.stat(f'{server.logs}.err').st_mtime - begin < 1
    server.end()
    load.end(1)


def test_who_has_sent_in_time_is_not_late_however_late_the_server_looks(pair):
    """What clients send while it stands, for longer than they may be silent, is in the CQ when it goes on."""
    server = pair.server('-w', 2)
    load = pair.begin_client('-t', 60, '-n', 20, '-q', 20, '-N', 300, program='./load/load')
    load.says('^20 connections in')
    server.kill('STOP')
    time.sleep(3)
    server.resume()
    load.end()
    server.quiet()
    server.stop()
