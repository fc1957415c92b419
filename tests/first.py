"""What the tests of the chapters' first files have in common: first.c is both ends.

A file tests/test_NN_first.py has CHAPTER, and tests that call these. What takes `pair` runs on
node a.
"""
import shutil
import subprocess

import builds
from nodes import TOP

FIRST = './first'


def builds_alone(chapter, folder, compiler, most, *libraries, file='first.c'):
    """The file in a folder of its own, without a warning; it has at most that many lines."""
    source = TOP / chapter / file
    lines = len(source.read_text('utf-8').splitlines())
    assert lines <= most, f'{file} has {lines} lines'
    shutil.copy(source, folder)
    subprocess.run([compiler, '-O2', '-Wall', '-Wextra', '-Werror', file, '-o', 'first',
                    *(libraries or ('-lrdmacm', '-libverbs'))], cwd=folder, check=True)


def changed(chapter, name, *changes, libraries=('-lrdmacm', '-libverbs')):
    """The path of a program: first.c, in which each (old, new) of the changes is made."""
    text = (TOP / chapter / 'first.c').read_text('utf-8')
    for old, new in changes:
        assert text.count(old) == 1, f'{name}: first.c has {text.count(old)} times: {old}'
        text = text.replace(old, new)
    with builds.only_one(f'{chapter}.first.{name}') as folder:
        folder.mkdir(exist_ok=True)
        (folder / 'first.c').write_text(text, 'utf-8')
        builds.tool('cc', '-O2', folder / 'first.c', '-o', folder / 'first', *libraries)
    return str(folder / 'first')


def says_what_it_takes(programs, *words, usage='usage: ./first [ADDRESS'):
    """With words that it does not know it ends with 2. It needs no device for that."""
    ran = subprocess.run([FIRST, *words], cwd=programs.folder, check=False, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (ran.returncode, ran.stdout) == (2, '')
    assert ran.stderr.startswith(usage)


def first(pair, *words, program=FIRST, **more):
    """It as a server, when it listens."""
    return pair.server(*words, program=program, **more)


def to_first(pair, *words, program=FIRST, status=0, **more):
    """It as a client, when it has ended with that status or one of these."""
    client = pair.start('client', program, *(words or (pair.address,)), **more)
    return client.end(*(status if isinstance(status, tuple) else (status,)))


def both(server, client, at_server=(), at_client=()):
    """Each has ended well, says no error, and has these lines: expressions, in which {pid} is
    the other's."""
    __tracebackhide__ = True
    for program in server.end(), client:
        program.quiet()
    for program, other, regexes in (server, client, at_server), (client, server, at_client):
        for regex in regexes:
            regex = regex.replace('{pid}', str(other.pid))
            assert program.has(regex), f'the {program.role} does not say: {regex}'
