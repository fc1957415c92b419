"""The chapters, as chapters.tsv has them, to parametrize tests with."""
import csv
import types

import pytest

from nodes import TOP

with open(TOP / 'chapters.tsv', encoding='utf-8') as file:
    ALL = [types.SimpleNamespace(**row) for row in csv.DictReader(
        (line for line in file if not line.startswith('#')), delimiter='\t')]


def each(condition=lambda c: True):
    """A test of each chapter for which it is so; its name has the chapter's, as in -k 04_."""
    return pytest.mark.parametrize('chapter', [c.chapter for c in ALL if condition(c)])


def on_rxe(c):
    """An RDMA device, and no sockets."""
    return 'rxe' in c.devices


def with_cm(c):
    """The connection manager connects."""
    return 'siw' in c.devices


def by_hand(c):
    """The two ends exchange their parameters themselves."""
    return in_pairs(c) and c.devices == 'rxe'


def in_pairs(c):
    """Each end reaches the other, by a message or in its memory, and asks nothing more."""
    return on_rxe(c) and c.shown in ('default', 'write', 'read') and c.chapter[:2] != '08'


def numbers(*wanted):
    """The chapters of these numbers."""
    return lambda c: c.chapter[:2] in wanted
