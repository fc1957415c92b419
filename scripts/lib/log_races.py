"""What a file `races` declares: which lines may change places, which may stand
for one another, and which numbers in a log count its own lines.

compare_logs.sh -h has its syntax. Used by compare_logs.py.
"""
import collections
import fnmatch
import re

from lib.log_tokens import Line, Measured

Race = collections.namedtuple('Race', 'where log patterns')


class Block:
    """Lines that change places together; to be compared as if they were one."""

    def __init__(self, lines):
        self.lines = lines
        self.log, self.number = lines[0].log, lines[0].number
        self.text = '\n'.join(line.text for line in lines)
        self.shape = ''.join(line.shape for line in lines)


class Races:
    """Which lines of a log may change places (pairs) or stand for one another
    (choices), what is counted (counts), and what is set apart (parts): lists of
    Race, where where says at which line of the file it was declared."""

    def __init__(self, texts, name='races'):
        self.pairs, self.choices, self.counts, self.parts = [], [], [], []
        for number, text in enumerate(texts, 1):
            if text.strip() and not text.lstrip().startswith('#'):
                self.add(f'{name}:{number}', text.rstrip('\n'))

    def add(self, where, text):
        """Takes one declaration."""
        log, _, rest = text.partition(': ')
        for form, kind in ((r'(.*\{\w+\}.*) apart', self.parts), ('(.+) <> (.+)', self.pairs),
                           (r'(.*\{n\}.*) counts (.+)', self.counts),
                           (r'(.+) \| (.+)', self.choices)):
            match = re.fullmatch(form, rest)
            if match:
                kind.append(Race(where, log.strip(), [compiled(x) for x in match.groups()]))
                return
        raise ValueError(
            f'{where}: not of the form LOG: PATTERN <> PATTERN, nor LOG: PATTERN | PATTERN, '
            'nor LOG: PATTERN with {n} counts PATTERN, nor LOG: PATTERN with a name in '
            f'braces apart: {text}')

    def split(self, logs):
        """The logs, with the lines of each one that is to be compared apart in
        a log of its own: {'server.log': …, 'server.log of 3': …}."""
        out = {}
        for name, lines in logs.items():
            out[name] = []
            for line in lines:
                whose = self.part(line)
                # What one has, another may have later: an address, a number.
                for token in line.tokens if whose else []:
                    if token.key[1]:
                        token.key += (whose,)
                out.setdefault(f'{name} of {whose}' if whose else name, []).append(line)
        return out

    def part(self, line):
        """Whose the line is, by the first declaration that it fits."""
        for _, log, [pattern] in self.parts:
            match = pattern.fullmatch(line.text)
            if match and fnmatch.fnmatch(line.log, log):
                return ' '.join(match.groups())
        return None

    def group(self, logs):
        """Makes one of the lines that form a block, and makes alike what may stand
        for one another."""
        for name, lines in logs.items():
            out, at = [], 0
            while at < len(lines):
                size, race = self.unit(lines, at)
                unit = Block(lines[at:at + size]) if size > 1 else lines[at]
                if race in self.choices:
                    # Its place in the file names it; the folder would say nothing.
                    label = f'<a line of {race.where.rpartition("/")[2]}>'
                    unit = Line(unit.text, unit.log, unit.number,
                                [Measured(unit.text, 0, len(unit.text), label)])
                out.append(unit)
                at += size
            logs[name] = out

    def unit(self, lines, at):
        """(how many lines the longest block has that begins at lines[at], its Race)."""
        best = 1, None
        for race in self.choices + self.pairs:
            for pattern in race.patterns:
                size = size_of(pattern)
                text = '\n'.join(line.text for line in lines[at:at + size])
                if (size > best[0] or not best[1]) and pattern.fullmatch(text) and \
                        fnmatch.fnmatch(lines[at].log, race.log):
                    best = size, race
        return best

    def count(self, logs):
        """Puts in the place of each number that counts lines a token that says
        whether it was right. Yields what is wrong."""
        for where, log, [pattern, counted] in self.counts:
            for name in named(logs, log):
                lines, seen = logs[name], 0
                for at, line in enumerate(lines):
                    match = pattern.fullmatch(line.text)
                    if match:
                        right = match['v_n'] == str(seen)
                        label = '<count>' if right else f'{match["v_n"]} (not {seen})'
                        token = Measured(line.text, *match.span('v_n'), label)
                        lines[at] = Line(line.text, log, line.number, line.tokens + [token])
                        if not right:
                            yield (f'{where}: line {line.number} of {name}: '
                                   f'{match["v_n"]} instead of {seen}')
                    seen += bool(counted.fullmatch(line.text))

    def unmatched(self, logs):
        """What the races name that is in none of the logs: wrong, or old."""
        for race in self.pairs + self.counts + self.choices + self.parts:
            texts = ['\n'.join(x.text for x in logs[name]) for name in named(logs, race.log)]
            unseen = [pattern for pattern in race.patterns
                      if not any(re.search(f'^(?:{pattern.pattern})$', text, re.MULTILINE)
                                 for text in texts)]
            # Of lines that stand for one another, one is enough.
            if unseen and (race not in self.choices or unseen == race.patterns):
                yield race.where, race.log, unseen[0].pattern

    def racy(self, line):
        """Whether any declared race is about this line."""
        return any(fnmatch.fnmatch(line.log, log) and
                   any(pattern.fullmatch(line.text) for pattern in patterns)
                   for _, log, patterns in self.pairs)

    def swap(self, one, two):
        """Whether these two lines of a log may change places."""
        return any(fnmatch.fnmatch(one.log, log) and
                   (left.fullmatch(one.text) and right.fullmatch(two.text) or
                    left.fullmatch(two.text) and right.fullmatch(one.text))
                   for _, log, [left, right] in self.pairs)

    def in_order(self, run, expected):
        """The run's lines of one log in the expected order, as far as the races
        allow that; the rest stays, to be shown as different."""
        out, rest = [], list(run)
        wanted = collections.Counter(line.shape for line in expected)
        for line in expected:
            before = []
            for place, ours in enumerate(rest):
                if ours.shape == line.shape and all(self.swap(x, ours) for x in before):
                    # What the expected log does not have stays where it was.
                    while place and not wanted[rest[0].shape]:
                        out.append(rest.pop(0))
                        place -= 1
                    out.append(rest.pop(place))
                    break
                if wanted[ours.shape]:
                    before.append(ours)
                    if not self.racy(ours):
                        break
            wanted[line.shape] -= 1
        return out + rest


def named(logs, pattern):
    """The names of logs that fit, and of what was set apart from those."""
    return [name for name in logs if fnmatch.fnmatch(name.partition(' of ')[0], pattern)]


def size_of(pattern):
    """How many lines a race's compiled pattern is for."""
    return pattern.pattern.count('\\\n') + 1


def compiled(pattern):
    """A race's pattern as a regular expression."""
    text = re.escape('\n'.join(pattern.strip().split(' + ')))
    return re.compile(re.sub(r'\\\{(\w+)\\\}', r'(?P<v_\1>.+?)', text).replace('\\*', '.*'))
