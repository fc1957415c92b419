"""make lesson: what a chapter adds to the one that it starts from, in the order of its README; and what each README says
of how long that is. On a small tree of its own."""
import re
import subprocess

import pytest

from lib import lesson
from nodes import TOP


class Tree:
    """It, and what is said of it."""

    def __init__(self, root, capsys):
        self.root, self.capsys = root, capsys

    def write(self, **files):
        """Lines, by names in which __ is a slash."""
        for name, lines in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(''.join(f'{line}\n' for line in lines), 'utf-8')

    def chapter(self, name, *files):
        """One whose README has these files in its table of them."""
        self.write(**{f'{name}/Makefile': ['all:'], f'{name}/README.md': [
            f'# {name}', '', 'Text.', '', '## The files', '', '| file | lines |', '|---|---|',
            *(f'| `{file}` | 1 |' for file in files), '', '## Next', '', '| `other.c` | 1 |']})

    def lesson(self, name, *colour):
        """What is printed of a chapter."""
        lesson.main(self.root, name, *colour)
        return ''.join(self.capsys.readouterr())

    def docs(self, *words, status=0):
        """What docs.py says of the tree."""
        ran = subprocess.run([TOP / 'scripts/maint/docs.py', '-r', self.root, *words], check=False, text=True,
                             stdout=subprocess.PIPE)
        assert ran.returncode == status, ran.stdout
        return ran.stdout


NUMBERS = [str(number) for number in range(1, 21)]


@pytest.fixture
def tree(tmp_path, capsys):
    """Two chapters. In the second, one file is changed, one new, one gone and one the same, and one comes out of the
    plumbing."""
    subprocess.run(('git', 'init', '-q', tmp_path), check=True)
    tree = Tree(tmp_path, capsys)
    main = ['int main(void)', '{', '\treturn 0;', '}']
    (tmp_path / 'docs').mkdir()
    tree.write(**{'README.md': ['# Title']})
    tree.chapter('01_one', 'server.c', 'cm.[ch]', 'Makefile')
    tree.write(**{'01_one/server.c': main + NUMBERS, '01_one/cm.c': ['int cm;'], '01_one/cm.h': ['extern int cm;'],
                  '01_one/plumbing/log.c': ['int log;']})
    tree.chapter('02_two', 'new.c', 'server.c', 'log.c')
    tree.write(**{'02_two/server.c': [line.replace('0', '1') for line in main] + NUMBERS, '02_two/new.c': ['int new;'],
                  '02_two/cm.c': ['int cm;'], '02_two/log.c': ['int log;', 'int more;'],
                  '02_two/plumbing/wait.c': ['int wait;'], '02_two/load/crowd.c': ['int load;']})
    return tree


def titles(said):
    return re.findall('(?m)^=== .*', said)


def test_of_a_later_chapter_what_is_changed_new_and_gone_is_printed(tree):
    said = tree.lesson('02_two')
    assert titles(said) == ['=== 02_two/new.c, new, 1 lines', '=== 02_two/server.c, changed',
                            '=== 02_two/log.c, changed so much that it is printed whole: 2 lines',
                            '=== no longer here: cm.h']
    for text in ('\n--- 01_one/server.c\n+++ 02_two/server.c\n@@', '\n-\treturn 0;\n+\treturn 1;\n',
                 '\n02_two: 3 lines added, 1 removed. Not printed:\n', '\n  plumbing/: 1 files, 1 lines\n',
                 '\n  load/: 1 files, 1 lines\n', '\n  as in 01_one: 1 files, 1 lines\nWith the README, 5 minutes to read '
                 '(200 words, 15 lines of code a minute).\n'):
        assert text in said
    assert 'int load' not in said and '\033' not in said
    assert '\033[32m+\treturn 1;\033[0m\n' in tree.lesson('02_two', 'yes')


def test_as_a_reader_types_it():
    for words, status in (('1',), 0), (('99',), 2), (('1', '2'), 2):
        assert subprocess.run([TOP / 'scripts/lesson.sh', *words], check=False, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == status, words


def test_how_long_a_program_of_one_file_takes_with_the_text_that_goes_through_it(tree):
    tree.write(**{'01_one/first.c': [*NUMBERS, *NUMBERS[:10]], '01_one/README.md': [
        '# 01', '', 'word ' * 97, '## Told', '', '```c file=first.c', '1', '2', '```', '', 'Last.', '', '## Next', '', 'word ' * 500]})
    assert tree.lesson('01_one').endswith('\nOf these, first.c: 30 lines and 102 words, 2.5 minutes.\n')
    assert 'Of these' not in tree.lesson('02_two')


def test_each_chapters_readme_says_how_long_its_lesson_is(tree):
    assert '''02_two/README.md is not up to date; `make docs` puts it right
\t`make lesson CH=02` prints what is new here since 01_one: 20 lines, of which 3 are new. \
With this text, 5 minutes to read.''' in tree.docs('--check', status=1)
    tree.write(**{'chapters.tsv': ['01_one\t-\trxe\t1\trun\tone', '02_two\t01\trxe\t1\trun\ttwo']})
    tree.docs()
    said = '''# 01_one

`make lesson CH=01` prints this chapter's code in reading order: 35 lines. With this text, 5 minutes to read.

Text.
'''
    assert (tree.root / '01_one/README.md').read_text('utf-8').startswith(said)
    assert tree.lesson('01_one').index('\n01_one: ') and tree.lesson('01_one').split('\n01_one: ')[0].count('\n') == 35
    tree.docs('--check')
    # 1,000 words and 60 lines more.
    for name, text in ('README.md', 'word ' * 1000), ('log.c', 'int more;\n' * 60):
        with (tree.root / '01_one' / name).open('a', encoding='utf-8') as file:
            file.write(text)
    assert ' lines. With this text, 10 minutes to read.' in tree.docs('--check', status=1)
    tree.docs()
    tree.docs('--check')
    assert (tree.root / '01_one/README.md').read_text('utf-8').count('make lesson') == 1
    tree.docs('--nonsense', status=2)
