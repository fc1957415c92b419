"""Chapter 05 with as many clients as it is for. What these say (-rP shows it) is in docs/reliability.md.
MANY_CLIENTS and MANY_SEQUENCE override how many."""
import os

import pytest

import builds
from nodes import TOP
from test_05_multiclient import CHAPTER, in_sequence, many_at_once


def test_the_logged_run_with_a_thousand_clients_can_be_had_again(run, tmp_path):
    expected = TOP / CHAPTER / 'long/thousand'
    ran = run('env', 'PAIR_LIMIT=900', 'scripts/pair.sh', '-d', builds.build(CHAPTER), expected / 'commands', tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert 'matches' in run('scripts/compare_logs.sh', tmp_path, expected).stdout


def test_a_thousand_at_a_time(lab, programs):
    print(lab.call('a', many_at_once, programs, int(os.environ.get('MANY_CLIENTS', 1000))))


def test_five_thousand_in_sequence(lab, programs):
    print(lab.call('a', in_sequence, programs, 100, int(os.environ.get('MANY_SEQUENCE', 5000))))


@pytest.mark.parametrize('variant', ['sanitized', pytest.param('threads', marks=pytest.mark.virtual)])
def test_a_hundred_at_a_time_with_sanitizers_on_both_ends(lab, programs):
    print(lab.call('a', many_at_once, programs, 100))
