"""05's first.c: it serves many clients at a time, and none of them disturbs the others: killed, silent,
lying or too many. When they have gone, nothing of them is left."""
import os
import re
import socket
import ssl

import pytest

from first import first
from first_tls import PORT, as_client, certificates, connect, line
from nodes import TOP
from pair import objects, until

CHAPTER = '05_multiclient'

os.environ['TSAN_OPTIONS'] = f'suppressions={TOP}/tests/05_tsan.txt'


def come(pair, **more):
    """A client, which runs."""
    return pair.start('client', './first', pair.address, **more)


def served(server, *clients):
    """Each was, and what it says is what the server says of it."""
    for client in clients:
        client.end().quiet()
        who = re.search('^Client [0-9]+: ', client.out, re.M)[0]
        assert client.has(f'^{who}send completed')
        server.says(f'^{who}served')
        assert server.has(f'^{who}shared memory: message from active/client side with pid {client.pid}$')
        told = [re.findall(f'^{who}(?:local|remote): *(.*)', end.out, re.M) for end in (server, client)]
        assert told[0] == told[1][::-1], 'each knows the other by what that tells'


def failed(server, number, regex):
    """Waits until it has given that client up; it says why, in one line."""
    server.says(f'^Client {number}: failed')
    errors = re.findall(f'^error: Client {number}: .*', server.err, re.M)
    assert len(errors) == 1 and re.search(regex, errors[0]), errors


def left_nothing(server):
    """Nobody is here; then it ends, because it is killed."""
    until('a server that holds nothing', lambda: not objects())
    server.kill('TERM')
    server.end(143)


@pytest.mark.parametrize('variant', ['plain', 'sanitized', 'threads'])
def test_it_serves_three_at_a_time_and_then_one_more_and_ends(pair):
    server = first(pair, 4)
    served(server, *[come(pair) for _ in range(3)])
    served(server, come(pair))
    server.end().quiet()
    assert server.has(r'^\[figures\] served: 4, failed: 0$')
    assert server.count('^Opened shared RDMA device') == 1
    assert len({*re.findall(r'local: .* PSN (0x\w{6})', server.out)}) == 4


def silent(pair, count):
    """So many that connect and say nothing."""
    return [socket.create_connection((pair.address, PORT), 20) for _ in range(count)]


def test_thirteen_at_once_are_served_beside_three_that_say_nothing(pair):
    server = first(pair, 16)
    sockets = silent(pair, 3)
    served(server, *[come(pair) for _ in range(13)])
    # They did not wait for the end of the three.
    assert server.count(': failed') == 0
    until('a server that holds nothing', lambda: not objects())
    for sock in sockets:
        sock.close()
    server.end(1)
    assert server.has(r'^\[figures\] served: 13, failed: 3$')
    assert server.count(r'^error: Client [1-3]: done == 1: ', 'err') == server.count('^error: ', 'err') == 3


def test_when_all_places_are_taken_the_next_client_waits_until_one_goes(pair):
    server = first(pair)
    sockets = silent(pair, 64)
    client = come(pair)
    client.sleeps()
    until('64 threads', lambda: len(os.listdir(f'/proc/{server.pid}/task')) == 65)
    assert not server.has('^Client 65')
    sockets[20].close()
    served(server, client)
    for sock in sockets:
        sock.close()
    until('64 that failed', lambda: server.count(': failed') == 64)
    served(server, come(pair))
    left_nothing(server)


def test_without_certificates_it_says_so(pair):
    program = pair.folder / 'first'
    pair.folder = pair.scratch
    for words in [pair.address], [3]:
        pair.start('server', program, *words).end(1).one_error('SSL_CTX_use_certificate_chain_file')


def refused(pair, folder):
    """A client with the certificate in that folder, which the server does not take."""
    program, pair.folder, home = pair.folder / 'first', folder, pair.folder
    pair.start('client', program, pair.address).end(1).one_error('alert')
    pair.folder = home


def test_who_has_a_wrong_certificate_or_none_is_refused_and_others_are_served(pair):
    server, certs, other = first(pair), pair.folder / 'certs', certificates(pair, 'other') / 'certs'
    refused(pair, as_client(pair, certs / 'server.pem', certs / 'server.key'))
    refused(pair, as_client(pair, other / 'client.pem', other / 'client.key'))
    for some, version in (None, ssl.TLSVersion.TLSv1_3), (certs, ssl.TLSVersion.TLSv1_2):
        with pytest.raises(ssl.SSLError):
            connect(pair, some, version).recv(1)
    for number, regex in enumerate(['certificate verify failed', 'certificate verify failed',
                                    'peer did not return a certificate', 'unsupported protocol'], 1):
        failed(server, number, regex)
    assert not server.has('authenticated')
    served(server, come(pair))
    left_nothing(server)


def test_who_has_one_may_still_lie_and_harms_nobody(pair):
    server, certs = first(pair), pair.folder / 'certs'
    lies = [line(pair, **{name: value}) for name, value in (
        ('QPN', '0x000001'), ('QPN', '0xffffff'), ('PSN', '0x1000000'), ('GID', '::ffff:192.0.2.77'), ('RKEY', ''))]
    for number, lie in enumerate([*lies, line(pair) + b'D', b'\x1b[31m' * 40], 1):
        peer = connect(pair, certs)
        assert peer.recv(4) == number.to_bytes(4, 'big')
        peer.sendall(lie[:128])
        peer.sendall(lie[128:] or b'R')
        failed(server, number, '(memcmp|peer.qpn).*: Protocol error$|theirs == step')
    assert server.count('remote:') == 1 and not re.search('[^ -~\n]', server.out + server.err)
    served(server, come(pair))
    left_nothing(server)


def test_who_stops_talking_is_given_up_after_its_10_s_and_others_are_served(pair):
    server, certs = first(pair), pair.folder / 'certs'
    peers = [*silent(pair, 1), *[connect(pair, certs) for _ in range(3)]]
    peers[2].sendall(line(pair))
    peers[3].sendall(line(pair) + b'R')
    served(server, come(pair))
    for number, regex in enumerate(['done == 1: ', 'n == len: ', 'n == len: ', r'readable\(cq->'], 1):
        failed(server, number, regex + '.*Connection timed out$')
    left_nothing(server)
