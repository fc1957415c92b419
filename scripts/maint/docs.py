#!/usr/bin/python3 -B
"""Puts right what the Markdown says of the code: calls, links to lines, minutes, sizes, tables.

Usage: docs.py [-r ROOT] [--check]

- docs/api_map.md has each call of an RDMA or TLS library, and where it is first used: in the
  first chapter that has it, and there in the order in which its README tells to read the
  files. Calls are those that begin as libibverbs, librdmacm and OpenSSL name theirs, and in
  a chapter that includes linux/rds.h the calls for sockets as well. Names that the chapter
  defines itself are none, and of OpenSSL's those are left out that only plumbing/ has.
- A link to a line of a file names in its title what that line has:

      [rdma.c:117](../01_send_recv/rdma.c#L117 "ibv_alloc_pd")

  Where the line has it no longer, the nearest line that has it is meant. A link to a line of
  C without such a title is an error: nobody would notice when it comes to point elsewhere.
- README.md's table of chapters has a row for each row of chapters.tsv: a link, its concept, and
  the minutes that it takes to read: of its first.c, if it has one, and of all (lesson.sh).
- In a chapter, the table below "The files" has names in its first cell and their lines in the
  second, rounded to tens (`name.[ch]`: of both together); a row whose second cell is empty
  is left alone. The first line below the README's heading has the command that prints the
  lesson, and how many lines that is.
- The table of the cases in reference.md (or README.md) has a row for each folder in
  CHAPTER/break, with the question that the README.md there begins with, and the command
  that runs the case. Rows keep their order, new ones come last.
- docs/links.md lists each entry of docs/troubleshooting.md that an error of the programs names,
  with the chapter's page that opens the lab with a case that ends so. An address that was
  listed once stays, so its entry must, too.

  --check   write nothing; say what is not as it should be
  -r ROOT   the tree to work on (default: the one this script is in)

Exit status: 0 all is right (now), 1 not, 2 usage.
"""
import pathlib
import re
import sys

from lib.arguments import Parser
from lib.cases import cases, parts
from lib.chapters import chapters, folders
from lib.files import files_of
from lib.lesson import both_paths, reading_order, sentence

TOP = pathlib.Path(__file__).resolve().parents[2]
MAP = 'docs/api_map.md'


class Pages:
    """The Markdown of a tree as it should be, and what only a person can put right."""

    def __init__(self, root):
        self.root, self.due, self.wrong = root, {}, []

    def text(self, name):
        """As it should be, as far as is known by now."""
        if name not in self.due:
            path = self.root / name
            return path.read_text('utf-8') if path.is_file() else ''
        return self.due[name]

    def files(self, pattern):
        """The names of those that there are."""
        return sorted(str(path.relative_to(self.root)) for path in self.root.glob(pattern))

    def finish(self, check):
        """Writes those that are not as they should be; or says which, and what they have not."""
        for name, text in self.due.items():
            path = self.root / name
            old = path.read_text('utf-8') if path.is_file() else ''
            if text == old:
                continue
            if check:
                have = set(old.split('\n'))
                lines = [line for line in text.split('\n') if line not in have]
                self.wrong.append('\n\t'.join([f'{name} is not up to date; `make docs` puts it right', *lines[:20]]))
                continue
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, 'utf-8')


# Calls

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
MAP_HEAD = '''# Every call, and where you meet it first

Each call of libibverbs, librdmacm, OpenSSL and RDS that the chapters make, and the line where it is first used. Where a
chapter makes a call in several files, the one named is that which its README tells to read first. Of OpenSSL's, those
that only a `plumbing/` makes are left out.

Read the man page beside the line: `man ibv_post_send`. They are in Debian's packages `libibverbs-dev`,
`librdmacm-dev`, `libssl-doc` and `manpages-dev`. (`ibv_wc_status_str` has none; `ibv_poll_cq(3)` has the statuses.)
`rds(7)` and `rds-rdma(7)` belong to rds-tools, which Debian does not have.

`make docs` writes this page, and a test compares it with the code.
'''


def without_comments(text):
    """The code alone; every line stays where it is."""
    return COMMENT_OR_STRING.sub(lambda match: re.sub(r'[^\n]', ' ', match[0]), text)


