#!/usr/bin/python3 -B
"""Checks the spelling of all Markdown, in British English, by hunspell; and looks there,
in scripts/ and in the comments of C files for phrases that are no plain English.

Usage: check_spelling.py [-r ROOT] [-w WORDS]

It looks at what is written for people, not at code, be it a block or a word in
backticks, nor at where links lead to. WORDS (default: tests/words.txt in ROOT) has the
words that the dictionary lacks, a line each; # begins a comment. tests/phrases.tsv in
ROOT has the phrases, and what to write instead.

Prints FILE:LINE: WORD for each unknown word, and FILE:LINE: "PHRASE": INSTEAD. Exit
status: 0 none, 1 some, 2 usage or hunspell or its dictionary is missing.
"""
import pathlib
import re
import subprocess
import sys

from lib.arguments import Parser
from lib.files import files_of
from lib.md_text import Markdown

TOP = pathlib.Path(__file__).resolve().parents[2]
# What is no prose, in this order.
NOISE = [re.compile(pattern) for pattern in (
    r'(`+)(?:(?!\n\n)[\s\S])*?\1', r'<!--[\s\S]*?-->', r'<[^>]*>', r'\]\([^)]*\)', r'https?://\S+',
    r'&\w+;', r'\S*[\w/.-]+\.(?:c|h|sh|py|md|svg|txt|bats|pem|key|tsv)\b',
    r'\b\w*[_\d]\w*\b', r'\b[A-Z]{2,}s?\b')]
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# Not C comments, and those, with what is at the beginning of a comment's lines.
CODE = re.compile(r'(?:^|(?<=\*/))(?:(?!/\*)[\s\S])*(?:/\*|$)')
MARGIN = re.compile(r'^[ \t]*(?:\*(?!/)|#|>)', re.MULTILINE)


def blanked(text, *patterns):
    """The text with what matches as blanks; its lines remain where they are."""
    for pattern in patterns:
        text = pattern.sub(lambda match: ' ' + '\n' * match[0].count('\n'), text)
    return text


def texts_of(root):
    """(name, numbers of its lines, what is to be read) of each file with prose."""
    for name in files_of(root, '*.md', '*.[ch]', 'scripts/*.sh', 'scripts/*.py'):
        text = (root / name).read_text('utf-8', 'replace')
        numbers = range(1, text.count('\n') + 2)
        if name.endswith('.md'):
            prose = Markdown(text).prose
            numbers = [number for number, _ in prose]
            text = blanked('\n'.join(line for _, line in prose), *NOISE)
        elif name.startswith('tests/'):
            continue
        elif name.endswith(('.c', '.h')):
            text = blanked(text, CODE)
        yield name, numbers, MARGIN.sub(' ', text)


def words_of(texts):
    """{word: [file:line, ...]} of the Markdown."""
    found = {}
    for name, numbers, text in texts:
        for number, line in zip(numbers, text.split('\n')) if name.endswith('.md') else ():
            for word in WORD.findall(line):
                word = word.replace('’', "'").removesuffix("'s")
                if len(word) > 1:
                    found.setdefault(word, []).append(f'{name}:{number}')
    return found


def unknown(words):
    """Those that hunspell does not know."""
    try:
        run = subprocess.run(['hunspell', '-i', 'utf-8', '-d', 'en_GB', '-l'],
                             input='\n'.join(sorted(words)) + '\n', text=True,
                             capture_output=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        print(f'check_spelling.py: {error}; scripts/install_deps.sh installs '
              'hunspell and its British dictionary', file=sys.stderr)
        sys.exit(2)
    return [word for word in run.stdout.split('\n') if word in words]


def own_words(path):
    """The words of the list."""
    if not path.exists():
        return []
    lines = (line.split('#')[0].strip() for line in
             path.read_text('utf-8').split('\n'))
    return [line for line in lines if line]


def phrases(root, texts):
    """A line for each place that has one of the phrases."""
    rows = [line.split('\t') for line in own_words(root / 'tests/phrases.tsv')]
    rows = [(re.compile(r'(?<!\w)(?:' + look.removeprefix('text:').replace(
        ' ', r'\s+') + ')'), look.startswith('text:'), say) for look, say in rows]
    for name, numbers, text in texts:
        for look, only_text, say in rows:
            for match in look.finditer(text):
                if not (only_text and name.endswith(('.c', '.h'))):
                    number = numbers[text.count('\n', 0, match.start())]
                    yield f'{name}:{number}: "{" ".join(match[0].split())}": {say}'


def main(arguments):
    """Checks all that is written for people; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_root(TOP)
    parser.add_argument('-w', dest='listed', type=pathlib.Path)
    options = parser.parse_args(arguments)
    texts = list(texts_of(options.root))
    words = words_of(texts)
    own = own_words(options.listed or options.root / 'tests/words.txt')
    bad = [word for word in unknown(words) if word not in own]
    for word in bad:
        places = words[word]
        more = f' and {len(places) - 1} more' if len(places) > 1 else ''
        print(f'{places[0]}: {word}{more}')
    found = list(phrases(options.root, texts))
    print(*found, sep='\n', end='\n' if found else '')
    return 1 if bad or found else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
