"""What a program said, and when: from what `pair.sh -t` leaves, whose clock is that of the node
which stamps the program's packets, too."""
import collections
import pathlib
import re

Line = collections.namedtuple('Line', 'time label text error')

# The least telling part of a long line: what every success says.
DULL = re.compile(r' wr_id=0x[0-9a-f]+, status=0 \(success\), ')


def shorten(text, width):
    """At most width characters, without what tells least."""
    if len(text) > width:
        text = DULL.sub(' …', text)
    return text if len(text) <= width else text[:width - 1] + '…'


def read(path):
    """The lines of one program, LABEL.times: in each the time, | or !, and what was said."""
    path = pathlib.Path(path)
    for line in path.read_text('utf-8', 'replace').splitlines():
        at, mark, text = (line.split(' ', 2) + [''])[:3]
        yield Line(float(at), path.stem, text, mark == '!')
