"""What Markdown shows is in the files, what it tells to type is there, what it marks as runnable runs, and its words
are English. Where its links lead, the pages' tests look at (tests/web/pages.browser.mjs)."""
import re
import subprocess

import pytest

from lib.files import files_of
from nodes import TOP
from option_letters import listed

PAGES = {name: (TOP / name).read_text('utf-8') for name in files_of(TOP, '*.md')}
FENCED = re.compile(r'(?ms)^```([^`\n]*)\n(.*?)^```$')
# What stands for lines that are left out.
ELISION = re.compile(r'(?m)^[ \t]*(?:\.\.\.|/\* \.\.\. \*/)[ \t]*$')


def line_of(text, at):
    """The number of the line there."""
    return text.count('\n', 0, at) + 1


def blocks():
    """(page, number of the first line, words after the fence, text) of each block of code."""
    for page, text in PAGES.items():
        for found in FENCED.finditer(text):
            yield page, line_of(text, found.start(2)), found[1].split() or [''], found[2]


def blanked(text, *patterns):
    """The text with what matches as blanks; its lines remain where they are."""
    for pattern in patterns:
        text = re.sub(pattern, lambda found: ' ' + '\n' * found[0].count('\n'), text)
    return text


# What is shown

def shows(block, source):
    """Whether the parts of a block stand in a file, one after another."""
    at = 0
    for part in filter(None, (part.strip('\n') for part in ELISION.split(block))):
        at = f'\n{source}\n'.find(f'\n{part}\n', at) + len(part) + 1
        if at == len(part):
            return False
    return bool(ELISION.sub('', block).strip())


@pytest.mark.chapters
def test_each_block_of_code_is_a_piece_of_its_file():
    """Of the one that file= or log= names, or in a chapter's text of any C file of the chapter."""
    wrong, checked = [], 0
    for page, line, (language, *options), text in blocks():
        named = [word.partition('=')[2] for word in options if word.startswith(('file=', 'log='))]
        chapter = re.match(r'\d\d_\w+', page)
        if named:
            sources = [(TOP / page).parent / named[0]]
        elif language == 'c' and chapter:
            sources = [TOP / name for name in files_of(TOP, f'{chapter[0]}/*.[ch]')]
        else:
            continue
        checked += 1
        if not any(path.is_file() and shows(text, path.read_text('utf-8', 'replace')) for path in sources):
            wrong.append(f'{page}:{line}: not in {named or chapter[0]}')
    assert not wrong and checked > 100


@pytest.mark.chapters
def test_each_block_ends():
    assert not [page for page, text in PAGES.items() if re.search('(?m)^```', FENCED.sub('', text))]


def races_in(path):
    """The lines of a file `races` that declare one."""
    return {line.strip() for line in path.read_text('utf-8').splitlines() if line.strip() and not line.startswith('#')}


@pytest.mark.chapters
def test_what_may_change_places_in_a_log_is_told():
    """Some text of the chapter links to each file `races`, or to one with the same lines."""
    for chapter in TOP.glob('[0-9][0-9]_*'):
        told = set()
        for page, text in PAGES.items():
            if page.startswith(f'{chapter.name}/'):
                for link in re.findall(r'\]\(([^)\s]*\braces)\)', text):
                    told |= races_in((TOP / page).parent / link)
        for name in files_of(TOP, f'{chapter.name}/*races'):
            assert not races_in(TOP / name) - told, f'no text of {chapter.name} tells of this, with a link to {name}'


# What is to be typed

TARGETS = re.compile(r'(?m)^([a-z][a-z-]*):')


def chapter_of(number):
    """The folder of a chapter, or None."""
    return next(TOP.glob(f'{number}_*'), None)


def wrong_with_make(words):
    """What is wrong with a call of make, or None."""
    values = dict(word.split('=', 1) for word in words if '=' in word)
    names = [word for word in words[1:] if '=' not in word]
    makefile = TOP / 'Makefile'
    if '-C' in names:
        at = names.index('-C')
        folder, names = names[at + 1], names[at + 2:]
        makefile = TOP / folder / 'Makefile'
        if folder.startswith('$'):
            return None
        if not makefile.is_file():
            return f'there is no {folder}/Makefile'
    # In a chapter's folder its own targets are meant.
    targets = {'certs', *(path.name for path in TOP.glob('[0-9]*_*')), *TARGETS.findall(makefile.read_text('utf-8'))}
    for name in names:
        if re.fullmatch(r'[a-z][a-z0-9_-]*', name) and name.removeprefix('help-') not in targets:
            return f'make has no target {name}'
    if not re.fullmatch(r'\d\d', values.get('CH', '')):
        return None
    chapter = chapter_of(values['CH'])
    if not chapter:
        return f'there is no chapter {values["CH"]}'
    for key, place in ('CASE', 'break'), ('RUN', 'expected'):
        if re.fullmatch(r'[a-z0-9_]+', values.get(key, '')) and not (chapter / place / values[key]).is_dir():
            return f'{chapter.name} has no {place}/{values[key]}'
    if values.get('EX', '').isdigit():
        rows = re.findall(r'(?m)^\| \d', (chapter / 'exercises/README.md').read_text('utf-8'))
        if int(values['EX']) > len(rows):
            return f'{chapter.name} has no exercise {values["EX"]}'
    return None


