#!/usr/bin/python3 -B
"""The house rules that a machine can check.

Usage: check_chapters.py [-r ROOT] [-c CHAPTERS] [RULE...]

A chapter must build when it is copied alone into an empty folder, and everything here must look as
if one person had written it. Checks the named rules, or all, and prints a line for what breaks one.

  build       each chapter, copied alone into an empty folder, builds with gcc and with clang
              without a warning
  length      no C, shell, bats or Python file is over 450 lines; a first.c is long on purpose, and
              its test says how long it may be. No README.md of a chapter has over 2600 words
  format      C is as .clang-format has it
  shell       shellcheck has nothing to say
  whitespace  none at the end of a line, none before a tab
  headers     each C file and script says at its top what it is for
  messages    in a chapter's C, a string does not go on in the next line, so that one can search for it
  words       nothing left to do, no claim without quotes, no exclamation marks in Markdown
  -r ROOT     the tree to check (default: the one this script is in)
  -c CHAPTERS only what is in the folders that this word names, as "01_a 02_b"

Exit status: 0 in order, 1 not, 2 usage. Example: check_chapters.py format shell
"""
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from lib.arguments import Parser
from lib.files import files_of

TOP = pathlib.Path(__file__).resolve().parents[2]
# Recorded or generated: kept byte for byte, whatever is in it.
RECORDED = ('.log', '.err', '.svg', '.pcapng')
SHELLCHECK = {'scripts': ('-x', '-a'), 'tests': ('-x', '-S', 'warning')}


class Text:
    """A text file and its lines."""

    def __init__(self, root, name):
        self.name, self.path = name, root / name
        self.lines = self.path.read_text('utf-8', 'replace').split('\n')
        self.shell = name.endswith(('.sh', '.bats')) or bool(re.match(r'#!.*\bbash\b', self.lines[0]))
        self.c = name.endswith(('.c', '.h'))
        self.chapter = re.match(r'\d\d_[^/]+/', name)


def ran(*words, **options):
    """What a tool says, and how it ended."""
    return subprocess.run([str(word) for word in words], check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)


def build(root, texts):
    """Each chapter, alone, with both compilers."""
    for chapter in sorted({text.name.split('/')[0] for text in texts if re.fullmatch(r'\d\d_[^/]+/Makefile', text.name)}):
        for compiler in 'gcc', 'clang':
            with tempfile.TemporaryDirectory() as folder:
                for name in files_of(root, f'{chapter}/*'):
                    copy = pathlib.Path(folder, name)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(root / name, copy)
                # clang finds the same without optimising; gcc does not. On the command line, so that no CFLAGS = in a
                # Makefile undoes it.
                place = pathlib.Path(folder, chapter)
                made = ran('make', '-C', place, f'CC={compiler}', '-j2',
                           f'CFLAGS={"-O2" if compiler == "gcc" else "-O0"} -Wall -Wextra -Werror')
                if made.returncode:
                    yield f'{chapter}: does not build alone with {compiler}: {made.stdout[-2000:]}'
                elif 'warning:' in made.stdout:
                    yield f'{chapter}: warnings with {compiler}: {made.stdout[-2000:]}'
                elif not all((place / program).exists() for program in ('server', 'client')):
                    yield f'{chapter}: make with {compiler} made no server and client'


def clang_format(root, texts):
    """The first place of each file is enough."""
    said = ran('clang-format', '--style=file', '--dry-run', '-Werror', *(text.name for text in texts if text.c), cwd=root)
    seen = set()
    for name, line in re.findall(r'(?m)^(.*?):(\d+):\d+: error:', said.stdout):
        if name not in seen:
            yield f'{name}:{line}: not formatted: run clang-format -i {name}'
        seen.add(name)


