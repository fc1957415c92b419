"""The unit tests in C: each program of tests/unit is a test (tests/unit/Makefile)."""
import pathlib
import subprocess

import pytest

UNIT = pathlib.Path(__file__).resolve().parent / 'unit'


def programs():
    """Their names; those of a chapter, which share its objects, are one worker's."""
    listed = subprocess.run(('make', '-s', '-C', UNIT, 'list'), text=True, check=True,
                            stdout=subprocess.PIPE).stdout
    for line in listed.splitlines():
        name = line.split()[0]
        yield pytest.param(name, marks=pytest.mark.xdist_group(f'unit {name[5:7]}'))


@pytest.mark.parametrize('program', programs())
def test_unit(program):
    """It passes, and no sanitizer complains."""
    ran = subprocess.run(('make', '-s', '-C', UNIT, 'check', f'TESTS={program}'), text=True,
                         check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
    assert ran.returncode == 0, ran.stdout
