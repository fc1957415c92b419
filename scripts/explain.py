#!/usr/bin/python3 -B
"""Finds what docs/troubleshooting/ says about a message of any RDMA program.

Usage: explain.py [MESSAGE]              (make explain, make explain E='MESSAGE')
       ./client -a 192.0.2.1 2>&1 | ../scripts/explain.py

Without an argument, passes its input through. Of several lines it looks for the
first cause: the first line that has an entry, leaving aside what follows from
something else, such as a flush (status 5), unless there is nothing else. It prints
that entry, says how sure it is, names the two next best entries, and those of the
other lines. If it finds none, it names entries and questions (docs/faq.md) that have
the same rare words.

The patterns of an entry are in two places: in a comment before the entry's heading,
<!-- says: REGULAR EXPRESSION -->, for the messages of the programs here; and in
scripts/lib/explain.tsv, for those of all other programs. A line that names its entry
gets that one.

Exit status: 0 something is explained, 1 nothing, 2 usage.
"""
import collections
import dataclasses
import math
import pathlib
import re
import signal
import sys

from lib.arguments import Parser
from lib.printable import printable

HERE = pathlib.Path(__file__).resolve().parent

TOP = HERE.parent
PAGES = TOP / 'docs/troubleshooting'
QUESTIONS = TOP / 'docs/faq.md'
TABLE = HERE / 'lib/explain.tsv'
ENTRY = re.compile(r'<a id="([\w-]+)"></a>\n(?:<!-- says: (.*) -->\n)?#+ (.*)\n'
                   r'((?:(?!<a id=|^## )[\s\S])*?)(?=<a id=|^## |\Z)',
                   re.MULTILINE)
QUESTION = re.compile(r'^### (.*)\n((?:(?!^##)[\s\S])*)', re.MULTILINE)
NAMED = re.compile(r'docs/troubleshooting(?:/\w+)?\.md#([\w-]+)')
# What is looked at of a line: no message is longer, and the patterns take their time.
MOST = 1000
WORD = re.compile('[A-Za-z]{2}')
# How sure a hit is; a hit by a longer text is the better one of two.
SURE = {'likely': 1, 'sure': 2, 'certain': 3}
# What words must have in common with an entry to be worth naming it, if nothing else
# leads there: about two words that few entries have. A word of its title counts twice.
WORTH = 8
# What a line of a log must say for its words to be looked for.
TROUBLE = re.compile(r'error|fail|warn|fatal|unable|cannot|could ?n.t|invalid|refused|'
                     r'denied|time(d )?out|not ', re.IGNORECASE)


@dataclasses.dataclass
class Entry:
    """An entry of a page, and the patterns that lead to it."""
    anchor: str
    title: str
    body: str
    page: str
    patterns: list = dataclasses.field(default_factory=list)
    follows: bool = False


@dataclasses.dataclass
class Hit:
    """A line and the entries for it, the best one first."""
    line: str
    number: int
    sure: str
    entries: list


def plain(line):
    """The words of a line: lower case, no punctuation, but negative numbers."""
    words = re.sub(r'(?<!\w)-(?=\d)', '\0', line.lower())
    words = re.sub(r'[^a-z0-9_\0]+', ' ', words)
    return words.replace('\0', '-').strip()


def read_entries():
    """The entries by anchor, with their patterns of both places."""
    entries = {}
    for path in sorted(PAGES.glob('*.md')):
        for anchor, says, title, body in ENTRY.findall(path.read_text('utf-8')):
            entries[anchor] = Entry(anchor, title, body.strip(),
                                    str(path.relative_to(TOP)))
            if says:
                entries[anchor].patterns.append(('sure', re.compile(says), False))
    for row in TABLE.read_text('utf-8').splitlines():
        if row and not row.startswith('#'):
            add_row(entries, *row.split('\t'))
    return entries


def read_questions(page):
    """The questions of the page, each under the anchor that its heading has."""
    return [Entry(re.sub(r'[^\w\- ]', '', title.lower()).replace(' ', '-'), title,
                  body, 'docs/faq.md')
            for title, body in QUESTION.findall(page)]


def add_row(entries, anchor, kind, pattern=''):
    """A row of the table. A star in the anchor stands for each number for which
    there is an entry, and N for that number in the pattern."""
    if '*' in anchor:
        start = anchor.rstrip('*')
        for name in [n for n in entries if n.startswith(start)]:
            add_row(entries, name, kind,
                    pattern.replace('N', name[len(start):]))
    elif kind == 'follows':
        entries[anchor].follows = True
    else:
        whole = re.compile(rf'(?<![\w-])(?:{pattern})(?!\w)')
        entries[anchor].patterns.append((kind, whole, True))


