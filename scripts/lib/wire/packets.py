"""The packets of a capture, in the words of the specification.

Usage: packets.py CAPTURE

Prints the facts of a capture for tests and other programs: one line per packet, with
tabs between the fields that the first line names. tshark dissects; nothing here
looks at a byte. Used by ladder.py as well.
"""
import collections
import pathlib
import subprocess
import sys

from lib.arguments import Parser
from lib.chapters import chapters

TOP = pathlib.Path(__file__).resolve().parents[3]

# What we ask tshark for: our name and its.
TSHARK = {
    'time': 'frame.time_epoch',
    'src4': 'ip.src', 'dst4': 'ip.dst', 'src6': 'ipv6.src', 'dst6': 'ipv6.dst',
    'opcode': 'infiniband.bth.opcode',
    'destqp': 'infiniband.bth.destqp',
    'psn': 'infiniband.bth.psn',
    'va': 'infiniband.reth.va',
    'rkey': 'infiniband.reth.r_key',
    'dmalen': 'infiniband.reth.dmalen',
    'syndrome': 'infiniband.aeth.syndrome',
    'msn': 'infiniband.aeth.msn',
    'cm': 'infiniband.mad.attributeid',
    'transaction': 'infiniband.mad.transactionid',
    'req_qpn': 'infiniband.cm.req.localqpn',
    'req_psn': 'infiniband.cm.req.startpsn',
    'rep_qpn': 'infiniband.cm.rep.localqpn',
    'rep_psn': 'infiniband.cm.rep.startpsn',
    'reason': 'infiniband.cm.rej.reason',
    'udplen': 'udp.length',
    'tcpflags': 'tcp.flags.str',
    'tcplen': 'tcp.len',
    'sport': 'tcp.srcport',
    'dport': 'tcp.dstport',
    'tcpdata': 'tcp.payload',
    'tcpagain': 'tcp.analysis.retransmission',
    'tls': 'tls.record.content_type',
    'tlsopaque': 'tls.record.opaque_type',
    'tlshs': 'tls.handshake.type',
    'payload': 'data.data',
    'udppayload': 'udp.payload',
    'pad': 'infiniband.bth.padcnt',
}

# IBTA specification, 9.2.1: the operations of a reliable connection.
OPCODES = {
    0: 'SEND First', 1: 'SEND Middle', 2: 'SEND Last',
    3: 'SEND Last with Immediate', 4: 'SEND Only',
    5: 'SEND Only with Immediate',
    6: 'RDMA WRITE First', 7: 'RDMA WRITE Middle', 8: 'RDMA WRITE Last',
    9: 'RDMA WRITE Last with Immediate', 10: 'RDMA WRITE Only',
    11: 'RDMA WRITE Only with Immediate',
    12: 'RDMA READ Request', 13: 'RDMA READ response First',
    14: 'RDMA READ response Middle', 15: 'RDMA READ response Last',
    16: 'RDMA READ response Only', 17: 'Acknowledge',
    18: 'Atomic Acknowledge', 19: 'Compare and Swap', 20: 'Fetch and Add',
}
RESPONSES = {13, 14, 15, 16, 17, 18}
# Those with nothing between BTH and payload; the bytes of BTH and ICRC.
SENDS = {0, 1, 2, 4}
BTH, ICRC = 12, 4

# 12.6: the messages of the connection manager.
CM = {0x10: 'ConnectRequest', 0x11: 'MsgRcptAck', 0x12: 'ConnectReject',
      0x13: 'ConnectReply', 0x14: 'ReadyToUse', 0x15: 'DisconnectRequest',
      0x16: 'DisconnectReply'}

# 9.7.5.2.2: the error codes of a NAK.
NAKS = {0: 'PSN Sequence Error', 1: 'Invalid Request',
        2: 'Remote Access Error', 3: 'Remote Operational Error'}

TLS_RECORDS = {20: 'Change Cipher Spec', 21: 'Alert', 22: 'Handshake',
               23: 'Application Data'}
TLS_HANDSHAKES = {1: 'Client Hello', 2: 'Server Hello'}

# Where chapters with certificates speak TLS: by itself tshark knows port 443.
TLS_PORTS = {chapter.port for chapter in chapters(TOP).values()
             if (TOP / chapter.name / 'certs.sh').is_file()}
