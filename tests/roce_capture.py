#!/usr/bin/python3 -B
"""Writes a capture of packets that no device has sent, for the tests of those that
read captures.

Usage: roce_capture.py CAPTURE <LINES

Each line of the input is a packet of RoCE v2 between a client, 192.0.2.2, and a
server, 192.0.2.1: who sends it, its opcode, its PSN, and a number for those that
have one: how many bytes a READ asks for, or the syndrome of an acknowledgement.

    client 12 100 2049
    server 17 99 0x62
"""
import pathlib
import struct
import sys

from lib.arguments import Parser

QPN = {'client': 0x11, 'server': 0x12}
ADDRESS = {'client': bytes([192, 0, 2, 2]), 'server': bytes([192, 0, 2, 1])}
READ_REQUEST, FIRST_RESPONSE, MIDDLE_RESPONSE, ACKNOWLEDGE = 12, 13, 14, 17


def packet(sender, opcode, psn, value):
    """A whole frame, from Ethernet to a checksum that is none."""
    other = 'server' if sender == 'client' else 'client'
    roce = struct.pack('>BBHII', opcode, 0x40, 0xffff, QPN[other], psn)
    if opcode == READ_REQUEST:
        roce += struct.pack('>QII', 0x1000, 0x7f1, value)
    elif FIRST_RESPONSE <= opcode <= ACKNOWLEDGE and opcode != MIDDLE_RESPONSE:
        roce += struct.pack('>I', value << 24 | 1)
    roce += bytes(4)
    udp = struct.pack('>HHHH', 49152, 4791, 8 + len(roce), 0) + roce
    ip = struct.pack('>BBHHHBBH4s4s', 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0,
                     ADDRESS[sender], ADDRESS[other])
    return bytes(12) + b'\x08\x00' + ip + udp


def main():
    """Reads the lines, and writes the capture."""
    parser = Parser(__doc__)
    parser.add_argument('capture', type=pathlib.Path)
    capture = parser.parse_args().capture
    # pcap, version 2.4, of Ethernet.
    out = struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    for number, line in enumerate(sys.stdin):
        sender, *rest = line.split()
        opcode, psn, value = ([int(word, 0) for word in rest] + [0])[:3]
        frame = packet(sender, opcode, psn, value)
        out += struct.pack('<IIII', number, 0, len(frame), len(frame)) + frame
    capture.write_bytes(out)


if __name__ == '__main__':
    main()
