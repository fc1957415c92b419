"""docs/faults.md: its tables and its picture are what was recorded, and a fault recorded anew agrees."""
import runpy
import subprocess

import pytest

from nodes import TOP

SCRIPT = TOP / 'scripts/maint/record_faults.py'
FAULTS = runpy.run_path(str(SCRIPT))


def test_the_pages_tables_and_its_picture_are_what_was_recorded():
    page, rows = FAULTS['PAGE'].read_text('utf-8'), FAULTS['read_rows']()
    assert {row[0] for row in rows} == set(FAULTS['ALL'])
    assert FAULTS['made'](page, rows) == page
    assert FAULTS['picture'](rows) == FAULTS['PICTURE'].read_text('utf-8')


@pytest.mark.device
def test_a_peer_that_is_killed_is_noticed_as_the_page_says():
    ran = subprocess.run([SCRIPT, '--print', 'killed'], text=True, check=True, stdout=subprocess.PIPE)
    now = {tuple(row[1:4]): float(row[4]) for row in (line.split('\t') for line in ran.stdout.splitlines())}
    then = {tuple(row[1:4]): float(row[4]) for row in FAULTS['read_rows']() if row[0] == 'killed'}
    for what in (('here', 'hand/write/14/6', 'status 12 (transport retry counter exceeded)'),
                 ('here', 'cm/idle/0/6', 'RDMA_CM_EVENT_DISCONNECTED, status 0'), ('here', 'tcp', 'end of file')):
        # The machine may be busy.
        assert now[what] < 3 * then[what] + 2, (what, now, then)
    assert now['here', 'hand/write/14/6', 'status 12 (transport retry counter exceeded)'] > 0.45
    assert not any(connection.startswith('hand/idle') for _, connection, _ in now)
