"""Chapter 06: what a client makes of a server that lies, and a server of a client; both are sockets
of Python."""
import contextlib
import socket

import pytest

from pair import until

CHAPTER = '06_rds'
SERVER = ('192.0.2.1', 4000)
TEXT, ANSWER, NUMBERED, TOTAL, ECHO, BORROW, LENT, WRITTEN, BYE = range(1, 10)
TCP = ('--transport', 'tcp')


@pytest.fixture(autouse=True)
def rds(run):
    """Its modules are there."""
    assert run('scripts/lab.sh', 'exec', 'a', '--', 'scripts/setup_rds.sh', 'tcp').returncode == 0


def datagram(kind, text=b'', number=0):
    return b'RDS6\0' + bytes((kind, 0, 0)) + number.to_bytes(4, 'big') + text


def bound(port):
    """A socket over tcp."""
    made = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
    made.bind((SERVER[0], port))
    made.settimeout(60)
    return made


def test_a_client_believes_no_server_that_answers_something_else(pair):
    for words, answer, error in ((('talk',), datagram(BYE), 'of type 9 came instead of 2'),
                                 (('write',), datagram(LENT), 'lends memory but gives no key'),
                                 (('talk',), b'RDS6', 'a datagram of 4 bytes')):
        with bound(SERVER[1]) as server:
            client = pair.begin_client(*TCP, '-t', 20, *words)
            while (said := server.recvfrom(2000))[0] == b'':
                pass
            server.sendto(answer, said[1])
            client.end(1).one_error(error)


def test_a_server_believes_no_client_that_says_what_is_not_so(pair):
    server = pair.server('-a', pair.address, *TCP)
    with bound(0) as client:
        client.sendto(datagram(WRITTEN), SERVER)
        until('an error', lambda: server.has('has no memory of ours', stream='err'))
        client.sendto(datagram(ANSWER), SERVER)
        until('another one', lambda: server.has("a client's business", stream='err'))
        # What was counted is over with a goodbye.
        for total in b'1 messages, all of them, in order', b'no numbered messages':
            for kind in (NUMBERED, TOTAL, BYE) if total.startswith(b'1') else (TOTAL,):
                client.sendto(datagram(kind), SERVER)
                if kind != NUMBERED:
                    said = client.recv(2000)
                    assert said[:6] == b'RDS6\0' + bytes((kind,)) and (kind == BYE or said[12:] == total)
    server.stop()
    assert not server.has('the memory that was lent')


def counted(peer, *numbers):
    """What a server says that it has of a peer, when that has sent these."""
    for number in numbers:
        peer.sendto(datagram(NUMBERED, number=number), SERVER)
    peer.sendto(datagram(TOTAL), SERVER)
    return peer.recv(2000)[12:].decode()


def test_numbers_that_are_missing_or_double_are_told_to_whoever_sent_them(pair):
    """It has room for 64 senders."""
    server = pair.server('-a', pair.address, *TCP)
    with contextlib.ExitStack() as stack:
        one, two, *others, last = (stack.enter_context(bound(0)) for _ in range(65))
        assert counted(one, 0, 3) == '2 messages; missed: 2, doubled or late: 0'
        assert counted(one, 1, 3) == '4 messages; missed: 2, doubled or late: 2'
        # The first one is lost, too, if it is not 0; and 0 begins anew.
        assert counted(two, 1) == '1 messages; missed: 1, doubled or late: 0'
        assert counted(two, 0, 1) == '2 messages, all of them, in order'
        for peer in others:
            assert counted(peer, 0, 1, 2) == '3 messages, all of them, in order'
        assert counted(last, 0).startswith('not counted: 64 others are being counted')
        others[5].sendto(datagram(BYE), SERVER)
        assert others[5].recv(2000)[5] == BYE
        assert counted(others[5]) == 'no numbered messages'
        assert counted(last, 0) == '1 messages, all of them, in order'
        assert counted(others[4]) == counted(others[6]) == '3 messages, all of them, in order'
    server.stop().quiet()


def test_behind_an_address_a_port_may_stand_and_nothing_else(pair):
    for port in ('', '0', '1', '65536', '-1', '+5', ' 5', '5x', 'rds', '4000:1', '18446744073709551617'):
        error = 'after the colon goes a port, from 2 to 65535$'
        pair.start('server', './server', '-a', f'{pair.address}:{port}').end(1).one_error(error)
    for words, error in (('256.0.0.1', 'cannot look up 256.0.0.1'), (f'{pair.address},', 'cannot look up'),
                         (','.join([pair.address] * 9), 'at most 8 servers')):
        pair.client('-a', words, *TCP, 'talk', status=1).one_error(error)
    server = pair.server('-a', f'{pair.address}:65535', *TCP)
    pair.client('-a', f'{pair.address}:65535', *TCP, 'talk').quiet()
    server.stop().quiet()
