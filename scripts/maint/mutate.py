#!/usr/bin/python3 -B
"""Measures how good the tests are: puts faults into C, one at a time, and runs the tests.

Usage: scripts/maint/mutate.py [--sample N] [--seed TEXT] FILE...

FILE is a chapter's C file, such as 01_send_recv/first.c. A fault drops a statement, negates
a condition, or changes a comparison or a constant. --sample N takes N of all places in the
files, other ones with another TEXT.

All is done in a copy of the tree, build/mutate. Each fault is built, in each copy that chapters
have of the file, and tests run until one fails: the given chapter's tests of first.c, or of all
else and the unit tests; the one that failed the last time comes first. Tests of texts are left
out, and those that take minutes. A fault that does not compile is not counted. Look at each that lives: a
test is missing, or the code does without it.

Prints a line for each fault. Exit status: 0 none lives, 1 some do, 2 usage.
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
# These need a fault's text as it was, or another device, or minutes.
LEFT_OUT = '_tasks _docs broken bats house hosts networks siw slow_disk conformance'
FAILED = re.compile(r'(?m)^(?:FAILED|ERROR|not ok|.*SUMMARY:|.*runtime error:) .*')

# An array that is longer by one, and -2 in the place of -1, change nothing, and are left alone.
NO_CODE = re.compile(r'(?<=\w)\[\d+\](?=;)|/\*.*?\*/|'
                     r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|^#.*?$', re.DOTALL | re.MULTILINE)
STATEMENT = re.compile(r'^(\t+)(?!return|goto|break|continue|case|default|struct|static|const|else|do\b|int\b|char\b|'
                       r'size_t|bool|uint|enum|void\b)[a-z_*(][^;{}]*;\n', re.MULTILINE)
CONDITION = re.compile(r'\b(?:if|while) (\()')
COMPARISON = re.compile(r' (==|!=|<=|>=|<|>|&&|\|\|) ')
OTHER = {'==': '!=', '!=': '==', '<': '<=', '<=': '<', '>': '>=', '>=': '>', '&&': '||', '||': '&&'}
CONSTANT = re.compile(r'(?<![\w.-])(\d+)\b(?![.x])')


def closing(text, at):
    """Where the parenthesis ends that begins there."""
    depth = 0
    for end in range(at, len(text)):
        depth += {'(': 1, ')': -1}.get(text[end], 0)
        if not depth:
            return end
    return len(text) - 1


def faults(text):
    """Each place and what to do there: where it begins and ends, and what comes there."""
    code = NO_CODE.sub(lambda found: re.sub(r'[^\n]', ' ', found[0]), text)
    for found in STATEMENT.finditer(code):
        yield (*found.span(), '')
    for found in CONDITION.finditer(code):
        end = closing(code, found.start(1))
        yield found.start(1), end, f'(!{text[found.start(1):end]})'
    for found in COMPARISON.finditer(code):
        yield (*found.span(1), OTHER[found[1]])
    for found in CONSTANT.finditer(code):
        yield (*found.span(), str(int(found[0]) + 1))


def fails(*words):
    """What a command says if it does not succeed; so does what takes too long."""
    try:
        ran = subprocess.run(words, cwd=TREE, check=False, stdin=subprocess.DEVNULL, timeout=SECONDS, text=True,
                             errors='replace', stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return ran.returncode and (ran.stdout or 'it fails')
    except subprocess.TimeoutExpired:
        return 'it takes too long'


def noticed(name):
    """What the first test says that fails; nothing if all pass."""
    which = 'first' if name.name in ('first.c', 'loopback.c') else 'not _first and not first-'
    number = name.parts[0][:2]
    return fails('/usr/bin/python3', '-m', 'pytest', '-qx', '-c', 'tests/pytest.ini', 'tests', '--timeout=90',
                 '--failed-first', '-m', 'not virtual', '-k',
                 f'({number}_ or test_unit or options and {number}) and {which} and not ' +
                 ' and not '.join(LEFT_OUT.split()))


def tried(name, fault):
    """Puts it in; prints and returns whether it was noticed; None if it does not compile."""
    start, end, new = fault
    text = (TREE / name).read_text('utf-8')
    changed = text[:start] + new + text[end:]
    copies = [path for path in TREE.glob(f'[0-9]*/**/{name.name}') if path.read_text('utf-8') == text]
    for path in copies:
        path.write_text(changed, 'utf-8')
    built = not fails('make', '-s', '-j2', '-C', name.parts[0], 'CFLAGS=-O2 -Werror')
    said = built and noticed(name)
    for path in copies:
        path.write_text(text, 'utf-8')
    outcome = 'does not compile' if not built else 'lives' if not said else \
        f'noticed: {(FAILED.findall(said) or [said])[-1][-200:].strip()}'
    line, old = text.count('\n', 0, start) + 1, ' '.join(text[start:end].split())
    print(f'{name}:{line}: "{old}" becomes "{new}": {outcome}', flush=True)
    return bool(said) if built else None


def main(arguments):
    """Tries all; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_argument('--sample', type=int)
    parser.add_argument('--seed', default='')
    parser.add_argument('files', nargs='+', type=lambda name: pathlib.Path(name).resolve().relative_to(TOP))
    options = parser.parse_args(arguments)
    places = [(name, fault) for name in options.files for fault in faults((TOP / name).read_text('utf-8'))]
    places = sorted(places, key=lambda place: hashlib.sha1(f'{options.seed}{place}'.encode()).digest())[:options.sample]
    TREE.mkdir(parents=True, exist_ok=True)
    subprocess.run(('bash', '-euo', 'pipefail', '-c', '''tar -C "$0" -c --exclude=./build --exclude=./.git . | tar -x
        rm -rf .git && git init -q && git add -A''', TOP), cwd=TREE, check=True)
    outcomes = [tried(name, fault) for name, fault in places]
    print(f'{outcomes.count(True)} of {outcomes.count(True) + outcomes.count(False)} faults were noticed')
    return int(False in outcomes)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
