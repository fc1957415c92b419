"""A switch between two hosts that sends one packet of its own.

Usage: switch.py CLIENT_PORT SERVER_PORT CAPTURE [--told LOG] [--send WHAT]

Passes every frame from one port to the other, unchanged, and writes it to
CAPTURE. When an RDMA WRITE of the client's has gone by, it sends the server
one more, with the next packet sequence number. All that it needs for that is
in the packet that it has just seen.

With --told it does not read the packet, but the log of the client's program,
which no real switch could: for a network that it cannot read. Then it sends
its own behind each frame of the client's, as it cannot know which is which.

WHAT it sends: `bytes`, a few of its own, is the default; `nothing` is a WRITE
of no bytes, without address and rkey; `badkey` has a wrong rkey. `dreq` is no WRITE,
but the CM's goodbye: it needs what the CM's REP and RTU have told.

Runs until SIGTERM, in the lab only: see docs/psn_security.md.
"""
import collections
import pathlib
import re
import select
import signal
import socket
import struct
import sys
import time

from lib.arguments import Parser
from lib.wiretap import roce

ETH_P_ALL = 3
SOL_PACKET, PACKET_ADD_MEMBERSHIP, PACKET_IGNORE_OUTGOING = 263, 1, 23
PACKET_MR_PROMISC = 1
PAYLOAD = b'forged: neither of you wrote this\0'


def in_lab():
    """Whether this kernel was started by scripts/lab.sh."""
    return 'rdma_lab=1' in pathlib.Path('/proc/cmdline').read_text().split()


def open_port(device):
    """A socket that has all frames that arrive at a device."""
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                         socket.htons(ETH_P_ALL))
    port.bind((device, 0))
    port.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    # All of them, to whomever they are addressed.
    port.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, struct.pack(
        'iHH8x', socket.if_nametoindex(device), PACKET_MR_PROMISC, 0))
    return port


class Capture:
    """A file of what has been passed on, for tshark (see pcap-savefile(5))."""

    def __init__(self, path):
        self.file = open(path, 'wb', buffering=0)
        self.file.write(struct.pack('=IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0,
                                    65535, 1))

    def add(self, frame):
        """Writes one frame."""
        seconds, rest = divmod(time.time_ns(), 10**9)
        self.file.write(struct.pack('=IIII', seconds, rest // 1000,
                                    len(frame), len(frame)) + frame)


def told(log):
    """The client's WRITE as its own log has it, or None."""
    text = log.read_text() if log.exists() else ''
    found = [re.search(pattern, text) for pattern in (
        r'dest_qp_num=(\w+)', r'\bsq_psn=(\w+)', r'peer_mr\.addr=(\w+)',
        r'peer_mr\.rkey=(\w+)')]
    if None in found:
        return None
    # It is the client's first packet.
    qpn, psn, addr, rkey = (int(match[1], 16) for match in found)
    return roce.Write(qpn, psn, addr, rkey, 0)


class Forger:
    """Makes one packet from what it has seen go by, or was told."""

    def __init__(self, log, send):
        self.log = log
        self.send = send
        self.frame = None

    def hear(self, frame):
        """Called for each frame of the server's, which say nothing of use."""

    def look(self, frame):
        """Called for each frame of the client's; returns what to send."""
        if not self.frame:
            self.frame = self.from_log(frame) if self.log else \
                self.from_packet(frame)
            return self.frame
        return self.frame if self.log else None

    def from_packet(self, frame):
        """All that it takes is in one packet."""
        write = roce.parse_write(frame)
        if not write:
            return None
        packet = roce.packet_of(frame)
        same = roce.icrc(packet[:-roce.ICRC]) == packet[-roce.ICRC:]
        print(f'read an RDMA WRITE: {show(write)}')
        print(f'its ICRC is {"" if same else "not "}what anybody would compute')
        return self.forge(frame, packet[12:20], write)

    def from_log(self, frame):
        """The same from what the client's program says."""
        write = told(self.log)
        if not write:
            return None
        print(f'was told of an RDMA WRITE: {show(write)}')
        return self.forge(frame, socket.inet_aton('192.0.2.2') +
                          socket.inet_aton('192.0.2.1'), write)

    def forge(self, frame, addresses, write):
        """The packet that would be next, as a frame from the same host."""
        write = write._replace(psn=(write.psn + 1) & 0xffffff)
        payload = PAYLOAD
        if self.send == 'nothing':
            write, payload = write._replace(addr=0, rkey=0), b''
        elif self.send == 'badkey':
            write = write._replace(rkey=write.rkey ^ 0x80)
        print(f'sends one of its own: {show(write)}', flush=True)
        return roce.forge_write(frame[:12], addresses, write, payload)


class Goodbye:
    """Makes one packet from what the CM says in the clear."""

    def __init__(self):
        self.qpn = self.frame = None

    def hear(self, frame):
        """Called for each frame of the server's."""
        if roce.cm_message(frame) == roce.CM_REP:
            self.qpn = roce.cm_qpn(frame)

    def look(self, frame):
        """Called for each frame of the client's; returns what to send."""
        if self.frame or not self.qpn or roce.cm_message(frame) != roce.CM_RTU:
            return None
        mine, yours = roce.cm_ids(frame)
        print(f'read REP and RTU: communication IDs 0x{mine:08x} and '
              f'0x{yours:08x}, QPN 0x{self.qpn:06x}')
        print('sends one of its own: a DREQ', flush=True)
        self.frame = roce.forge_dreq(frame, self.qpn)
        return self.frame


def show(write):
    """What is in a WRITE, in words."""
    return (f'QPN 0x{write.qpn:06x}, PSN 0x{write.psn:06x}, '
            f'address 0x{write.addr:x}, rkey 0x{write.rkey:x}')


def pass_frames(client, server, capture, forger):
    """Until SIGTERM; returns how many frames of each ethertype there were."""
    count = collections.Counter()
    other = {client: server, server: client}
    stop, ring = socket.socketpair()
    ring.setblocking(False)
    signal.set_wakeup_fd(ring.fileno())
    signal.signal(signal.SIGTERM, lambda *_: None)
    print('passing frames on', flush=True)
    while True:
        ready, _, _ = select.select([stop, client, server], [], [])
        if stop in ready:
            return count
        for port in ready:
            frame = port.recv(65536)
            count[roce.ethertype(frame)] += 1
            capture.add(frame)
            other[port].send(frame)
            if port is not client:
                forger.hear(frame)
                continue
            forged = forger.look(frame)
            if forged:
                server.send(forged)
                count['own'] += 1


def main():
    """Parses the command line, and switches."""
    parser = Parser(__doc__)
    parser.add_argument('client')
    parser.add_argument('server')
    parser.add_argument('capture')
    parser.add_argument('--told', type=pathlib.Path)
    parser.add_argument('--send', choices=('bytes', 'nothing', 'badkey', 'dreq'),
                        default='bytes')
    options = parser.parse_args()
    if not in_lab():
        sys.exit('switch.py: this machine is not a node of the lab '
                 '(scripts/lab.sh up --nodes 2), and it runs nowhere else')
    forger = Goodbye() if options.send == 'dreq' else \
        Forger(options.told, options.send)
    count = pass_frames(open_port(options.client), open_port(options.server),
                        Capture(options.capture), forger)
    own = count.pop('own', 0)
    print('passed on: ' + ', '.join(
        f'{n} of ethertype 0x{kind:04x}' for kind, n in sorted(count.items())))
    print(f'sent of its own: {own}')


if __name__ == '__main__':
    main()
