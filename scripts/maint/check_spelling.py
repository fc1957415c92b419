#!/usr/bin/python3
"""Checks the spelling of all Markdown, in British English, by hunspell.

Usage: check_spelling.py [-r ROOT] [-w WORDS]

Looked at is what is written for people: not code, be it a block or a word in
backticks, nor where links lead to, nor Chinese. WORDS (default: tests/words.txt in ROOT) has the
words that the dictionary lacks, a line each; # begins a comment.

Prints FILE:LINE: WORD for each unknown word. Exit status: 0 none, 1 some, 2 usage or
hunspell or its dictionary is missing.
"""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from arguments import Parser  # noqa: E402 pylint: disable=C0413
from md_text import Markdown  # noqa: E402 pylint: disable=C0413

TOP = pathlib.Path(__file__).resolve().parents[2]
# What is no prose, in this order.
NOISE = [re.compile(pattern) for pattern in (
    r'(`+)(?:(?!\n\n)[\s\S])*?\1', r'<!--[\s\S]*?-->', r'<[^>]*>', r'\]\([^)]*\)', r'https?://\S+',
    r'&\w+;', r'\S*[\w/.-]+\.(?:c|h|sh|py|md|svg|txt|bats|pem|key|tsv)\b',
    r'\b\w*[_\d]\w*\b', r'\b[A-Z]{2,}s?\b', r'[\u3000-\u9fff\uff00-\uffef]+')]
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def markdown_files(root):
    """The Markdown files that git does not ignore."""
    git = subprocess.run(
        ['git', '-C', root, 'ls-files', '-coz', '--exclude-standard', '*.md'],
        capture_output=True, text=True, check=False)
    names = git.stdout.split('\0') if git.returncode == 0 else [
        str(path.relative_to(root)) for path in root.rglob('*.md')]
    return [name for name in sorted(names) if (root / name).is_file()
            and not name.startswith('tests/fixtures/')]


def words_of(root):
    """{word: [file:line, ...]}"""
    found = {}
    for name in markdown_files(root):
        prose = Markdown((root / name).read_text('utf-8')).prose
        text = '\n'.join(line for _, line in prose)
        for pattern in NOISE:
            # Some goes over the end of a line, and the lines must stay.
            text = pattern.sub(lambda match: ' ' + '\n' * match[0].count('\n'),
                               text)
        for (number, _), line in zip(prose, text.split('\n')):
            for word in WORD.findall(line):
                word = stem(word.replace('’', "'"))
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


def stem(word):
    """The word without a possessive."""
    return word[:-2] if word.endswith("'s") else word


def own_words(path):
    """The words of the list."""
    if not path.exists():
        return []
    lines = (line.split('#')[0].strip() for line in
             path.read_text('utf-8').split('\n'))
    return [line for line in lines if line]


def main(arguments):
    """Checks all Markdown; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_root(TOP)
    parser.add_argument('-w', dest='listed', type=pathlib.Path)
    options = parser.parse_args(arguments)
    words = words_of(options.root)
    own = own_words(options.listed or options.root / 'tests/words.txt')
    bad = [word for word in unknown(words) if word not in own]
    for word in bad:
        places = words[word]
        more = f' and {len(places) - 1} more' if len(places) > 1 else ''
        print(f'{places[0]}: {word}{more}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
