#!/usr/bin/python3 -B
"""Finds what docs/troubleshooting/ and docs/faq.md say about a message of any RDMA program.

Usage: explain.py [MESSAGE]              (make explain, make explain E='MESSAGE')
       ./client -a 192.0.2.1 2>&1 | ../scripts/explain.py

Without an argument, passes its input through. A line is taken apart: objects, what was done to them,
states, statuses and errnos, by name or number. scripts/lib/explain.tsv says which parts lead to which
entry. It prints the best entry and two more, with the reason: the parts that fit, or words in common
with it or with a rule that nearly fits. "sure" is only what a status, an errno or an event in the line
proves, if nothing else in the line may be the cause. Of several lines it takes the first that has an
entry, leaving aside what follows from something else, such as a flush (status 5), unless there is nothing
else. A line that names its entry gets that one.

Exit status: 0 a rule fits, 1 there are only common words, 2 usage.
"""
import collections
import dataclasses
import errno
import functools
import math
import os
import pathlib
import re
import signal
import sys

from lib.arguments import Parser
from lib.printable import printable

TOP = pathlib.Path(__file__).resolve().parent.parent
PAGES = TOP / 'docs/troubleshooting'
QUESTIONS = TOP / 'docs/faq.md'
TABLE = TOP / 'scripts/lib/explain.tsv'
ENTRY = re.compile(r'<a id="([\w-]+)"></a>\n#+ (.*)\n((?:(?!<a id=|^## )[\s\S])*?)(?=<a id=|^## |\Z)', re.MULTILINE)
QUESTION = re.compile(r'^### (.*)\n((?:(?!^##)[\s\S])*)', re.MULTILINE)
NAMED = re.compile(r'docs/troubleshooting(?:/\w+)?\.md#([\w-]+)')
# What is looked at of a line, and of a log: no message is longer.
MOST = 1000
MOST_LINES = 20000
WORD = re.compile('[A-Za-z]{2}')
SURE = {'likely': 1, 'sure': 2, 'certain': 3}
# What a line must have in common with an entry to be worth naming it, if there is nothing else: about a
# word that few entries have. What fits of the entry's rules and hints counts three times more, and the
# words of these that the line lacks are taken off.
WORTH = 6
# How much more an entry must have in common with a line to go before one that its rules put before it.
AHEAD = 6
# What a line of a log must say for its words to be looked for.
TROUBLE = re.compile(r'error|fail|warn|fatal|unable|cannot|could ?n.t|invalid|refused|denied|time(d )?out|not ', re.I)
NUMBER = re.compile(r'-?\d{1,3}|0x[\da-f]{1,2}')
# The words before a number that is an errno or a status; what makes it a status; and what
# makes it an errno all the same.
BEFORE = set('status errno error err return code success with fail rtr cqe'.split())
STATUS_OF = {'completion', 'cq', 'cqe', 'vendor'}
ERRNO_OF = {'create', 'modify', 'reg', 'post', 'open', 'connect', 'accept', 'fi'}
# Whose status it is for certain; or with a completion's error of the vendor.
WC = {'wc', 'wr', 'wrid', 'work request', 'work requests'}


@dataclasses.dataclass
class Entry:
    """An entry of a page, or a question; follows: it is never the first cause."""
    anchor: str
    title: str
    body: str
    page: str
    follows: bool = False


@dataclasses.dataclass
class Hit:
    """A line, and its entries with the reason for each, the best one first."""
    line: str
    number: int
    sure: str
    found: list


def plain(line):
    """The words of a line: see the table."""
    line = re.sub(r'(?<=[a-z]{2})(?=[A-Z])', ' ', line).lower()
    line = re.sub(r'(?<![a-z0-9_])-(?=\d)', '\0', line)
    return re.sub(r'[^a-z0-9\0]+', ' ', line).replace('\0', '-').split()


