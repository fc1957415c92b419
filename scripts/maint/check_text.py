#!/usr/bin/python3 -B
"""The checks of check_chapters.sh that read text and run no tool.

Usage: check_text.py CHECK ROOT, with the files to check on stdin, a line each.
CHECK is makefile, length, headers, messages or words. Prints a line for what
breaks a rule; exit status 0 in order, 1 not, 2 usage.
"""
import re
import sys

from lib.arguments import Parser, folder

# Recorded or generated: kept byte for byte, whatever is in it.
RECORDED = ('.log', '.err', '.svg', '.pcapng')


class Text:
    """A text file and its lines."""

    def __init__(self, root, name):
        self.name, self.path = name, root / name
        self.bytes = self.path.read_bytes()
        self.binary = b'\0' in self.bytes
        self.lines = self.bytes.decode('utf-8', 'replace').split('\n')
        self.shell = name.endswith(('.sh', '.bats')) or bool(
            re.match(r'#!.*\bbash\b', self.lines[0]))
        self.c = name.endswith(('.c', '.h'))


def makefile(text):
    """Nothing in a chapter may reach out of it."""
    if text.c:
        rule = r'#\s*include\s*"\.\./'
    elif text.name.endswith('Makefile'):
        rule = r'[^#]*\.\./'
    else:
        return
    if re.match(r'\d\d_[^/]+/', text.name):
        for number, line in enumerate(text.lines, 1):
            if re.match(rule, line):
                yield number, f'reaches out of the chapter: {line.strip()}'


def length(text):
    """A file that is too long wants to be two; but a first.c is one on purpose,
    and its test says how long it may be."""
    lines = len(text.lines) - 1
    code = text.c or text.shell or text.name.endswith('.py')
    most = 450
    code &= text.path.name not in ('first.c', 'loopback.c')
    if code and lines > most:
        yield 0, f'{lines} lines; {most} is the limit: cut it in two'
    chapter = re.fullmatch(r'(\d\d)_\w+', text.path.parent.name)
    if chapter and text.path.name == 'README.md':
        most = 2600
        count = sum(len(line.split()) for line in text.lines)
        if count > most:
            yield 0, (f'{count} words; {most} is the limit: what you look up '
                      'belongs in reference.md')


def headers(text):
    """A file says at its top what it is for."""
    name = text.path.name
    top = '\n'.join(text.lines[:4])
    if text.c:
        start = f'/*\n * {name} - '
        if not top.startswith(start):
            yield 1, f'does not start with {start!r} and what it is for'
    elif text.shell or text.name.endswith('.py'):
        if not re.search(r'^(# (?!shellcheck)|""").', top, re.MULTILINE):
            yield 1, 'does not say at its top what it is for'


def messages(text):
    """What a person sees is one string, so that one can search for its words."""
    if not text.c or not re.match(r'\d\d_', text.name):
        return
    string = r'"((?:[^"\\]|\\.)*)"'
    for number, line in enumerate(text.lines, 1):
        first, second = (re.search(string + '$', line),
                         re.match(r'\s+' + string, (text.lines + [''])[number]))
        # A text of several lines may have a line of the source for each of its own.
        if first and second and '\\n' not in first[1] + second[1]:
            yield number, f'the string goes on in the next line: {line.strip()}'


def prose(lines):
    """Markdown without its code blocks and its code."""
    code = False
    for line in lines:
        if re.match(r' *(```|~~~)', line):
            code = not code
            line = ''
        yield '' if code else re.sub(r'`[^`]*`', 'code', line)


def words(text):
    """Nothing is left to do, claimed or shouted."""
    for number, line in enumerate(text.lines, 1):
        if re.search(r'\b(TO[D]O|FIX[M]E|XX[X])\b', line):
            yield number, f'left to do: {line.strip()}'
        if re.search(r'(?<!["“])production[-]ready', line, re.IGNORECASE):
            yield number, f'whose word is that? {line.strip()}'
    if text.name.endswith('.md'):
        for number, line in enumerate(prose(text.lines), 1):
            if re.search(r'[^]\[\s<!(]!+([])"*_\s]|$)', line):
                yield number, f'exclamation mark: {line.strip()}'


CHECKS = {check.__name__: check
          for check in (makefile, length, headers, messages, words)}


def main(arguments):
    """Checks the files on stdin; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_argument('check', choices=CHECKS)
    parser.add_argument('root', type=folder)
    options = parser.parse_args(arguments)
    check, root = CHECKS[options.check], options.root
    bad = 0
    for name in sys.stdin.read().splitlines():
        if name.endswith(RECORDED):
            continue
        text = Text(root, name)
        if text.binary:
            continue
        for number, what in check(text):
            print(f'{name}:{number}: {what}' if number else f'{name}: {what}')
            bad = 1
    return bad


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
