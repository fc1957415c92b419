"""What a file `races` declares: which lines may change places, and which
numbers in a log count its own lines.

compare_logs.sh -h has its syntax. Used by compare_logs.py.
"""
import fnmatch
import re

from log_tokens import Line, Token


class Block:
    """Lines that change places together; to be compared as if they were one."""

    def __init__(self, lines):
        self.lines = lines
        self.log, self.number = lines[0].log, lines[0].number
        self.tokens = [token for line in lines for token in line.tokens]
        self.text = '\n'.join(line.text for line in lines)
        self.shape = ''.join(line.shape for line in lines)


class Races:
    """Which lines of a log may change places, and what is counted.

    From lines `LOG: PATTERN <> PATTERN`. In a pattern, * is any text; {a}, {b}
    is any text too, but two different names stand for two different texts:
    `server*: Client {a}: * <> Client {b}: *` lets the lines of two clients
    change places and keeps the order of each. ` + ` joins lines that follow one
    another into a block, which changes places as a whole.

    And from lines `LOG: PATTERN counts PATTERN`: the number {n} in the first is
    how many lines of its log before it fit the second.
    """

    def __init__(self, texts, name='races'):
        self.pairs, self.counts = [], []
        for number, text in enumerate(texts, 1):
            text = text.rstrip('\n')
            if text.strip() and not text.lstrip().startswith('#'):
                self.add(f'{name}:{number}', text)
        self.used = set()

    def add(self, where, text):
        """Takes one declaration."""
        log, colon, rest = text.partition(': ')
        left, sign, right = rest.partition(' <> ')
        kind = self.pairs
        if not sign and '{n}' in rest.partition(' counts ')[0]:
            left, sign, right = rest.partition(' counts ')
            kind = self.counts
        if not (colon and sign and left and right):
            raise ValueError(f'{where}: not of the form '
                             'LOG: PATTERN <> PATTERN, nor '
                             f'LOG: PATTERN with {{n}} counts PATTERN: {text}')
        kind.append((where, log.strip(), compiled(left), compiled(right)))

    def count(self, logs):
        """Checks every number that counts lines, and puts in its place a token
        that says whether it was right. Yields what is wrong."""
        for where, log, pattern, counted in self.counts:
            for name in fnmatch.filter(logs, log):
                lines, seen = logs[name], 0
                for at, line in enumerate(lines):
                    match = pattern.fullmatch(line.text)
                    if match:
                        lines[at] = with_count(line, match, seen)
                        if match['v_n'] != str(seen):
                            yield (where, f'line {line.number} of {name}: '
                                   f'{match["v_n"]} instead of {seen}')
                    seen += bool(counted.fullmatch(line.text))

    def unmatched(self, logs):
        """What the races name that is in none of the logs: wrong, or old."""
        for declared, units in ((self.pairs, self.group), (self.counts, list)):
            for where, log, left, right in declared:
                lines = [line for name in fnmatch.filter(logs, log)
                         for line in units(logs[name])]
                for pattern in (left, right):
                    if not any(pattern.fullmatch(x.text) for x in lines):
                        yield where, log, pattern

    def group(self, lines):
        """The lines of a log, with those that form a block made one."""
        out, at = [], 0
        while at < len(lines):
            size = self.block_size(lines, at)
            out.append(Block(lines[at:at + size]) if size > 1 else lines[at])
            at += size
        return out

    def block_size(self, lines, at):
        """How many lines the block has that starts at lines[at]; 1: none."""
        for _, log, *patterns in self.pairs:
            for pattern in patterns:
                size = pattern.pattern.count('\\\n') + 1
                text = '\n'.join(line.text for line in lines[at:at + size])
                if size > 1 and fnmatch.fnmatch(lines[at].log, log) and \
                        pattern.fullmatch(text):
                    return size
        return 1

    def racy(self, line):
        """Whether any declared race is about this line."""
        return any(fnmatch.fnmatch(line.log, log) and
                   (left.fullmatch(line.text) or right.fullmatch(line.text))
                   for _, log, left, right in self.pairs)

    def swap(self, one, two):
        """Whether these two lines of a log may change places."""
        for pair in self.pairs:
            _, log, left, right = pair
            if fnmatch.fnmatch(one.log, log) and (
                    differ(left.fullmatch(one.text), right.fullmatch(two.text))
                    or differ(left.fullmatch(two.text),
                              right.fullmatch(one.text))):
                self.used.add(pair)
                return True
        return False


def with_count(line, match, seen):
    """The line with a token in place of its number {n}. All that are right are
    alike: where such a line stands decides what it says."""
    token = Token('n', 'none', None, match['v_n'], *match.span('v_n'))
    token.label = '<count>'
    if match['v_n'] != str(seen):
        token.label = f'{match["v_n"]} (not {seen})'
    others = [other for other in line.tokens
              if other.end <= token.start or other.start >= token.end]
    return Line(line.text + '\n' * line.ends, line.log, line.number,
                sorted(others + [token], key=lambda each: each.start))


def compiled(pattern):
    """A race's pattern as a regular expression."""
    out, seen = '', set()
    text = '\n'.join(pattern.strip().split(' + '))
    for part in re.split(r'(\*|\{\w+\})', text):
        if part == '*':
            out += '.*'
        elif re.fullmatch(r'\{\w+\}', part):
            name = 'v_' + part[1:-1]
            out += f'(?P={name})' if name in seen else f'(?P<{name}>.+?)'
            seen.add(name)
        else:
            out += re.escape(part)
    return re.compile(out)


def differ(left, right):
    """Whether both match, and different names stand for different texts."""
    if not left or not right:
        return False
    ours, theirs = left.groupdict(), right.groupdict()
    return all((ours[a] == theirs[b]) == (a == b)
               for a in ours for b in theirs)
