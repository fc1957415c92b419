"""01's first.c: what it says to itself and to the chapter's server and client, also if its send fails."""
import pytest

import builds
from first import first, talks, to_first
from nodes import TOP

CHAPTER = '01_send_recv'


def test_it_talks_with_itself_with_the_client_and_with_the_server(pair):
    talks(pair)
    server = first(pair)
    talks(pair, server, pair.client())
    talks(pair, pair.server('-1'))


def test_it_prints_no_byte_of_a_peer_that_is_no_text_and_an_empty_message(pair):
    server = first(pair)
    pair.client('-s', '\x1b[31m\x07\xe9 red')
    assert server.end().has(r'^received message: \?\[31m\?\?\? red$')
    server = first(pair)
    pair.client('-s', '')
    assert server.end().has('^received message: $')


def without_receives(folder):
    """The break of 01 in which the server posts none."""
    builds.tool('sh', '-c', 'patch -f -s -p1 -d "$0" <"$1"', folder, TOP / CHAPTER / 'break/no_recv/patch')


@pytest.fixture
def deaf(programs):
    """The path of such a server."""
    return str(builds.build(CHAPTER, 'no_recv', without_receives) / 'server')


def test_it_ends_when_its_send_fails(pair, deaf):
    server = pair.server('-1', program=deaf)
    client = to_first(pair, status=1)
    assert client.has(r'^wc->status = 13 \(RNR retry counter exceeded\)$')
    client.one_error('wc->status == IBV_WC_SUCCESS: Input/output error$')
    server.end(1)
