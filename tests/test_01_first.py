"""01's first.c: how short it is, what it says to itself and to the chapter's server and client,
and that it ends, with an error, whatever fails."""
import re

import pytest

import builds
from first import FIRST, both, builds_alone, first, says_what_it_takes, to_first
from nodes import TOP

CHAPTER = '01_send_recv'


@pytest.mark.parametrize('compiler', ['gcc', 'clang'])
def test_it_has_at_most_185_lines_and_needs_no_other_file(tmp_path, compiler):
    builds_alone(CHAPTER, tmp_path, compiler, 185)


@pytest.mark.parametrize('words', [
    ['-h'], ['--help'], [''], ['here'], ['192.0.2'], ['-a', '192.0.2.1'], ['192.0.2.1', '20886']],
    ids=' '.join)
def test_it_says_what_it_takes_and_ends_with_2(programs, words):
    says_what_it_takes(programs, *words)


def talked(server, client):
    """Each has the other's message, and neither an error."""
    both(server, client,
         ['^received message: message from active/client side with pid {pid}$'],
         ['^received message: message from passive/server side with pid {pid}$'])


def test_it_talks_with_itself_with_the_client_and_with_the_server(pair):
    talked(first(pair), to_first(pair))
    talked(first(pair), pair.client())
    talked(pair.server('-1'), to_first(pair))


def test_it_prints_no_byte_of_a_peer_that_is_no_text_and_an_empty_message(pair):
    server = first(pair)
    pair.client('-s', '\x1b[31m\x07\xe9 red')
    assert server.end().has(r'^received message: \?\[31m\?\?\? red$')
    server = first(pair)
    pair.client('-s', '')
    assert server.end().has('^received message: $')


def test_without_a_server_without_a_host_without_a_device(pair):
    client = to_first(pair, status=1)
    assert client.has('^RDMA_CM_EVENT_REJECTED, status 8$')
    client.one_error('event->event == want: Protocol error$')
    client = to_first(pair, '192.0.2.99', status=1)
    client.one_error('event->event == want: ')
    assert client.ms < 60_000
    # 127.0.0.1 has no device.
    to_first(pair, '127.0.0.1', status=1).one_error(
        r'!rdma_resolve_route\(conn->id, 2000\): No such device$')


@pytest.mark.parametrize('call, fd', [
    ('rdma_accept 1', 'conn->events->fd'), ('ibv_post_send 1', 'cq->channel->fd'),
    ('rdma_disconnect 1', 'conn->events->fd')])
def test_it_gives_up_a_server_that_does_not_answer_after_its_10_s(pair, call, fd):
    server = first(pair, at=(call, 'stop'))
    client = to_first(pair, status=1)
    assert 9_000 <= client.ms < 60_000
    client.one_error(re.escape(f'readable({fd}, TIMEOUT_MS): Connection timed out') + '$')
    server.stops()
    server.kill('KILL')
    server.end(137)


def test_it_gives_up_a_client_that_dies_in_the_middle(pair):
    server = first(pair)
    to_first(pair, status=137, at=('ibv_post_send 1', 'kill'))
    server.end(1).one_error(r'readable\(cq->channel->fd, TIMEOUT_MS\): Connection timed out$')
    assert server.ms < 60_000
    # Another client finds the port free again.
    talked(first(pair), to_first(pair))


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


def test_it_serves_one_client_and_a_second_does_not_disturb_it(pair):
    server = first(pair, at=('rdma_accept 1', 'stop'))
    client = pair.start('client', FIRST, pair.address)
    server.stops()
    second = to_first(pair, status=1)
    assert second.has('^RDMA_CM_EVENT_REJECTED, status 8$')
    server.resume()
    client.end()
    server.end()
