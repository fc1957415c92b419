"""Is one set of logs another run of the same story?

It is, if the lines of each log pair up so that both have the same text, every
token stands for one value of the other run throughout, across all logs and in
both directions, and only lines that are declared as a race changed places.
Used by compare_logs.py.
"""
import collections
import fnmatch
import re

# Pairings tried before giving up. A match of 100,000 lines without races takes
# as many; only many equal lines that may all change places take more.
STEPS = 2_000_000


class TooManyOrders(Exception):
    """The declared races allow more orders than can be tried."""


class Block:
    """Lines that change places together; to be compared as if they were one."""

    def __init__(self, lines):
        self.lines = lines
        self.log, self.number = lines[0].log, lines[0].number
        self.tokens = [token for line in lines for token in line.tokens]
        self.text = '\n'.join(line.text for line in lines)
        self.shape = ''.join(line.shape for line in lines)


class Races:
    """Which lines of a log may change places.

    From lines `LOG: PATTERN <> PATTERN`. In a pattern, * is any text; {a}, {b}
    is any text too, but two different names stand for two different texts:
    `server*: Client {a}: * <> Client {b}: *` lets the lines of two clients
    change places and keeps the order of each. ` + ` joins lines that follow one
    another into a block, which changes places as a whole.
    """

    def __init__(self, texts, name='races'):
        self.pairs = []
        for number, text in enumerate(texts, 1):
            text = text.rstrip('\n')
            if not text.strip() or text.lstrip().startswith('#'):
                continue
            log, colon, rest = text.partition(': ')
            left, sign, right = rest.partition(' <> ')
            if not (colon and sign and left and right):
                raise ValueError(f'{name}:{number}: not of the form '
                                 f'LOG: PATTERN <> PATTERN: {text}')
            self.pairs.append((f'{name}:{number}', log.strip(),
                               compiled(left), compiled(right)))
        self.used = set()

    def unmatched(self, logs):
        """What the races name that is in none of the logs: wrong, or old."""
        for where, log, left, right in self.pairs:
            lines = [line for name in fnmatch.filter(logs, log)
                     for line in self.group(logs[name])]
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


class Names:
    """Which value of one run stands for which value of the other."""

    def __init__(self):
        self.there, self.back = {}, {}

    def bind(self, run, expected):
        """Pairs the tokens of two lines of one shape. Returns what is new, or
        None, and changes nothing, if a value already stands for another."""
        new = []
        for ours, theirs in zip(run.tokens, expected.tokens):
            if not ours.identity:
                continue
            a, b = ours.key, theirs.key
            if a not in self.there and b not in self.back:
                self.there[a], self.back[b] = b, a
                new.append((a, b))
            elif self.there.get(a) != b:
                self.unbind(new)
                return None
        return new

    def unbind(self, pairs):
        """Forgets what a bind() returned."""
        for a, b in pairs:
            del self.there[a], self.back[b]


def candidates(line, rest, races):
    """Which of the expected lines not yet seen may come now and look right.

    rest may change between two steps of the caller's, if it is as it was again
    when the next one is asked for.
    """
    before = []
    for place, expected in enumerate(rest):
        if expected.shape == line.shape and \
                all(races.swap(earlier, expected) for earlier in before):
            yield place
        if not races.racy(expected):
            return
        before.append(expected)


def pairing(run, expected, races):
    """The Names that make the run the expected one; None if there are none.

    run and expected: {log name: [Line]}, with the same log names.
    """
    rest = {log: races.group(expected[log]) for log in run}
    lines = [(log, line) for log in run for line in races.group(run[log])]
    if len(lines) != sum(len(left) for left in rest.values()):
        return None
    names, steps = Names(), 0
    # One entry a line of the run that is paired up or being paired up: the
    # places still to try, and how to undo the one tried last.
    stack = []
    advance = True
    while True:
        if advance:
            if len(stack) == len(lines):
                return names
            log, line = lines[len(stack)]
            stack.append([candidates(line, rest[log], races), None])
        advance = False
        log, line = lines[len(stack) - 1]
        entry = stack[-1]
        if entry[1]:
            place, taken, new = entry[1]
            names.unbind(new)
            rest[log].insert(place, taken)
            entry[1] = None
        for place in entry[0]:
            steps += 1
            if steps > STEPS:
                raise TooManyOrders
            new = names.bind(line, rest[log][place])
            if new is not None:
                entry[1] = (place, rest[log].pop(place), new)
                advance = True
                break
        if not advance:
            stack.pop()
            if not stack:
                return None


def undo_races(run, expected, races):
    """The run's lines of one log, with what raced put in the expected order
    as far as the races allow; the rest stays, to be shown as different."""
    out, rest = [], races.group(run)
    expected = races.group(expected)
    wanted = collections.Counter(line.shape for line in expected)
    for line in expected:
        before = []
        for place, ours in enumerate(rest):
            if ours.shape == line.shape and \
                    all(races.swap(earlier, ours) for earlier in before):
                # What the expected log does not have stays where it was.
                while place and not wanted[rest[0].shape]:
                    out.append(rest.pop(0))
                    place -= 1
                out.append(rest.pop(place))
                break
            if wanted[ours.shape]:
                before.append(ours)
                if not races.racy(ours):
                    break
        wanted[line.shape] -= 1
    return [line for unit in out + rest
            for line in getattr(unit, 'lines', [unit])]
