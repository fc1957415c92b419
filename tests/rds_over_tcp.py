#!/usr/bin/python3 -B
"""A peer that speaks RDS over plain TCP, as its own program: no kernel checks it.

Usage: rds_over_tcp.py SERVER[:PORT] FROM TYPE FIRST_PORT WHAT... [-- COMMAND...]

Sends the server's PORT (4000) a datagram of chapter 06 of that type for each WHAT: its
length; each from a port of its own, counted from FIRST_PORT. `full` is a map of congested
ports: all are. The address FROM must be smaller than the
server's, as the smaller one of two kernels connects.

With a COMMAND it takes nothing of what the server sends, and so acknowledges nothing,
until the command has ended, and says how long that took. Its status is the command's.
"""
import socket
import struct
import subprocess
import sys
import time


def header(number, length, ports, flags=0):
    """A header of RDS: the checksum is that of IP."""
    text = bytearray(struct.pack('!QQIHHBB4sH16s', number, 0, length, *ports, flags,
                                 0, b'', 0, b''))
    total = sum(struct.unpack('!24H', text))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    text[30:32] = struct.pack('!H', ~total & 0xffff)
    return bytes(text)


def packet(number, what, ports, kind):
    """What WHAT stands for."""
    if what == 'full':
        return header(number, 8192, ports, 1) + b'\xff' * 8192
    length = int(what)
    text = b'RDS6' + struct.pack('!HHI', kind, 0, 0) + bytes(max(0, length - 12))
    return header(number, length, ports) + text[:length]


def main(server, source, kind, first, *rest):
    """Does what the command line says; returns the exit status."""
    rest, _, command = ' '.join(rest).partition(' -- ')
    peer = socket.socket()
    # What is sent to us and fits in there is acknowledged.
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    peer.settimeout(60)
    peer.bind((source, 0))
    server, _, port = server.partition(':')
    peer.connect((server, 16385))
    for i, what in enumerate(rest.split()):
        peer.sendall(packet(i + 1, what, (int(first) + i, int(port or 4000)),
                            int(kind)))
    if command:
        begin = time.monotonic()
        status = subprocess.run(command, shell=True, check=False).returncode
        print(f'seconds: {time.monotonic() - begin:.0f}')
        return status
    # Until the server's kernel has taken all of it.
    peer.shutdown(socket.SHUT_WR)
    while peer.recv(65536):
        pass
    return 0


if __name__ == '__main__':
    if set(sys.argv) & {'-h', '--help'}:
        print(__doc__)
    elif len(sys.argv) < 6:
        sys.exit('rds_over_tcp.py: see -h')
    else:
        sys.exit(main(*sys.argv[1:]))
