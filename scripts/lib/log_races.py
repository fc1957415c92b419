"""What a file `races` declares: which lines may change places, which may stand
for one another, and which numbers in a log count its own lines.

compare_logs.sh -h has its syntax. Used by compare_logs.py.
"""
import copy
import fnmatch
import re

from lib.log_tokens import Line, Token


class Block:
    """Lines that change places together; to be compared as if they were one."""

    def __init__(self, lines):
        self.lines = lines
        self.log, self.number = lines[0].log, lines[0].number
        self.tokens = [token for line in lines for token in line.tokens]
        self.text = '\n'.join(line.text for line in lines)
        self.shape = ''.join(line.shape for line in lines)


class Races:
    """Which lines of a log may change places or stand for one another, and
    what is counted.

    From lines `LOG: PATTERN <> PATTERN`. In a pattern, * is any text. ` + ` joins
    lines that follow one another into a block, which changes places as a whole.

    From lines `LOG: PATTERN counts PATTERN`: the number {n} in the first is how
    many lines of its log before it fit the second. From lines `LOG: PATTERN |
    PATTERN`: where one of them stands, the other may.

    From lines `LOG: PATTERN means TEXT`: a block that fits is read as one line,
    the text. A {name} in it is what that was in the first line of the block.

    From lines `LOG: PATTERN apart`: the lines that fit are set apart, a log of
    its own for each text that {name} in it stands for, so that each is compared
    whatever lines of others are between its own.
    """

    def __init__(self, texts, name='races'):
        self.pairs, self.counts, self.choices = [], [], []
        self.meanings, self.parts = [], []
        for number, text in enumerate(texts, 1):
            text = text.rstrip('\n')
            if text.strip() and not text.lstrip().startswith('#'):
                self.add(f'{name}:{number}', text)
        self.used = set()

    def add(self, where, text):
        """Takes one declaration."""
        log, colon, rest = text.partition(': ')
        if colon and re.fullmatch(r'.*\{\w+\}.* apart', rest):
            pattern = compiled(rest.removesuffix(' apart'))
            self.parts.append((where, log.strip(), pattern))
            return
        for sign, kind in ((' <> ', self.pairs), (' counts ', self.counts),
                           (' | ', self.choices), (' means ', self.meanings)):
            left, found, right = rest.partition(sign)
            if found and (kind is not self.counts or '{n}' in left):
                break
        if not (colon and found and left and right) or \
                kind is self.meanings and not is_meant(left, right):
            raise ValueError(
                f'{where}: not of the form LOG: PATTERN <> PATTERN, nor LOG: '
                'PATTERN | PATTERN, nor LOG: PATTERN with {n} counts PATTERN, '
                'nor LOG: PATTERN means TEXT (one line, with names of the '
                "pattern's first line), "
                f'nor LOG: PATTERN with a name in braces apart: {text}')
        pattern = right.strip() if kind is self.meanings else compiled(right)
        kind.append((where, log.strip(), compiled(left), pattern))

    def split(self, logs):
        """The logs, with the lines of each one that is to be compared apart in
        a log of its own: {'server.log': …, 'server.log of 3': …}."""
        if not self.parts:
            return logs
        out = {}
        for name, lines in logs.items():
            out[name] = []
            for line in lines:
                whose = self.part(line)
                # What one has, another may have later: an address, a number.
                for token in line.tokens if whose else []:
                    if token.key[1]:
                        token.key += (whose,)
                part = f'{name} of {whose}' if whose else name
                out.setdefault(part, []).append(line)
        return out

    def part(self, line):
        """Whose the line is, by the first declaration that it fits."""
        for _, log, pattern in self.parts:
            match = pattern.fullmatch(line.text)
            if match and fnmatch.fnmatch(line.log, log):
                return ' '.join(match.groups())
        return None

    def reword(self, logs):
        """Puts what they mean in the place of the lines of a block."""
        for _, log, pattern, text in self.meanings:
            for name in named(logs, log):
                logs[name] = list(reworded(logs[name], pattern, text))

    def choose(self, logs):
        """Makes lines alike of which one may stand for the other."""
        for where, log, *patterns in self.choices:
            label = '<a line of ' + where.rpartition('/')[2] + '>'
            for name in named(logs, log):
                logs[name] = [
                    with_token(line, 0, len(line.text), label)
                    if any(x.fullmatch(line.text) for x in patterns) else line
                    for line in logs[name]]

    def count(self, logs):
        """Checks every number that counts lines, and puts in its place a token
        that says whether it was right. Yields what is wrong."""
        for where, log, pattern, counted in self.counts:
            for name in named(logs, log):
                lines, seen = logs[name], 0
                for at, line in enumerate(lines):
                    match = pattern.fullmatch(line.text)
                    if match:
                        right = match['v_n'] == str(seen)
                        lines[at] = with_token(
                            line, *match.span('v_n'), '<count>' if right else
                            f'{match["v_n"]} (not {seen})')
                        if not right:
                            yield (where, f'line {line.number} of {name}: '
                                   f'{match["v_n"]} instead of {seen}')
                    seen += bool(counted.fullmatch(line.text))

    def unmatched(self, logs):
        """What the races name that is in none of the logs: wrong, or old."""
        for declared, units in ((self.pairs, self.group), (self.counts, list),
                                (self.choices, list)):
            for where, log, *patterns in declared:
                lines = [line for name in named(logs, log)
                         for line in units(logs[name])]
                unseen = [pattern for pattern in patterns
                          if not any(pattern.fullmatch(x.text) for x in lines)]
                # Of lines that stand for one another, one is enough.
                if declared is not self.choices or unseen == patterns:
                    yield from ((where, log, pattern) for pattern in unseen)
        # A block is rare; what it means is what the logs have.
        meant = [(where, log, compiled(text))
                 for where, log, _, text in self.meanings]
        for where, log, pattern in self.parts + meant:
            if not any(pattern.fullmatch(line.text)
                       for name in named(logs, log) for line in logs[name]):
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
                size = size_of(pattern)
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
            if fnmatch.fnmatch(one.log, log) and any(
                    left.fullmatch(x.text) and right.fullmatch(y.text)
                    for x, y in ((one, two), (two, one))):
                self.used.add(pair)
                return True
        return False


