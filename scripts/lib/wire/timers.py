"""When a requester sent a packet again, and when it gave up.

Usage: timers.py RUN_DIR

RUN_DIR is what scripts/wire.sh leaves, of a run in which the client's last
request was not acknowledged, or answered with receiver not ready. Prints when
the client sent the first packet of that request, in seconds since the last sign
of life from the server, each NAK of that kind, and the client's error.
"""
import re
import sys

from lib.arguments import Parser, folder
from lib.wire import lines, packets


def events(run):
    """(time, text) of what is told, on the clock of the client's node."""
    seen = packets.read(str(run / 'b.pcap'))
    client = seen[0].src  # it speaks first: REQ, or SYN
    errors = [line for line in lines.read(run / 'logs/client.times') if line.error]
    if not errors:
        sys.exit(f'{run}: the client has said no error')
    # What comes later, when the link is up again, comes too late.
    seen = [packet for packet in seen if packet.rel is not None and
            packet.time < errors[0].time]
    naks = [packet for packet in seen if packet.kind == 'RNR NAK']
    if naks:
        psn = naks[0].psn
        yield from ((nak.time, 'server: ' + nak.text) for nak in naks)
    else:
        alive = [packet for packet in seen if packet.src != client][-1]
        yield alive.time, 'server: ' + alive.text
        psn = (alive.psn + 1) % packets.PSN_SPACE
    yield from ((packet.time, f'client: {packet.kind}, PSN 0x{packet.psn:06x}')
                for packet in seen
                if packet.src == client and packet.psn == psn and
                packet.kind.startswith(('SEND', 'RDMA')))
    for line in errors:
        yield line.time, 'client: ' + re.sub(
            r'(status \d+ \([^)]*\)).*', r'\1', line.text.split(';')[0])


def main():
    """Prints them in their order."""
    parser = Parser(__doc__)
    parser.add_argument('run', type=folder)
    told = sorted(events(parser.parse_args().run))
    origin = next(time for time, text in told if text.startswith('server'))
    for time, text in told:
        print(f'{time - origin:8.3f} s  {text}')


if __name__ == '__main__':
    main()