def calls_of(chapter):
    """(library, call, file, line) of a chapter, in reading order."""
    texts = {path.relative_to(chapter).as_posix(): path.read_text('utf-8')
             for folder in (chapter, chapter / 'carried', chapter / 'plumbing') for path in folder.glob('*.[ch]')}
    sources = {name: without_comments(text) for name, text in texts.items()}
    rds = any('linux/rds.h' in text for text in texts.values())
    own = {name for text in sources.values() for name in DEFINITION.findall(text)}
    order = {name: at for at, name in enumerate(reading_order(chapter))}
    for name in sorted(sources, key=lambda name: (order.get(name.rpartition('/')[2], len(order)), name)):
        for library, (_, _, pattern) in enumerate(LIBRARIES):
            if library == RDS and not rds or library == TLS and 'plumbing/' in name:
                continue
            for match in re.finditer(rf'(?<![\w.>])({pattern})\s*\(', sources[name]):
                if match[1] not in own:
                    yield library, match[1], name, sources[name].count('\n', 0, match.start()) + 1


def calls(pages):
    """The map of them."""
    found = {}
    for chapter in folders(pages.root):
        # One that is not yet told of is not yet there.
        if (pages.root / chapter / 'README.md').exists():
            for library, call, name, line in calls_of(pages.root / chapter):
                found.setdefault(library, {}).setdefault(call, (f'{chapter}/{name}', line))
    pages.due[MAP] = MAP_HEAD
    for library, (title, source, _) in enumerate(LIBRARIES):
        if library in found:
            pages.due[MAP] += f'\n## {title}\n\n{len(found[library])} calls of {source}.\n\n' + ''.join(
                f'- `{call}`: [{name}:{line}](../{name}#L{line})\n'
                for call, (name, line) in sorted(found[library].items(), key=lambda item: item[0].lower()))


# Tables, and what a README says of its chapter

def table_of_chapters(pages):
    """In README.md."""
    rows, sums = '', [0, 0]
    for name, chapter in chapters(pages.root).items():
        if (pages.root / name / 'README.md').is_file():
            paths = both_paths(pages.root / name)
            sums = [sum(pair) for pair in zip(sums, paths)]
            rows += (f'| [{name}]({name}/README.md) | {chapter.concept} | '
                     f'{paths[0] or "–"} | {paths[1]} |\n')
        elif (pages.root / name).is_dir():
            pages.wrong.append(f'{name} has no README.md')
    rows += f'| together | | {sums[0]} | {sums[1]} |\n'
    for chapter in sorted(set(folders(pages.root)) ^ set(chapters(pages.root) or folders(pages.root))):
        pages.wrong.append(f'{chapter} needs a row in chapters.tsv, and a folder with a Makefile')
    pages.due['README.md'] = re.sub(r'^(\| chapter \|.*\n\|[-|:]+\n)(\|.*\n)*', lambda head: head[1] + rows,
                                    pages.text('README.md'), count=1, flags=re.MULTILINE)


def sizes(pages):
    """The lines of each chapter's files, and of its lesson."""
    for name in pages.files('[0-9][0-9]_*/README.md') + pages.files('[0-9][0-9]_*/reference.md'):
        folder = (pages.root / name).parent

        def cell(row, folder=folder):
            have = [sum(file.read_text('utf-8').count('\n') for file in folder.glob(name))
                    for name in re.findall(r'`([^`]+)`', row[1])]
            return f'| {row[1]} | {", ".join(str((size + 5) // 10 * 10) for size in have)} |'

        text = re.sub(r'^## The files.*?^## ', lambda section, cell=cell: re.sub(
            r'^\| (`[^|]*`) \| [\d, ]+ \|', cell, section[0], flags=re.MULTILINE), pages.text(name),
                      flags=re.MULTILINE | re.DOTALL)
        if name.endswith('README.md'):
            # Below the heading and a blank line.
            lines = text.split('\n')
            told = '`make lesson CH=' in ''.join(lines[2:3])
            text = '\n'.join([*lines[:2], sentence(folder), *lines[3 if told else 1:]])
        pages.due[name] = text


