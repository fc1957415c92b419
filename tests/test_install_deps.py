"""install_deps.sh, with a package manager that only writes down how it was called."""
import os
import subprocess

import pytest

from nodes import TOP

ROWS = [line.split('\t') for line in (TOP / 'scripts/lib/install_deps.tsv').read_text('utf-8').splitlines()
        if line[0] != '#']
NEEDED = dict.fromkeys(package for group, package, _ in ROWS if group.split('@')[0] in ('build', 'lab', 'wire', 'check')
                       and group[-8:] != '@aarch64')


@pytest.fixture
def deps(tmp_path):
    """Runs it where these packages are installed; returns the status, what it said, and apt-get's calls."""
    def deps(installed, *words, **env):
        (tmp_path / 'db').write_text(''.join(f'ii ,{line}\n' for line in installed), 'utf-8')
        for name, text in (('dpkg-query', f'cat {tmp_path}/db'), ('uname', 'echo x86_64'), ('id', 'echo 0'),
                           ('apt-get', f'''case "$*" in
                            *--print-uris*) echo "Need to get 98.0 MB/107 MB of archives." ;;
                            *) echo "$DEBIAN_FRONTEND $*" >>{tmp_path}/calls; exit {env.get("FAILS", 0)} ;; esac''')):
            (tmp_path / name).write_text(f'#!/bin/bash\n{text}\n', 'utf-8')
            (tmp_path / name).chmod(0o755)
        (tmp_path / 'calls').write_text('', 'utf-8')
        ran = subprocess.run([TOP / 'scripts/install_deps.sh', *words], text=True, check=False,
                             env={'PATH': f'{tmp_path}:{os.environ["PATH"]}', **env},
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return ran.returncode, ran.stdout, (tmp_path / 'calls').read_text('utf-8')
    return deps


def test_what_is_there_is_not_installed_and_what_is_missing_is_listed_with_its_purpose(deps):
    have = [f'{name},' for name in NEEDED if name != 'bats']
    assert len(have) > 40 and all(len(row) == 3 and row[2] for row in ROWS)
    for other in 'bats,', 'runner,other, bats (= 1.2)':
        status, said, calls = deps([*have, other])
        assert (status, calls) == (0, '') and f'all {len(NEEDED)} packages' in said
    status, said, calls = deps(have, NO_INSTALL='1')
    assert (status, calls) == (1, '') and f'missing: 1 of {len(NEEDED)}' in said and 'bats   ' in said and 'runs the' in said
    assert deps(have, '--size') == (0, f'1 of {len(NEEDED)} to be installed, 98.0 MB to fetch\n', '')
    assert deps(have, 'build', '--size')[1] == 'all 6 packages are there\n'
    status, said, calls = deps(have, 'everything')
    assert (status, calls) == (2, '') and "'everything'" in said


def test_just_what_is_missing_is_installed_and_a_failure_is_tried_again_with_fresh_lists(deps):
    have = [f'{name},' for name in NEEDED if name not in ('bats', 'cpio')]
    status, said, calls = deps(have)
    assert status == 0 and 'installed now' in said
    assert calls.splitlines()[-1].startswith('noninteractive -q ') and set(calls.split()[-2:]) == {'bats', 'cpio'}
    status, said, calls = deps(have, FAILS='100')
    assert status == 1 and ' update\n' in calls and 'Try by hand, as root: apt-get install' in said
