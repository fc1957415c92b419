"""04's first.c: it tells nothing to who is not the peer that it should be, and creates nothing for
that; and it ends, with an error, whatever fails or is said to it."""
import contextlib
import re
import socket
import ssl
import time

import pytest

from first import hasty, talks
from first_tls import LINE, PORT, as_client, certificates, connect, line

CHAPTER = '04_tls_psn'


def test_it_talks_with_itself_and_no_psn_comes_again(pair):
    told = []
    for server, client in talks(pair), talks(pair):
        server_s, client_s = (re.findall(r'^(?:local|remote): .* PSN (0x\w{6})', end.out, re.M) for end in (server, client))
        assert server_s == client_s[::-1] and server.has('^authenticated peer: ') and client.has('^authenticated peer: ')
        told += server_s
    assert len(set(told)) == 4


def test_without_certificates(pair):
    program, pair.folder = pair.folder / 'first', pair.scratch
    pair.start('client', program, pair.address).end(1).one_error('SSL_CTX_use_certificate_chain_file')


def refused(pair, server, client, at_server, at_client):
    """Ends in these folders: what each says, and that nothing was created for it."""
    home, program = pair.folder, pair.folder / 'first'
    pair.folder = server
    listening = pair.server(program=program)
    pair.folder = client
    asking = pair.start('client', program, pair.address).end(1)
    listening.end(1)
    pair.folder = home
    for end, regex in (listening, at_server), (asking, at_client):
        end.one_error(regex)
        assert not end.has('Opened|authenticated')
    return listening, asking


def test_a_server_of_another_ca_or_for_another_address_is_refused_by_the_client(pair):
    refused(pair, certificates(pair, 'other'), pair.folder, 'alert unknown ca', 'certificate verify failed')
    elsewhere = certificates(pair, 'elsewhere', '--names', 'IP:192.0.2.77')
    _, client = refused(pair, elsewhere, elsewhere, 'alert', 'certificate verify failed')
    assert client.has("^the peer's certificate: IP address mismatch$")


def test_a_client_with_another_certificate_is_refused_by_the_server(pair):
    certs, other = pair.folder / 'certs', certificates(pair, 'other') / 'certs'
    # Of a CA that the server does not know.
    folder = as_client(pair, other / 'client.pem', other / 'client.key')
    refused(pair, pair.folder, folder, 'certificate verify failed', 'alert unknown ca')
    # The server's.
    folder = as_client(pair, certs / 'server.pem', certs / 'server.key')
    server, _ = refused(pair, pair.folder, folder, 'certificate verify failed', 'alert unsupported certificate')
    assert server.has("^the peer's certificate: unsuitable certificate purpose$")


def test_a_client_for_another_address_is_refused_by_the_server(pair):
    elsewhere = certificates(pair, 'elsewhere', '--names', 'IP:192.0.2.77')
    with ended(pair, elsewhere) as server:
        with pytest.raises(ssl.SSLError):
            connect(pair, elsewhere / 'certs').recv(1)
    server.one_error('certificate verify failed')
    assert server.has("^the peer's certificate: IP address mismatch$")


@contextlib.contextmanager
def ended(pair, folder=None, program=None):
    """A server in a folder, which must end with 1."""
    home, program = pair.folder, program or pair.folder / 'first'
    pair.folder = folder or home
    server = pair.server(program=program)
    pair.folder = home
    yield server
    server.end(1)


def test_who_has_no_certificate_or_an_older_tls_is_refused(pair):
    with ended(pair) as server:
        with pytest.raises(ssl.SSLError, match='CERTIFICATE_REQUIRED'):
            connect(pair, None).recv(1)
    server.one_error('peer did not return a certificate$')
    with ended(pair) as server:
        with pytest.raises(ssl.SSLError):
            connect(pair, pair.folder / 'certs', ssl.TLSVersion.TLSv1_2)
    server.one_error('unsupported protocol$')
    talks(pair)


def test_who_has_one_may_still_lie(pair):
    certs = pair.folder / 'certs'
    for new in {'QPN': '0x000001'}, {'QPN': '0xffffff'}, {'PSN': '0x1000000'}, {'GID': '::ffff:192.0.2.77'}, {'RKEY': ''}:
        with ended(pair) as server:
            peer = connect(pair, certs)
            assert peer.recv(1) == b'H'
            peer.sendall(line(pair, **new)[:LINE])
        server.one_error('(memcmp|peer.qpn).*: Protocol error$')
        assert not server.has('remote:|INIT -> RTR'), new
    with ended(pair) as server:
        peer = connect(pair, certs)
        peer.sendall(line(pair))
        peer.sendall(b'D')
    server.one_error('theirs == step')
    with ended(pair) as server:
        peer = connect(pair, certs)
        peer.sendall(line(pair)[:50])
        peer.sendall(line(pair)[50:])
    server.one_error('n == len: Protocol error$')


def test_who_says_nothing_or_garbage_or_a_byte_now_and_then_is_given_up(pair):
    for said in b'', b'GET / HTTP/1.1\r\n\r\n', b'\x16\x03\x01', bytes(5000):
        with ended(pair, program=hasty(CHAPTER)) as server:
            with socket.create_connection((pair.address, PORT)) as peer:
                peer.sendall(said)
                if said in (b'', b'\x16\x03\x01'):
                    server.end(1)
        server.one_error('done == 1: ')
        assert server.ms < 60_000
    with ended(pair, program=hasty(CHAPTER)) as server:
        with socket.create_connection((pair.address, PORT)) as peer:
            for byte in b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' + bytes(100):
                if not server.is_running():
                    break
                peer.send(bytes([byte]))
                time.sleep(0.2)
    server.one_error('done == 1: Connection timed out$')
    talks(pair)
