"""Chapters 03 to 05: whom a server and a client let in, and what they make of whatever a peer says
that was let in. The peers are plain sockets and OpenSSL's own programs, with certificates of
every kind. The system's openssl.cnf allows all that OpenSSL can do."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest

from chapters import ALL, each, numbers
from pair import until

PORT, FALSE_PORT = {c.chapter: int(c.port) for c in ALL}, 4444
HOST = 'node.example.org'
CLIENT, SERVER, HERE = 'clientAuth', 'serverAuth', 'IP:192.0.2.1'
EXPIRED, FUTURE = ('20200101000000Z', '20200102000000Z'), ('20400101000000Z', '20490101000000Z')
with_tls = each(numbers('04', '05'))

WEAK = '''openssl_conf = all
[all]
ssl_conf = ssl
[ssl]
system_default = weak
[weak]
MinProtocol = TLSv1
CipherString = ALL:@SECLEVEL=0
Ciphersuites = TLS_AES_128_CCM_8_SHA256:TLS_AES_128_CCM_SHA256:TLS_AES_128_GCM_SHA256
Groups = X25519:P-521:P-256
VerifyMode = Request
[ca]
default_ca = one
[one]
database = index
new_certs_dir = .
serial = serial
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = optional
[req]
distinguished_name = any
'''


class Peers:
    """Makes certificates, and the other end of a program."""

    def __init__(self, pair):
        self.pair, self.folder, self.env = pair, pair.scratch / 'peers', {}
        self.alpn = ('-alpn', f'rdma-params/{2 if pair.number == "04" else 3}')
        self.folder.mkdir()
        for name, text in ('weak.cnf', WEAK), ('index', ''), ('serial', '1000\n'):
            (self.folder / name).write_text(text)
        self.env = {'OPENSSL_CONF': str(self.folder / 'weak.cnf')}
        for name in 'ca', 'other':
            self.openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256',
                         '-nodes', '-subj', '/CN=a CA', '-addext', 'basicConstraints=critical,CA:TRUE',
                         '-keyout', f'{name}.key', '-out', f'{name}.pem')
        self.certify('own', f'{HERE},DNS:{HOST}', f'{CLIENT},{SERVER}')

    def openssl(self, *words):
        """One of its commands, in the folder."""
        ran = subprocess.run(('openssl', *words), cwd=self.folder, env={**os.environ, **self.env},
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert ran.returncode == 0, ran.stdout

    def request(self, name, key='ec'):
        """NAME.key, and a request for a certificate of it."""
        if not (self.folder / f'{name}.csr').exists():
            curve = ('-pkeyopt', 'ec_paramgen_curve:P-256') * (key == 'ec')
            self.openssl('req', '-new', '-newkey', key, *curve, '-nodes', '-subj', '/CN=x', '-keyout',
                         f'{name}.key', '-out', f'{name}.csr')
            (self.folder / f'{name}.key').chmod(0o600)

    def certify(self, name, san, role, subject='x', issuer='ca', key='ec', dates=None, is_ca=False):
        """NAME.pem, of a key NAME.key; or of one that all peers have, called peer."""
        mine = f'peer-{key[4:]}' if name == 'peer' else name
        self.request(mine, key)
        (self.folder / 'extensions').write_text('\n'.join(
            [f'subjectAltName={san}'] * bool(san) + [f'extendedKeyUsage={role}'] * bool(role) +
            [f'basicConstraints=critical,CA:{str(is_ca).upper()}']))
        begin, end = dates or ('20200101000000Z', '20490101000000Z')
        self.openssl('ca', '-batch', '-notext', '-utf8', '-config', 'weak.cnf', '-cert', f'{issuer}.pem',
                     '-keyfile', f'{issuer}.key', '-startdate', begin, '-enddate', end, '-subj', f'/CN={subject}',
                     '-extfile', 'extensions', '-in', f'{mine}.csr', '-out', f'{name}.pem')
        if mine != name:
            shutil.copy(self.folder / f'{mine}.key', self.folder / f'{name}.key')

    def files(self, name='own'):
        """Of a program of ours."""
        if self.pair.number == '03':
            return ()
        return '-A', self.folder / 'ca.pem', '-C', self.folder / f'{name}.pem', '-K', self.folder / f'{name}.key'

    def server(self, *words):
        return self.pair.server('-t', 3, *self.files(), 'write', *words, env=self.env)

    def client(self, server, name, *words):
        """A client of openssl's that says nothing; what the server says of it."""
        before = len(server.err)
        subprocess.run(('timeout', '20', 'openssl', 's_client', '-connect', f'{self.pair.address}:4433',
                        *(('-cert', f'{name}.pem', '-key', f'{name}.key') if name else ()),
                        *(words if '-alpn' in words else (*words, *self.alpn))), cwd=self.folder,
                       stdin=subprocess.DEVNULL, capture_output=True, env={**os.environ, **self.env}, check=False)
        until('an error of the server', lambda: server.err[before:].endswith('\n'))
        return server.err[before:]

    def refused_by_client(self, name, address, *words, says=b''):
        """What a client says that meets a server of openssl's."""
        peer = subprocess.Popen(('timeout', '20', 'openssl', 's_server', '-accept', f'192.0.2.1:{FALSE_PORT}',
                                 '-quiet', '-naccept', '1', '-cert', f'{name}.pem', '-key', f'{name}.key',
                                 '-Verify', '2', '-CAfile', 'ca.pem',
                                 *(words if '-alpn' in words else (*words, *self.alpn))),
                                cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, env={**os.environ, **self.env})
        try:
            until('a server that listens', listens)
            peer.stdin.write(says)
            peer.stdin.close()
            client = self.pair.start('client', './client', '-a', address, '-p', FALSE_PORT, '-t', 10,
                                     *self.files(), 'write', env=self.env).end(1)
        finally:
            peer.kill()
            peer.wait()
        assert client.err.count('\n') == 1
        return client


