"""Peers of chapters 03 to 05 that are not ours: plain sockets and OpenSSL's own programs, with
certificates of every kind. The system's openssl.cnf allows all that OpenSSL can do."""
import os
import shutil
import subprocess

from chapters import ALL
from pair import until

PORT, FALSE_PORT = {c.chapter: int(c.port) for c in ALL}, 4444
CLIENT, SERVER, HERE, HOST = 'clientAuth', 'serverAuth', 'IP:192.0.2.1', 'node.example.org'

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
        self.alpn = ('-alpn', 'rdma-params/2')
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


# What a side says in the exchange beside the line of parameters.
HELLO, READY, BYE = b'HELLO RDMA 1\n', b'READY\n', b'BYE\n'
