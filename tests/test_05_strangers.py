"""Chapter 05's server and those who have not said who they are: they keep nobody waiting, cost little,
and one address does not get all of the room. What they say: see strangers.py."""
import contextlib
import re
import subprocess

import pytest

from nodes import TOP
from pair import until
from test_05_multiclient import are_served, figures, is_served

CHAPTER = '05_multiclient'


@contextlib.contextmanager
def strangers(pair, *words):
    """They connect, and stay as long as this goes on."""
    with subprocess.Popen(['python3', TOP / 'tests/strangers.py', pair.address, '4433', *map(str, words)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline(), 'the strangers are not there'
            yield
            process.stdin.close()
            assert process.wait(100) == 0
        finally:
            process.kill()


def shaking(server, count):
    """Whether so many have not said who they are."""
    return re.search(rf'^\[figures\] connected: 0 of \d+; shaking hands: {count}$', figures(server), re.MULTILINE)


def are_shaking(server, count):
    """Waits until so many do."""
    until(f'{count} handshakes', shaking, server, count)


def test_a_thousand_that_connect_and_say_nothing_keep_nobody_waiting(pair):
    """Some stop in the middle of the handshake."""
    # As patient as can be: none of them is over before the test is.
    server = pair.server('-t', 3600, 'write')
    with strangers(pair, 980, 'silent', 10, 'part', 10, 'hello'):
        are_shaking(server, 1000)
        is_served(pair)
        are_served(pair, '-n', 10, '-j', 10)
        are_shaking(server, 1000)
        # They are given up as soon as the server is asked to stop.
        server.stop()
        assert server.count('TLS handshake: given up', 'err') == 1000


ONE = r'as many strangers as one address may have at a time \({}\)'


def test_2048_strangers_of_one_address_leave_room_for_others(pair):
    """They have half of the room. Afterwards, those of it are served as well."""
    server = pair.server('-t', 3600, 'write')
    with strangers(pair, 2048, 'part'):
        are_shaking(server, 1024)
        server.says(ONE.format(1024), 1024, 'err')
        # The same machine has an address of IPv6, too.
        pair.start('client', './client', '-a', '2001:db8::1', '-t', 60, 'write').end().quiet()
        pair.client('-t', 60, 'write', status=1)
    are_shaking(server, 0)
    is_served(pair)
    are_served(pair, '-n', 10, '-j', 10)
    server.stop()


def in_the_end(server, count, refusal):
    """They have been refused, or wait."""
    if refusal:
        server.says(refusal, count, 'err')
    else:
        are_shaking(server, count)


# A handshake that has begun costs what OpenSSL holds for it, and one in the middle of the certificates
# 20 kB more at the most: CERTIFICATES_MAX of tls.c.
@pytest.mark.parametrize('count, kind, most, refusal', [
    (1024, 'silent', 20480, ''),
    (1024, 'part', 20480, ''),
    (1024, 'long', 20480, 'announces a ClientHello of 131072 bytes in a record of 4'),
    (1024, 'again', 20480, 'is not asked for a second ClientHello'),
    (1000, 'hello', 80_000, ''),
    (1000, 'chain', 96_000, '')], ids=['silent', 'part', 'long', 'again', 'hello', 'chain'])
def test_a_thousand_strangers_cost_no_more_than_is_computed(pair, count, kind, most, refusal):
    server = pair.server('-t', 3600, 'write')
    is_served(pair)
    before = server.memory()
    with strangers(pair, count, kind):
        in_the_end(server, count, refusal)
        assert server.memory() - before <= most
        if refusal:
            is_served(pair)
    are_shaking(server, 0)
    server.stop()


def test_one_address_has_half_of_a_small_room_and_another_one_is_served(pair):
    server = pair.server('-c', 'ulimit -n 256 && exec ./server -t 3600 write', program='bash')
    room = int(re.search(r' more descriptors: room for .* and (\d+) strangers', server.out)[1])
    half = room // 2
    assert 4 <= half < 128
    with strangers(pair, room + 10, 'silent@127.0.0.2'):
        pair.client('-t', 30, 'write')
        server.says(ONE.format(half), room + 10 - half, 'err')
        assert shaking(server, half)
        server.stop()


def test_addresses_of_one_network_of_ipv6_count_as_one(pair):
    """A host has all of those that differ in the second half only."""
    pair.address, others = '2001:db8::1', ('2001:db8::77/128', '2001:db8:0:1::1/128')
    for address in others:
        subprocess.run(('ip', 'address', 'add', address, 'dev', 'lo'), check=True)
    try:
        server = pair.server('-c', 'ulimit -n 56 && exec ./server -t 3600 write', program='bash')
        with strangers(pair, 2, 'silent@2001:db8::77', 1, 'silent@2001:db8:0:1::1'):
            are_shaking(server, 3)
            pair.client('-t', 30, 'write', status=1)
            server.one_error(ONE.format(2))
        are_shaking(server, 0)
        is_served(pair)
        server.stop()
    finally:
        for address in others:
            subprocess.run(('ip', 'address', 'del', address, 'dev', 'lo'), check=True)
