"""03's loopback.c and first.c: they end, with an error, whatever fails or is said to them."""
import socket
import time

import pytest

from first import first, hasty, talks, to_first
from first_tls import LINE, line

CHAPTER = '03_pure_verbs'
PORT = 18515


def test_it_talks_with_itself_with_any_psn(pair):
    server = first(pair, '0')
    talks(pair, server, to_first(pair, 'ffffff', pair.address))
    pair.start('client', './loopback', pair.address).end().quiet()


def test_without_a_host_or_a_device(pair):
    client = to_first(pair, '1', '192.0.2.99', status=1)
    client.one_error('connect.*: No route to host$')
    assert client.ms < 20_000
    pair.start('client', './loopback', '127.0.0.1').end(1).one_error('conn->device: No such device$')


def stranger(pair, line=b'', wait=False):
    """What says this to a server and no more, and hangs up unless it waits; returns the server."""
    server = first(pair, program=hasty(CHAPTER))
    with socket.create_connection((pair.address, PORT)) as peer:
        peer.sendall(line)
        if wait:
            return server.end(1)
    return server.end(1)


LIES = [
    {'QPN': '0x000000'}, {'QPN': '0x000001'}, {'QPN': '0xffffff'}, {'QPN': '0x1000000'}, {'QPN': '-0x00011'},
    {'PSN': '0x1000000'}, {'PSN': ' 0x000001'}, {'PSN': '-00001'}, {'PSN': ''}, {'PSN': '1'},
    {'GID': '::ffff:192.0.2.77'}, {'GID': 'ff02::1'}, {'GID': '::'}, {'GID': ':' * 80}, {'GID': '192.0.2.1'},
    {'GID': ''}, {'ADDR': '0x1' + 16 * '0'}, {'ADDR': '4096'}, {'RKEY': '0x100000000'}, {'RKEY': ''},
    {'RKEY': '0x00000001 '}, {'RKEY': '0x00000001\n\x1b[31m'}, {'MTU': '1024'}]


def test_a_line_that_lies_or_is_written_otherwise_is_refused(pair):
    for new in LIES:
        server = stranger(pair, line(pair, **new)[:LINE], wait=True)
        server.one_error('(memcmp|peer.qpn).*: Protocol error$')
        assert not server.has('remote:|INIT -> RTR') and '\x1b' not in server.out, new


def test_the_line_of_that_test_is_taken_as_it_is(pair):
    server = first(pair)
    with socket.create_connection((pair.address, PORT)) as peer:
        peer.sendall(line(pair))
        # It says no more, and is there until the server has ended: nothing is reset.
        peer.shutdown(socket.SHUT_WR)
        server.end(1)
    assert server.has('^remote: QPN 0x000011, PSN 0x000001', 'INIT -> RTR', 'RTR -> RTS')
    server.one_error('recv')


def test_who_says_too_little_or_garbage_is_refused(pair):
    for said in b'', b'QPN', b'\0' * LINE, b'\xff' * LINE, b'A' * 4096:
        stranger(pair, said).one_error('Protocol error|Connection reset|Broken pipe')
        # Who waits instead is given up.
        if len(said) < LINE:
            server = stranger(pair, said, wait=True)
            server.one_error(r'readable\(conn->sock, TIMEOUT_MS\): Connection timed out$')
            assert 4_000 <= server.ms < 60_000
    talks(pair)


def test_it_gives_up_who_sends_a_byte_now_and_then(pair):
    server = first(pair, program=hasty(CHAPTER))
    with socket.create_connection((pair.address, PORT)) as peer:
        for byte in line(pair):
            if not server.is_running():
                break
            peer.send(bytes([byte]))
            time.sleep(0.5)
    server.end(1).one_error('readable.*Connection timed out$')
    assert server.ms < 60_000


def test_who_is_at_another_step_is_refused(pair):
    server = stranger(pair, line(pair) + b'D', wait=True)
    server.one_error('theirs == step: Protocol error$')


@pytest.mark.parametrize('variant', ['sanitized'])
def test_loopback_says_which_call_fails_at_each_of_its_calls_and_ends(pair):
    for call in range(1, 1000):
        program = pair.start('client', './loopback', pair.address, at=(call, 'fail')).end(0, 1)
        if not pair.happened:
            break
        assert program.has('^error: ', stream='err') and program.status == 1, pair.happened
    assert call > 40
