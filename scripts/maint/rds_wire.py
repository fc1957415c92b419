#!/usr/bin/python3 -B
"""The RDS messages in a capture, over both transports: a line each.

Usage: rds_wire.py FILE.pcap

Over tcp, RDS messages stand one behind the other in TCP connections of port
16385; over ib, each is one SEND of a queue pair, of one or more packets. In
both, a message begins with a header of 48 bytes, which is what is printed, and
for ib the packets that have none: the acknowledgements and RDMA of the queue
pair itself. tshark finds the packets; the rest is done here. Exit status: 0
done, 1 the capture cannot be read, 2 usage.
"""
import struct
import subprocess
import sys

from lib.arguments import Parser

HEADER = struct.Struct('>QQIHHBB4xH16s')
FLAGS = {1: 'congestion map', 2: 'ack required', 4: 'retransmitted'}
FIELDS = ('frame.number', 'ip.src', 'ip.dst', 'tcp.stream', 'tcp.seq',
          'tcp.srcport', 'tcp.payload', 'udp.payload')
# A reliable connection's operations: name, bytes of headers after the BTH.
OPERATIONS = {
    0: ('SEND First', 0), 1: ('SEND Middle', 0), 2: ('SEND Last', 0),
    4: ('SEND Only', 0), 6: ('RDMA WRITE First', 16),
    7: ('RDMA WRITE Middle', 0), 8: ('RDMA WRITE Last', 0),
    10: ('RDMA WRITE Only', 16), 17: ('Acknowledge', 4),
    22: ('SEND Last with Invalidate', 4), 23: ('SEND Only with Invalidate', 4),
}


def extensions(data):
    """The extension headers, as text; there are 16 bytes for them."""
    sizes = {1: 4, 2: 4, 3: 8, 5: 2, 6: 4}
    found = []
    while data and data[0] in sizes:
        kind, size = data[0], sizes[data[0]]
        value, data = data[1:1 + size], data[1 + size:]
        number = int.from_bytes(value, 'big')
        if kind == 2:
            found.append(f'rkey 0x{number:x} was used')
        elif kind == 3:
            found.append(f'rkey 0x{number >> 32:x} is lent')
        elif kind == 5:
            found.append(f'{number} paths')
        elif kind == 6:
            found.append('generation')
        else:
            found.append(f'version {number}')
    return found


def describe(header):
    """(bytes of data, text) of a message's header."""
    seq, ack, length, sport, dport, flags, credit, _, rest = \
        HEADER.unpack(header)
    notes = [name for bit, name in FLAGS.items() if flags & bit]
    if credit:
        notes.append(f'{credit} credits')
    notes += extensions(rest)
    if dport == 0 and not flags & 1 and sport:
        notes.insert(0, 'ping')
    elif sport == 0 and dport:
        notes.insert(0, 'pong')
    elif not sport and not dport and not flags & 1:
        notes.insert(0, 'only an ack')
    text = (f'seq {seq:<5} ack {ack:<5} len {length:<6} '
            f'port {sport:>5} > {dport:<5} {", ".join(notes)}')
    return length, text.rstrip()


def packets(path):
    """The packets of a capture, as tuples of FIELDS."""
    command = ['tshark', '-r', path, '-T', 'fields']
    for field in FIELDS:
        command += ['-e', field]
    result = subprocess.run(command, capture_output=True, text=True,
                            check=False)
    if result.returncode:
        sys.exit(f'rds_wire.py: tshark cannot read {path}: '
                 f'{result.stderr.strip()}')
    for line in result.stdout.splitlines():
        yield line.split('\t')


class Stream:
    """One direction of a TCP connection: what has come, in order."""

    def __init__(self):
        self.next, self.waiting, self.bytes = 1, {}, b''
        self.skip = 0

    def take(self, seq, data):
        """Adds a segment; yields the headers that are now whole."""
        self.waiting[seq] = max(data, self.waiting.get(seq, b''), key=len)
        for start in sorted(self.waiting):
            if start > self.next:
                break
            fresh = self.waiting.pop(start)[self.next - start:]
            self.next += len(fresh)
            self.bytes += fresh
        while True:
            cut = min(self.skip, len(self.bytes))
            self.bytes, self.skip = self.bytes[cut:], self.skip - cut
            if self.skip or len(self.bytes) < HEADER.size:
                return
            self.skip, text = describe(self.bytes[:HEADER.size])
            self.bytes = self.bytes[HEADER.size:]
            yield text


def roce(payload):
    """The text for a packet of RoCE v2; None for the connection manager's."""
    data = bytes.fromhex(payload)
    if len(data) < 16 or int.from_bytes(data[5:8], 'big') == 1:
        return None
    name, more = OPERATIONS.get(data[0], (f'operation {data[0]}', 0))
    body = data[12 + more:-4 - (data[1] >> 4 & 3)]
    if data[0] in (0, 4) and len(body) >= HEADER.size:
        return f'{name:<16} {describe(body[:HEADER.size])[1]}'
    if data[0] in (6, 10):
        rkey, length = struct.unpack_from('>II', data, 20)
        return f'{name:<16} rkey 0x{rkey:x}, {length} bytes'
    return name


def main(arguments):
    """Prints the messages of a capture."""
    parser = Parser(__doc__)
    parser.add_argument('capture')
    capture = parser.parse_args(arguments).capture
    streams = {}
    for number, src, dst, stream, seq, port, tcp, udp in \
            packets(capture):
        texts = []
        if tcp and seq:
            one = streams.setdefault((stream, src, port), Stream())
            texts = [f'tcp {stream:<2} {text}' for text in
                     one.take(int(seq), bytes.fromhex(tcp))]
        elif udp:
            text = roce(udp)
            texts = [text] if text else []
        for text in texts:
            print(f'{number:>5} {src} > {dst} {text}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
