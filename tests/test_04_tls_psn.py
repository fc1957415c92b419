"""Chapter 04 and every peer that must be turned away: it gets a named error, and the next is served."""
import os
import socket
import time

import pytest

from pair import until
from refusals import certificates, refused, stranger

CHAPTER = '04_tls_psn'
CLOSED = 'closed the connection instead'


def identity(folder, name):
    """Options for a program that is to have these."""
    return '-A', folder / 'ca.pem', '-C', folder / f'{name}.pem', '-K', folder / f'{name}.key'


def tls(pair, *words):
    """A client of TLS with the right certificate, when the server has turned it away."""
    return pair.start('peer', 'openssl', 's_client', '-connect', f'{pair.address}:4433', '-CAfile', 'certs/ca.pem',
                      '-cert', 'certs/client.pem', '-key', 'certs/client.key', *words).any_end()


def refused_clients(other, build):
    """What a client is told, what the server says of it, and what the client says."""
    return [
        (['-C', other / 'client.pem', '-K', other / 'client.key', 'write'],
         r'verify failed \(20, ', 'alert unknown ca'),
        (['-A', other / 'ca.pem', 'write'], 'alert unknown ca', r'verify failed .(19|20), '),
        (['-C', build / 'certs/server.pem', '-K', build / 'certs/server.key', 'write'],
         r'verify failed \(26, .*for its role', 'unsupported certificate'),
        # It is who it says, but its queue pair would live elsewhere.
        (['-g', 0, 'write'], 'GID is not the address', 'closed the connection'),
        (['read'], 'this side runs write and the peer read', 'this side runs read and the peer write'),
        # Found by a name that resolves, and that its certificate has not.
        (['-a', 'ip6-localhost', 'write'], 'alert bad certificate', 'verify failed .62, ')]


def hello(message=240, record=None, at=0, byte=22):
    """How a ClientHello of so many bytes begins, in a record of so many, with one byte changed."""
    said = bytearray(b'\x16\x03\x01' + (message + 4 if record is None else record).to_bytes(2, 'big') +
                     b'\x01' + message.to_bytes(3, 'big'))
    said[at] = byte
    return bytes(said)


NO_HELLO, SILENT = 'does not begin with a ClientHello', 'TLS handshake: nothing came within'
STRANGERS = [
    (b'HELLO RDMA 1\n', NO_HELLO), (hello(131329, 260), 'announces a ClientHello of 131329 bytes'), (b'', SILENT)]
# Nine bytes are enough to see that it is none, too long, or not all of the record.
HELLOS = [
    *((hello(at=at, byte=byte), NO_HELLO) for at, byte in ((0, 23), (1, 2), (5, 2), (5, 0))),
    *((hello(*lengths), f'announces a ClientHello of {lengths[0]} bytes in a record of {lengths[1]};')
      for lengths in ((0xffffff, 0xffff), (4097, 4101), (0xfffc, 0), (240, 245), (240, 243), (0, 0))),
    (hello(4096), SILENT), (hello()[:8], SILENT)]
PEERS = [
    # Its first key is one that the server cannot use.
    (['-quiet', '-groups', 'P-521:X25519', '-alpn', 'rdma-params/2'], 'is not asked for a second ClientHello'),
    (['-quiet'], 'does not speak rdma-params/2'),
    # Let in, it has nothing to say but close_notify; or nothing at all.
    (['-alpn', 'rdma-params/2'], "the peer's parameters: the peer closed the connection"),
    (['-quiet', '-alpn', 'rdma-params/2'], "the peer's parameters: nothing came within")]


@pytest.mark.parametrize('variant', ['plain', 'sanitized'])
def test_whoever_must_not_be_let_in_gets_a_named_error_and_the_next_is_served(pair):
    # A good client must be faster, with sanitizers and on a busy machine.
    server = pair.server('-t', 4 if pair.shim else 12, 'write')
    for words, ours, theirs in refused_clients(certificates(pair), pair.folder):
        with refused(server, ours):
            client = pair.client('-t', 30, *words, status=1)
        client.one_error(theirs)
        pair.served(server)
    for said, ours in STRANGERS:
        with refused(server, ours):
            stranger(pair.address, 4433, said)
        pair.served(server)
    for words, ours in PEERS:
        with refused(server, ours):
            tls(pair, *words)
        pair.served(server)
    server.stop()


def test_a_stranger_whose_first_nine_bytes_are_no_client_hello_costs_no_time(pair):
    server = pair.server('-t', 3, 'write')
    for said, ours in HELLOS:
        computed = server.computed()
        with refused(server, ours):
            stranger(pair.address, 4433, said)
        assert server.computed() < computed + 1, 'it has looked for more all the time'
    pair.client('-t', 60, 'write').quiet()
    server.stop()


def test_a_list_says_who_may_come_and_for_what(pair):
    who, listed, folder = 'spiffe://rdma.example/client', pair.scratch / 'list', certificates(pair, '--client', 'alice')
    server = pair.server('-l', listed, '-t', 60, *identity(folder, 'server'), 'write')
    client, alice = ((*identity(folder, name), 'write') for name in ('client', 'client-alice'))
    with refused(server, 'No such file.*nobody is let in'):
        pair.client(*client, status=1).one_error(CLOSED)
    listed.write_text(f'{who} both\n')
    pair.served(server, *client)
    assert server.has(f'^let in to write: {who}, serial [0-9A-F]+$')
    for more in '', f'{who}/alice read\n':
        listed.write_text(listed.read_text() + more)
        with refused(server, f'{who}/alice, serial [0-9A-F]*, may not write'):
            pair.client(*alice, status=1).one_error(CLOSED)
        pair.served(server, *client)
    listed.write_text(listed.read_text() + f'{who}/alice write\n')
    pair.served(server, *alice)
    server.stop()


@pytest.mark.parametrize('words, regexes', [
    (['-K', 'certs/server.key'], ['key values mismatch', 'the private key of --cert']),
    (['-C', 'no/such.pem'], ['No such file', 'make certs'])], ids=['key', 'file'])
def test_a_key_that_does_not_match_and_a_file_that_is_missing(pair, words, regexes):
    """They are found before anybody is connected to."""
    server = pair.server('write')
    pair.client(*words, 'write', status=1).one_error(*regexes)
    server.stop().quiet()
    assert not server.has('^received connection request')


def test_a_server_that_is_busy_with_a_silent_client_and_then_is_asked_to_stop(pair):
    server = pair.server('-t', 600, 'write')
    before = server.descriptors()
    with socket.create_connection((pair.address, 4433)):
        until('a client that is shaking hands', lambda: server.descriptors() > before)
        pair.client('-t', 5, 'write', status=1).one_error('TLS handshake: nothing came within 5 s')
        server.stop().one_error('^error: TLS handshake: given up')


def test_reading_the_certificates_takes_longer_than_t_and_the_peer_is_there(pair):
    """Until it has them, a client has not waited for anybody."""
    server, fifo = pair.server('-t', 60, 'write'), pair.scratch / 'ca.pem'
    os.mkfifo(fifo)
    client = pair.begin_client('-t', 5, '-A', fifo, 'write')
    with open(fifo, 'wb') as file:
        # It waits for them now.
        time.sleep(6)
        file.write((pair.folder / 'certs/ca.pem').read_bytes())
    client.end().quiet()
    server.stop().quiet()
