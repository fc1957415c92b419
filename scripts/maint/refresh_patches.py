#!/usr/bin/python3 -B
"""Checks that the patches of breaks, exercises and repairs stand where the code is.

Usage: refresh_patches.py [-r ROOT] [--write]

A patch is in order if patch(1) applies it at the lines that it names, with its whole
context. It looks at CHAPTER/break/*/patch, at CHAPTER/exercises/*.patch, at the
patches in the checks there, up to END_PATCH, and at NAME.wrong beside an exercise; the
latter two apply on top of the solution NAME.patch, or to the chapter if a line "On:
chapter" says so; at CHAPTER/fill_in/*.wrong; and at CHAPTER/repair/NAME/patch, and what is
on top of that beside it. --write puts line numbers and context right in those that apply
elsewhere; what they change remains the same. One that does not apply is for you to
mend.

Exit status: 0 all is so, 1 not, 2 usage.
"""
import itertools
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from lib.arguments import Parser
from lib.repair.tasks import Task

TOP = pathlib.Path(__file__).resolve().parents[2]
# The two lines before the changes of a file, and its name.
FILE = re.compile(r'^--- (?:a/|/dev/null).*\n\+\+\+ b/(\S+).*\n', re.MULTILINE)
# A patch in a check: the command that gets it, and its text.
INNER = re.compile(r"^(\w+) .*<<'END_PATCH'\n((?:.*\n)*?)END_PATCH\n", re.MULTILINE)


def apply(text, tree, *options):
    """What patch(1) says, or None if it fails. The patch is one of the files in tree."""
    done = subprocess.run(
        ('patch', '-p1', '-f', '--no-backup-if-mismatch', '-d', tree, *options),
        input=text, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def lay_out(chapter, texts, tree):
    """Copies to tree what the patches change of the chapter."""
    for name in {name for text in texts for name in FILE.findall(text)}:
        if (chapter / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes((chapter / name).read_bytes())


def hunks(before, after, context):
    """The changes of a file, as diff tells them."""
    return subprocess.run(('diff', f'-U{context}', before, after), capture_output=True,
                          text=True, check=False).stdout.split('\n', 2)[2]


def renewed(text, before, after):
    """The patch, with as much context as it has, from where it applies."""
    first, *parts = FILE.split(text)
    heads = (found[0] for found in FILE.finditer(text))
    out = first
    for head, name, old in zip(heads, parts[::2], parts[1::2]):
        context = max(found.count('\n') for found in
                      re.findall(r'^@@.*\n((?: .*\n|\n)*)', old, re.MULTILINE))
        out += head + (hunks(before / name, after / name, context)
                       if (before / name).is_file() else old)
    return out


def refreshed(text, chapter, under):
    """The patch as it should be, or None if it does not apply. under is the text of
    a patch that is to be applied before it, or ''."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = pathlib.Path(folder, 'before'), pathlib.Path(folder, 'after')
        before.mkdir()
        lay_out(chapter, (text, under), before)
        if under:
            apply(under, before)
        said = apply(text, before, '-F0', '--dry-run')
        if said is not None and 'offset' not in said:
            return text
        shutil.copytree(before, after)
        return None if apply(text, after) is None else renewed(text, before, after)


def patches(root):
    """Each patch: its file, its text, its chapter, and the solution below it or ''."""
    for path in sorted(root.glob('[0-9]*_*/break/*/patch')):
        yield path, path.read_text('utf-8'), path.parents[2], ''
    for path in sorted(root.glob('[0-9]*_*/exercises/*.patch')):
        chapter = path.parents[1]
        yield path, path.read_text('utf-8'), chapter, ''
        # Read now: the solution may just have been written.
        solution, check = path.read_text('utf-8'), path.with_suffix('.sh')
        for command, text in INNER.findall(check.read_text('utf-8')):
            yield check, text, chapter, solution if command == 'peer' else ''
        if (wrong := path.with_suffix('.wrong')).is_file():
            text = wrong.read_text('utf-8')
            yield wrong, text, chapter, '' if '\nOn: chapter\n' in text else solution


def repair_patches(root):
    """The same of the repair and fill-in tasks."""
    for check in sorted(root.glob('[0-9]*_*/fill_in/*.sh')):
        for _, text in INNER.findall(check.read_text('utf-8')):
            yield check, text, check.parents[1], ''
    for wrong in sorted(root.glob('[0-9]*_*/fill_in/*.wrong')):
        yield wrong, wrong.read_text('utf-8'), wrong.parents[1], ''
    for task in sorted(root.glob('[0-9]*_*/repair/*/task.md')):
        chapter, own = task.parents[2], task.parent / 'patch'
        if own.is_file():
            yield own, own.read_text('utf-8'), chapter, ''
        check = task.parent / 'judge.sh'
        for _, text in INNER.findall(check.read_text('utf-8')):
            yield check, text, chapter, ''
        # Read now: it may just have been written.
        for repair in sorted(task.parent.glob('*.patch')):
            yield repair, repair.read_text('utf-8'), chapter, Task(task.parent).patch()


def main(arguments):
    """Checks all patches; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_root(TOP)
    parser.add_argument('--write', action='store_true')
    options = parser.parse_args(arguments)
    bad = 0
    for path, text, chapter, under in itertools.chain(
            patches(options.root), repair_patches(options.root)):
        new = refreshed(text, chapter, under)
        if new == text:
            continue
        name = path.relative_to(options.root)
        if new and options.write:
            path.write_text(path.read_text('utf-8').replace(text, new), 'utf-8')
            print(f'{name}: written anew')
            continue
        bad = 1
        print(f'{name}: ' + ('the code has moved on: run make docs' if new else
                             'does not apply: change it by hand'))
    return bad


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