class Table:
    """The entries and questions by anchor, the words that are a token, and the tokens that lead to an entry."""

    def __init__(self):
        self.entries, self.rules, self.phrases = {}, [], collections.defaultdict(list)
        self.objects, self.doubts = set(), set()
        for path in sorted(PAGES.glob('*.md')):
            for anchor, title, body in ENTRY.findall(path.read_text('utf-8')):
                self.entries[anchor] = Entry(anchor, title, body.strip(), str(path.relative_to(TOP)))
        for title, body in QUESTION.findall(QUESTIONS.read_text('utf-8')):
            anchor = re.sub(r'[^\w\- ]', '', title.lower()).replace(' ', '-')
            self.entries[f'faq:{anchor}'] = Entry(anchor, title, body.strip(), 'docs/faq.md')
        for number, name in errno.errorcode.items():
            self.add_words(name, ' '.join(plain(os.strerror(number))))
        for row in TABLE.read_text('utf-8').splitlines():
            if row.startswith('='):
                self.add_words(*row.split('\t')[1:])
            elif row.startswith('?'):
                self.objects.update(row.split()[1:])
            elif row.startswith('!'):
                self.doubts.update(row.split()[1:])
            elif row and row[0] != '#':
                self.add_rules(*row.split('\t'))
        for phrases in self.phrases.values():
            phrases.sort(key=lambda one: -len(one[0]))
        self.used = {token for *_, words, none in self.rules for token in sum(words, none)} | self.objects | self.doubts

    def add_words(self, token, words):
        """A token, and what a line may have for it."""
        for phrase in words.split(', ') + [token.lower()]:
            first, *rest = phrase.split()
            self.phrases[first].append((rest, token))

    def add_rules(self, anchor, rules):
        """The rules of an entry: (entry, 2: can be sure, 1: cannot, 0: a hint; tokens, tokens that must not be)."""
        if '*' in anchor:
            for name in [n for n in self.entries if re.fullmatch(anchor.replace('*', r'\d+'), n)]:
                self.add_rules(name, rules.replace('*', re.sub(r'\D', '', name)))
        elif rules == 'follows':
            self.entries[anchor].follows = True
        else:
            for rule in rules.split(' / '):
                words = rule.lstrip('~ ').split()
                self.rules.append((anchor.lstrip('~'), 0 if anchor[0] == '~' else 1 if rule[0] == '~' else 2,
                                   [w.split('|') for w in words if w[0] != '!'], [w[1:] for w in words if w[0] == '!']))

    def parts(self, line):
        """The line's tokens, in order, each with the words that it is made of."""
        words, found, at = plain(line), [('our', 'error')] if line.startswith('error: ') else [], 0
        while at < len(words):
            size, token = next(((len(rest) + 1, token) for rest, token in self.phrases.get(words[at], ())
                                if words[at + 1:at + 1 + len(rest)] == rest), (1, words[at]))
            found.append((token, ' '.join(words[at:at + size])))
            at += size
        return found + numbers(found)

    @functools.lru_cache(1000)
    def match(self, have):
        """The rules that fit these tokens: (how sure, how many, entry, tokens), the best one first."""
        best = {}
        for anchor, level, words, none in self.rules:
            used = [next((token for token in some if token in have), None) for some in words] if level else [None]
            if None not in used and not have.intersection(none):
                proofs = [token for token in used if token.isupper()]
                sure = level == 2 and self.proven(proofs, have.difference(*words))
                one = (1 + sure, len(used) + 2 * len(proofs), anchor, used)
                if one[:2] > best.get(anchor, (0, 0))[:2]:
                    best[anchor] = one
        # What only follows from something is second to what is as sure.
        return sorted(best.values(), key=lambda one: (-one[0], self.entries[one[2]].follows, -one[1]))

    def proven(self, proofs, others):
        """Is there a proof, and in the rest of the line no other one, nor anything else that an errno may be of?"""
        by_errno = all(token[0] == 'E' for token in proofs)
        return bool(proofs) and others.isdisjoint(self.doubts) and not any(token.isupper() and token[0] != 'E' or by_errno and
                                        (token.isupper() or token in self.objects) for token in others)

    def look_up(self, line, number=0):
        """The hit of one line, or None."""
        named = NAMED.search(line[:MOST])
        if named and named[1] in self.entries:
            return Hit(line, number, 'certain', [(self.entries[named[1]], 'the line names it')])
        words = dict(self.parts(line[:MOST]))
        hits = self.match(frozenset(token for token in words if token in self.used or token.isupper()))
        return Hit(line, number, 'sure' if hits[0][0] == 2 else 'likely',
                   [(self.entries[anchor], ', '.join(dict.fromkeys(words[token] for token in used)))
                    for _, _, anchor, used in hits]) if hits else None

    @functools.cached_property
    def words(self):
        """The words of each entry and its rules; and how rare each is that can be looked for."""
        texts = {name: {token for token, _ in self.parts(f'{e.title} {e.body}')} for name, e in self.entries.items()}
        for anchor, _, words, _ in self.rules:
            texts[anchor].update(*words)
        count = collections.Counter(word for text in texts.values() for word in text if WORD.search(word))
        return texts, {word: math.log(len(texts) / number) for word, number in count.items()}

    def by_words(self, lines):
        """The entries that have rare words of one of the lines, as (how much, entry, the words), the best one first."""
        texts, all_rare = self.words
        best = {}
        for line in lines:
            rare = {word: all_rare[word] for word, _ in self.parts(line[:MOST]) if word in all_rare}
            nearly = collections.Counter()
            for anchor, _, words, none in self.rules:
                fits = [max((rare[w] for w in some if w in rare), default=-min(all_rare.get(w, WORTH) for w in some))
                        for some in words]
                nearly[anchor] = max(nearly[anchor], sum(fits) if rare.keys().isdisjoint(none) else 0)
            for anchor, text in texts.items():
                common = 3 * nearly[anchor] + sum(rare[word] for word in rare if word in text)
                if common > best.get(anchor, (0,))[0]:
                    words = sorted((w for w in rare if w in text), key=rare.get, reverse=True)[:4]
                    best[anchor] = (common, self.entries[anchor], f'in common: {", ".join(words)}')
        return sorted(best.values(), key=lambda one: one[0], reverse=True)

    def three(self, hit, lines):
        """At most three pairs of an entry and the reason for it: of the hit, and of the lines' words."""
        found, near = hit.found[:] if hit else [], self.by_words(lines)
        if hit and hit.sure == 'likely':
            much = {entry.anchor: common for common, entry, _ in near}
            ahead = {entry.anchor: much.get(entry.anchor, 0) - AHEAD * i for i, (entry, _) in enumerate(found)}
            found.sort(key=lambda one: (one[0].follows, -ahead[one[0].anchor]))
        return (found + [(entry, why) for common, entry, why in near if common > (2 if hit else WORTH)
                         and not entry.follows and entry not in [e for e, _ in found]])[:3]


