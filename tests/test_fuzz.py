"""Decoders, fed with what is kept in tests/fuzz/corpus and with some thousands of inputs made from it;
tests/long/test_decoders.py takes longer. What a peer may never get past them is in tests/fuzz/fuzz_*.c. The corpus
alone finds each fault that was found once."""
import re
import subprocess

import pytest

from nodes import TOP

TARGETS = {path.name: len(re.findall('(?m)^[^#\n]', path.read_text('utf-8')))
           for path in sorted(TOP.glob('tests/fuzz/corpus/*'))}


def feed(target, much):
    """Nothing breaks it, of so many inputs, and of those that are kept, with which it begins; returns their number."""
    ran = subprocess.run(['nice', '-n', '5', TOP / 'tests/fuzz/run.sh', target, much], check=False, text=True,
                         errors='replace', stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert ran.returncode == 0, ran.stdout
    assert int(re.search(r'seed corpus: files: (\d+)', ran.stdout)[1]) >= TARGETS[target]
    return int(re.search(r'stat::number_of_executed_units: +(\d+)', ran.stdout)[1])


@pytest.mark.parametrize('target', [pytest.param(target, marks=pytest.mark.xdist_group(f'fuzz {target}'))
                                    for target in TARGETS])
def test_nothing_breaks(target):
    # Each input of the exchange is a handshake, so there are few.
    count = 100 if target == '04_exchange' else 20000
    assert feed(target, f'{count}x') >= count
