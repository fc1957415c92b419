"""A run as a ladder: both programs' lines, and the packets between them.

Usage: ladder.py [--svg FILE] [--title TEXT] RUN_DIR

RUN_DIR has a.pcap and b.pcap, the captures of node a (with the server) and
node b, and logs/LABEL.times for each program.
"""
import collections
import json
import pathlib
import shutil
import statistics
import subprocess
import sys

from lib.arguments import Parser, folder
from lib.wire import lines, svg

DECODER = pathlib.Path(__file__).with_name('packets.mjs')
# side: 'a' or 'b' for a line of a program, None for a packet.
Step = collections.namedtuple('Step', 'time side line packet right')
# As packets.mjs prints it.
Packet = collections.namedtuple('Packet', 'time src dst kind mark psn destqp va rkey dmalen start_psn text label')


def packets(capture):
    """Those of a capture; bare acknowledgements of TCP tell nothing."""
    said = subprocess.run(['node', DECODER, capture], check=False, text=True, stdout=subprocess.PIPE)
    if said.returncode:
        sys.exit(said.returncode)
    found = (Packet(**json.loads(line)) for line in said.stdout.splitlines())
    return [packet for packet in found if packet.kind != 'TCP ACK']


def identity(packet):
    """What is the same of a packet in both captures, but for copies of it."""
    return (packet.src, packet.dst, packet.kind, packet.psn, packet.destqp,
            packet.text)


def merge(run):
    """All steps of a run: packets as node a saw them, each node's lines
    where they stand between the packets that this node saw."""
    at_a, at_b = packets(run / 'a.pcap'), packets(run / 'b.pcap')
    if not at_a:
        sys.exit(f'{run}/a.pcap has no packet of RoCE or TCP')
    # The position of each packet of a's capture, by its identity.
    where = collections.defaultdict(list)
    for position, packet in enumerate(at_a):
        where[identity(packet)].append(position)
    steps = [(position, 0, Step(packet.time, None, None, packet, None))
             for position, packet in enumerate(at_a)]
    seen_by_b, lost = positions(at_b, where)
    ahead = shift(at_a, seen_by_b)
    steps += [(position + 0.5, packet.time + ahead, Step(
        packet.time + ahead, None, None, packet, None))
        for position, packet in lost]
    for path in sorted(run.glob('logs/*.times')):
        said = lines.read(path)
        if path.stem.startswith('server'):
            steps += place(said, [(p.time, i) for i, p in enumerate(at_a)],
                           'a', 0)
        else:
            steps += place(said, seen_by_b, 'b', ahead)
    steps.sort(key=lambda step: step[:2])
    # The server is on node a, and the first to be spoken to.
    node_a = next((p.dst for p in at_a if p.kind in
                   ('ConnectRequest', 'TCP SYN')), at_a[0].dst)
    return [step._replace(right=step.packet.src == node_a)
            if step.packet else step for _, _, step in steps]


def positions(at_b, where):
    """(time on b, position on a) of each packet that both have seen; and
    (position, packet) of those of RoCE that only b has seen: b's own."""
    left = {key: list(value) for key, value in where.items()}
    both, lost, last = [], [], -1
    for packet in at_b:
        if left.get(identity(packet)):
            last = left[identity(packet)].pop(0)
            both.append((packet.time, last))
        elif packet.psn is not None:
            lost.append((last, packet._replace(
                label=f'never arrives: {packet.label}')))
    return both, lost


def shift(at_a, seen_by_b):
    """How far the clock of node b is behind that of node a, in seconds."""
    return statistics.median([at_a[position].time - time
                              for time, position in seen_by_b] or [0])


def place(said, clock, side, ahead):
    """Each line behind the last packet that its node had seen by then."""
    steps = []
    for line in said:
        before = [position for time, position in clock if time <= line.time]
        steps.append((max(before, default=-1) + 0.5, line.time + ahead,
                      Step(line.time + ahead, side, line, None, None)))
    return steps


def print_ladder(steps, width):
    """A line a step."""
    origin = next(step.time for step in steps if step.packet)
    print(f'{"ms":>9}  {"who":<9}  what is said, or crosses the wire')
    for step in steps:
        if step.packet:
            time = f'{(step.time - origin) * 1e3:9.3f}'
            who, text = ('a ──▶ b' if step.right else 'a ◀── b',
                         step.packet.label)
        else:
            time, who = '', 'server' if step.side == 'a' else 'client'
            text = ('! ' if step.line.error else '') + step.line.text
        print(f'{time:9}  {who:<9}  {lines.shorten(text, width - 22)}')


def main():
    """Reads the arguments and writes what they ask for."""
    parser = Parser(__doc__)
    parser.add_argument('--svg', type=pathlib.Path)
    parser.add_argument('--title', default='')
    parser.add_argument('run', type=folder)
    options = parser.parse_args()
    steps = merge(options.run)
    print_ladder(steps, max(60, shutil.get_terminal_size((160, 24)).columns))
    if options.svg:
        options.svg.write_text(svg.render(steps, options.title),
                               encoding='utf-8')


if __name__ == '__main__':
    main()
