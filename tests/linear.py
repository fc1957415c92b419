"""Whether a history is linearizable: what clients were told is what one would be told who did all of it alone, each
thing at some moment between its begin and its end. Wing and Gong's search, event by event as in Lowe's version, and
for each key by itself, which Porcupine does, too."""
import collections
import math
from typing import NamedTuple


class Operation(NamedTuple):
    """What one client asked for, and was told. end is math.inf if it was told nothing: then it may
    have been done at any time after its begin, or not at all."""
    key: str
    kind: str
    words: tuple
    told: object
    begin: float
    end: float


def step(state, operation):
    """Of a key: (whether its client would be told this, the next state). A value is None until it is put; a counter
    begins with 0."""
    match operation.kind:
        case 'put':
            return True, operation.words[0]
        case 'get':
            return operation.told == state, state
        case 'incr':
            return operation.told == (state or 0) + 1, (state or 0) + 1
        case 'cas':
            old, new = operation.words
            return operation.told == (state or 0), new if (state or 0) == old else state
    raise ValueError(operation.kind)


def shorten(operations):
    """Without PUTs that were not answered and whose value nobody has seen, since these may be left out; and the
    others end when the first GET ends that has seen them. Each value is put once."""
    seen = {}
    for operation in operations:
        if operation.kind == 'get':
            seen[operation.told] = min(operation.end, seen.get(operation.told, math.inf))
    for operation in operations:
        if operation.end < math.inf:
            yield operation
        elif operation.kind != 'put':
            yield operation
        elif operation.words[0] in seen:
            yield operation._replace(end=seen[operation.words[0]])


def reaches(states, pending, wanted):
    """What can be, when an operation has ended: it is done, and of the others that are under way any may be. A state
    is (of the key, which of those that are under way are done)."""
    todo, met, after = list(states), set(states), set()
    while todo:
        state, done = todo.pop()
        if wanted in done:
            after.add((state, done - {wanted}))
            continue
        for number in pending.keys() - done:
            fits, following = step(state, pending[number])
            other = following, done | {number}
            # Who was told nothing is no witness.
            if (fits or pending[number].end == math.inf) and other not in met:
                met.add(other)
                todo.append(other)
    return after


def first_wrong(operations):
    """Of one key: the operation whose answer cannot be, or None."""
    operations = list(shorten(operations))
    # What begins at the moment when another thing ends may be before it.
    events = sorted([(operation.begin, 0, number) for number, operation in enumerate(operations)] +
                    [(operation.end, 1, number) for number, operation in enumerate(operations)
                     if operation.end < math.inf])
    states, pending = {(None, frozenset())}, {}
    for _, is_end, number in events:
        if not is_end:
            pending[number] = operations[number]
            continue
        states = reaches(states, pending, number)
        if not states:
            return operations[number]
        del pending[number]
    return None


def wrong(history):
    """An operation whose answer cannot be, or None: of any key."""
    keys = collections.defaultdict(list)
    for operation in history:
        keys[operation.key].append(operation)
    return next(filter(None, map(first_wrong, keys.values())), None)
