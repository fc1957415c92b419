"""What a program said, and when: from strace of its write(2) calls.

strace stops a program at each write, so a line's time is that of the write
itself, on the clock of the node that its packets are stamped with, too.
"""
import collections
import pathlib
import re

Line = collections.namedtuple('Line', 'time label text error')

# 1234 1699999999.123456 write(1, "text\n", 5) = 5
WRITE = re.compile(r'^(?:\d+ +)?(\d+\.\d+) write\(([12]), "((?:[^"\\]|\\.)*)"')
ESCAPE = re.compile(rb'\\(?:([0-7]{1,3})|x([0-9a-f]{2})|(.))')
NAMED = {b'n': b'\n', b't': b'\t', b'r': b'\r', b'v': b'\v', b'f': b'\f'}


# The least telling part of a long line: what every success says.
DULL = re.compile(r' wr_id=0x[0-9a-f]+, status=0 \(success\), ')


def shorten(text, width):
    """At most width characters, without what tells least."""
    if len(text) > width:
        text = DULL.sub(' …', text)
    return text if len(text) <= width else text[:width - 1] + '…'


def unescape(text):
    """The bytes that strace shows as a C string."""
    def one(match):
        octal, hexa, char = match.groups()
        if octal:
            return bytes([int(octal, 8)])
        if hexa:
            return bytes([int(hexa, 16)])
        return NAMED.get(char, char)

    return ESCAPE.sub(one, text.encode())


def logged(path):
    """The lines in the logs of the program whose writes are in path; None if
    there are no logs."""
    logs = pathlib.Path(path).parent / 'logs'
    texts = [log.read_text(encoding='utf-8', errors='replace') for log in
             logs.glob(f'{pathlib.Path(path).stem}.*')]
    return set('\n'.join(texts).split('\n')) if texts else None


def read(path):
    """The lines of one program; its label is the file's name. What a helper of
    its command has written to a pipe is in no log, and is left out."""
    label, known = pathlib.Path(path).stem, logged(path)
    pending, lines = {'1': b'', '2': b''}, []
    started = {}
    for row in pathlib.Path(path).read_text(encoding='utf-8',
                                            errors='replace').splitlines():
        match = WRITE.match(row)
        if not match:
            continue
        time, descriptor, data = match.groups()
        started.setdefault(descriptor, float(time))
        pending[descriptor] += unescape(data)
        # A line may come in several writes: its time is the first one's.
        while b'\n' in pending[descriptor]:
            text, pending[descriptor] = pending[descriptor].split(b'\n', 1)
            lines.append(Line(started.pop(descriptor, float(time)), label,
                              text.decode(errors='replace'),
                              descriptor == '2'))
    return [line for line in lines if known is None or line.text in known]
