"""The unit tests in C. unit/test_NN_NAME.c is linked with those modules of chapter NN that it uses, as
these are in the build with sanitizers, and with cmocka."""
import os
import subprocess

import pytest

import builds
from nodes import TOP

UNIT = TOP / 'tests/unit'
# Those of a chapter, which share its build, are one worker's.
TESTS = [pytest.param(path.stem, marks=pytest.mark.xdist_group(f'unit {path.stem[5:7]}'))
         for path in sorted(UNIT.glob('test_[0-9]*.c'))]


@pytest.mark.parametrize('name', TESTS)
def test_unit(name):
    """It passes, and no sanitizer complains."""
    chapter, = TOP.glob(f'{name[5:7]}_*')
    folder = builds.build(chapter.name, 'sanitized')
    program, modules = folder / name, folder / 'modules.a'
    builds.tool('ar', 'rcs', modules, *folder.glob('*.o'))
    builds.tool('cc', '-std=gnu11', '-Wall', '-Wextra', '-Werror', *builds.FLAGS['sanitized'].split(),
                f'-I{UNIT}', *(f'-I{folder / part}' for part in ('.', 'carried', 'plumbing', 'bench')), '-o', program,
                *(UNIT / f'{source}.c' for source in (name, 'test', 'capture')), modules,
                *'-lcmocka -lrdmacm -libverbs -lssl -lcrypto -lpthread'.split())
    ran = subprocess.run([program], text=True, errors='replace', check=False, timeout=120, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=os.environ | {'CMOCKA_MESSAGE_OUTPUT': 'TAP'})
    assert ran.returncode == 0, ran.stdout