def listens():
    return subprocess.run(('ss', '-Hltn', f'sport = :{FALSE_PORT}'), text=True, check=True,
                          stdout=subprocess.PIPE).stdout


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
        assert peers.refused_by_client('peer', '192.0.2.1', says=message(pair, 1)).has(
            r'^authenticated peer: CN=a\\1B\[2J \\C3\\A9\\, b$')
        peers.certify('peer', HERE, SERVER, 'é' * 64)
        said = re.search('authenticated peer: (.*)', peers.refused_by_client(
            'peer', '192.0.2.1', says=message(pair, 1)).out)
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


# --- what is said after that

def message(pair, kind, body=None):
    """One of the exchange: 1 is hello, 2 the parameters, 3 ready and 4 goodbye."""
    if pair.number == '03':
        return {1: b'HELLO RDMA 1\n', 2: body, 3: b'READY\n', 4: b'BYE\n'}[kind]
    if body is None:
        body = {1: (1).to_bytes(4, 'big') * 3 if pair.number == '05' else b'', 2: bytes(48)}.get(kind, b'')
    return b'RDMX' + bytes((2 if pair.number == '04' else 3, kind, 0, 0)) + len(body).to_bytes(4, 'big') + body


def parameters(pair, gid=b'\0' * 10 + b'\xff\xff' + bytes((192, 0, 2, 1)), length=1024):
    """Of a queue pair that is not there."""
    if pair.number == '03':
        return message(pair, 2, b'RDMA 1 QPN 0x000011 PSN 0x123456 GID ::ffff:192.0.2.1 LID 0x0000 MTU 1024 '
                       b'MODE write ADDR 0x55d0c0ffee00 RKEY 0x000007f1 LENGTH %d\n' % length)
    return message(pair, 2, (0x11).to_bytes(4, 'big') + (0x123456).to_bytes(4, 'big') + gid +
                   (0x55d0c0ffee00).to_bytes(8, 'big') + (0x7f1).to_bytes(4, 'big') + length.to_bytes(4, 'big') +
                   b'\0\0\3\1\0\0\0\0')