def numbers(parts):
    """The statuses and errnos that are in the line as numbers; a status that may be another's in small letters."""
    tokens, words = zip(*parts) if parts else ((), ())
    have, found = set(tokens), []
    verbs = {'completion', 'vendor'} <= have or not WC.isdisjoint(words)
    status = have & STATUS_OF and not have & ERRNO_OF
    for above, before, word in zip(['', *tokens], tokens, tokens[1:]):
        if not NUMBER.fullmatch(word) or above in ('vendor', 'comp', 'max') or word[0] != '-' and before not in BEFORE:
            continue
        number = int(word, 16 if 'x' in word else 10)
        if number > 0 and any(one.startswith('CM_') for one in have):
            token = 'reason'
        elif number > 0 and (status and before != 'errno' or above == 'prov' or (above, before) == ('fail', 'status')):
            token = f'{"STATUS" if status and verbs else "status"}_{number}'
        elif before == 'status' and have <= {'status', 'number', word}:
            token = f'status_{number}'
        else:
            token = errno.errorcode.get(abs(number))
        found += [(token, f'{before} {word}')] if token else []
    return found


def first_cause(hits):
    """The first hit that is not what follows from something else, or the first."""
    return next((hit for hit in hits if not hit.found[0][0].follows), hits[0] if hits else None)


def show(hits, lines, table):
    """Prints the entry of the first cause, or what has the same words, and names others."""
    hit = first_cause(hits)
    if not hit and len(lines) > 1:
        lines = [line for line in lines if TROUBLE.search(line[:MOST])][:20]
    found = table.three(hit, [hit.line] if hit else lines)
    if hit:
        entry, why = found.pop(0)
        print(f'\n== {entry.title}\n   {entry.page}#{entry.anchor} ({hit.sure}: {printable(why)})')
        if len(lines) > 1:
            print(f'   line {hit.number}: {printable(hit.line.strip())}')
        print(f'\n{entry.body}')
    if found and not (hit and hit.sure == 'certain'):
        print('\nNext best:' if hit else 'No rule fits this; by their words alone, the nearest are:')
        for other, why in found:
            print(f'  {other.title}\n    {other.page}#{other.anchor} ({printable(why)})')
    seen = {entry.anchor} if hit else set()
    for other in hits:
        entry = other.found[0][0]
        if entry.anchor not in seen and not entry.follows:
            print(f'Line {other.number} has one, too: #{entry.anchor}')
        seen.add(entry.anchor)
    if not hit and not found:
        print('No rule fits this: nothing in it names an object of RDMA, a call or a state. Look for a line\n'
              'before it that does, at both ends. docs/troubleshooting.md lists all entries.')


def main(arguments):
    """Explains the argument or the input; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_argument('message', nargs='?')
    lines = (parser.parse_args(arguments).message or '').splitlines()
    if not lines:
        if sys.stdin.isatty():
            print('explain.py: type or paste the error; Ctrl-D ends it', file=sys.stderr)
        sys.stdin.reconfigure(errors='surrogateescape')
        for line in sys.stdin:
            print(printable(line), end='', flush=True)
            lines.append(line.rstrip('\n'))
    table = Table()
    # A line that comes again says nothing new.
    first = sorted({line: i for i, line in reversed(list(enumerate(lines, 1)))}.items(), key=lambda one: one[1])
    hits = [hit for line, i in first[:MOST_LINES] if (hit := table.look_up(line, i))]
    show(hits, lines, table)
    return 0 if hits else 1


if __name__ == '__main__':
    # Into `| head`: ends as other commands do.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
