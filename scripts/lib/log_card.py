"""What a right run on a card may say otherwise than the logged run on Soft-RoCE.

The table on_a_card.tsv says what. A row counts only for a run on a card, and only
where the logged run has what the row replaces and the card's run nowhere has.
Used by compare_logs.py.
"""
import pathlib
import re

TABLE = pathlib.Path(__file__).with_name('on_a_card.tsv')


def rows():
    """(regular expression, what the logged run has or None, in words)."""
    for line in TABLE.read_text('utf-8').splitlines():
        if not line.startswith('#'):
            theirs, ours, words = line.split('\t')
            yield re.compile(theirs), None if ours == '-' else ours, words


def is_card(run):
    """Whether the run was on a card, as pair.sh noted."""
    file = run / 'device'
    return file.is_file() and file.read_text('utf-8').startswith('card')


def ending(expected, ours):
    """What follows on the value in the error line that explains it."""
    for line in expected:
        if line.startswith('error: ') and f'status {ours}' in line:
            return line.split(f'status {ours}', 1)[1]
    return None


def replaced(line, theirs, ours, expected):
    """The line as the logged run would have it."""
    line = theirs.sub(lambda _: ours, line)
    end = ending(expected, ours)
    # An error line goes on with what this status means.
    if end is not None and line.startswith('error: ') and ours in line:
        line = line.split(ours, 1)[0] + ours + end
    return line


def agree(theirs, logs):
    """Whether both ends say the same of what the row has in brackets."""
    said = {match.groups() for lines in logs.values()
            for line in lines for match in [theirs.search(line)] if match}
    return len(said) <= 1 or not theirs.groups


def adapt_log(lines, expected, theirs, ours):
    """One log's lines with one row applied, or None if it does not fit."""
    if not any(theirs.search(line) for line in lines) or any(
            theirs.search(line) for line in expected):
        return None
    if ours is None:
        return [line for line in lines if not theirs.search(line)]
    if not any(ours in line for line in expected) or any(
            ours in line for line in lines):
        return None
    return [replaced(line, theirs, ours, expected)
            if theirs.search(line) else line for line in lines]


def adapt(logs, expected):
    """The card's logs ({name: lines}) as the logged run has them, and the
    differences in words."""
    found = []
    for theirs, ours, words in rows():
        if not agree(theirs, logs):
            continue
        for name in logs:
            lines = adapt_log(logs[name], expected[name], theirs, ours)
            if lines is not None:
                logs[name] = lines
                found += [words] * (words not in found)
    return logs, found
