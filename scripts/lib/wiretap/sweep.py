"""A host off the path that has read nothing, and tries all numbers.

Usage: sweep.py CLIENT SERVER QPN FIRST COUNT

Sends the server, in the client's name (an IP packet with a false source address needs
only root on one's own machine), a SEND of MSG_DONE with each of COUNT PSNs, from FIRST
on (both in decimal), and says how long that took. More than RATE a second would not all
find room on the lab's wire.

On a node of the lab only, and only to one: see docs/psn_security.md.
"""
import collections.abc
import socket
import time

from lib.arguments import Parser
from lib.wiretap import parties, roce
from lib.wiretap.neighbour import MSG_DONE

SPACE = 1 << 24
RATE = 10_000


def packets(addresses: bytes, qpn: int, first: int,
            count: int) -> collections.abc.Iterator[bytes]:
    """One IP packet for each PSN."""
    body = roce.send_body(qpn, 0, MSG_DONE)
    start = roce.headers(49152, addresses, len(body))
    for psn in range(first, first + count):
        packet = start + roce.send_body(qpn, psn % SPACE, MSG_DONE)
        yield packet + roce.icrc(packet)


def main() -> None:
    """Sweeps once."""
    parser = Parser(__doc__)
    parser.add_argument('client', type=parties.node)
    parser.add_argument('server', type=parties.node)
    for name in ('qpn', 'first', 'count'):
        parser.add_argument(name, type=int)
    args = parser.parse_args()
    parties.only_in_lab('sweep')
    addresses = socket.inet_aton(args.client) + socket.inet_aton(args.server)
    begin = time.monotonic()
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        for number, packet in enumerate(packets(addresses, args.qpn, args.first, args.count)):
            raw.sendto(packet, (args.server, 0))
            time.sleep(max(0, begin + number / RATE - time.monotonic()))
    took = time.monotonic() - begin
    print(f'sent of its own: {args.count}')
    print(f'{took:.1f} s: {args.count / took:.0f} packets a second')


if __name__ == '__main__':
    main()
