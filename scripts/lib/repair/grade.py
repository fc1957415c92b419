"""Points for a hand-in, by what its programs do.

Usage: grade.py [--text|--tap|--json] ROOT HAND_IN PLACE

Each task begins with what was handed out; of the hand-in only C files are taken. They
are built within limits of time and memory, and what they may call is looked at before
anything runs: what no task needs, such as fork(2), execve(2) or open(2), is refused,
unless the chapter itself calls it. Then the check of the task runs. PLACE is emptied.
"""
from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from lib.arguments import Parser, folder
from lib.repair.hand_in import Refused, read
from lib.repair.work import Work, all_work, hand_out

# A compiler that is told nonsense may take any time and memory.
LIMITS = ('prlimit', '--cpu=60', '--as=4000000000', '--fsize=64000000')
# What starts programs, reads files or loads code.
FORBIDDEN = re.compile(
    r'(v?fork|clone3?|exec(v|ve|vp|vpe|l|le|lp|veat)|fexecve|posix_spawnp?|system|popen|'
    r'dl(m?open|v?sym)|syscall|(fd?|fre)open(64)?|open(at)?(64)?|creat|(open|scan)dir(64)?|'
    r'readlink(at)?|sym?link(at)?|unlink(at)?|rename(at)?|chroot|mount|ptrace|kill|reboot)')
CHECK_SECONDS = 400


@dataclasses.dataclass
class Result:
    """Of one task."""
    work: Work
    points: int
    said: str


def called(place: pathlib.Path) -> set[str]:
    """What the objects of a copy call outside themselves."""
    objects = sorted(place.rglob('*.o'))
    said = subprocess.run(('nm', '-u', *objects), capture_output=True, text=True,
                          check=True).stdout
    return {line.split()[-1].split('@')[0] for line in said.splitlines()
            if line.strip().startswith('U ')}


def make(place: pathlib.Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Compiles; the programs are not started."""
    return subprocess.run(
        (*LIMITS, 'make', '-s', '-C', str(place), 'CFLAGS=-O1 -g', *more),
        capture_output=True, text=True, timeout=CHECK_SECONDS, check=False)


def check_includes(place: pathlib.Path, names: list[str]) -> None:
    """What the compiler reads is of the copy, or of the system."""
    for name in names:
        text = (place / name).read_text('utf-8').replace('\\\n', '')
        if re.search(r'\b(__)?asm(__)?\b|incbin|#\s*embed', text):
            raise Refused(f'{name}: assembly, or a file that is embedded: no task needs it')
        for header in re.findall(r'^\s*(?:#|%:|\?\?=)\s*include(?:_next)?\b(.*)', text,
                                 re.MULTILINE):
            if not re.match(r'\s*(<[\w.+-]+(/[\w.+-]+)*>|"[\w.-]+")', header) or \
                    '..' in header:
                raise Refused(f'{name}: includes{header[:60]}, which is no header of the '
                              'chapter or the system')


def prepare(work: Work, files: dict[str, str], place: pathlib.Path) -> str:
    """The copy with the hand-in's files: what the compiler complains of, or ''."""
    given = place.with_name(place.name + '.given')
    hand_out(work, given)
    if (done := make(given)).returncode:
        raise RuntimeError(done.stderr)
    shutil.copytree(given, place)
    for name, text in files.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text, 'utf-8')
    check_includes(place, list(files))
    done = make(place)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ['it takes too long'])[-1][:200]
    new = sorted(name for name in called(place) - called(given)
                 if FORBIDDEN.fullmatch(name))
    if new:
        raise Refused(f'it calls {", ".join(new)}, which no task needs')
    return ''


def grade(work: Work, files: dict[str, str], root: pathlib.Path,
          place: pathlib.Path) -> Result:
    """One task."""
    try:
        bad = prepare(work, files, place / work.name)
    except (Refused, subprocess.TimeoutExpired) as why:
        return Result(work, 0, f'refused: {why}')
    if bad:
        return Result(work, 0, f'does not build: {bad}')
    env = {**os.environ, 'PROGRESS': '', 'REPAIR_PLACE': str(place / 'check')}
    try:
        done = subprocess.run(
            (root / 'scripts' / work.script, '--check', work.chapter.name, work.task,
             place / work.name), capture_output=True, text=True, errors='replace',
            env=env, timeout=CHECK_SECONDS, stdin=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired:
        return Result(work, 0, f'the check was not done within {CHECK_SECONDS} s')
    missing = re.findall(r'^  missing  (.*)', done.stdout, re.MULTILINE)
    if done.returncode == 0 and not missing:
        return Result(work, work.points, 'all is as it should be')
    if done.returncode == 1 and missing:
        return Result(work, 0, f'missing: {missing[0][:150]}')
    raise RuntimeError(f'{work.name}: status {done.returncode}: {done.stderr[-500:]}')


def show(name: str, results: list[Result], form: str) -> None:
    """The points, in one of three forms."""
    total = sum(result.points for result in results)
    most = sum(result.work.points for result in results)
    if form == 'json':
        print(json.dumps({'name': name, 'points': total, 'of': most, 'tasks': {
            result.work.name: {'points': result.points, 'of': result.work.points,
                               'said': result.said} for result in results}}, indent=1))
        return
    if form == 'tap':
        print(f'1..{len(results)}')
    for number, result in enumerate(results, 1):
        if form == 'tap':
            state = 'ok' if result.points else 'not ok'
            print(f'{state} {number} {result.work.name}\n# {result.said}')
        else:
            print(f'{result.work.name:24} {result.points} of {result.work.points}  '
                  f'{result.said}')
    if form == 'text':
        print(f'{name or "nameless"}: {total} of {most} points')


def main(arguments: list[str]) -> int:
    """Prints the points; returns the exit status."""
    parser = Parser(__doc__)
    for form in ('text', 'tap', 'json'):
        parser.add_argument(f'--{form}', dest='form', action='store_const', const=form,
                            default='text')
    parser.add_argument('root', type=folder)
    parser.add_argument('hand_in', type=pathlib.Path)
    parser.add_argument('place', type=pathlib.Path)
    options = parser.parse_args(arguments)
    try:
        name, files = read(options.hand_in)
    except Refused as why:
        print(f'grade: refused: {why}', file=sys.stderr)
        return 1
    shutil.rmtree(options.place, ignore_errors=True)
    options.place.mkdir(parents=True)
    results = []
    for work in all_work(options.root):
        mine = files.pop(work.name, None)
        results.append(grade(work, mine, options.root, options.place.resolve())
                       if mine else Result(work, 0, 'not handed in'))
    show(name, results, options.form)
    if files:
        print(f'grade: no such task: {", ".join(files)}', file=sys.stderr)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
