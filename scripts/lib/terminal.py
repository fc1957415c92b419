"""Markdown as text for a terminal: its paragraphs are no wider than that."""
import re
import shutil
import textwrap

LINK = re.compile(r'\[([^\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)')


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


def lines_of(text, columns):
    """The lines of a Markdown text as they are to be printed. Code and tables stay as they are."""
    for number, part in enumerate(re.split(r'(?m)^```.*\n', text)):
        if number % 2:
            yield from [f'    {line}' for line in part.splitlines()] + ['']
            continue
        for paragraph in filter(None, re.split(r'\n\n+', part.strip('\n'))):
            if paragraph[0] in '|#':
                yield from inline(paragraph).splitlines()
            else:
                for item in re.split(r'\n(?=[-*] |\d+\. )', paragraph):
                    mark = re.match(r'([-*] |\d+\. )?', item)[0]
                    text = ' '.join(item[len(mark):].split())
                    yield from wrap(inline(text), columns, mark, ' ' * len(mark))
            yield ''
