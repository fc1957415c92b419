"""Reads the tables of mutants, tests/mutants/*.tsv; run.py -h says what is in them."""
import re
from typing import NamedTuple

COLUMNS = ['name', 'file', 'old', 'new', 'test', 'fault']
ESCAPES = {'n': '\n', 't': '\t', '\\': '\\'}


class Mutant(NamedTuple):
    """One fault. Each of its changes is a file, its old text and its new one; problem
    says what is wrong with its rows, or is ''."""
    id: str
    name: str = ''
    changes: tuple[tuple[str, str, str], ...] = ()
    test: str = ''
    problem: str = ''

    def mutated(self, root):
        """The files that it changes, as {name: text}."""
        texts = {}
        for file, old, new in self.changes:
            text = texts.get(file) or (root / file).read_bytes().decode()
            texts[file] = text.replace(old, new)
        return texts


def unescape(text):
    """What stands in a column, with its newlines and tabs."""
    return re.sub(r'\\(.)', lambda found: ESCAPES[found[1]], text)


def where(root, file):
    """A file, which may stand in its chapter's carried/."""
    carried = re.sub('/', '/carried/', file, count=1)
    return carried if (root / carried).is_file() else file


def change_problem(root, file, old, new):
    """What is wrong with one change, or ''."""
    if not (root / file).is_file():
        return f'there is no file {file}'
    times = (root / file).read_bytes().decode().count(old) if old else 0
    if times != 1:
        return f'the old text is {times} times in {file}, not once'
    return 'the new text is the old one' if old == new else ''


def test_problem(root, test):
    """What is wrong with the name of a test, or ''."""
    if found := re.fullmatch(r'unit test_((\d\d_)(\w+))', test):
        files = (root / f'tests/unit/test_{found[which]}.c' for which in (1, 3))
        there = any(file.is_file() for file in files)
    elif found := re.fullmatch(r'pytest (tests/test_\w+\.py) (\w+)', test):
        there = (root / found[1]).is_file() and re.search(
            rf'(?m)^def test_\w*{found[2]}', (root / found[1]).read_text('utf-8'))
    else:
        found = re.fullmatch(r'bats (tests/\S+\.bats) ?(.*)', test)
        there = found and (root / found[1]).is_file() and re.search(
            f'^@test ".*{found[2]}', (root / found[1]).read_text('utf-8'), re.MULTILINE)
    return '' if there else f'there is no test "{test}"'


def expand(root, table, rows):
    """The mutants of the rows of one fault: one for each chapter of the first."""
    name, files, _, _, test, _ = rows[0]
    chapters = re.match(r'(\d\d(,\d\d)*)/|', files)[1]
    for chapter in (chapters or '').split(','):
        folder = next((path.name for path in root.glob(f'{chapter}_*')), chapter)
        several = files.count(',') and chapters
        try:
            changes = tuple((where(root, re.sub(r'^[\d,]+/', f'{folder}/', row[1])),
                             unescape(row[2]), unescape(row[3])) for row in rows)
            problem = next(filter(None, (change_problem(root, *one) for one in changes)), '')
        except KeyError as error:
            changes, problem = (), f'\\{error.args[0]} means nothing; \\\\ is a backslash'
        here = test.replace('NN', chapter) if several else test
        yield Mutant(f'{chapter if several else table}/{name}', name, changes, here,
                     problem or test_problem(root, here))


def read_table(root, path):
    """The mutants of one table."""
    faults = []
    for number, line in enumerate(path.read_text('utf-8').splitlines(), 1):
        row = line.split('\t')
        if len(row) == 5 and row[4] == '+' and faults and faults[-1][0][0] == row[0]:
            faults[-1].append(row)
        elif len(row) == 6 and all(row[:3] + row[4:]):
            faults.append([row])
        else:
            yield Mutant(f'{path.stem}/line {number}', problem='it does not have the '
                         f'columns {", ".join(COLUMNS)}')
    for rows in faults:
        if rows[0] != COLUMNS:
            yield from expand(root, path.stem, rows)


def read_tables(root):
    """All mutants, in the order of their names."""
    found = {}
    for path in sorted(root.glob('tests/mutants/*.tsv')):
        for mutant in read_table(root, path):
            twice = mutant.id in found
            found[mutant.id] = mutant._replace(problem='two rows have this name') \
                if twice else mutant
    return [found[name] for name in sorted(found)]
