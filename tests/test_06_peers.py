"""Chapter 06: what a client makes of a server that lies, and a server of a client; both are sockets
of Python."""
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
