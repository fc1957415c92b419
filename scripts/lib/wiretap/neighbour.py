"""Another user of the client's machine, who sends a packet in the client's name.

Usage: neighbour.py OWN_ADDRESS SERVER_ADDRESS

Asks `rdma resource show qp` for the client's queue pair, which tells every user
the peer's number and the PSN of the next packet. Then it sends the server, from
an ordinary UDP socket, a SEND with these two. It says MSG_DONE: the memory may be
looked at now. No right is needed for any of it, and so it refuses to be root.

In the lab only: see docs/psn_security.md.
"""
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys

from lib.arguments import Parser
from lib.wiretap import roce

IP_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 2
# As msg.c writes it: magic, version, type, two bytes of zero.
MSG_DONE = struct.pack('!4sBBH', b'RDMA', 3, 2, 0)


def clients_queue_pair():
    """Number of the peer's queue pair, and PSN of what is sent next."""
    shown = subprocess.run(['rdma', 'resource', 'show', 'qp'], check=True,
                           capture_output=True, text=True).stdout
    for line in shown.splitlines():
        found = re.search(r' rqpn (\d+) type RC state RTS .* sq-psn (\d+) '
                          r'.* comm client', line)
        if found:
            print(line.strip())
            return int(found[1]), int(found[2])
    sys.exit('neighbour: no client is connected')


def main():
    """One look, and one packet."""
    parser = Parser(__doc__)
    parser.add_argument('own', metavar='OWN_ADDRESS')
    parser.add_argument('server', metavar='SERVER_ADDRESS')
    args = parser.parse_args()
    if 'rdma_lab=1' not in pathlib.Path('/proc/cmdline').read_text().split():
        sys.exit('neighbour: this machine is not a node of the lab '
                 '(scripts/lab.sh up --nodes 2), and it runs nowhere else')
    if os.getuid() == 0:
        sys.exit('neighbour: this is to be seen without rights; run it as '
                 'another user: scripts/lab.sh exec -u nobody b -- …')
    qpn, psn = clients_queue_pair()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
        sender.bind((args.own, 0))
        addresses = socket.inet_aton(args.own) + socket.inet_aton(args.server)
        sender.sendto(roce.forge_send(sender.getsockname()[1], addresses, qpn,
                                      psn, MSG_DONE),
                      (args.server, roce.ROCE_PORT))
    print(f'user {os.getuid()} sends a SEND of its own: QPN 0x{qpn:06x}, '
          f'PSN 0x{psn:06x}')
    print('sent of its own: 1')


main()