CASES_HEAD = '| case | what it asks | the command |\n|---|---|---|\n'
CASES = re.compile(re.escape(CASES_HEAD) + r'(?:\|.*\n)*')


def tables_of_cases(pages):
    """In each chapter's reference.md, or README.md."""
    for folder in sorted(pages.root.glob('[0-9][0-9]_*/break')):
        chapter = folder.parent
        name = f'{chapter.name}/reference.md'
        if not (pages.root / name).is_file():
            name = f'{chapter.name}/README.md'
        now = CASES_HEAD + ''.join(
            f'| [{case.name}](break/{case.name}/README.md) | {parts(case)[0]} | '
            f'`make break CH={chapter.name[:2]} CASE={case.name}` |\n' for case in cases(chapter))
        pages.due[name], count = CASES.subn(lambda _, now=now: now, pages.text(name), count=1)
        if not count:
            pages.wrong.append(f'{name} has no table of the cases')


# Addresses of errors that others may link to

NAMED = re.compile(r'\[docs/troubleshooting\.md#([a-z0-9-]+)\]')
LISTED = re.compile(r'(?m)^- \[`([a-z0-9-]+)`\]\(troubleshooting\.md#')
ADDRESSES_HEAD = """# Addresses to link to

Each error that the programs name has an address, which stays. In the pages that `make web` makes, the second one opens
the lab with a case that ends with this error (`make break` runs it, too).

"""


def addresses(pages):
    """docs/links.md."""
    def named(*patterns):
        return {entry: path for path in sorted((path for each in patterns for path in pages.root.glob(each)),
                                               reverse=True) for entry in NAMED.findall(path.read_text('utf-8'))}

    listed = LISTED.findall(pages.text('docs/links.md'))
    pages.wrong += [f'docs/links.md: others may link to docs/troubleshooting.md#{entry}, which is gone'
                    for entry in listed if f'<a id="{entry}"></a>' not in pages.text('docs/troubleshooting.md')]
    ends, text = named('[0-9]*_*/break/*/*.err'), ADDRESSES_HEAD
    for entry in sorted({*listed, *named('[0-9]*_*/*.c', '[0-9]*_*/*/*.c')}):
        text += f'- [`{entry}`](troubleshooting.md#{entry})'
        if case := ends.get(entry):
            text += f': `{case.parents[2].name}/index.html?lab&case={case.parent.name}`'
        text += '\n'
    pages.due['docs/links.md'] = text


# Links to lines

# One in backticks is an example.
LINK = re.compile(r'(?<!`)\[([^\]]*)\]\(([^()\s#]+\.[ch])#L(\d+)(?:\s+"([^"]*)")?\)')


def links_to_lines(pages):
    """In all Markdown that git does not ignore."""
    for name in files_of(pages.root, '*.md'):
        if name != MAP:
            pages.due[name] = LINK.sub(lambda match, name=name: link(pages, name, match), pages.text(name))


def link(pages, name, match):
    """It as it should be."""
    text, target, number, needle = match.groups()
    where, file = f'{name}: {target}#L{number}: ', (pages.root / name).parent / target
    if needle is None:
        pages.wrong.append(where + 'the title does not say what the line has')
    elif not file.is_file():
        pages.wrong.append(where + 'no such file')
    else:
        having = [n for n, line in enumerate(file.read_text('utf-8').split('\n'), 1) if needle in line]
        due = min(having, key=lambda n: abs(n - int(number)), default=0)
        if due:
            return f'[{text.replace(":" + number, f":{due}")}]({target}#L{due} "{needle}")'
        pages.wrong.append(where + f'no line has "{needle}"')
    return match[0]


def main(arguments):
    """Writes or checks all; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_root(TOP)
    parser.add_argument('--check', action='store_true')
    options = parser.parse_args(arguments)
    pages = Pages(options.root)
    # The last one looks at what the others have made.
    for part in calls, table_of_chapters, sizes, tables_of_cases, addresses, links_to_lines:
        part(pages)
    pages.finish(options.check)
    print(*pages.wrong, sep='\n', end='\n' if pages.wrong else '')
    return 1 if pages.wrong else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
