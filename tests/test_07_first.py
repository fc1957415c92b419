"""07's first.c: the stream is whole, whether its receiver pauses or not, and without credits it is
not; and both ends end, with an error, whatever the peer is and whatever fails."""
import re

import pytest

from first import both, builds_alone, changed, first, says_what_it_takes, to_first

CHAPTER = '07_full_speed'
WAITED = r'readable\(cq->channel->fd, TIMEOUT_MS\): Connection timed out$'


@pytest.mark.parametrize('compiler', ['gcc', 'clang'])
def test_it_has_at_most_300_lines_and_needs_no_other_file(tmp_path, compiler):
    builds_alone(CHAPTER, tmp_path, compiler, 300)


@pytest.mark.parametrize('words', [
    ['-h'], [''], ['here'], ['paus'], ['192.0.2.1', '22227'], ['pause', '192.0.2.1']], ids=' '.join)
def test_it_says_what_it_takes_and_ends_with_2(programs, words):
    says_what_it_takes(programs, *words)


def streamed(server, client):
    """All messages have come, and all are as they should be."""
    both(server, client, ['^received 1024 messages, all as they should be.$'],
         [r'^the receiver has posted 64 receives\.$', r'^sent 1024 messages in [0-9.]+ s, [0-9.]+ MB/s\.$'])


@pytest.mark.parametrize('variant', ['plain', 'sanitized'])
def test_it_streams_to_a_receiver_that_pauses_and_to_one_that_does_not(pair):
    streamed(first(pair), to_first(pair))
    streamed(first(pair, 'pause'), to_first(pair))


# What makes the sender one that does not look at its credits.
BLIND = ('\t\tif (conn->credits == 0 && !take_credits(conn))\n\t\t\treturn false;\n', '')
PATIENT = ('.rnr_retry_count = 0', '.rnr_retry_count = 7')


def seconds(client):
    """How long the stream took, as the sender says."""
    return float(re.search(r'^sent 1024 messages in ([0-9.]+) s', client.out, re.M)[1])


def test_without_credits_a_pause_ends_it_or_makes_it_far_slower(pair):
    blind = changed(CHAPTER, 'blind', BLIND)
    server = first(pair, 'pause')
    client = to_first(pair, program=blind, status=1)
    assert client.has(r'^wc->status = 13 \(RNR retry counter exceeded\)$')
    client.one_error('wc->status == IBV_WC_SUCCESS: Input/output error$')
    server.end(1).one_error(WAITED)
    server = first(pair, 'pause', program=changed(CHAPTER, 'patient', PATIENT))
    without = to_first(pair, program=blind)
    streamed(server, without)
    server = first(pair, 'pause')
    having = to_first(pair)
    streamed(server, having)
    assert seconds(without) > 3 * seconds(having)


def test_without_a_server_without_a_host_without_a_device(pair):
    client = to_first(pair, status=1)
    assert client.has('^RDMA_CM_EVENT_REJECTED, status 8$')
    client.one_error('event->event == want: Protocol error$')
    to_first(pair, '192.0.2.99', status=1).one_error('event->event == want: ')
    to_first(pair, '127.0.0.1', status=1).one_error(
        r'!rdma_resolve_route\(conn->id, 2000\): No such device$')


@pytest.mark.parametrize('call, action, fd', [
    ('rdma_accept 1', 'stop', 'conn->events->fd'),
    # Without a credit, with the first ones, in the middle of the stream, and after it.
    ('ibv_post_send 1', 'stop', 'cq->channel->fd'), ('ibv_post_send 2', 'stop', 'cq->channel->fd'),
    ('ibv_post_send 9', 'stop', 'cq->channel->fd'), ('ibv_post_send 33', 'stop', 'cq->channel->fd'),
    ('rdma_disconnect 1', 'stop', 'conn->events->fd'),
    # Of a receiver that is killed, the CM tells at once, but the sender waits for a credit.
    ('ibv_post_send 1', 'kill', 'cq->channel->fd')])
def test_it_gives_up_a_receiver_that_stops_or_dies_after_its_10_s(pair, call, action, fd):
    server = first(pair, at=(call, action))
    client = to_first(pair, status=1)
    assert 9_000 <= client.ms < 60_000
    client.one_error(re.escape(f'readable({fd}, TIMEOUT_MS): Connection timed out') + '$')
    if action == 'stop':
        server.stops()
        server.kill('KILL')
    server.end(137)


