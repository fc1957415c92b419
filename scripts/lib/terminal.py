"""Markdown as text for a terminal: no line longer than it is wide."""
import re
import shutil
import textwrap

FENCE = re.compile(r'```([^`]*)$')
LINK = re.compile(r'!?\[([^\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)')


def width():
    """How wide text should be: as the terminal, but at most 80 columns."""
    return min(80, shutil.get_terminal_size().columns)


def inline(text):
    """Without what only a browser makes use of. Code is left as it is."""
    found = []
    for number, part in enumerate(re.split(r'(`[^`]*`)', LINK.sub(r'\1', text))):
        if number % 2 == 0:
            part = re.sub(r'(\*\*|(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w))', '', part)
        found.append(part)
    return ''.join(found)


def wrap(text, columns, first='', rest=None):
    """The lines of a paragraph."""
    return textwrap.wrap(
        text, columns, initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_on_hyphens=False) or [first.rstrip()]


def table(rows, columns):
    """A table whose columns are as wide as fits."""
    cells = [[inline(cell.strip()) for cell in
              re.split(r'(?<!\\)\|', row.strip().strip('|'))] for row in rows
             if not re.fullmatch(r'[\s|:-]+', row)]
    wide = [max(map(len, column)) for column in zip(*cells)]
    while sum(wide) + 2 * len(wide) > columns and max(wide) > 8:
        wide[wide.index(max(wide))] -= 1
    for row in cells:
        parts = [wrap(cell, room) for cell, room in zip(row, wide)]
        for number in range(max(map(len, parts))):
            yield '  '.join((part[number] if number < len(part) else '').ljust(room)
                            for part, room in zip(parts, wide)).rstrip()


def code(lines, columns):
    """A block of code; what is too long goes on below, further in."""
    for line in lines:
        line = line.expandtabs(8).rstrip()
        indent = len(line) - len(line.lstrip())
        yield from textwrap.wrap(
            line.lstrip(), columns, initial_indent=' ' * (4 + indent),
            subsequent_indent=' ' * (8 + indent), replace_whitespace=False,
            break_on_hyphens=False) or ['']


def paragraph(lines, columns):
    """Lines of Markdown without a blank one between them."""
    if lines[0].startswith('|'):
        yield from table(lines, columns)
        return
    if match := re.match(r'#+\s+(.*)', lines[0]):
        yield inline(match[1])
        yield '-' * len(inline(match[1]))
        return
    items = re.split(r'\n(?=[-*] |\d+\. )', '\n'.join(lines))
    for item in items:
        mark = re.match(r'([-*] |\d+\. |> )?', item)[0]
        text = re.sub(r'\n(> )?\s*', ' ', item[len(mark):])
        first = '' if mark == '> ' else mark
        yield from wrap(inline(text), columns, first, ' ' * len(first))


def lines_of(text, columns):
    """The lines of a Markdown text as they are to be printed."""
    part, block = [], None
    for line in text.split('\n') + ['']:
        match = FENCE.match(line)
        if block is not None:
            if match:
                yield from code(block, columns)
                yield ''
                block = None
            else:
                block.append(line)
            continue
        if line.strip() and not match:
            part.append(line)
            continue
        if part:
            yield from paragraph(part, columns)
            yield ''
            part = []
        if match:
            block = []
