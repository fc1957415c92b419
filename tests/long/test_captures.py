"""All cases of make break, captured as the wire has them: the page "Open a capture" names the cause of each, or says
as much as tests/web/causes.tsv has. What was captured stays in build/captures."""
import shutil
import subprocess

from nodes import TOP
from test_every_chapter import BREAKS

FOLDER = TOP / 'build/captures'


def test_of_nine_in_ten_cases_that_the_wire_shows_the_cause_is_named(run):
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for case in BREAKS:
        chapter, wire = case.parts[-3], TOP / 'build/wire' / case.relative_to(TOP)
        ran = run('scripts/wire.sh', chapter, f'break/{case.name}')
        if 'has no packet of RoCE or TCP' in ran.stdout:
            continue
        assert ran.returncode == 0, ran.stdout
        # What node a has seen, and node b.
        for name, end in ('wire.pcapng', ''), ('b.pcap', '.b'):
            shutil.copy(wire / name, FOLDER / f'{chapter}.{case.name}{end}.pcapng')
    ran = subprocess.run(['node', 'tests/web/causes.mjs', FOLDER, 'all'], cwd=TOP, check=False, text=True,
                         stdout=subprocess.PIPE)
    assert ran.returncode == 0, ran.stdout