@pytest.mark.parametrize('call', [1, 2, 500])
def test_it_gives_up_a_sender_that_dies_before_the_stream_or_in_it(pair, call):
    server = first(pair)
    to_first(pair, status=137, at=(f'ibv_post_send {call}', 'kill'))
    server.end(1).one_error(WAITED)
    assert server.ms < 60_000
    # Another sender finds the port free again.
    streamed(first(pair), to_first(pair))


@pytest.mark.parametrize('call', ['ibv_post_recv 100', 'ibv_post_send 9'])
def test_a_receiver_that_dies_in_the_stream_ends_the_sender(pair, call):
    server = first(pair, at=(call, 'kill'))
    client = to_first(pair, status=1)
    assert client.ms < 60_000
    client.one_error(f'({WAITED[:-1]}|wc->status == IBV_WC_SUCCESS: Input/output error)$')
    server.end(137)


# Peers that are not as they should be: what is changed in them.
GIVE, SEND = 'if (!give_credits(conn, DEPTH))', '!rdma_post_send(conn->id, NULL, slot, sizeof(n), conn->mr,'
PEERS = {
    'too_many': [(GIVE, 'if (!give_credits(conn, DEPTH + 1))')],
    'most': [(GIVE, 'if (!give_credits(conn, UINT32_MAX))')],
    'none': [(GIVE, 'if (!give_credits(conn, 0))')],
    'short': [(SEND, SEND.replace('sizeof(n)', '3'))],
    'long': [(SEND, SEND.replace('sizeof(n)', '8'))],
    'too_long': [(SEND, SEND.replace('sizeof(n)', 'SIZE + 1'))],
    'empty_message': [('slot, SIZE, conn->mr,', 'slot, i == 100 ? 0 : SIZE, conn->mr,')],
    'short_message': [('slot, SIZE, conn->mr,', 'slot, i == 100 ? SIZE - 1 : SIZE, conn->mr,')],
    'long_message': [('slot, SIZE, conn->mr,', 'slot, i == 10 ? SIZE + 1 : SIZE, conn->mr,')],
    'other_message': [('memset(slot, i, SIZE)', 'memset(slot, i + (i == 100), SIZE)')],
    'last_byte': [('memset(slot, i, SIZE) ||', 'memset(slot, i, SIZE) || (slot[SIZE - 1] += i == 100, false) ||')],
    # It gives fewer receives than it has, and one by one.
    'frugal': [(GIVE, 'if (!give_credits(conn, 1))'), ('(i + 1) % (DEPTH / 2) == 0', 'true'),
               ('!give_credits(conn, DEPTH / 2)', '!give_credits(conn, 1)')],
}


@pytest.fixture
def peer(request):
    """The path of such a peer."""
    return changed(CHAPTER, request.param, *PEERS[request.param])


COUNT = re.escape('n > 0 && n <= (uint32_t)(DEPTH - conn->credits): Protocol error') + '$'
LENGTH = r'conn->wc.byte_len == sizeof\(n\): Protocol error$'
FAILED = 'wc->status == IBV_WC_SUCCESS: Input/output error$'


@pytest.mark.parametrize('peer, error', [
    ('too_many', COUNT), ('most', COUNT), ('none', COUNT), ('short', LENGTH), ('long', LENGTH),
    ('too_long', FAILED)], indirect=['peer'])
def test_a_receiver_that_tells_of_receives_that_cannot_be(pair, peer, error):
    server = first(pair, program=peer)
    client = to_first(pair, status=1)
    client.one_error(error)
    assert not client.has('^the receiver has')
    server.end(1)


@pytest.mark.parametrize('peer', ['frugal'], indirect=True)
def test_a_receiver_may_have_one_receive(pair, peer):
    server = first(pair, program=peer)
    client = to_first(pair)
    assert client.has('^the receiver has posted 1 receives')
    server.end().quiet()
    assert server.has('^received 1024 messages')


@pytest.mark.parametrize('peer, error', [
    ('empty_message', 'conn->wc.byte_len == SIZE: Bad message$'),
    ('short_message', 'conn->wc.byte_len == SIZE: Bad message$'),
    ('long_message', FAILED), ('other_message', r'\*slot == \(char\)i: Bad message$'),
    ('last_byte', r'!memcmp\(slot, slot \+ 1, SIZE - 1\): Bad message$')], indirect=['peer'])
def test_a_sender_whose_messages_are_others(pair, peer, error):
    server = first(pair)
    to_first(pair, program=peer, status=1)
    server.end(1).one_error(error)
    assert not server.has('^received')
