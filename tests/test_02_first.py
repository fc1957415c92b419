"""02's first.c: what it says to itself, and that it ends, with an error, whatever its peer is and
whatever fails. Nobody reaches more of the server's memory than is lent."""
import re

import pytest

from first import FIRST, both, builds_alone, changed, first, says_what_it_takes, to_first

CHAPTER = '02_write_read'


@pytest.mark.parametrize('compiler', ['gcc', 'clang'])
def test_it_has_at_most_275_lines_and_needs_no_other_file(tmp_path, compiler):
    builds_alone(CHAPTER, tmp_path, compiler, 275)


@pytest.mark.parametrize('words', [['-h'], [''], ['here'], ['192.0.2.1', '22222']], ids=' '.join)
def test_it_says_what_it_takes_and_ends_with_2(programs, words):
    says_what_it_takes(programs, *words)


def talked(server, client):
    """The client has written, and read that, and the server has been told."""
    both(server, client,
         ['^my memory: message from passive/server side with pid [0-9]+$', '^received message: done$',
          '^my memory: message from active/client side with pid {pid}$'],
         ['^write completed', '^read completed',
          f"^the server's memory: message from active/client side with pid {client.pid}$"])


@pytest.mark.parametrize('variant', ['plain', 'sanitized'])
def test_it_writes_and_reads(pair):
    talked(first(pair), to_first(pair))


def test_without_a_server_without_a_host_without_a_device(pair):
    client = to_first(pair, status=1)
    assert client.has('^RDMA_CM_EVENT_REJECTED, status 8$')
    client.one_error('event->event == want: Protocol error$')
    to_first(pair, '192.0.2.99', status=1).one_error('event->event == want: ')
    to_first(pair, '127.0.0.1', status=1).one_error(
        r'!rdma_resolve_route\(conn->id, 2000\): No such device$')


@pytest.mark.parametrize('call, action, fd', [
    ('rdma_accept 1', 'stop', 'conn->events->fd'), ('ibv_post_send 1', 'stop', 'cq->channel->fd'),
    ('rdma_disconnect 1', 'stop', 'conn->events->fd'),
    # Of a server that is killed, the CM tells at once, but the client waits for a completion.
    ('ibv_post_send 1', 'kill', 'cq->channel->fd'),
    # And here its write, which begins only then, is repeated for longer than that.
    ('ibv_poll_cq 1', 'kill', 'cq->channel->fd')])
def test_it_gives_up_a_server_that_stops_or_dies_after_its_10_s(pair, call, action, fd):
    server = first(pair, at=(call, action))
    writes = call == 'ibv_poll_cq 1'
    client = pair.start('client', FIRST, pair.address, at=('ibv_post_send 1', 'stop') if writes else None)
    if writes:
        client.stops()
        server.end(137)
        client.resume()
    client.end(1)
    assert 9_000 <= client.ms < 60_000
    client.one_error(re.escape(f'readable({fd}, TIMEOUT_MS): Connection timed out') + '$')
    assert client.has('^the server lends') == (call in ('ibv_poll_cq 1', 'rdma_disconnect 1'))
    if action == 'stop':
        server.stops()
        server.kill('KILL')
    server.end(137)


def test_a_server_whose_device_serves_the_client_may_be_asleep(pair):
    server = first(pair, at=('ibv_poll_cq 1', 'stop'))
    client = to_first(pair, status=1)
    assert client.has("^the server's memory: message from active")
    # It hears of all that when it wakes up.
    server.stops()
    server.resume()
    server.end(0, 1)
    assert server.has('^my memory: message from active/client side')


@pytest.mark.parametrize('call', [1, 2, 3])
def test_it_gives_up_a_client_that_dies_before_its_write_its_read_or_its_message(pair, call):
    server = first(pair)
    to_first(pair, status=137, at=(f'ibv_post_send {call}', 'kill'))
    server.end(1).one_error(r'readable\(cq->channel->fd, TIMEOUT_MS\): Connection timed out$')
    assert server.ms < 60_000
    # Another client finds the port free again.
    talked(first(pair), to_first(pair))


# Peers that are not as they should be: what is changed in them.
PEERS = {
    'other_key': [('htobe32(conn->lent_mr->rkey)', 'htobe32(conn->lent_mr->rkey + 1)')],
    'short': [('send_bytes(conn, conn->ours, sizeof(place))', 'send_bytes(conn, conn->ours, 15)')],
    'long': [('send_bytes(conn, conn->ours, sizeof(place))', 'send_bytes(conn, conn->ours, SIZE)')],
    'nothing': [('.length = htobe32(SIZE)', '.length = 0')],
    'read_only': [('IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |', '')],
    'beyond': [('conn->place.addr, conn->place.rkey)) &&\n	       wait_done(conn->id->send_cq, &conn->wc) &&\n'
                '	       printf("write', 'conn->place.addr + SIZE - len + 1, conn->place.rkey)) &&\n'
                '	       wait_done(conn->id->send_cq, &conn->wc) &&\n	       printf("write')],
    'before': [('conn->place.addr, conn->place.rkey)) &&\n	       wait_done(conn->id->send_cq, &conn->wc) &&\n'
               '	       printf("read', 'conn->place.addr - 1, conn->place.rkey)) &&\n'
               '	       wait_done(conn->id->send_cq, &conn->wc) &&\n	       printf("read')],
    'raw': [('strlen(conn->ours) + 1;', 'SIZE;\n\n	memset(conn->ours, 0x1b, SIZE);')],
}


@pytest.fixture
def peer(request):
    """The path of such a peer."""
    return changed(CHAPTER, request.param, *PEERS[request.param])


@pytest.mark.parametrize('peer, error', [
    ('other_key', 'wc->status == IBV_WC_SUCCESS: Input/output error'),
    ('read_only', 'wc->status == IBV_WC_SUCCESS: Input/output error'),
    ('short', r'conn->wc.byte_len == sizeof\(\*place\): Protocol error'),
    ('long', r'conn->wc.byte_len == sizeof\(\*place\): Protocol error'),
    ('nothing', 'len <= conn->place.length: Message too long')], indirect=['peer'])
def test_a_server_that_tells_a_wrong_place(pair, peer, error):
    server = first(pair, program=peer)
    client = to_first(pair, status=1)
    client.one_error(error)
    assert not client.has('^read completed')
    assert client.has(r'^wc->status = 10 \(remote access error\)$') == error.startswith('wc->status')
    server.end(1)


@pytest.mark.parametrize('peer', ['beyond', 'before'], indirect=True)
def test_a_client_reaches_no_byte_beside_what_is_lent(pair, peer):
    server = first(pair)
    client = to_first(pair, program=peer, status=1)
    assert client.has(r'^wc->status = 10 \(remote access error\)$')
    server.end(1).one_error('wc->status == IBV_WC_SUCCESS: Input/output error$')
    assert server.has(r'^wc->status = 5 \(Work Request Flushed Error\)$')


@pytest.mark.parametrize('peer', ['raw'], indirect=True)
@pytest.mark.parametrize('variant', ['sanitized'])
def test_lent_memory_without_an_end_and_with_no_text_is_printed(pair, peer):
    server = first(pair)
    to_first(pair, program=peer)
    assert server.end().has(r'^my memory: \?{1024}$')
