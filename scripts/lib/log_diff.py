"""How one set of logs differs from another, for a person to read.

Three parts: a diff with the volatile tokens under their names, a plain
sentence for each difference, and what the names stand for in either run.
Used by compare_logs.py.
"""
import difflib
import functools
import re

from lib.log_order import undo_races
from lib.log_tokens import LONGEST

CONTEXT = 2

# How a token of each class is called in a sentence.
WORDS = {'PID': 'pid', 'ADDR': 'the address', 'KEY': 'the key', 'IP': 'address',
         'PORT': 'port', 'DEV': 'the device'}


class Naming:
    """The names of all tokens: PID1, PID2… by first appearance in the expected
    logs, and for the run's tokens the name of what they stand for."""

    def __init__(self, expected):
        self.counts, self.theirs, self.ours = {}, {}, {}
        self.taken, self.claims = {}, {}
        self.first = {}
        self.raw = {}
        for lines in expected.values():
            for line in lines:
                for token in line.tokens:
                    self.name_expected(token)

    def fresh(self, cls):
        self.counts[cls] = self.counts.get(cls, 0) + 1
        return f'{cls}{self.counts[cls]}'

    def name_expected(self, token):
        if token.identity and token.key not in self.theirs:
            name = self.theirs[token.key] = self.fresh(token.cls)
            self.raw[name] = [None, token.raw, token.key[1]]

    def pair(self, run, expected):
        """Notes which names of an expected line its partner's tokens claim."""
        if run.shape == expected.shape:
            pairs = zip(run.tokens, expected.tokens)
        else:
            # Tokens that follow the same word mean the same thing.
            words = {word_before(run, token): token for token in run.tokens}
            pairs = [(words.get(word_before(expected, token)), token)
                     for token in expected.tokens]
        for ours, theirs in pairs:
            name = self.theirs.get(theirs.key)
            if ours and ours.cls == theirs.cls and ours.identity:
                self.claims.setdefault((ours.key, name), []).append(ours)

    def settle(self):
        """Gives each name to the token that claims it most often, so that the
        odd line out is shown as wrong and not the others."""
        for (key, name), tokens in sorted(self.claims.items(),
                                          key=lambda item: -len(item[1])):
            if key not in self.ours and name not in self.taken:
                self.take(tokens[0], name)
        self.claims = {}

    def adopt(self, run, there):
        """Names the run's tokens by what they were found to stand for."""
        for lines in run.values():
            for line in lines:
                for token in line.tokens:
                    if token.identity and token.key not in self.ours:
                        self.take(token, self.theirs[there[token.key]])

    def take(self, token, name):
        self.ours[token.key] = name
        self.taken[name] = token.key
        self.raw.setdefault(name, [None, None, token.key[1]])[0] = token.raw

    def finish(self, run):
        """Names what no expected token could be found for."""
        for lines in run.values():
            for line in lines:
                for token in line.tokens:
                    if token.identity and token.key not in self.ours:
                        self.take(token, self.fresh(token.cls))
                    self.first.setdefault(token.key, []).append(line)

    def of_run(self, token):
        return self.ours[token.key] if token.identity else token.label

    def of_expected(self, token):
        return self.theirs[token.key] if token.identity else token.label

    def legend(self, name):
        run, expected, owner = self.raw[name]
        whose = f", the {owner}'s" if owner else ''
        both = [f'{value} ({side})' for value, side in
                ((run, 'run'), (expected, 'expected')) if value]
        return f'{name} = {", ".join(both)}{whose}'


def word_before(line, token):
    """What stands before a token, back to the token or blank before it."""
    return re.search(r'[^\s,]* ?$', line.text[:token.start][-100:]).group()


def masked(shape):
    """A line without any number: the same event, whatever it says."""
    return re.sub(r'0x[0-9a-f]+|\d+', '0', shape)


@functools.lru_cache(100_000)
def alike(one, two):
    """Whether lines of these shapes tell of one event with different values."""
    if masked(one) == masked(two):
        return True
    return difflib.SequenceMatcher(None, one[:300], two[:300],
                                   autojunk=False).ratio() > 0.7


def aligned(run, expected):
    """Pairs of (run's line, expected line); None where one has no partner."""
    matcher = difflib.SequenceMatcher(None, [x.shape for x in expected],
                                      [x.shape for x in run], autojunk=False)
    for _, i, i_end, j, j_end in matcher.get_opcodes():
        while i < i_end or j < j_end:
            theirs = expected[i] if i < i_end else None
            ours = run[j] if j < j_end else None
            if ours and theirs and ours.shape != theirs.shape and \
                    not alike(ours.shape, theirs.shape):
                # The expected line has no partner here; is the run's one
                # alike to a later one of this block?
                later = any(alike(ours.shape, x.shape)
                            for x in expected[i + 1:i_end])
                yield (None, theirs) if later else (ours, None)
                i, j = (i + 1, j) if later else (i, j + 1)
                continue
            yield ours, theirs
            i, j = i + (theirs is not None), j + (ours is not None)