def best_match(entry, line, words):
    """How sure and how long the best match is; (0, 0) without one."""
    best = (0, 0)
    for sure, pattern, of_words in entry.patterns:
        match = pattern.search(words if of_words else line)
        if match:
            best = max(best, (SURE[sure], len(match[0])))
    return best


def look_up(line, number, entries):
    """The hit of one line, or None."""
    line = line[:MOST]
    if not WORD.search(line):
        return None
    named = NAMED.search(line)
    if named and named[1] in entries:
        return Hit(line, number, 'certain', [entries[named[1]]])
    words = plain(line)
    scores = [(best_match(entry, line, words), entry)
              for entry in entries.values()]
    scores = [score for score in scores if score[0][0]]
    if not scores:
        return None
    scores.sort(key=lambda score: score[0], reverse=True)
    level = scores[0][0][0]
    return Hit(line, number, next(s for s, n in SURE.items() if n == level),
               [entry for _, entry in scores])


def first_cause(hits):
    """The first hit that is not what follows from something else, or the first."""
    causes = [hit for hit in hits if not hit.entries[0].follows]
    return (causes or hits)[0]


def by_words(line, entries):
    """The entries that have the line's rare words, as (how much, entry), the best
    one first."""
    line = line[:MOST]
    texts = [set(plain(f'{e.title} {e.body}').split()) for e in entries]
    count = collections.Counter(w for text in texts for w in text)
    rare = {w: math.log(len(texts) / count[w])
            for w in set(plain(line).split()) if count[w]}
    scores = [(sum(n for w, n in rare.items() if w in text)
               + sum(rare.get(w, 0) for w in set(plain(entry.title).split())), entry)
              for entry, text in zip(entries, texts)]
    return sorted(scores, key=lambda score: score[0], reverse=True)


def next_best(hit, entries):
    """Two more entries: what else the line hit, then by words that are rare."""
    others = hit.entries[1:] + [
        entry for common, entry in by_words(hit.line, list(entries.values()))
        if entry not in hit.entries and common > 2]
    return [e.anchor for e in others if not e.follows][:2]


def nearest(lines, entries):
    """The three entries and questions that have most of the words of one line; of a
    log, of one of the first lines that speak of trouble."""
    best = {}
    if len(lines) > 1:
        lines = [line for line in lines if TROUBLE.search(line[:MOST])][:20]
    for line in lines:
        for common, entry in by_words(line, entries):
            if common > max(WORTH, best.get(entry.title, (0, None))[0]):
                best[entry.title] = (common, entry)
    scores = sorted(best.values(), key=lambda score: score[0], reverse=True)
    return [entry for _, entry in scores[:3]]


def show(hits, entries):
    """Prints the entry of the first cause, and names the others."""
    hit = first_cause(hits)
    entry = hit.entries[0]
    print(f'\n== {entry.title}\n   {entry.page}#{entry.anchor}'
          f' ({hit.sure})')
    if hit.number:
        print(f'   line {hit.number}: {printable(hit.line.strip())}')
    print(f'\n{entry.body}')
    others = next_best(hit, entries)
    if others and hit.sure != 'certain':
        print(f'\nNext best: {", ".join("#" + anchor for anchor in others)}')
    seen = {entry.anchor}
    for other in hits:
        name = other.entries[0].anchor
        if name not in seen and not other.entries[0].follows:
            print(f'Line {other.number} has one, too: #{name}')
        seen.add(name)


def main(arguments):
    """Explains the argument or the input; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_argument('message', nargs='?')
    message = parser.parse_args(arguments).message
    lines = message.splitlines() if message else []
    if not lines:
        if sys.stdin.isatty():
            print('explain.py: type or paste the error; Ctrl-D ends it',
                  file=sys.stderr)
        sys.stdin.reconfigure(errors='surrogateescape')
        for line in sys.stdin:
            print(printable(line), end='', flush=True)
            lines.append(line.rstrip('\n'))
    entries = read_entries()
    # A line that comes again says nothing new.
    first = {line: number for number, line in reversed(list(enumerate(lines, 1)))}
    hits = [look_up(line, number if len(lines) > 1 else 0, entries)
            for line, number in sorted(first.items(), key=lambda item: item[1])]
    hits = [hit for hit in hits if hit]
    if hits:
        show(hits, entries)
        return 0
    print('explain.py: no entry for this; docs/troubleshooting.md has them all',
          file=sys.stderr)
    near = nearest(lines, list(entries.values())
                   + read_questions(QUESTIONS.read_text('utf-8')))
    if near:
        print('By their words alone, these are the nearest:')
    for entry in near:
        print(f'  {entry.title}\n    {entry.page}#{entry.anchor}')
    return 1


if __name__ == '__main__':
    # Into `| head`: ends as other commands do.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
