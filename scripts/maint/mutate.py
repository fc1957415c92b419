#!/usr/bin/python3 -B
"""Measures how good the tests are: puts faults into C, one at a time, and runs the tests.

Usage: scripts/maint/mutate.py [--sample N] [--seed TEXT] [--list] FILE...

FILE is a chapter's C file, such as 01_send_recv/first.c. A fault drops a statement, negates
a condition, or changes a comparison, a constant or an access flag, or swaps two calls that
follow each other. --sample N takes N of all places in the files, other ones with another TEXT,
and --list only prints them.

All is done in a copy of the tree, build/mutate. Each fault is built, and then the tests of
the file's chapter run until one fails: the unit tests, and what `pytest -k NN_` selects. A
fault that does not compile is none, and is not counted. One that no test notices lives. Look at
each of those: either a test is missing, or the code does without what was changed.

Prints a line for each fault, the score, and those that live as a diff. Exit status: 0 none
lives, 1 some do, 2 usage.
"""
import hashlib
import pathlib
import re
import subprocess
import sys

from lib.arguments import Parser

TOP = pathlib.Path(__file__).resolve().parents[2]
TREE = TOP / 'build/mutate'
SECONDS = 1200

NO_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|^#.*?$', re.DOTALL | re.MULTILINE)
# clang-format has put each statement on lines of its own.
STATEMENT = re.compile(r'^(\t+)(?!return|goto|break|continue|case|default|struct|static|const|else|do\b|int\b|char\b|'
                       r'size_t|bool|uint|enum|void\b)[a-z_*(][^;{}]*;\n', re.MULTILINE)
CALL = re.compile(r'\t+(?:[\w>.-]+ = )?[a-z_]\w*\([^;{}]*\);\n')
CONDITION = re.compile(r'\b(?:if|while) (\()')
COMPARISON = re.compile(r' (==|!=|<=|>=|<|>|&&|\|\|) ')
OTHER = {'==': '!=', '!=': '==', '<': '<=', '<=': '<', '>': '>=', '>=': '>', '&&': '||', '||': '&&'}
CONSTANT = re.compile(r'(?<![\w.])(\d+)\b(?![.x])')
ACCESS = re.compile(r'\bIBV_ACCESS_\w+')


def closing(text, at):
    """Where the parenthesis ends that begins there."""
    depth = 0
    for end in range(at, len(text)):
        depth += {'(': 1, ')': -1}.get(text[end], 0)
        if not depth:
            return end
    return len(text) - 1


def faults(text):
    """Each place and what to do there: where it begins and ends, what comes there, what that is."""
    code = NO_CODE.sub(lambda found: re.sub(r'[^\n]', ' ', found[0]), text)
    last = None
    for found in STATEMENT.finditer(code):
        yield (*found.span(), '', 'a statement is dropped')
        if last and last.end() == found.start() and last[1] == found[1] and \
                CALL.fullmatch(last[0]) and CALL.fullmatch(found[0]):
            yield (last.start(), found.end(), text[slice(*found.span())] + text[slice(*last.span())],
                   'two calls are swapped')
        last = found
    for found in CONDITION.finditer(code):
        end = closing(code, found.start(1))
        yield found.start(1), end, f'(!{text[found.start(1):end]})', 'a condition is negated'
    for found in COMPARISON.finditer(code):
        yield (*found.span(1), OTHER[found[1]], 'a comparison is another')
    for found in CONSTANT.finditer(code):
        yield (*found.span(), str(int(found[0]) + 1), 'a constant is one more')
    for found in ACCESS.finditer(code):
        yield (*found.span(), '0', 'a right is missing')


def said(*words, cwd=TREE):
    """Whether a command succeeds; what takes too long does not."""
    try:
        return subprocess.run(words, cwd=cwd, check=False, stdin=subprocess.DEVNULL, timeout=SECONDS,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def passes(chapter):
    """Whether the chapter's tests pass, those that are quick first."""
    number = chapter.name[:2]
    return said('make', '-s', '-C', TREE / 'tests/unit', 'check', f'CHAPTERS_ASKED={chapter.name}') and \
        said('/usr/bin/python3', '-m', 'pytest', '-qx', '-c', 'tests/pytest.ini', 'tests',
             '-k', f'{number}_ and not unit and not house and not long')


def diff(text, new, name):
    """What was changed."""
    (TREE.parent / 'mutate.old').write_text(text, 'utf-8')
    return subprocess.run(('diff', '-u0', '--label', str(name), '--label', 'fault', TREE.parent / 'mutate.old', '-'),
                          input=new, text=True, check=False, stdout=subprocess.PIPE).stdout


def tried(name, fault):
    """Puts it in; returns killed, lives or does not compile, and what it was."""
    path, (start, end, new, what) = TREE / name, fault
    text = path.read_text('utf-8')
    changed = text[:start] + new + text[end:]
    path.write_text(changed, 'utf-8')
    try:
        if not said('make', '-s', '-C', TREE / name.parts[0]):
            outcome = 'does not compile'
        else:
            outcome = 'lives' if passes(pathlib.Path(name.parts[0])) else 'killed'
    finally:
        path.write_text(text, 'utf-8')
    print(f'{name}:{text.count(chr(10), 0, start) + 1}: {what}: {outcome}', flush=True)
    return outcome, diff(text, changed, name)


def main(arguments):
    """Tries all; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_argument('--sample', type=int)
    parser.add_argument('--seed', default='')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('files', nargs='+', type=lambda name: pathlib.Path(name).resolve().relative_to(TOP))
    options = parser.parse_args(arguments)
    places = [(name, fault) for name in options.files for fault in faults((TOP / name).read_text('utf-8'))]
    places.sort(key=lambda place: hashlib.sha1(f'{options.seed}{place}'.encode()).digest())
    places = places[:options.sample]
    if options.list:
        print(*(f'{name}: {what} at {start}' for name, (start, _, _, what) in places), sep='\n')
        return 0
    TREE.mkdir(parents=True, exist_ok=True)
    subprocess.run(('bash', '-euo', 'pipefail', '-c', '''tar -C "$0" -c --exclude=./build --exclude=./.git . | tar -x
        rm -rf .git && git init -q && git add -A''', TOP), cwd=TREE, check=True)
    for chapter in sorted({name.parts[0] for name, _ in places}):
        if not passes(pathlib.Path(chapter)):
            sys.exit(f"mutate: {chapter}'s tests fail without any fault, so they can show none")
    outcomes = [tried(name, fault) for name, fault in places]
    alive = [change for outcome, change in outcomes if outcome == 'lives']
    killed = sum(outcome == 'killed' for outcome, _ in outcomes)
    print(*alive, f'{killed} of {killed + len(alive)} faults were noticed', sep='\n')
    return 1 if alive else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
