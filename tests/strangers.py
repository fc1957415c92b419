#!/usr/bin/env python3
"""Connects to a server of 04 or 05 as strangers do, who do not say who they are.

usage: strangers.py ADDRESS PORT COUNT KIND [COUNT KIND...]

KIND is what each of them says before it falls silent:
  silent  nothing
  part    the first nine bytes of a ClientHello of 508
  long    the first nine bytes of one of 128 KiB
  hello   a whole ClientHello

Says "connected" when all have said it, and keeps them until its standard input
ends.
"""
import resource
import socket
import ssl
import sys


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


def what_to_say(kind):
    return {
        'silent': b'',
        'part': bytes.fromhex('1603010200' '010001fc'),
        'long': bytes.fromhex('1603010004' '01020000'),
        'hello': client_hello(),
    }[kind]


def main():
    if sys.argv[1:2] in (['-h'], ['--help']):
        print(__doc__.strip())
        return
    if len(sys.argv) < 5:
        sys.exit('strangers.py: see -h')
    address, port = sys.argv[1], int(sys.argv[2])
    groups = [(int(count), what_to_say(kind))
              for count, kind in zip(sys.argv[3::2], sys.argv[4::2])]
    all_of_them = sum(count for count, _ in groups) + 20
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE,
                       (all_of_them, max(hard, all_of_them)))
    strangers = []
    for count, said in groups:
        for _ in range(count):
            stranger = socket.create_connection((address, port), timeout=60)
            stranger.sendall(said)
            strangers.append(stranger)
    print('connected', flush=True)
    sys.stdin.read()


main()