def shell(root, texts):
    """Files that are only sourced are checked with those that name them in a `shellcheck source=` line, where the
    variables they share are known; what a test hands to another shell is quoted on purpose."""
    texts = [text for text in texts if text.shell]
    sourced = {name for text in texts for line in text.lines for name in re.findall(r'^\s*# shellcheck source=(.*)', line)}
    kinds = {'tests': [text.name for text in texts if text.name.endswith('.bats')],
             'scripts': [text.name for text in texts if not text.name.endswith('.bats') and
                         (text.lines[0].startswith('#!') or text.name not in sourced)]}
    with concurrent.futures.ThreadPoolExecutor(2) as two:
        yield from filter(None, two.map(
            lambda part: ran('shellcheck', *SHELLCHECK[part[0]], '-f', 'gcc', *part[1], cwd=root).stdout.rstrip(),
            [(kind, names[at:at + 8]) for kind, names in kinds.items() for at in range(0, len(names), 8)]))


def whitespace(text):
    """In a patch that a file quotes, an empty line is one blank."""
    if not re.search(r'(^|/)patch$|\.(patch|wrong)$', text.name):
        for number, line in enumerate(text.lines, 1):
            if re.search(r'.[ \t]$|^\t$|\r|^  +\t', line):
                yield number, f'blanks at the end of a line, or before a tab: {line}'


def length(text):
    """A file that is too long wants to be two."""
    lines = len(text.lines) - 1
    if (text.c or text.shell or text.name.endswith('.py')) and lines > 450 and text.path.name not in ('first.c', 'loopback.c'):
        yield 0, f'{lines} lines; 450 is the limit: cut it in two'
    count = sum(len(line.split()) for line in text.lines)
    if re.fullmatch(r'\d\d_\w+/README.md', text.name) and count > 2600:
        yield 0, f'{count} words; 2600 is the limit: what you look up belongs in reference.md'


def headers(text):
    """A file says at its top what it is for."""
    top = '\n'.join(text.lines[:4])
    if text.c and not top.startswith(f'/*\n * {text.path.name} - '):
        yield 1, f"does not start with '/* {text.path.name} - ' and what it is for"
    elif (text.shell or text.name.endswith('.py')) and not re.search(r'^(# (?!shellcheck)|""").', top, re.MULTILINE):
        yield 1, 'does not say at its top what it is for'


def messages(text):
    """What a person sees is one string."""
    string = r'"((?:[^"\\]|\\.)*)"'
    for number, line in enumerate(text.lines[:-1] if text.c and text.chapter else (), 1):
        first, second = re.search(string + '$', line), re.match(r'\s+' + string, text.lines[number])
        # A text of several lines may have a line of the source for each of its own.
        if first and second and '\\n' not in first[1] + second[1]:
            yield number, f'the string goes on in the next line: {line.strip()}'


def words(text):
    """Nothing is left to do, claimed or shouted."""
    code = False
    for number, line in enumerate(text.lines, 1):
        if re.search(r'\b(TO[D]O|FIX[M]E|XX[X])\b', line):
            yield number, f'left to do: {line.strip()}'
        if re.search(r'(?<!["“])production[-]ready', line, re.IGNORECASE):
            yield number, f'whose word is that? {line.strip()}'
        code ^= bool(re.match(r' *(```|~~~)', line))
        if text.name.endswith('.md') and not code and \
                re.search(r'[^]\[\s<!(]!+([])"*_\s]|$)', re.sub(r'`[^`]*`', 'code', line)):
            yield number, f'exclamation mark: {line.strip()}'


TOOLS = {'build': build, 'format': clang_format, 'shell': shell}
RULES = TOOLS | {rule.__name__: rule for rule in (length, whitespace, headers, messages, words)}


def main(arguments):
    """Checks the tree; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_root(TOP)
    parser.add_argument('-c', dest='chapters', type=str.split, default=[])
    parser.add_argument('rules', nargs='*', metavar='RULE')
    options = parser.parse_args(arguments)
    if set(options.rules) - set(RULES):
        parser.error(f'rules are {", ".join(RULES)}')
    texts = [Text(options.root, name) for name in files_of(options.root, *options.chapters) if not name.endswith(RECORDED)
             and b'\0' not in (options.root / name).read_bytes()]
    wrong = []
    for rule in options.rules or RULES:
        if rule in TOOLS:
            wrong += TOOLS[rule](options.root, texts)
        else:
            wrong += [f'{text.name}:{number}: {what}' if number else f'{text.name}: {what}'
                      for text in texts for number, what in RULES[rule](text)]
    print('\n'.join(wrong), end='\n' * bool(wrong))
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
