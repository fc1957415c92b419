"""02's first.c: it ends, with an error, whatever its peer is. Nobody reaches more of the server's memory
than is lent."""
import re

import pytest

from first import FIRST, first, to_first

CHAPTER = '02_write_read'


def test_it_gives_up_a_server_that_dies_before_its_write_which_is_repeated_for_longer_than_its_10_s(pair):
    server = first(pair, at=('ibv_poll_cq 1', 'kill'))
    client = pair.start('client', FIRST, pair.address, at=('ibv_post_send 1', 'stop'))
    client.stops()
    server.end(137)
    client.resume().end(1).one_error(re.escape('readable(cq->channel->fd, TIMEOUT_MS): Connection timed out') + '$')
    assert 9_000 <= client.ms < 60_000 and client.has('^the server lends')


def test_a_server_whose_device_serves_the_client_may_be_asleep(pair):
    server = first(pair, at=('ibv_poll_cq 1', 'stop'))
    client = to_first(pair, status=1)
    assert client.has("^the server's memory: message from active")
    # It hears of all that when it wakes up.
    server.stops()
    server.resume()
    server.end(0, 1)
    assert server.has('^my memory: message from active/client side')


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


@pytest.mark.parametrize('peer, error', [
    ('other_key', 'wc->status == IBV_WC_SUCCESS: Input/output error'),
    ('read_only', 'wc->status == IBV_WC_SUCCESS: Input/output error'),
    ('short', r'conn->wc.byte_len == sizeof\(\*place\): Protocol error'),
    ('long', r'conn->wc.byte_len == sizeof\(\*place\): Protocol error'),
    ('nothing', 'len <= conn->place.length: Message too long')], indirect=['peer'])
def test_a_server_that_tells_a_wrong_place(pair, peer, error):
    first(pair, program=peer)
    client = to_first(pair, status=1)
    client.one_error(error)
    assert not client.has('^read completed')
    assert client.has(r'^wc->status = 10 \(remote access error\)$') == error.startswith('wc->status')


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