# The headers of chapter 07, by enum head_type.
HEADS = dict(enumerate(('HELLO', 'WELCOME', 'REFUSED', 'DATA', 'HERE', 'END', 'STORED',
                        'CREDIT'), 1))
HEAD_SIZE = 40
PSN_SPACE = 1 << 24
FIELDS = ['n', 'time', 'src', 'dst', 'kind', 'psn', 'rel', 'destqp', 'va',
          'rkey', 'dmalen', 'syndrome', 'msn', 'start_psn', 'start_qpn',
          'mark', 'text']

Packet = collections.namedtuple('Packet', FIELDS)


def number(text):
    """A field of tshark's as a number, or None; of several, the first."""
    return int(text.split(',')[0], 0) if text else None


def run_tshark(path):
    """The rows of a capture, as dictionaries of text."""
    command = ['tshark', '-n', '-r', path, '-Y', 'infiniband or tcp', '-T',
               'fields', '-E', 'separator=/t']
    for port in sorted(TLS_PORTS):
        command += ['-d', f'tcp.port=={port},tls']
    for field in TSHARK.values():
        command += ['-e', field]
    result = subprocess.run(command, capture_output=True, text=True,
                            check=False)
    if result.returncode:
        sys.exit(f'tshark: {result.stderr.strip()}; is {path} a capture')
    for line in result.stdout.splitlines():
        yield dict(zip(TSHARK, line.split('\t')))


class Flows:
    """Where each direction's PSNs began, and how far they have come."""

    def __init__(self):
        self.first = {}  # (src, dst, destqp): the first PSN of a requester
        self.next = {}

    def request(self, src, dst, destqp, psn, count):
        """Notes count PSNs from psn; returns (relative PSN, seen before)."""
        key = src, dst, destqp
        first = self.first.setdefault(key, psn)
        rel = (psn - first) % PSN_SPACE
        expected = self.next.get(key, 0)
        # Half the space back is old, half ahead is new.
        again = (rel - expected) % PSN_SPACE >= PSN_SPACE // 2
        if not again:
            self.next[key] = (rel + count) % PSN_SPACE
        return rel, again

    def response(self, src, dst, psn):
        """Responses carry the PSNs of the requester that they answer."""
        rels = [(psn - first) % PSN_SPACE
                for (one, other, _), first in self.first.items()
                if (one, other) == (dst, src)]
        return min(rels, default=None)


def acknowledge(syndrome):
    """What an AETH says: IBTA specification, 9.7.5.2.1; and its mark."""
    kind, low = syndrome >> 5, syndrome & 31
    if kind == 0:
        return 'ACK', ''
    if kind == 1:
        return f'RNR NAK (timer {low})', 'nak'
    return f'NAK ({NAKS.get(low, f"code {low}")})', 'nak'


def describe_cm(row):
    """A message of the connection manager: kind, text, PSN and QPN in it."""
    attribute = number(row['cm'])
    kind = CM.get(attribute, f'CM message 0x{attribute:02x}')
    psn = number(row['req_psn'] or row['rep_psn'])
    qpn = number(row['req_qpn'] or row['rep_qpn'])
    text = kind
    if psn is not None:
        text += f' QPN 0x{qpn:06x}, starting PSN 0x{psn:06x}'
    if row['reason']:
        text += f' (reason {number(row["reason"])})'
    return kind, text, psn, qpn


def describe_tcp(row):
    """A segment of TCP, with the TLS record or the text that it carries."""
    flags = ''.join(name for letter, name in
                    (('S', 'SYN '), ('F', 'FIN '), ('R', 'RST '))
                    if letter in row['tcpflags'])
    kinds = ','.join(filter(None, (row['tls'], row['tlsopaque'])))
    if kinds:
        records = [TLS_RECORDS.get(int(kind), 'record')
                   for kind in kinds.split(',')]
        if row['tlshs']:
            records[0] = TLS_HANDSHAKES.get(number(row['tlshs']), records[0])
        text = ', '.join(dict.fromkeys(records))
        return f'TLS {records[0]}', f'TLS {text} ({row["tcplen"]} bytes)'
    if number(row['tcplen']):
        data = bytes.fromhex(row['tcpdata'])
        if all(32 <= byte < 127 or byte == 10 for byte in data):
            return 'TCP text', 'TCP "' + data.decode().strip() + '"'
        return 'TCP data', f'TCP {row["tcplen"]} bytes'
    kind = f'TCP {flags or "ACK "}'.strip()
    return kind, kind


