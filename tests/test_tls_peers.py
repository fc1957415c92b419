"""Chapters 04 and 05: whom a server and a client let in."""
import contextlib
import pathlib
import re

from chapters import each, numbers
from openssl_peers import CLIENT, HELLO, HERE, HOST, SERVER, Peers

EXPIRED, FUTURE = ('20200101000000Z', '20200102000000Z'), ('20400101000000Z', '20490101000000Z')
with_tls = each(numbers('04', '05'))


@contextlib.contextmanager
def named():
    """The node has a name in a domain."""
    hosts = pathlib.Path('/etc/hosts')
    before = hosts.read_text()
    hosts.write_text(f'{before}\n192.0.2.1 {HOST}\n')
    try:
        yield
    finally:
        hosts.write_text(before)


IN = "the peer's parameters: the peer closed the connection"
KINDS_OF_CLIENTS = [
    ((HERE, CLIENT), IN), ((HERE, f'{SERVER},{CLIENT}'), IN), ((HERE, CLIENT, 'x', 'ca', 'rsa:2048'), IN),
    (('IP:192.0.2.9', CLIENT), r'failed \(64, '),
    # A common name is nobody's name.
    (('', CLIENT, '192.0.2.1'), r'failed \(64, '),
    ((HERE, SERVER), r'failed \(26, '), ((HERE, ''), r'failed \(26, '),
    ((HERE, 'anyExtendedKeyUsage'), r'failed \(26, '),
    ((HERE, CLIENT, 'x', 'ca', 'ec', EXPIRED), 'has expired; `make'),
    ((HERE, CLIENT, 'x', 'ca', 'ec', FUTURE), 'from the future; is'),
    ((HERE, CLIENT, 'x', 'ca', 'rsa:1024'), r'failed \(66, '),
    # Of the same name, and another key.
    ((HERE, CLIENT, 'x', 'other'), r'certificate verify failed \('),
]


@with_tls
def test_a_server_lets_in_whoever_has_a_good_certificate_for_a_client_there(pair):
    peers = Peers(pair)
    server = peers.server()
    for kind, error in KINDS_OF_CLIENTS:
        peers.certify('peer', *kind)
        assert re.fullmatch(f'error: .*{error}.*\n', peers.client(server, 'peer')), kind
    assert 'came without a certificate: refused' in peers.client(server, None)
    # One CA may stand between, and no second one; whoever has a certificate is no CA.
    peers.certify('one', '', '', 'one', is_ca=True)
    peers.certify('two', '', '', 'two', 'one', is_ca=True)
    for issuer, chain, error in ('one', ('one',), IN), ('two', ('two', 'one'), r'verify failed \(22, '), \
            ('own', ('own',), r'verify failed \('):
        (peers.folder / 'chain').write_text(''.join((peers.folder / f'{name}.pem').read_text() for name in chain))
        peers.certify('peer', HERE, CLIENT, issuer=issuer)
        assert re.search(error, peers.client(server, 'peer', '-cert_chain', 'chain')), issuer
    # Before a peer is known, it announces how much memory its certificates need.
    for names, error in (600, IN), (1100, 'excessive message size'):
        peers.certify('peer', ','.join([HERE, *(f'DNS:n{i:04}.example.org' for i in range(names))]), CLIENT)
        assert error in peers.client(server, 'peer'), names
    for words, error in ((('-ciphersuites', 'TLS_AES_128_GCM_SHA256'), IN), (('-tls1_2',), 'older than TLS 1.3'),
                         (('-ciphersuites', 'TLS_AES_128_CCM_8_SHA256'), 'no shared cipher'),
                         (('-ciphersuites', 'TLS_AES_128_CCM_SHA256'), 'no shared cipher'),
                         (('-groups', 'P-521'), 'no key of X25519, P-256 or P-384'),
                         (('-alpn', 'rdma-params/1'), 'another protocol')):
        assert error in peers.client(server, 'own', *words), words
    server.stop()


# What -a says, and what is wrong with a server of that name.
KINDS_OF_SERVERS = [
    ((f'DNS:{HOST}', SERVER), HOST, 'hello: '), ((HERE, SERVER), '192.0.2.1', 'hello: '),
    (('DNS:*.example.org', SERVER), HOST, 'hello: '),
    (('DNS:other.example.org', SERVER), HOST, r'failed \(62, '),
    (('IP:192.0.2.9', SERVER), '192.0.2.1', r'failed \(64, '),
    (('', SERVER, HOST), HOST, r'failed \(62, '), (('IP:192.0.2.9', SERVER, HOST), HOST, r'failed \(62, '),
    # A whole label may be a star; a part of one may not.
    (('DNS:n*.example.org', SERVER), HOST, r'failed \(62, '),
    ((f'DNS:{HOST}', CLIENT), HOST, r'failed \(26, '), ((f'DNS:{HOST}', ''), HOST, r'failed \(26, '),
    ((f'DNS:{HOST}', SERVER, 'x', 'ca', 'rsa:1024'), HOST, r'failed \(66, '),
    ((f'DNS:{HOST}', SERVER, 'x', 'other'), HOST, r'certificate verify failed \('),
]


@with_tls
def test_a_client_lets_in_whoever_has_a_good_certificate_for_the_server_that_it_asked_for(pair):
    peers = Peers(pair)
    hello = HELLO + b'PLACE 1, 1 of 2\n' * (pair.number == '05')
    with named():
        for kind, address, error in KINDS_OF_SERVERS:
            peers.certify('peer', *kind)
            assert re.search(error, peers.refused_by_client('peer', address).err), kind
        for words in ('-tls1_2',), ('-groups', 'P-521'), ('-ciphersuites', 'TLS_AES_128_CCM_8_SHA256'):
            assert 'TLS handshake: ' in peers.refused_by_client('own', HOST, *words).err, words
        # Two tickets are good manners, seventeen are too many.
        assert 'hello: the peer closed' in peers.refused_by_client('own', HOST, '-num_tickets', '2').err
        assert 'more than 16 key updates or tickets' in peers.refused_by_client('own', HOST, '-num_tickets',
                                                                                '17').err
        # What it is called stays one line, not too long, and plain text.
        peers.certify('peer', HERE, SERVER, 'a\033[2J é, b')
        assert peers.refused_by_client('peer', '192.0.2.1', says=hello).has(
            r'authenticated peer: CN=a\\1B\[2J \\C3\\A9\\, b$')
        peers.certify('peer', HERE, SERVER, 'é' * 64)
        said = re.search('authenticated peer: (.*)', peers.refused_by_client(
            'peer', '192.0.2.1', says=hello).out)
        assert said and len(said[1]) <= 201


@with_tls
def test_a_key_that_others_may_read_is_not_used(pair):
    peers = Peers(pair)
    for mode in 0o644, 0o640, 0o620, 0o604, 0o601:
        (peers.folder / 'own.key').chmod(mode)
        for program in ('client', '-a', pair.address), ('server',):
            pair.start(program[0], f'./{program[0]}', *program[1:], *peers.files(), 'write', env=peers.env).end(
                1).one_error('own.key: with mode 0', '; chmod 600 ')
    (peers.folder / 'own.key').chmod(0o400)
    peers.server().stop()
