#!/usr/bin/env python3
"""Connects to a server of 04 or 05 as strangers do, who do not say who they are.

usage: strangers.py ADDRESS PORT COUNT KIND[@FROM] [COUNT KIND[@FROM]...]

KIND is what each of them says before it falls silent:
  silent  nothing
  part    the first nine bytes of a ClientHello of 508
  long    the first nine bytes of one of 128 KiB
  hello   a whole ClientHello, to which the answer has come
  again   one for which it must be asked for another; and nine bytes of that one,
          which announce 131,000
  chain   all up to the middle of its certificates, of 15,000 bytes
FROM is the address that they have.

Says "connected" when all have said it, and keeps them until its standard input
ends.
"""
import ctypes
import resource
import socket
import ssl
import struct
import subprocess
import sys
import tempfile


def client_hello():
    """What Python's own client of TLS 1.3 begins with."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    said = ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), said).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return said.read()


def extension(number, body):
    return struct.pack('!HH', number, len(body)) + body


def hello_without_keys():
    """A ClientHello with an empty list of keys, as RFC 8446, 4.2.8, allows."""
    extensions = b''.join((
        extension(43, b'\x02\x03\x04'),
        extension(10, b'\x00\x04\x00\x1d\x00\x17'),
        extension(13, b'\x00\x06\x04\x03\x08\x04\x08\x07'),
        extension(51, b'\x00\x00')))
    body = (b'\x03\x03' + bytes(32) + b'\x20' + bytes(32) +
            b'\x00\x02\x13\x02' + b'\x01\x00' +
            struct.pack('!H', len(extensions)) + extensions)
    message = b'\x01' + len(body).to_bytes(3, 'big') + body
    return b'\x16\x03\x01' + struct.pack('!H', len(message)) + message


def say_again(stranger):
    stranger.sendall(hello_without_keys())
    try:
        stranger.recv(4096)
        stranger.sendall(bytes.fromhex('160303000a' '0101ffb80303' '00000000'))
    except ConnectionError:
        pass  # it was refused


class Chain:
    """OpenSSL's client, which sends its certificates in records of 512 bytes."""

    def __init__(self):
        self.ssl = ssl = ctypes.CDLL('libssl.so.3')
        crypto = ctypes.CDLL('libcrypto.so.3')
        for function in (ssl.TLS_client_method, ssl.SSL_CTX_new, ssl.SSL_new,
                         crypto.BIO_s_mem, crypto.BIO_new):
            function.restype = ctypes.c_void_p
        self.crypto = crypto
        with tempfile.TemporaryDirectory() as folder:
            names = ','.join(f'DNS:{i:060}.example' for i in range(210))
            subprocess.run(
                ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=stranger',
                 '-addext', f'subjectAltName={names}', '-keyout',
                 f'{folder}/key', '-out', f'{folder}/cert'],
                check=True, stderr=subprocess.DEVNULL)
            method = ctypes.c_void_p(ssl.TLS_client_method())
            self.ctx = ctypes.c_void_p(ssl.SSL_CTX_new(method))
            if (ssl.SSL_CTX_use_certificate_file(
                    self.ctx, f'{folder}/cert'.encode(), 1) != 1 or
                    ssl.SSL_CTX_use_PrivateKey_file(
                        self.ctx, f'{folder}/key'.encode(), 1) != 1):
                sys.exit('strangers.py: no certificate')
        # SSL_CTX_set_max_send_fragment()
        ssl.SSL_CTX_ctrl(self.ctx, 52, ctypes.c_long(512), None)

    def said(self, bio):
        space = ctypes.create_string_buffer(65536)
        length = self.crypto.BIO_read(bio, space, len(space))
        return space.raw[:max(length, 0)]

    def say(self, stranger):
        client = ctypes.c_void_p(self.ssl.SSL_new(self.ctx))
        heard, said = (ctypes.c_void_p(self.crypto.BIO_new(
            ctypes.c_void_p(self.crypto.BIO_s_mem()))) for _ in range(2))
        self.ssl.SSL_set_bio(client, heard, said)
        self.ssl.SSL_set_connect_state(client)
        self.ssl.SSL_do_handshake(client)
        stranger.sendall(self.said(said))
        while self.ssl.SSL_do_handshake(client) != 1:
            answer = stranger.recv(65536)
            if not answer:
                sys.exit('strangers.py: the server has hung up')
            self.crypto.BIO_write(heard, answer, len(answer))
        rest = self.said(said)
        if len(rest) < 14000:
            sys.exit(f'strangers.py: {len(rest)} bytes are not a long chain')
        stranger.sendall(rest[:8000])
        self.ssl.SSL_free(client)


def say_hello(stranger):
    stranger.sendall(client_hello())
    stranger.recv(1)


def how_to_say(kind):
    if kind == 'hello':
        return say_hello
    if kind == 'again':
        return say_again
    if kind == 'chain':
        return Chain().say
    said = {
        'silent': b'',
        'part': bytes.fromhex('1603010200' '010001fc'),
        'long': bytes.fromhex('1603010004' '01020000'),
    }[kind]
    return lambda stranger: stranger.sendall(said)


def main():
    if sys.argv[1:2] in (['-h'], ['--help']):
        print(__doc__.strip())
        return
    if len(sys.argv) < 5:
        sys.exit('strangers.py: see -h')
    address, port = sys.argv[1], int(sys.argv[2])
    groups = []
    for count, kind in zip(sys.argv[3::2], sys.argv[4::2]):
        kind, _, source = kind.partition('@')
        groups.append((int(count), how_to_say(kind), source))
    all_of_them = sum(group[0] for group in groups) + 20
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE,
                       (all_of_them, max(hard, all_of_them)))
    strangers = []
    for count, say, source in groups:
        for _ in range(count):
            stranger = socket.create_connection(
                (address, port), timeout=60,
                source_address=(source, 0) if source else None)
            say(stranger)
            strangers.append(stranger)
    print('connected', flush=True)
    sys.stdin.read()


main()
