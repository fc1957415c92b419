"""Chapter 08 with as many clients as it is for. What these say (-rP shows it) is in docs/reliability.md.
MANY_CYCLES and MANY_CLIENTS override how many."""
import os

import pytest

from test_08_crowds import CHAPTER, cycles, ends_with


def test_five_thousand_clients_one_after_another_of_whom_some_are_killed_nothing_grows(lab, programs):
    print(lab.call('a', cycles, programs, int(os.environ.get('MANY_CYCLES', 5000))))


@pytest.mark.parametrize('messages', [1, 100000])
def test_sigterm_ends_a_server_with_a_thousand_clients_who_are_silent_or_send(lab, programs, messages):
    print(lab.call('a', ends_with, programs, int(os.environ.get('MANY_CLIENTS', 1000)), messages))
