"""docs/conformance.md: its tables are what was recorded, and what runs again comes out as it says."""
import re
import runpy
import subprocess

import pytest

from nodes import TOP

SCRIPT = TOP / 'scripts/maint/conformance.py'
CONFORMANCE = runpy.run_path(str(SCRIPT))
COLUMNS = CONFORMANCE['recorded']()


def test_the_pages_tables_are_what_was_recorded():
    page = CONFORMANCE['PAGE'].read_text('utf-8')
    assert CONFORMANCE['made'](page, COLUMNS) == page
    assert page.count('<!-- recorded: ') == len(CONFORMANCE['tables'](COLUMNS))
    for column in COLUMNS:
        assert 'pyverbs' in {name for name, _ in column.found} <= {*CONFORMANCE['NAMES']}


def test_each_test_that_fails_is_told_of():
    page = CONFORMANCE['PAGE'].read_text('utf-8')
    told = re.sub(r'(?m)^\|.*\n', '', page)
    for column in COLUMNS:
        for test in column.suite('fails'):
            assert test.rsplit('.', 1)[1] in told, (column.name, test)


@pytest.mark.device
@pytest.mark.parametrize('device', ['rxe', 'siw'])
def test_what_runs_again_comes_out_as_it_is_recorded(device):
    names = ['rping', 'ibv_uc_pingpong', 'mckey']
    ran = subprocess.run([SCRIPT, '--device', device, '--only', ','.join(names)], check=True, text=True,
                         stdout=subprocess.PIPE)
    again = CONFORMANCE['Column'](TOP / ran.stdout.split(':')[0])
    then, = [column for column in COLUMNS if column.name == again.name]
    assert {name: again.found[name, ''][0] for name in names} == {name: then.found[name, ''][0] for name in names}, \
        again.found
