"""Decoders, fed with anything for ten minutes each, or for FUZZ_SECONDS."""
import os

import pytest

from test_fuzz import TARGETS, feed


@pytest.mark.parametrize('target', TARGETS)
def test_nothing_breaks_it_for_long(target):
    print(feed(target, os.environ.get('FUZZ_SECONDS', '600')), 'inputs')
