#!/usr/bin/python3 -B
"""Writes docs/api_map.md: each call of an RDMA or TLS library, and where it is
first used.

Usage: api_map.py [-r ROOT] [--check]

The first use is in the first chapter that has the call; within a chapter, in
the order in which its README.md tells to read the files. Calls are those that
begin as libibverbs, librdmacm and OpenSSL name theirs, and in a chapter that
includes linux/rds.h the calls for sockets as well. Names that the chapter
defines itself are none, and of OpenSSL's those are left out that only plumbing/
has.

  --check   write nothing; say which lines are not as the code is
  -r ROOT   the tree to work on (default: the one this script is in)

Exit status: 0 written or up to date, 1 not up to date, 2 usage.
"""
import pathlib
import re
import sys

from lib.arguments import Parser
from lib.md_text import looked_up

TOP = pathlib.Path(__file__).resolve().parents[2]
MAP = 'docs/api_map.md'
# How many differences are shown.
SHOWN = 30

# Title, where it comes from, what its calls look like.
LIBRARIES = [
    ('Verbs', 'libibverbs, `infiniband/verbs.h`', r'ibv_[a-z0-9_]+'),
    ('The connection manager', 'librdmacm, `rdma/rdma_cma.h` and `rdma/rdma_verbs.h`', r'rdma_[a-z0-9_]+'),
    ('TLS', 'OpenSSL 3, libssl and libcrypto', r'(?:SSL|ERR|RAND|X509|TLS|EVP|CRYPTO|OPENSSL|BIO|PEM)_[A-Za-z0-9_]+'),
    ('Reliable datagram sockets', 'the kernel, `linux/rds.h`',
     r'socket|bind|connect|sendto|sendmsg|recvfrom|recvmsg|setsockopt|getsockopt|poll'),
]
TLS, RDS = 2, 3

COMMENT_OR_STRING = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
# A definition or declaration begins in the first column.
DEFINITION = re.compile(r'^\w[\w\s*]*?\b(\w+)\(', re.MULTILINE)

HEAD = '''# Every call, and where you meet it first

Each call of libibverbs, librdmacm, OpenSSL and RDS that the chapters make, and the line where it is first used. Where a
chapter makes a call in several files, the one named is that which its README tells to read first. Of OpenSSL's, those
that only a `plumbing/` makes are left out.

Read the man page beside the line: `man ibv_post_send`. They are in Debian's packages `libibverbs-dev`,
`librdmacm-dev`, `libssl-doc` and `manpages-dev`. (`ibv_wc_status_str` has none; `ibv_poll_cq(3)` has the statuses.)
`rds(7)` and `rds-rdma(7)` belong to rds-tools, which Debian does not have.

This page is written by `scripts/maint/api_map.py`, and a test compares it with the code.
'''


def without_comments(text):
    """The code alone; every line stays where it is."""
    return COMMENT_OR_STRING.sub(
        lambda match: re.sub(r'[^\n]', ' ', match[0]), text)


def reading_order(readme, names):
    """names, in the order in which the README's list of files has them."""
    section = re.search(r'^## The files.*?(?=^## |\Z)', readme,
                        re.MULTILINE | re.DOTALL)
    told = {}
    for name in re.findall(r'`([\w.\[\]]+)`', section[0] if section else ''):
        for one in (name.replace('[ch]', 'h'), name.replace('[ch]', 'c')):
            told.setdefault(one, len(told))
    return sorted(names, key=lambda name: (
        told.get(name.rpartition('/')[2], len(told)), name))


def files(chapter):
    """The C files of a chapter, by their path in it."""
    return {path.relative_to(chapter).as_posix(): path.read_text('utf-8')
            for folder in (chapter, chapter / 'carried', chapter / 'plumbing')
            for path in folder.glob('*.[ch]')}


def calls_of(chapter):
    """(library, call, file, line) of a chapter, in reading order."""
    texts = files(chapter)
    sources = {name: without_comments(text) for name, text in texts.items()}
    rds = any('linux/rds.h' in text for text in texts.values())
    own = {name for text in sources.values() for name in DEFINITION.findall(text)}
    for name in reading_order(looked_up(chapter), sources):
        for library, (_, _, pattern) in enumerate(LIBRARIES):
            if library == RDS and not rds or library == TLS and 'plumbing/' in name:
                continue
            for match in re.finditer(rf'(?<![\w.>])({pattern})\s*\(',
                                     sources[name]):
                if match[1] not in own:
                    line = sources[name].count('\n', 0, match.start()) + 1
                    yield library, match[1], name, line


def collect(root):
    """{library: {call: (chapter, file, line)}}"""
    found = {}
    for makefile in sorted(root.glob('[0-9][0-9]_*/Makefile')):
        chapter = makefile.parent
        # One that is not yet told of is not yet there.
        if not (chapter / 'README.md').exists():
            continue
        for library, call, name, line in calls_of(chapter):
            found.setdefault(library, {}).setdefault(call, (chapter.name, name, line))
    return found


def page(found):
    """The text of the map."""
    lines = [HEAD]
    for library, (title, source, _) in enumerate(LIBRARIES):
        if library not in found:
            continue
        lines += [f'## {title}', '', f'{len(found[library])} calls of {source}.', '']
        for call, (chapter, name, line) in sorted(
                found[library].items(), key=lambda item: item[0].lower()):
            lines.append(f'- `{call}`: [{chapter}/{name}:{line}](../{chapter}/{name}#L{line})')
        lines.append('')
    return '\n'.join(lines)


def compare(new, old):
    """Says what differs; returns the exit status."""
    if new == old:
        print(f'{MAP}: as the code is')
        return 0
    was, due = set(old.split('\n')), set(new.split('\n'))
    wrong = [f'has not: {line}' for line in new.split('\n') if line not in was]
    wrong += [f'still has: {line}' for line in old.split('\n')
              if line not in due]
    for line in wrong[:SHOWN]:
        print(f'{MAP} {line}')
    if len(wrong) > SHOWN:
        print(f'and {len(wrong) - SHOWN} more')
    print('scripts/maint/api_map.py writes it anew')
    return 1


def main(arguments):
    """Writes or checks the map; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_root(TOP)
    parser.add_argument('--check', action='store_true')
    options = parser.parse_args(arguments)
    root, check = options.root, options.check
    new = page(collect(root))
    path = root / MAP
    old = path.read_text('utf-8') if path.exists() else ''
    if check:
        return compare(new, old)
    path.parent.mkdir(exist_ok=True)
    path.write_text(new, 'utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