class Talker:
    """A client that says what it likes, and hears nothing."""

    def __init__(self, peers):
        self.peers, address = peers, peers.pair.address
        if peers.pair.number == '03':
            self.socket = socket.create_connection((address, PORT[peers.pair.chapter]))
            self.say = self.socket.sendall
            return
        self.process = subprocess.Popen(
            ('openssl', 's_client', '-quiet', '-connect', f'{address}:4433', '-cert', 'own.pem', '-key', 'own.key',
             *peers.alpn), cwd=peers.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, **peers.env})

    def say(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def is_cut(self):
        """TCP ends, and no goodbye is said."""
        if self.peers.pair.number == '03':
            self.socket.close()
        else:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process.stdin.close()


def requests(server):
    return server.count('received connection request')


def hear(peers, server, *said):
    """The line that a server says of a client that says this."""
    before, heard, talker = len(server.err), requests(server), Talker(peers)
    for text in said:
        if text is None:
            until('a server that has let it in', lambda: requests(server) > heard)
            talker.is_cut()
        elif isinstance(text, float):
            time.sleep(text)
        else:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                talker.say(text)
    until('an error of the server', lambda: server.err[before:].endswith('\n'))
    talker.is_cut()
    return server.err[before:]


def is_connected(server):
    return server.count('RTR -> RTS')


@each(numbers('03', '04', '05'))
def test_a_server_believes_nothing_that_a_client_says_in_the_exchange(pair):
    peers = Peers(pair)
    server = peers.server()
    good, ready = parameters(pair), message(pair, 3)
    wrong = "protocol error: message type" if pair.number != '03' else 'something other than '
    cases = [
        ((good[:-1],), "parameters: nothing came within 3 s"),
        # Each byte is news, and the deadline stays where it was.
        (([good[i:i + 1] for i in range(3)], 0.8, good[3:4], 0.8, good[4:5], 0.8, good[5:6], 0.8, good[6:7], 0.8),
         'parameters: nothing came within 3 s'),
        ((good[:-1], None), 'closed the connection|Connection reset'),
        ((good, message(pair, 4)), wrong), ((good, message(pair, 1)), wrong),
        ((good, ready, ready), wrong),
        ((parameters(pair, length=1000), ready), 'start both with the same -b'),
    ]
    if pair.number == '03':
        cases += [((b'x' * 257,), 'more than 256 bytes'), ((b'x' * 255 + b'\n',), 'begin with RDMA')]
    else:
        cases += [((parameters(pair, gid),), 'GID is not the address') for gid in (
            b'\0' * 10 + b'\xff\xff' + bytes((192, 0, 2, 2)), b'\0' * 11 + b'\xff' + bytes((192, 0, 2, 1)))]
        cases += [((message(pair, kind), good), wrong) for kind in (1, 3, 4)]
        cases += [((good[:8] + b'\1' + good[9:],), '256 is the most')]
    for said, error in cases:
        flat = [text for one in said for text in (one if isinstance(one, list) else [one])]
        assert re.fullmatch(f'error: .*({error}).*\n', hear(peers, server, *flat)), said
    # It is cut off in the middle, when the queue pair is connected.
    before, lines, talker = is_connected(server), len(server.err), Talker(peers)
    talker.say(good + ready)
    until('a queue pair that is connected', lambda: is_connected(server) > before)
    talker.is_cut()
    until('an error of the server', lambda: server.err[lines:].endswith('\n'), seconds=20)
    assert 'status 5 ' in server.err[lines:]
    # What is good is served, whatever was before.
    pair.client(*peers.files(), 'write', env=peers.env).quiet()
    server.stop()


@each(numbers('03', '04', '05'))
def test_a_client_talks_only_to_a_server_that_says_hello(pair):
    peers = Peers(pair)
    hello = message(pair, 1)
    said = {b'SSH-2.0-OpenSSH_9.2p1\r\n', b'HELLO RDMA 2\n'} if pair.number == '03' else \
        {message(pair, 2), message(pair, 3), message(pair, 4), hello[:4] + b'\1' + hello[5:]}
    for text in said:
        if pair.number != '03':
            client = peers.refused_by_client('own', pair.address, says=text)
        else:
            with socket.create_server((pair.address, FALSE_PORT)) as listener:
                client = pair.begin_client('-p', FALSE_PORT, 'write')
                listener.accept()[0].sendall(text)
                client.end(1)
        client.one_error('protocol error|something other than hello|speaks version')
