"""Decoders, fed with anything for ten minutes each, or for FUZZ_SECONDS."""
import os

import pytest

from test_fuzz import FUZZERS, feed


@pytest.mark.parametrize('target', FUZZERS)
def test_nothing_breaks_it_for_long(target):
    print(feed(target, f"-max_total_time={os.environ.get('FUZZ_SECONDS', 600)}"), 'inputs')
