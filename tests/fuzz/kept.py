"""What a fuzzer has kept, as text and as files.

Usage: kept.py unpack FILE DIR
       kept.py pack DIR

A line of FILE is an input: its bytes in hexadecimal digits, with spaces between them
or not. 20*1024 is the byte 20 so many times. Behind # is a comment. Or a line is = and
a text, whose end is a newline, too. `unpack` writes each input to a file of DIR, named
after its line; `pack` prints the lines for those that are in DIR.
"""
import pathlib
import re

from lib.arguments import Parser

REPEATED = re.compile(rb'(.)\1{15,}', re.DOTALL)


def from_line(line: str) -> bytes:
    """The bytes that a line says; nothing for one that is a comment."""
    if line.startswith('='):
        return line[1:].encode() + b'\n'
    digits = re.sub(r'([0-9a-f]{2})\*(\d+)', lambda x: x[1] * int(x[2]),
                    line.partition('#')[0])
    return bytes.fromhex(digits)


def to_line(data: bytes) -> str:
    """In digits; a byte that repeats is there once."""
    parts, at = [], 0
    for run in REPEATED.finditer(data):
        parts += [data[at:run.start()].hex(), f'{run[1].hex()}*{len(run[0])}']
        at = run.end()
    return ' '.join(x for x in [*parts, data[at:].hex()] if x)


def unpack(file: pathlib.Path, folder: pathlib.Path) -> None:
    """A file for each input."""
    for number, line in enumerate(file.read_text().splitlines(), 1):
        data = from_line(line)
        if data:
            (folder / f'line-{number:03}').write_bytes(data)


def main() -> None:
    """Parses the command line, and converts."""
    parser = Parser(__doc__)
    parser.add_argument('what', choices=('unpack', 'pack'))
    parser.add_argument('paths', nargs='+', type=pathlib.Path)
    args = parser.parse_args()
    if len(args.paths) != (2 if args.what == 'unpack' else 1):
        parser.error('unpack needs FILE and DIR, pack DIR')
    if args.what == 'unpack':
        unpack(*args.paths)
        return
    found = sorted((len(x), x) for x in (file.read_bytes() for file in
                                         args.paths[0].iterdir()))
    for _, data in found:
        print(to_line(data))


main()
