"""Chapter 09 under fire for long. What it says (-rP shows it) is in docs/reliability.md. FIRE_COUNT overrides how many
operations there are."""
import os

import pytest

from test_09_history import CHAPTER, under_fire


# On two busy processors it takes an hour.
@pytest.mark.timeout(10000)
@pytest.mark.parametrize('words', [('--one-sided',)], ids=['one_sided'])
def test_a_hundred_thousand_operations_of_which_none_is_wrong(lab, programs, words):
    under_fire(lab, programs, words, int(os.environ.get('FIRE_COUNT', 100000)), '2%')
