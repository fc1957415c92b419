"""Chapter 06: what a client makes of a server that lies, and a server of a client; both are sockets
of Python. And the command of -x, whatever becomes of it."""
import pathlib
import socket
import time

import pytest

from pair import until

CHAPTER = '06_rds'
SERVER = ('192.0.2.1', 4000)
TEXT, ANSWER, NUMBERED, TOTAL, ECHO, READ_ON, BORROW, LENT, WRITTEN, BYE = range(1, 11)
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
    for words, answer, error in (((), datagram(BYE), 'of type 10 came instead of 2'),
                                 (('write',), datagram(LENT), 'lends memory but gives no key'),
                                 (('-n', 2, '-s', 64, 'bench'), datagram(ECHO, b'too short'),
                                  'an echo of 21 bytes for 64')):
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
    # It reads only its second port until it is told to go on.
    server = pair.server('-w', '-a', pair.address, *TCP)
    with bound(0) as client:
        client.sendto(datagram(TEXT, b'hello'), (SERVER[0], SERVER[1] + 1))
        until('an error', lambda: server.has('on the control port', stream='err'))
        assert not server.has('^told to read on')
        client.sendto(datagram(READ_ON), (SERVER[0], SERVER[1] + 1))
        until('a server that reads', lambda: server.has('^told to read on'))
    server.stop()


def sleepers():
    """How many processes sleep for a day."""
    return sum(path.read_bytes().startswith(b'sleep\x0086400')
               for path in pathlib.Path('/proc').glob('[0-9]*/cmdline'))


def test_a_command_of_x_that_fails_or_does_not_end(pair):
    server = pair.server('-a', pair.address, *TCP)
    for command, error in (('kill -9 $$', r'was ended by signal 9 \(Killed\)'), ('exit 3', 'failed, with status 3'),
                           # No signal is blocked in it.
                           (r"exec grep -qE '^SigBlk:\s0+$' /proc/self/status", 'the connection was not reset'),
                           ('sleep 86400 & sleep 86400; exit 0', 'has not ended within 2 s')):
        pair.client(*TCP, '-t', 2, '-n', 2, '-x', command, 'count', status=1).one_error(error)
    until('an end of all that it has started', lambda: sleepers() == 0, seconds=10)
    server.stop()


def test_a_client_that_never_waits_hears_a_signal(pair):
    server = pair.server('-a', pair.address, *TCP)
    client = pair.begin_client(*TCP, '-n', 10_000_000, 'count')
    until('a client that is bound', lambda: client.has('^bound to'))
    client.kill('TERM')
    begin = time.monotonic()
    client.end(1)
    assert time.monotonic() - begin < 2
    server.stop()
