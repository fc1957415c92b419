"""The command lines of all chapters: each row of unit/options.tsv is refused, or for help."""
import itertools
import re
import subprocess

import pytest

import builds
from nodes import TOP

CHAPTERS = {path.parent.name[:2]: path.parent.name for path in TOP.glob('[0-9][0-9]_*/server.c')}
# What @ stands for: what a program needs in any case.
NEEDS = {'01 server': '', '01 client': '-a node', '02 server': 'write', '02 client': 'write -a node',
         '03 server': 'write', '03 client': 'write -a node',
         '04 server': 'write', '04 client': 'write -a node',
         '05 server': 'write', '05 client': 'write -a node',
         '06 server': '-a node', '06 client': 'talk -a node',
         '07 server': '', '07 client': 'send a -a node',
         '08 server': '', '08 client': '-a node',
         '09 server': '', '09 client': '-a node scan'}


def rows(number):
    """(program, words, what comes of them), for each word in braces."""
    for line in (TOP / 'tests/unit/options.tsv').read_text('utf-8').splitlines():
        if line.startswith('#') or not line:
            continue
        chapters, program, words, outcome = line.split('\t')
        if chapters != 'all' and number not in chapters.split(','):
            continue
        for role in ('server', 'client') if program == 'both' else (program,):
            filled = words.replace('@', NEEDS[f'{number} {role}'])
            braces = re.search(r'\{(.*)\}', filled)
            for word in braces[1].split('|') if braces else [None]:
                line = filled if word is None else filled.replace(braces[0], word or '""')
                yield role, [plain(part) for part in line.split()], outcome.replace('$', plain(word or ''))


def plain(word):
    """What a word of the table stands for."""
    text, star, times = word.partition('*')
    text = text * int(times) if star else text
    return '' if text == '""' else text.replace('_', ' ')


@pytest.mark.parametrize('number', sorted(CHAPTERS))
def test_what_is_refused_and_what_help_says(number):
    folder, count = builds.build(CHAPTERS[number], 'sanitized'), 0
    for role, words, outcome in rows(number):
        ran = subprocess.run([f'./{role}', *words], cwd=folder, check=False, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=20)
        kind, _, parts = outcome.partition(': ')
        said = f'{role} {words}: {ran.returncode}\n{ran.stdout}{ran.stderr}'
        if kind == 'refused':
            assert ran.returncode == 2 and ran.stderr.count('\n') == 1 and not ran.stdout, said
        else:
            assert ran.returncode == 0 and not ran.stderr, said
        for part in parts.split(' & '):
            text = ran.stderr + ran.stdout
            assert part[1:] not in text if part.startswith('!') else part in text, f'{part!r}: {said}'
        count += 1
    assert count > 60 and list(itertools.islice(rows(number), 1))
