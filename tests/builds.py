"""Builds of the chapters in build/pytest/, made once for all workers, and the shim at_call."""
import contextlib
import fcntl
import functools
import pathlib
import re
import shutil
import subprocess

from nodes import TOP

BUILDS = TOP / 'build/pytest'
FLAGS = {'plain': '-O2 -g',
         'sanitized': '-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined '
                      # What nobody has set is not 0 by chance.
                      '-fno-sanitize-recover=undefined -ftrivial-auto-var-init=pattern',
         'threads': '-O1 -g -fno-omit-frame-pointer -fsanitize=thread'}
SHIM = TOP / 'tests/at_call.c'


@contextlib.contextmanager
def only_one(name):
    """Of the workers makes this; the others wait for it."""
    BUILDS.mkdir(parents=True, exist_ok=True)
    with open(BUILDS / f'{name}.lock', 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield BUILDS / name


def tool(*words):
    """A compiler or the like, which must succeed."""
    ran = subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert ran.returncode == 0, f'{words}:\n{ran.stdout}'


def compile_shim(target, *flags):
    """at_call.c, if it or its header is newer than its target; whether one was."""
    sources = SHIM, SHIM.with_suffix('.h')
    if target.exists() and all(target.stat().st_mtime > source.stat().st_mtime for source in sources):
        return False
    tool('cc', '-std=gnu11', '-Wall', '-Wextra', '-Werror', *flags, '-o', target, SHIM)
    return True


@functools.lru_cache(None)
def shim():
    """at_call.c as a library that is loaded before others."""
    with only_one('at_call.so') as library:
        compile_shim(library, '-O2', '-fPIC', '-shared')
    return library


@functools.lru_cache(None)
def helper(source, *flags):
    """A C file of the tests, FOLDER/NAME, compiled: with -shared, to be loaded before others."""
    with only_one(pathlib.Path(source).name + '.so' * ('-shared' in flags)) as target:
        tool('cc', '-std=gnu11', '-Wall', '-Wextra', '-Werror', '-O2', '-fPIC', '-o', target,
             TOP / f'{source}.c', *flags)
    return target


def environment(library, variable, value):
    """Of a program that is to load a helper, which a variable tells what to do."""
    return {variable: str(value), 'LD_PRELOAD': str(library)}


def preloaded(source, variable):
    """For such a helper: makes the environment for a value."""
    return functools.partial(environment, helper(source, '-shared'), variable)


@functools.lru_cache(None)
def build(chapter, variant='plain', change=None):
    """The folder of a chapter's build: plain, sanitized with the shim inside, or one whose sources
    a function has changed, which gets the folder."""
    with only_one(f'{chapter}.{variant}') as folder:
        for part in '.', 'carried', 'plumbing', 'load', 'bench':
            for pattern in '*.[ch]', '*.sh', 'Makefile':
                for source in (TOP / chapter / part).glob(pattern):
                    # What is the same stays as old as it is: make then builds no more than it must.
                    target = folder / source.relative_to(TOP / chapter)
                    if not target.exists() or source.read_bytes() != target.read_bytes():
                        target.parent.mkdir(parents=True, exist_ok=True)
                        shutil.copy(source, target)
        if change:
            change(folder)
        flags, link = FLAGS.get(variant, FLAGS['plain']), []
        if variant == 'sanitized':
            link = ['LDFLAGS=at_call.obj']
            if compile_shim(folder / 'at_call.obj', *flags.split(), '-c'):
                for program in 'server', 'client', 'first', 'loopback':
                    (folder / program).unlink(missing_ok=True)
        tool('make', '-s', '-j2', '-C', folder, f'CFLAGS={flags} -Werror', *link)
    return folder


def edit(file, old, new, count=1):
    """Changes a source in a build: what a regular expression fits, whose ^ and $ are lines' ends."""
    text, times = re.subn(old, new, file.read_text('utf-8'), flags=re.MULTILINE)
    assert times == count, f'{file.name} has {times} times {old}'
    file.write_text(text, 'utf-8')
