#!/usr/bin/python3
"""Finds what docs/troubleshooting.md says about a message.

Usage: explain.py [MESSAGE]              (make explain, make explain E='MESSAGE')
       ./client -a 192.0.2.1 2>&1 | ../scripts/explain.py

Without an argument, passes its input through and, after it, prints the entry for each
kind of message in it that has one. A line that names its entry gets that one; any
other gets the first that says to be for it, in a comment after its anchor,
<!-- says: REGULAR EXPRESSION -->. Of all lines, a flush (status 5) is explained only
if there is nothing else.

Exit status: 0 something is explained, 1 nothing, 2 usage.
"""
import pathlib
import re
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / 'lib'))
from arguments import Parser  # noqa: E402 pylint: disable=C0413

PAGE = pathlib.Path(__file__).resolve().parent.parent / 'docs/troubleshooting.md'
ENTRY = re.compile(r'<a id="([\w-]+)"></a>\n<!-- says: (.*) -->\n#+ (.*)\n'
                   r'((?:(?!<a id=|^## )[\s\S])*?)(?=<a id=|^## |\Z)',
                   re.MULTILINE)
NAMED = re.compile(r'docs/troubleshooting\.md#([\w-]+)')
FLUSH = 'status-5'


def entries(text):
    """[(anchor, pattern, title, text)], in the order of the page."""
    return [(anchor, re.compile(says), title, body.strip())
            for anchor, says, title, body in ENTRY.findall(text)]


def explain(lines, known):
    """The entries for these lines, each once."""
    found = []
    for line in lines:
        named = NAMED.search(line)
        for entry in known:
            if entry[0] == named[1] if named else entry[1].search(line):
                if entry not in found:
                    found.append(entry)
                break
    others = [entry for entry in found if entry[0] != FLUSH]
    return others or found


def main(arguments):
    """Explains the argument or the input; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_argument('message', nargs='?')
    message = parser.parse_args(arguments).message
    lines = [message] if message else []
    if not lines:
        if sys.stdin.isatty():
            print('explain.py: type or paste the error; Ctrl-D ends it',
                  file=sys.stderr)
        for line in sys.stdin:
            print(line, end='', flush=True)
            lines.append(line.rstrip('\n'))
    found = explain(lines, entries(PAGE.read_text('utf-8')))
    for anchor, _, title, body in found:
        print(f'\n== {title}\n   docs/troubleshooting.md#{anchor}\n\n{body}')
    if not found:
        print('explain.py: no entry for this; docs/troubleshooting.md has them all',
              file=sys.stderr)
    return 0 if found else 1


if __name__ == '__main__':
    # Into `| head`: ends as other commands do.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