def named(logs, pattern):
    """The names of logs that fit, and of what was set apart from those."""
    return [name for name in logs
            if fnmatch.fnmatch(name.partition(' of ')[0], pattern)]


def with_token(line, start, end, label):
    """The line with one more token, which is compared by its label alone."""
    token = Token('n', 'none', None, line.text[start:end], start, end)
    token.label = label
    others = [other for other in line.tokens
              if other.end <= start or other.start >= end]
    return Line(line.text + '\n' * line.ends, line.log, line.number,
                sorted(others + [token], key=lambda each: each.start))


def is_meant(pattern, text):
    """Whether text is one line, and the pattern's first has all its names."""
    first = re.findall(r'\{\w+\}', pattern.split(' + ')[0])
    return '*' not in text and ' + ' not in text and \
        set(re.findall(r'\{\w+\}', text)) <= set(first)


def reworded(lines, pattern, text):
    """The lines, with the text in the place of those that fit the pattern."""
    at = 0
    while at < len(lines):
        these = lines[at:at + size_of(pattern)]
        match = pattern.fullmatch('\n'.join(line.text for line in these))
        yield in_words(these, match, text) if match else lines[at]
        at += len(these) if match else 1


def in_words(lines, match, text):
    """One line for these, which match: each name in text is what it was in the
    first of them, with its tokens."""
    out, tokens = '', []
    for i, part in enumerate(re.split(r'\{(\w+)\}', text)):
        if i % 2:
            start, end = match.span(f'v_{part}')
            for token in map(copy.copy, lines[0].tokens):
                if start <= token.start and token.end <= end:
                    token.start += len(out) - start
                    token.end += len(out) - start
                    tokens.append(token)
            part = match[f'v_{part}']
        out += part
    return Line(out + '\n' * lines[-1].ends, lines[0].log, lines[0].number,
                tokens)


def size_of(pattern):
    """How many lines a race's compiled pattern is for."""
    return pattern.pattern.count('\\\n') + 1


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
