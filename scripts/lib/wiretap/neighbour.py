"""Another user of the client's machine, who sends a packet in the client's name.

Usage: neighbour.py OWN_ADDRESS SERVER_ADDRESS [WHAT]

Asks `rdma resource show qp` for the client's queue pair, which tells every user
the peer's number and the PSN of the next packet. Then it sends the server, from
an ordinary UDP socket, a packet with these two. WHAT it is: `send`, the default, is
a SEND of MSG_DONE: the memory may be looked at now. `end` is a WRITE with an rkey
that nobody has, which ends the connection. `qp` sends the same as `send`, from a queue
pair of its own: see own_qp.c, whose program must be beside this package. No right is
needed for any of it, and so it refuses to be root.

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
from lib.wiretap import parties, roce

IP_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 2
# As transfer.c writes it: magic, version, type, two bytes of zero.
MSG_DONE = struct.pack('!4sBBH', b'RDMA', 3, 2, 0)


def clients_queue_pair():
    """Number of the peer's queue pair, and PSN of what is sent next."""
    shown = subprocess.run(['rdma', 'resource', 'show', 'qp'], check=True,
                           capture_output=True, text=True).stdout
    for line in shown.splitlines():
        found = re.search(r' rqpn (\d+) type RC state RTS .* sq-psn (\d+) '
                          r'.* comm client', line)
        if found:
            print(line.strip(), flush=True)
            return int(found[1]), int(found[2])
    sys.exit('neighbour: no client is connected')


def send(args, body):
    """One packet, from an ordinary UDP socket."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
        sender.bind((args.own, 0))
        addresses = socket.inet_aton(args.own) + socket.inet_aton(args.server)
        sender.sendto(roce.for_socket(sender.getsockname()[1], addresses, body),
                      (args.server, roce.ROCE_PORT))


def send_by_qp(args, qpn, psn):
    """The same by a queue pair of its own, which takes the client's numbers."""
    program = pathlib.Path(__file__).parents[2] / 'own_qp'
    ran = subprocess.run([program, args.own, args.server, str(qpn), str(psn)],
                         check=False, stdout=subprocess.PIPE, text=True)
    said = ran.stdout.strip()
    if ran.returncode:
        print(f'user {os.getuid()} {said}')
        print('sent of its own: 0')
        return
    print(f'user {os.getuid()} has {said}: QPN 0x{qpn:06x}, PSN 0x{psn:06x}')
    print('sent of its own: 1')


def main():
    """One look, and one packet."""
    parser = Parser(__doc__)
    parser.add_argument('own', metavar='OWN_ADDRESS', type=parties.node)
    parser.add_argument('server', metavar='SERVER_ADDRESS',
                        type=parties.node)
    parser.add_argument('what', metavar='WHAT', choices=('send', 'end', 'qp'),
                        nargs='?', default='send')
    args = parser.parse_args()
    parties.only_in_lab('neighbour')
    if os.getuid() == 0:
        sys.exit('neighbour: this is to be seen without rights; run it as '
                 'another user: scripts/lab.sh exec -u nobody b -- …')
    qpn, psn = clients_queue_pair()
    if args.what == 'qp':
        send_by_qp(args, qpn, psn)
        return
    body, words = roce.send_body(qpn, psn, MSG_DONE), 'SEND'
    if args.what == 'end':
        body, words = roce.write_body(roce.Write(qpn, psn, 0, 0, 0), b'none'), \
            'WRITE with a wrong rkey'
    try:
        send(args, body)
    except OSError as error:
        print(f'user {os.getuid()} cannot send: {error.strerror}')
        print('sent of its own: 0')
        return
    print(f'user {os.getuid()} sends a {words} of its own: QPN 0x{qpn:06x}, '
          f'PSN 0x{psn:06x}')
    print('sent of its own: 1')


if __name__ == '__main__':
    main()
