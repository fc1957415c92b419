"""04's first.c: it tells nothing to who is not the peer that it should be, and creates nothing for
that; and it ends, with an error, whatever fails or is said to it."""
import re
import socket
import ssl
import subprocess

import pytest

from first import both, builds_alone, first, says_what_it_takes, to_first
from first_tls import LINE, PORT, as_client, certificates, connect, line

CHAPTER = '04_tls_psn'


@pytest.mark.parametrize('compiler', ['gcc', 'clang'])
def test_it_is_not_longer_and_needs_no_other_file(tmp_path, compiler):
    builds_alone(CHAPTER, tmp_path, compiler, 531, '-libverbs', '-lssl', '-lcrypto')


@pytest.mark.parametrize('words', [['-h'], [''], ['here'], ['192.0.2.1', '4433']], ids=' '.join)
def test_it_says_what_it_takes_and_ends_with_2(programs, words):
    says_what_it_takes(programs, *words)


def talk(pair):
    """The two talk, and say all that is to be said; returns their PSNs."""
    server, client = first(pair), to_first(pair)
    both(server, client,
         ['^authenticated peer: ', '^received message: done$',
          '^shared memory: message from active/client side with pid {pid}$'],
         ['^authenticated peer: ', '^write completed', '^read completed', '^send completed'])
    told = [re.findall(r'^(?:local|remote): .* PSN (0x\w{6})', end.out, re.M) for end in (server, client)]
    assert told[0] == told[1][::-1]
    return told[0]


@pytest.mark.parametrize('variant', ['plain', 'sanitized'])
def test_it_talks_with_itself_and_no_psn_comes_again(pair):
    assert len({*talk(pair), *talk(pair)}) == 4


def test_without_certificates_without_a_server_without_a_device(pair):
    to_first(pair, status=1).one_error('connect.*: Connection refused$')
    folder = pair.folder
    pair.folder = pair.scratch
    pair.start('client', folder / 'first', pair.address).end(1).one_error('SSL_CTX_use_certificate_chain_file')


def refused(pair, server, client, at_server, at_client):
    """Ends in these folders: what each says, and that nothing was created for it."""
    home, program = pair.folder, pair.folder / 'first'
    pair.folder = server
    listening = first_in(pair, program)
    pair.folder = client
    asking = pair.start('client', program, pair.address).end(1)
    listening.end(1)
    pair.folder = home
    for end, regex in (listening, at_server), (asking, at_client):
        end.one_error(regex)
        assert not end.has('Opened|authenticated')
    return listening, asking


def first_in(pair, program):
    """A server in the folder that the pair has now."""
    return pair.server(program=program)


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


class ended:
    """A server in a folder, which must end with 1."""

    def __init__(self, pair, folder=None):
        self.pair, self.folder = pair, folder or pair.folder

    def __enter__(self):
        home = self.pair.folder
        program, self.pair.folder = home / 'first', self.folder
        self.server = first_in(self.pair, program)
        self.pair.folder = home
        return self.server

    def __exit__(self, *error):
        if not error[0]:
            self.server.end(1)


def test_who_has_no_certificate_or_an_older_tls_is_refused(pair):
    with ended(pair) as server:
        with pytest.raises(ssl.SSLError, match='CERTIFICATE_REQUIRED'):
            connect(pair, None).recv(1)
    server.one_error('peer did not return a certificate$')
    with ended(pair) as server:
        with pytest.raises(ssl.SSLError):
            connect(pair, pair.folder / 'certs', ssl.TLSVersion.TLSv1_2)
    server.one_error('unsupported protocol$')
    talk(pair)


def test_who_has_one_may_still_lie(pair):
    certs = pair.folder / 'certs'
    for new in {'QPN': '0x000000'}, {'PSN': '0x1000000'}, {'GID': '::ffff:192.0.2.77'}, {'RKEY': ''}:
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
        with ended(pair) as server:
            with socket.create_connection((pair.address, PORT)) as peer:
                peer.sendall(said)
                if said in (b'', b'\x16\x03\x01'):
                    server.end(1)
        server.one_error('done == 1: ')
        assert server.ms < 60_000
    with ended(pair) as server:
        with socket.create_connection((pair.address, PORT)) as peer:
            for byte in b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' + bytes(100):
                if not server.is_running():
                    break
                peer.send(bytes([byte]))
                subprocess.run(['sleep', '1'], check=True)
    server.one_error('done == 1: Connection timed out$')
    talk(pair)


@pytest.mark.parametrize('call', ['SSL_accept 1', 'SSL_write 1', 'SSL_write 2', 'SSL_write 3'])
def test_it_gives_up_a_server_that_does_not_answer_after_its_10_s(pair, call):
    server = first(pair, at=(call, 'stop'))
    client = to_first(pair, status=1)
    assert 9_000 <= client.ms < 60_000
    client.one_error('(done == 1|n == len): Connection timed out$')
    server.stops()
    server.kill('KILL')
    server.end(137)


@pytest.mark.parametrize('call', ['SSL_connect 1', 'SSL_read 2', 'ibv_post_send 1', 'ibv_post_send 3'])
def test_it_gives_up_a_client_that_dies_in_the_middle(pair, call):
    server = first(pair)
    to_first(pair, status=137, at=(call, 'kill'))
    server.end(1).one_error('Connection timed out$|unexpected eof|Connection reset by peer$|Broken pipe$')
    assert server.ms < 60_000
    talk(pair)
