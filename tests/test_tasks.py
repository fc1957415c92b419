"""Repair tasks and exercises: each check takes what is right, and refuses what is wrong.

Beside a repair task stand right.patch and wrong.patch, for the broken copy; beside an exercise NAME.patch,
a solution, and NAME.wrong, for the solved copy (or, with a line "On: chapter", for the chapter). Where the
body of a function is asked for, the chapter is the solution. What is wrong begins with two lines, why, and
what the check must find missing:

    Wrong: it is posted when the connection is there, and the message may be there first.
    Missing: the receive is there before the client can send

A check of all tests tries some tasks, and the commit chooses which; where EVERY_TASK is set, as in
scripts/maint/check.sh long, all.
"""
import hashlib
import os
import re
import subprocess

import pytest

from chapters import ALL
from nodes import TOP

CHAPTERS = [TOP / c.chapter for c in ALL]
REPAIRS = [path.parent for chapter in CHAPTERS for path in sorted(chapter.glob('repair/*/task.md'))]
EXERCISES = [path for chapter in CHAPTERS for path in sorted(chapter.glob('exercises/*.patch'))]
BODIES = [(path.parents[1], line.split('\t')) for chapter in CHAPTERS
            for path in chapter.glob('exercises/bodies.tsv')
            for line in path.read_text('utf-8').splitlines() if line and line[0] != '#']


def chosen(tasks, names):
    """Parameters for a test: some of the tasks, other ones with each commit; or all."""
    commit = os.environ.get('CHECK_COMMIT', '')
    pairs = sorted(zip(names, tasks),
                   key=lambda pair: hashlib.sha1(f'{commit} {pair[0]}'.encode()).digest())
    some = pairs if 'EVERY_TASK' in os.environ else pairs[:3]
    return pytest.mark.parametrize('task', [pytest.param(task, id=name) for name, task in sorted(some)])


def text_of(patch):
    """A patch is a file, or what the file would have in it."""
    return patch if isinstance(patch, str) else patch.read_text('utf-8')


