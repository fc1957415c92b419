"""A release: what is in it, twice the same, and its kernel boots."""
import hashlib
import os
import re
import subprocess
import tarfile

import pytest
import yaml

from nodes import TOP

DIST = TOP / 'scripts/maint/dist.sh'
VERSION = (TOP / 'VERSION').read_text('utf-8').strip()
NAME = f'rdma-by-example-{VERSION}'


def git(*words):
    """What it prints."""
    return subprocess.run(['git', '-C', TOP, *words], check=True, stdout=subprocess.PIPE).stdout


@pytest.fixture(scope='module', name='dist')
def built(tmp_path_factory):
    """Two builds."""
    folders = [tmp_path_factory.mktemp('dist') for _ in range(2)]
    for folder in folders:
        subprocess.run([DIST, '-o', folder, f'v{VERSION}'], check=True)
    return folders


def test_two_builds_are_equal_and_their_sums_are_theirs(dist):
    one, two = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in dist)
    assert one == two and len(one) == 4
    sums = dict(line.split()[::-1] for line in one.pop('SHA256SUMS').decode().splitlines())
    assert sums == {name: hashlib.sha256(data).hexdigest() for name, data in one.items()}


def test_what_is_in_git_is_in_it_and_nothing_else(dist):
    with tarfile.open(dist[0] / f'{NAME}.tar.gz') as tar:
        packed = {x.name.removeprefix(f'{NAME}/'): tar.extractfile(x) and tar.extractfile(x).read()
                  for x in tar if not x.isdir()}
    rows = [row.split(None, 3) for row in git('ls-tree', '-rz', 'HEAD').decode().split('\0') if row]
    assert sorted(packed) == sorted(name for *_, name in rows)
    for mode, _, blob, name in rows:
        if mode != '120000':
            data = packed[name]
            assert hashlib.sha1(b'blob %d\0' % len(data) + data).hexdigest() == blob, name
    with tarfile.open(dist[0] / f'{NAME}-pages.tar.gz') as tar:
        assert f'{NAME}-pages/01_send_recv/index.html' in tar.getnames()


def test_the_kernel_has_its_licence_and_source_beside_it_and_boots(dist, tmp_path):
    kernel, = dist[0].glob('rdma-lab-kernel-*')
    with tarfile.open(kernel) as tar:
        tar.extractall(tmp_path)
    assert 'Version 2, June 1991' in (tmp_path / 'uml/LICENSE').read_text('utf-8')
    release = (tmp_path / 'uml/release').read_text('utf-8').strip()
    assert f'_{release}-' in (tmp_path / 'uml/SOURCE').read_text('utf-8')
    said = subprocess.run([TOP / 'scripts/lab.sh', 'run', '--nodes', '1', '--engine', 'uml', '--', 'uname', '-r'],
                          env=os.environ | {'LAB_CACHE': str(tmp_path)}, text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    assert said.split()[-1] == release


def test_the_version_is_told_the_same_everywhere_and_a_tag_must_be_its():
    assert f'## {VERSION}' in (TOP / 'CHANGELOG.md').read_text('utf-8')
    assert yaml.safe_load((TOP / 'CITATION.cff').read_text('utf-8'))['version'] == VERSION
    said = subprocess.run([DIST, 'v0.1'], check=False, text=True, stderr=subprocess.PIPE)
    assert said.returncode == 2 and f'VERSION says {VERSION}' in said.stderr


def test_the_form_for_a_problem_asks_for_what_doctor_says():
    form = yaml.safe_load((TOP / '.github/ISSUE_TEMPLATE/problem.yml').read_text('utf-8'))
    fields = {field['id']: field for field in form['body']}
    assert 'make doctor' in fields['doctor']['attributes']['label']
    assert all(re.fullmatch('input|textarea', field['type']) and field['validations']['required']
               for field in fields.values())
