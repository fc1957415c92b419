"""A switch between two hosts that sends one packet of its own.

Usage: switch.py CLIENT_PORT SERVER_PORT CAPTURE [--told LOG] [--send WHAT]

Passes frames from one port to the other, unchanged, and writes them to
CAPTURE. When an RDMA WRITE of the client's has gone by, it sends the server
one more, with the next packet sequence number. All that it needs for that is
in the packet that it has just seen: there is no key in any of it.

With --told it does not read the packet, but the log of the client's program,
which no real switch could: for a network that it cannot read. Then it sends
its own behind each frame of the client's, as it cannot know which is which.

WHAT it sends: `bytes`, a few of its own, is the default; `nothing` is a WRITE
of no bytes, without address and rkey; `badkey` has a wrong rkey.

Runs until SIGTERM, in the lab only: see docs/psn_security.md.
"""
import collections
import pathlib
import re
import signal
import sys

from lib.arguments import Parser

# Debian's python3-scapy, which makes the checksums, too: scripts/install_deps.sh wire.
from scapy.config import conf
from scapy.contrib.roce import BTH
from scapy.fields import IntField, XIntField, XLongField
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw, bind_layers
from scapy.sendrecv import bridge_and_sniff
from scapy.utils import PcapWriter

WRITE_ONLY = 0x0a  # reliable connection: an RDMA WRITE of a single packet
PAYLOAD = b'forged: neither of you wrote this\0'


class RETH(Packet):
    """Where an RDMA WRITE goes, which scapy's RoCE lacks (IBTA specification, chapter 9)."""
    fields_desc = [XLongField('addr', 0), XIntField('rkey', 0), IntField('length', 0)]


bind_layers(BTH, RETH, opcode=WRITE_ONLY)
Write = collections.namedtuple('Write', 'qpn psn addr rkey')


def show(write):
    """What is in a WRITE, in words."""
    return (f'QPN 0x{write.qpn:06x}, PSN 0x{write.psn:06x}, '
            f'address 0x{write.addr:x}, rkey 0x{write.rkey:x}')


def read(frame):
    """The WRITE that a frame has in the clear, or None."""
    if RETH not in frame:
        return None
    write = Write(frame[BTH].dqpn, frame[BTH].psn, frame[RETH].addr, frame[RETH].rkey)
    again = frame[IP].copy()
    again[BTH].icrc = None
    print(f'read an RDMA WRITE: {show(write)}')
    print(f'its ICRC is {"" if bytes(again) == bytes(frame[IP]) else "not "}what anybody would compute')
    return write


def told(log):
    """The client's WRITE as its own log has it, or None."""
    text = log.read_text() if log.exists() else ''
    found = [re.search(pattern, text) for pattern in (
        r'dest_qp_num=(\w+)', r'\bsq_psn=(\w+)', r'peer_mr\.addr=(\w+)', r'peer_mr\.rkey=(\w+)')]
    if None in found:
        return None
    # It is the client's first packet.
    write = Write(*(int(match[1], 16) for match in found))
    print(f'was told of an RDMA WRITE: {show(write)}')
    return write


def forge(frame, write, payload):
    """A frame with that WRITE, from the client and to the server, as the Ethernet of this frame is.

    The UDP source port may be any: nobody looks at it. No acknowledgement is asked for, which would go to another.
    """
    pad = -len(payload) % 4
    return bytes(
        Ether(dst=frame.dst, src=frame.src) / IP(src='192.0.2.2', dst='192.0.2.1', id=0, flags='DF') /
        UDP(sport=49152, chksum=0) / BTH(opcode=WRITE_ONLY, padcount=pad, dqpn=write.qpn, psn=write.psn) /
        RETH(addr=write.addr, rkey=write.rkey, length=len(payload)) / Raw(payload + b'\0' * pad))


class Forger:
    """What it sends, once or, if it cannot read, behind each frame of the client's."""

    def __init__(self, send, log=None):
        self.send, self.log, self.own = send, log, None

    def behind(self, frame):
        """What it sends the server behind this frame of the client's, or None."""
        first = not self.own
        if first and (write := told(self.log) if self.log else read(frame)):
            self.own = self.next(frame, write)
        # Who cannot read does not know which frame is which, and tries behind each.
        return self.own if first or self.log else None

    def next(self, frame, write):
        """The packet that would be next, as a frame from the same host."""
        write, payload = write._replace(psn=(write.psn + 1) & 0xffffff), PAYLOAD
        if self.send == 'nothing':
            write, payload = write._replace(addr=0, rkey=0), b''
        elif self.send == 'badkey':
            write = write._replace(rkey=write.rkey ^ 0x80)
        print(f'sends one of its own: {show(write)}', flush=True)
        return forge(frame, write, payload)


def main():
    """Parses the command line, and switches."""
    parser = Parser(__doc__)
    parser.add_argument('client')
    parser.add_argument('server')
    parser.add_argument('capture')
    parser.add_argument('--told', type=pathlib.Path)
    parser.add_argument('--send', choices=('bytes', 'nothing', 'badkey'), default='bytes')
    options = parser.parse_args()
    if 'rdma_lab=1' not in pathlib.Path('/proc/cmdline').read_text('utf-8').split():
        sys.exit('switch: this machine is not a node of the lab (scripts/lab.sh up --nodes 2), and it runs nowhere else')
    # On a busy machine, many frames wait here.
    conf.bufsize = 1 << 20
    client, server = (conf.L2socket(iface=port) for port in (options.client, options.server))
    capture, forger = PcapWriter(options.capture, sync=True), Forger(options.send, options.told)
    count = collections.Counter()

    def passed_on(frame):
        """The frame is out; what comes behind it?"""
        count[frame.type] += 1
        capture.write(frame)
        if frame.sniffed_on == 'iface1' and (own := forger.behind(frame)):
            server.send(own)
            count['own'] += 1

    # It ends like Ctrl-C, with which scapy ceases to listen.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    bridge_and_sniff(client, server, prn=passed_on, store=False,
                     started_callback=lambda: print('passing frames on', flush=True))
    own = count.pop('own', 0)
    print('passed on: ' + ', '.join(
        f'{n} of ethertype 0x{kind:04x}' for kind, n in sorted(count.items())))
    print(f'sent of its own: {own}')


if __name__ == '__main__':
    main()
