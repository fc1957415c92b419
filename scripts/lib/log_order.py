"""Is one set of logs another run of the same story?

It is, if the lines of each log pair up so that both have the same text, every
token stands for one value of the other run throughout, across all logs and in
both directions, and only lines that are declared as a race changed places.
Used by compare_logs.py.
"""
import collections

# Pairings tried before giving up. A match of 100,000 lines without races takes
# as many; only many equal lines that may all change places take more.
STEPS = 2_000_000


class TooManyOrders(Exception):
    """The declared races allow more orders than can be tried."""


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
