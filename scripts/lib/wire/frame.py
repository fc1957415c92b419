"""The first RDMA WRITE of a capture as a picture, from Ethernet to ICRC.

Usage: frame.py CAPTURE >docs/wire_frame.svg

The bytes and the values are that packet's; tshark says where each field is.
"""
import collections
import html
import subprocess
import sys
import xml.etree.ElementTree

from lib.arguments import Parser

Field = collections.namedtuple('Field', 'layer name tshark meaning')
MAC, ADDRESS = 'link-layer address', 'as in the GID of this end'
FIELDS = (
    Field('Ethernet', 'destination', 'eth.dst', MAC),
    Field('Ethernet', 'source', 'eth.src', MAC),
    Field('Ethernet', 'type', 'eth.type', 'IPv4; 86dd would be IPv6'),
    Field('IPv4', 'total length', 'ip.len', 'all but Ethernet'),
    Field('IPv4', 'protocol', 'ip.proto', 'UDP'),
    Field('IPv4', 'source', 'ip.src', ADDRESS),
    Field('IPv4', 'destination', 'ip.dst', ADDRESS),
    Field('UDP', 'source port', 'udp.srcport',
          'the same for all packets of a queue pair'),
    Field('UDP', 'destination port', 'udp.dstport', '4791: this is RoCE v2'),
    Field('UDP', 'length', 'udp.length', 'from here to the ICRC'),
    Field('UDP', 'checksum', 'udp.checksum', '0: none; the ICRC is better'),
    Field('BTH', 'opcode', 'infiniband.bth.opcode',
          'transport (0: RC) and operation (0x0a: RDMA WRITE Only)'),
    Field('BTH', 'partition key', 'infiniband.bth.p_key', 'the default one'),
    Field('BTH', 'destination QPN', 'infiniband.bth.destqp',
          'which queue pair it is for'),
    Field('BTH', 'PSN', 'infiniband.bth.psn',
          'its number; the bit before it asks for an acknowledgement'),
    Field('RETH', 'virtual address', 'infiniband.reth.va',
          'where in the peer’s memory'),
    Field('RETH', 'rkey', 'infiniband.reth.r_key', 'the permission'),
    Field('RETH', 'length', 'infiniband.reth.dmalen', 'of the whole operation'),
    Field('payload', 'data', 'data.data', 'what is written'),
    Field('ICRC', 'invariant CRC', 'infiniband.invariant.crc',
          'of all that no router changes; no key is in it'),
)
COLOURS = ('#dbe9ff', '#def5de', '#fff1cc', '#ffe0d6', '#eadcff', '#e8e8e8',
           '#d5f2f2')
ROW, TOP, WIDTH = 22, 56, 1000

STYLE = '''
text { font: 12px ui-monospace, "DejaVu Sans Mono", monospace; fill: #1f2328; }
.layer { font-weight: bold; }
.head { fill: #59636e; }
.paper { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
  .paper { fill: #0d1117; }
  .out { fill: #e6edf3; }
  .head { fill: #9da7b3; }
}
'''


def dissect(capture):
    """The places of the fields: name to (position, size, bytes, shown)."""
    result = subprocess.run(
        ['tshark', '-n', '-r', capture, '-T', 'pdml', '-Y',
         'infiniband.bth.opcode == 10'], capture_output=True, text=True,
        check=False)
    if result.returncode or '<packet>' not in result.stdout:
        sys.exit(f'frame: {capture} has no RDMA WRITE Only; '
                 f'{result.stderr.strip()}')
    packet = xml.etree.ElementTree.fromstring(result.stdout).find('packet')
    places, end = {}, 0
    for field in packet.iter('field'):
        position, size = int(field.get('pos', 0)), int(field.get('size', 0))
        places.setdefault(field.get('name'), (
            position, size, field.get('value', ''), field.get('show', '')))
        end = max(end, position + size)
    return places, end


def byte_text(digits):
    """At most eight bytes, with blanks."""
    pairs = [digits[i:i + 2] for i in range(0, len(digits), 2)]
    return ' '.join(pairs[:8]) + (' …' if len(pairs) > 8 else '')


def text(x, y, value, css=''):
    """One text of the picture."""
    return f'<text x="{x}" y="{y}" class="{css}">{html.escape(value)}</text>'


def rows(places):
    """The drawing, a row a field, a colour a layer."""
    layers = list(dict.fromkeys(field.layer for field in FIELDS))
    y, last = TOP, None
    for field in FIELDS:
        position, size, value, _ = places[field.tshark]
        colour = COLOURS[layers.index(field.layer)]
        yield (f'<rect x="8" y="{y}" width="{WIDTH - 16}" height="{ROW - 1}" '
               f'fill="{colour}"/>')
        base = y + 15
        if field.layer != last:
            yield text(16, base, field.layer, 'layer')
        last = field.layer
        yield text(100, base, f'{position:>4}')
        yield text(145, base, f'{size:>4}')
        yield text(195, base, field.name)
        yield text(335, base, byte_text(value))
        yield text(550, base, field.meaning)
        y += ROW


def main():
    """Writes the picture to stdout."""
    parser = Parser(__doc__)
    parser.add_argument('capture')
    places, end = dissect(parser.parse_args().capture)
    height = TOP + ROW * len(FIELDS) + 34
    head = ''.join(text(x, TOP - 10, name, 'head') for x, name in
                   ((16, 'header'), (100, 'byte'), (150, 'size'),
                    (195, 'field'), (335, 'in this packet'),
                    (550, 'what it says')))
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} '
          f'{height}" role="img" aria-label="A packet of RoCE v2, field by '
          f'field">\n<style>{STYLE}</style>\n<rect class="paper" '
          f'width="{WIDTH}" height="{height}"/>')
    print(text(16, 22, f'One RDMA WRITE of {places["data.data"][1]} bytes: '
               f'a frame of {end} bytes', 'layer out'))
    print('\n'.join([head, *rows(places)]))
    print(text(16, height - 10, 'Left out: fields of IPv4 and BTH that are '
               'the same in every packet here.', 'head'))
    print('</svg>')


if __name__ == '__main__':
    main()