def wrong_with_line(line, options):
    """What is wrong with one line of shell, or None."""
    for part in re.split(r'&&|\|\|?|;', re.sub(r'(?<!\S)#.*', '', line).replace('sudo ', '')):
        words = re.sub(r'^(\s*[A-Z_]+=\S*)+', '', part).split() or ['']
        if words[0] == 'make' and (wrong := wrong_with_make(words)):
            return wrong
        for path in (word.rstrip('.,') for word in words):
            # What has capitals or the like stands for something else.
            if re.match(r'(scripts|tests|docs|0\d_\w+)(/|$)', path) and \
                    not re.search(r'[A-Z*<>…$]|my_', path) and not (TOP / path).exists():
                return f'there is no {path}'
        for option in re.findall(r'(?<!\S)(--?[A-Za-z0-9][a-z-]*)', part):
            if words[0] in ('./server', './client') and option not in options:
                return f'{words[0]} has no option {option}'
    return None


@pytest.mark.chapters
def test_each_command_names_what_there_is():
    """In a block of shell, and in backticks."""
    options = set().union(*(programs for chapter in TOP.glob('[0-9]*_*') for programs in listed(chapter).values()))
    lines = [(f'{page}:{line + at}', text) for page, line, words, block in blocks() if words[0] == 'sh'
             for at, text in enumerate(block.splitlines())]
    for page, text in PAGES.items():
        prose = blanked(text, FENCED)
        lines += [(f'{page}:{line_of(prose, found.start())}', found[1])
                  for found in re.finditer(r'`((?:make|scripts/)[^`\n]*)`', prose)]
    assert not [f'{place}: {wrong}' for place, line in lines if (wrong := wrong_with_line(line, options))]


RUNNABLE = [pytest.param(page, text, id=f'{page}-{line}') for page, line, words, text in blocks() if 'run' in words[1:]]


@pytest.mark.chapters
def test_pages_mark_blocks_as_runnable():
    """Without one, the next test would have nothing to run, and not fail."""
    assert len(RUNNABLE) >= 5


@pytest.mark.parametrize('page, block', RUNNABLE)
def test_what_is_marked_as_runnable_runs(page, block, run):
    """Its lines that are for two terminals run as a pair."""
    chapter = page.split('/')[0]
    script, pair = [], []
    for line in block.splitlines():
        if '# terminal' not in line and not re.match(r'\./(server|client)', line):
            script.append(line)
            continue
        line = re.sub(r'\s*#.*', '', line)
        if folder := re.match(r'cd (\S+) && ', line):
            chapter, line = folder[1], line[folder.end():]
        label = 'server' if re.match(r'\./server|bench/bench .*lend', line) else 'client'
        # It would wait for the next client otherwise.
        pair.append(f'{label}: ' + line.replace('./server', './server -1'))
    if pair:
        out = TOP / 'build/commands' / page.replace('/', '_')
        out.mkdir(parents=True, exist_ok=True)
        (out / 'commands').write_text('\n'.join(pair) + '\n', 'utf-8')
        script += [f'scripts/pair.sh -v -d {chapter} {out}/commands {out}/run',
                   f"! grep -v 'exit status 0$' {out}/run/status.log"]
    said = run('bash', '-euc', '\n'.join(script))
    assert said.returncode == 0, said.stdout


# The words

# What is no prose, in this order.
NOISE = (FENCED, r'(`+)(?:(?!\n\n)[\s\S])*?\1', r'<!--[\s\S]*?-->', r'<[^>]*>', r'\]\([^)]*\)', r'https?://\S+',
         r'&\w+;', r'\S*[\w/.-]+\.(?:c|h|sh|py|md|svg|txt|bats|pem|key|tsv)\b', r'\b\w*[_\d]\w*\b', r'\b[A-Z]{2,}s?\b')
# All but C's comments.
CODE = r'(?:^|(?<=\*/))(?:(?!/\*)[\s\S])*(?:/\*|$)'
# What stands at the beginning of the lines of a comment or a quotation.
MARGIN = r'(?m)^[ \t]*(?:\*(?!/)|#|>)'


def rows_of(name):
    """The lines of a list."""
    return [line for line in (TOP / 'tests' / name).read_text('utf-8').splitlines() if not line.startswith('#')]


@pytest.mark.chapters
def test_the_spelling_is_british():
    places = {}
    for page, text in PAGES.items():
        for found in re.finditer(r"[^\W\d_]+(?:['’][^\W\d_]+)*", prose := blanked(text, *NOISE)):
            word = found[0].replace('’', "'").removesuffix("'s")
            if len(word) > 1:
                places.setdefault(word, f'{page}:{line_of(prose, found.start())}')
    ran = subprocess.run(('hunspell', '-i', 'utf-8', '-d', 'en_GB', '-l'), input='\n'.join(places), text=True,
                         check=True, stdout=subprocess.PIPE)
    assert not {word: places[word] for word in ({*ran.stdout.split()} - {*rows_of('words.txt')}).intersection(places)}


@pytest.mark.chapters
def test_no_phrase_is_one_over_which_a_reader_stumbled():
    """In Markdown, scripts and the comments of C."""
    wrong, phrases = [], [row.split('\t') for row in rows_of('phrases.tsv')]
    for name in files_of(TOP, '*.md', '*.[ch]', ':!tests/*.[ch]', 'scripts/*.sh', 'scripts/*.py'):
        text = (TOP / name).read_text('utf-8', 'replace')
        c = name.endswith(('.c', '.h'))
        text = blanked(text, *(NOISE if name.endswith('.md') else [CODE] if c else []), MARGIN)
        for look, instead in phrases:
            pattern = r'(?<!\w)(?:' + look.removeprefix('text:').replace(' ', r'\s+') + ')'
            wrong += [f'{name}:{line_of(text, found.start())}: "{found[0]}": {instead}'
                      for found in re.finditer(pattern, text) if not (c and look.startswith('text:'))]
    assert not wrong