def label(packet):
    """A packet in one line: what it is, for which queue pair, and its PSN,
    absolute and relative to the requester's first."""
    text = packet.text.replace(' bytes', ' B')
    if packet.psn is not None and packet.rel is not None:
        text = (f'{text.replace(",", "")} QP 0x{packet.destqp:x} '
                f'PSN 0x{packet.psn:06x} (+{packet.rel})')
    return text + ' [retransmission]' * (packet.mark == 'again')


def psn_count(row, opcode, mtu):
    """A READ request takes as many PSNs as its response has packets."""
    if opcode != 12:
        return 1
    return max(1, -(-number(row["dmalen"]) // mtu))


def payload_of(row):
    """What a packet of RoCE carries, in hexadecimal digits. tshark does not show
    it where it is filled up to a multiple of four bytes: for a SEND, it is what
    stands between BTH and ICRC."""
    if not row['opcode']:
        return ''
    if not number(row['pad']) or number(row['opcode']) not in SENDS:
        return row['payload']
    whole = row['udppayload']
    return whole[2 * BTH:len(whole) - 2 * (ICRC + number(row['pad']))]


def describe_head(payload):
    """What a header of chapter 07's stream of files says; empty for others."""
    data = bytes.fromhex(payload)
    if len(data) < HEAD_SIZE or not data.startswith(b'RDMF'):
        return ''
    credits = int.from_bytes(data[6:8], 'big')
    name = HEADS.get(data[5], f'type {data[5]}')
    return f' {name}' + (f' (credits: {credits})' if credits else '')


def describe_rc(row, src, dst, flows, mtu):
    """A packet of a reliable connection: kind, text, relative PSN, mark."""
    opcode, psn = number(row['opcode']), number(row['psn'])
    kind, mark = OPCODES.get(opcode, f'opcode {opcode}'), ''
    text = kind
    if opcode in RESPONSES:
        rel = flows.response(src, dst, psn)
        if opcode == 17:
            kind, mark = acknowledge(number(row['syndrome']))
            text = f'{kind} MSN {number(row["msn"])}'
            kind = kind.split(' (')[0]
    else:
        rel, again = flows.request(src, dst, row['destqp'], psn,
                                   psn_count(row, opcode, mtu))
        mark = 'again' if again else ''
    if row['va']:
        # An atomic operation says no length.
        text += (f' va 0x{number(row["va"]):x}, rkey '
                 f'0x{number(row["rkey"]):x}, {number(row["dmalen"] or "8")} bytes')
    if kind.startswith('SEND'):
        text += describe_head(payload_of(row))
    return kind, text, rel, mark


def read(path, mtu=1024):
    """All packets of RoCE v2 and TCP in a capture, oldest first."""
    flows, packets, origin, asked = Flows(), [], None, set()
    for row in run_tshark(path):
        src, dst = row['src4'] or row['src6'], row['dst4'] or row['dst6']
        time = float(row['time'])
        origin = time if origin is None else origin
        rel, mark, psn, qpn = None, '', None, None
        if row['cm']:
            kind, text, psn, qpn = describe_cm(row)
            # The CM sends a message again with the transaction that it had.
            message = src, kind, row['transaction']
            mark = 'again' if message in asked else ''
            asked.add(message)
        elif row['opcode']:
            kind, text, rel, mark = describe_rc(row, src, dst, flows, mtu)
        else:
            kind, text = describe_tcp(row)
            mark = 'again' if row['tcpagain'] else ''
        packets.append(Packet(
            len(packets) + 1, time, src, dst, kind, number(row['psn']), rel,
            number(row['destqp']), number(row['va']), number(row['rkey']),
            number(row['dmalen']), number(row['syndrome']),
            number(row['msn']), psn, qpn, mark, text))
    return packets


def main():
    """Prints the facts of a capture."""
    parser = Parser(__doc__)
    parser.add_argument('capture')
    capture = parser.parse_args().capture
    print('\t'.join(FIELDS))
    for packet in read(capture):
        print('\t'.join(
            '' if value is None else
            f'0x{value:x}' if isinstance(value, int) and name in
            ('psn', 'destqp', 'va', 'rkey', 'start_psn', 'start_qpn') else
            str(value) for name, value in zip(FIELDS, packet)))


if __name__ == '__main__':
    main()