class Difference:
    """Everything that differs between a run and one set of expected logs."""

    def __init__(self, run, expected, races):
        self.pairs = {}
        self.naming = Naming(expected)
        self.run = run
        for log in expected:
            lines = undo_races(run[log], expected[log], races)
            self.pairs[log] = list(aligned(lines, expected[log]))
        for same in (True, False):
            for pairs in self.pairs.values():
                for ours, theirs in pairs:
                    if ours and theirs and (ours.shape == theirs.shape) == same:
                        self.naming.pair(ours, theirs)
            self.naming.settle()
        self.naming.finish(run)
        self.count = sum(not self.equal(*pair) for pairs in self.pairs.values()
                         for pair in pairs)

    def equal(self, ours, theirs):
        """Whether the two lines of a pair are the same under their names."""
        return bool(ours and theirs and ours.shape == theirs.shape and
                    self.text(ours, False) == self.text(theirs, True))

    def text(self, line, expected):
        """A line under its tokens' names."""
        name = self.naming.of_expected if expected else self.naming.of_run
        end = '' if line.ends else '\n\\ no newline at the end of the file'
        return line.render(name) + end

    def shown(self, line, expected):
        """The same, for a person to read."""
        return cut(self.text(line, expected))

    def diff(self, log):
        """The lines of a unified diff of one log; none if it has none."""
        pairs = self.pairs[log]
        wrong = [i for i, pair in enumerate(pairs) if not self.equal(*pair)]
        shown = {i for at in wrong
                 for i in range(at - CONTEXT, at + CONTEXT + 1)
                 if 0 <= i < len(pairs)}
        if wrong:
            yield f'--- expected {log}'
            yield f'+++ run {log}'
        last = None
        for i in sorted(shown):
            ours, theirs = pairs[i]
            if last is None or i > last + 1:
                yield '@@ ' + ', '.join(
                    f'{side} line {line.number}' for side, line in
                    (('expected', theirs), ('run', ours)) if line) + ' @@'
            last = i
            if i not in wrong:
                yield ' ' + self.shown(ours, False)
                continue
            if theirs:
                yield '-' + self.shown(theirs, True)
            if ours:
                yield '+' + self.shown(ours, False)

    def sentences(self):
        """One sentence a difference, in plain words."""
        for log, pairs in self.pairs.items():
            wrong = [pair for pair in pairs if not self.equal(*pair)]
            missing = {x.shape for ours, x in wrong if not ours}
            extra = {x.shape for x, theirs in wrong if not theirs}
            if wrong and not self.run[log]:
                yield f'{log}: the log of the run is empty'
                continue
            for ours, theirs in wrong:
                if ours and theirs:
                    yield from self.changed(log, ours, theirs)
                elif theirs and theirs.shape in extra:
                    yield (f'{log}: another order: "{self.shown(theirs, True)}" '
                           f'is expected as line {theirs.number} and comes '
                           'elsewhere, and no declared race allows that')
                elif theirs:
                    yield (f'{log}: missing line: expected as line '
                           f'{theirs.number}: "{self.shown(theirs, True)}"')
                elif ours.shape not in missing:
                    yield (f'{log}: extra line: line {ours.number}: '
                           f'"{self.shown(ours, False)}"')

    def changed(self, log, ours, theirs):
        """The sentences about one event that both logs have."""
        where = f'{log}: line {ours.number}'
        if ours.ends != theirs.ends:
            yield (f'{where}: only one of the two logs has a newline at its '
                   'end; was the program killed while it wrote?')
        elif ours.shape != theirs.shape:
            yield (f'{where}: the same event with a different value: '
                   f'{self.values(ours, theirs)}')
        else:
            yield from (f'{where}: token identity broken: '
                        + self.broken(log, ours, mine, wanted)
                        for mine, wanted in zip(ours.tokens, theirs.tokens)
                        if mine.identity and self.naming.of_run(mine)
                        != self.naming.of_expected(wanted))

    def values(self, ours, theirs):
        """Which words of two lines differ."""
        expected, run = (self.text(line, side)
                         for line, side in ((theirs, True), (ours, False)))
        if max(len(expected), len(run)) > LONGEST:
            return f'expected "{cut(expected)}", got "{cut(run)}"'
        expected, run = expected.split(' '), run.split(' ')
        said = []
        for tag, i, i_end, j, j_end in difflib.SequenceMatcher(
                None, expected, run, autojunk=False).get_opcodes():
            a, b = ' '.join(expected[i:i_end]), ' '.join(run[j:j_end])
            if tag != 'equal' and not a.strip() and not b.strip():
                a, b = ' '.join(expected), ' '.join(run)
            if tag != 'equal':
                said.append(f'expected "{a}", got "{b}"')
        return '; '.join(said)

    def broken(self, log, line, mine, wanted):
        """Why the token mine cannot stand for the expected token wanted."""
        end, owner = (re.split(r'[-.\d]', x)[0] for x in (log, mine.owner))
        name, due = self.naming.of_run(mine), self.naming.of_expected(wanted)
        what = f'{WORDS.get(mine.cls, mine.cls)} {mine.raw}'
        whose = 'its own' if owner == end else "its peer's"
        due_raw = self.naming.raw[due][0]
        due_text = f'{due}, ' + (
            f'{due_raw} in this run' if due_raw else 'another one')
        others = [x for x in self.naming.first[mine.key] if x is not line]
        if others:
            said = (f'which is {name}, as in {others[0].log} line '
                    f'{others[0].number}')
        elif owner != end and any(log.startswith(mine.owner)
                                  for log in self.run):
            said = f'but the {mine.owner} never said it'
        else:
            said = 'which no other line says'
        return (f'the {end} calls {what} {whose}, {said}; '
                f'expected here: {due_text}')

    def legend(self):
        """What the names in the differing lines stand for."""
        names = []
        for pairs in self.pairs.values():
            for ours, theirs in pairs:
                if self.equal(ours, theirs):
                    continue
                for line, name in ((theirs, self.naming.of_expected),
                                   (ours, self.naming.of_run)):
                    names += [name(token) for token in
                              (line.tokens if line else []) if token.identity]
        for name in dict.fromkeys(names):
            yield self.naming.legend(name)


def cut(text):
    """The beginning of a text that is too long to be shown."""
    return text if len(text) <= LONGEST else text[:LONGEST] + ' …'