def apply(patch, folder):
    """As a learner would have edited the copy."""
    ran = subprocess.run(['patch', '-f', '-s', '--no-backup-if-mismatch', '-F0', '-p1', '-d', folder],
                         input=text_of(patch), text=True, check=False, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
    assert ran.returncode == 0, f'{patch} does not fit:\n{ran.stdout}'


def compiles(folder, *patches):
    """Nothing that is called has gone: the compiler takes each file that the patches have changed; where a header is
    among them, all files."""
    names = [name for patch in patches for name in re.findall(r'(?m)^\+\+\+ b/(\S+)', text_of(patch))]
    if any(name.endswith('.h') for name in names):
        names = [str(path.relative_to(folder)) for below in ('.', 'carried', 'plumbing')
                 for path in folder.glob(f'{below}/*.c')]
    if files := sorted({name for name in names if name.endswith('.c')}):
        ran = subprocess.run(['cc', '-fsyntax-only', '-Werror=implicit-function-declaration', '-std=gnu11',
                              '-I.', '-Icarried', '-Iplumbing', *files],
                             cwd=folder, check=False, text=True, stderr=subprocess.PIPE)
        assert ran.returncode == 0, f'{patches}: {ran.stderr}'


def ask(module, *words):
    """A module of scripts/lib, which has more to do with a task than hand it out."""
    return subprocess.run([TOP / 'scripts/lib/python.sh', module, *words], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


@pytest.fixture
def copy(tmp_path):
    """Makes a copy of a chapter, with patches."""
    def copy(chapter, *patches):
        folder = tmp_path / 'copy'
        subprocess.run(['bash', '-euc', '. "$2"/scripts/lib/chapter.sh; rm -rf "$1"; chapter_update "$0" "$1"',
                        chapter, folder, TOP], check=True)
        for patch in patches:
            apply(patch, folder)
        return folder
    return copy


@pytest.fixture
def check(lab, tmp_path):
    """Runs a check; returns its status, what it says, and whether a thing is said to be missing."""
    def check(command, chapter, name, folder, until=''):
        place = str(TOP / f'build/tasks/{os.getpid()}')
        ran = subprocess.run([TOP / f'scripts/{command}.sh', '--check', chapter, name, folder], check=False,
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=TOP,
                             stdin=subprocess.DEVNULL,
                             # Where nothing is done yet, a server waits for a client that never comes, and
                             # judge.sh waits for the server: no longer than so many seconds. What is right
                             # has longer than a reader would wait, on a slow machine.
                             env=dict(lab.env, limit={'*': '15', '': '300'}.get(until, ''), PROGRESS='',
                                      EXERCISE_UNTIL=until, TASK_PLACE=place))
        print(ran.stdout)
        return ran
    return check


def accepted(ran):
    """All that the check asks for is there."""
    assert ran.returncode == 0 and ran.stdout.endswith(' things are there\n')


def refused(ran, missing=''):
    """Something is missing: this."""
    assert ran.returncode == 1
    assert re.search(rf'(?m)^  missing  {re.escape(missing)}' + (r'($| \()' if missing else ''), ran.stdout)
    assert 'missing  it builds' not in ran.stdout


def lacks(patch):
    """What the check must find missing in what is wrong, which says why it is wrong."""
    head = patch.read_text('utf-8').split('\n--- a/')[0]
    assert re.search(r'(?m)^Wrong: .', head), patch
    return re.search(r'(?m)^Missing: (.+)', head)[1]


def wrong_patches(task):
    """What makes of the chapter what a newcomer might write, who has the solution or the chapter only."""
    wrong = task.with_suffix('.wrong')
    return [wrong] if '\nOn: chapter\n' in wrong.read_text('utf-8') else [task, wrong]


def broken(task):
    """The patch that makes of the chapter what the learner is given."""
    return ask('repair.tasks', 'patch', task)


@chosen(REPAIRS, [f'{path.parts[-3]}-{path.name}' for path in REPAIRS])
def test_a_repair_is_accepted_and_what_repairs_nothing_is_refused(check, copy, task):
    chapter = task.parents[1]
    words = 'repair', chapter.name, task.name
    refused(check(*words, copy(chapter, broken(task)), '*'))
    accepted(check(*words, copy(chapter, broken(task), task / 'right.patch')))
    wrong = task / 'wrong.patch'
    refused(check(*words, copy(chapter, broken(task), wrong), lacks(wrong)), lacks(wrong))


@chosen(EXERCISES, [f'{path.parts[-3]}-{path.stem}' for path in EXERCISES])
def test_a_solution_is_accepted_and_a_wrong_one_is_refused(check, copy, task):
    chapter, wrong = task.parents[1], task.with_suffix('.wrong')
    words = 'exercise', chapter.name, task.stem
    refused(check(*words, copy(chapter), '*'))
    accepted(check(*words, copy(chapter, task)))
    refused(check(*words, copy(chapter, *wrong_patches(task)), lacks(wrong)), lacks(wrong))


@chosen(BODIES, [f'{chapter.name}-{row[0]}' for chapter, row in BODIES])
def test_a_body_is_accepted_and_none_is_refused(check, copy, task):
    chapter, (name, *_) = task
    words = 'exercise', chapter.name, name
    folder, wrong = copy(chapter), chapter / f'exercises/{name}.wrong'
    ask('bodies', 'take', chapter, name, folder)
    refused(check(*words, folder, '*'))
    accepted(check(*words, copy(chapter)))
    if wrong.exists():
        refused(check(*words, copy(chapter, wrong), lacks(wrong)), lacks(wrong))


@chosen(REPAIRS, [f'{path.parts[-3]}-{path.name}' for path in REPAIRS])
def test_a_broken_chapter_says_what_is_recorded(run, tmp_path, task):
    said = ask('repair.tasks', 'said', task).strip()
    if said != str(task) or (task / 'varies').exists():
        # What a case says is the case's test; what is never the same is nobody's.
        return
    ran = run('env', f'TASK_PLACE={TOP}/build/tasks/{os.getpid()}', 'scripts/repair.sh', '--run',
              task.parts[-3], task.name, tmp_path)
    assert ran.returncode == 0, ran.stdout
    ran = run('scripts/compare_logs.sh', tmp_path, said)
    assert ran.returncode == 0, ran.stdout


@pytest.mark.chapters
def test_each_task_has_all_its_parts_and_its_patches_fit(copy):
    for task in REPAIRS:
        assert len(re.findall(r'(?m)^\d\. ', (task / 'hints.md').read_text('utf-8'))) == 3
        # The rule has a place in the text, and the learner is not told what it is.
        assert '](../../' in (task / 'hints.md').read_text('utf-8')
        assert task.name in (task.parent / 'order').read_text('utf-8').split()
        assert not re.search('(?i)hint|case:', (task / 'task.md').read_text('utf-8'))
        assert re.search('(?m)^error: |exit status', ask('repair.tasks', 'letter', task, 'x'))
        given = broken(task)
        for patch in task / 'right.patch', task / 'wrong.patch':
            compiles(copy(task.parents[1], given, patch), given, patch)
    for task in EXERCISES:
        folder, chapter = task.parent, task.parents[1]
        assert f'({task.stem}.md)' in (folder / 'README.md').read_text('utf-8')
        # The task is read first, and must not give the solution away.
        assert '<details>' not in (folder / f'{task.stem}.md').read_text('utf-8')
        assert (folder / f'{task.stem}.solution.md').exists() and task.with_suffix('.sh').exists()
        # Both are handed out in work/, by these names.
        assert not (chapter / 'repair' / task.stem).exists()
        patches = wrong_patches(task)
        for some in [patches] if task in patches else [[task], patches]:
            compiles(copy(chapter, *some), *some)


def test_a_copy_that_does_not_build_and_wrong_usage_are_said(check, copy):
    folder = copy(TOP / '01_send_recv')
    with open(folder / 'client.c', 'a', encoding='utf-8') as file:
        file.write('int x = ;\n')
    for command, name in ('exercise', '1'), ('exercise', 'say'), ('repair', '1'):
        ran = check(command, '01', name, folder)
        assert ran.returncode == 1 and 'missing  it builds' in ran.stdout
        for words in ('01', 'nothing'), ('01', '9'), ('99', '1'):
            assert check(command, *words, folder).returncode == 2
        ran = check(command, '01', '1', folder / 'none')
        assert ran.returncode == 2 and 'no Makefile' in ran.stdout
