"""A switch between two hosts that sends one packet of its own.

Usage: switch.py CLIENT_PORT SERVER_PORT CAPTURE [--told LOG] [--send WHAT]

Passes frames from one port to the other, unchanged, and writes them to
CAPTURE. When an RDMA WRITE of the client's has gone by, it sends the server
one more, with the next packet sequence number. All that it needs for that is
in the packet that it has just seen.

With --told it does not read the packet, but the log of the client's program,
which no real switch could: for a network that it cannot read. Then it sends
its own behind each frame of the client's, as it cannot know which is which.

WHAT it sends: `bytes`, a few of its own, is the default; `nothing` is a WRITE
of no bytes, without address and rkey; `badkey` has a wrong rkey.

Runs until SIGTERM, in the lab only: see docs/psn_security.md.
"""
import collections
import pathlib
import select
import signal
import socket
import struct
import sys
import time

from lib.arguments import Parser
from lib.wiretap import forger, roce

ETH_P_ALL = 3
SOL_PACKET, PACKET_ADD_MEMBERSHIP, PACKET_IGNORE_OUTGOING = 263, 1, 23
PACKET_MR_PROMISC = 1


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


def stopped():
    """A socket that is readable after SIGTERM."""
    stop, ring = socket.socketpair()
    ring.setblocking(False)
    signal.set_wakeup_fd(ring.detach())
    signal.signal(signal.SIGTERM, lambda *_: None)
    return stop


def pass_frames(client, server, capture, party):
    """Until SIGTERM; returns how many frames of each ethertype there were."""
    count = collections.Counter()
    stop = stopped()
    print('passing frames on', flush=True)
    while True:
        ready, _, _ = select.select([stop, client, server], [], [])
        if stop in ready:
            return count
        for port in ready:
            frame = port.recv(65536)
            count[roce.ethertype(frame)] += 1
            capture.add(frame)
            (server if port is client else client).send(frame)
            own = party.behind(frame) if port is client else None
            if own:
                server.send(own)
                count['own'] += 1


def main():
    """Parses the command line, and switches."""
    parser = Parser(__doc__)
    parser.add_argument('client')
    parser.add_argument('server')
    parser.add_argument('capture')
    parser.add_argument('--told', type=pathlib.Path)
    parser.add_argument('--send', choices=forger.SENDS, default='bytes')
    options = parser.parse_args()
    if 'rdma_lab=1' not in pathlib.Path('/proc/cmdline').read_text('utf-8').split():
        sys.exit('switch: this machine is not a node of the lab (scripts/lab.sh up --nodes 2), and it runs nowhere else')
    count = pass_frames(open_port(options.client), open_port(options.server),
                        Capture(options.capture),
                        forger.Forger(options.send, options.told))
    own = count.pop('own', 0)
    print('passed on: ' + ', '.join(
        f'{n} of ethertype 0x{kind:04x}' for kind, n in sorted(count.items())))
    print(f'sent of its own: {own}')


if __name__ == '__main__':
    main()
