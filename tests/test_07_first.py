"""07's first.c: the stream is whole, whether its receiver pauses or not, and without credits it is
not; and both ends end, with an error, whatever the peer is and whatever fails."""
import re

import pytest

from first import changed, first, hasty, talks, to_first

CHAPTER = '07_full_speed'
WAITED = r'readable\(cq->channel->fd, TIMEOUT_MS\): Connection timed out$'


@pytest.mark.parametrize('variant', ['plain', 'sanitized'])
def test_it_streams_to_a_receiver_that_pauses(pair):
    talks(pair, first(pair, 'pause'))


# What makes the sender one that does not look at its credits.
BLIND = ('\t\tif (conn->credits == 0 && !take_credits(conn))\n\t\t\treturn false;\n', '')
PATIENT = ('.rnr_retry_count = 0', '.rnr_retry_count = 7')


def seconds(client):
    """How long the stream took, as the sender says."""
    return float(re.search(r'^sent 1024 messages in ([0-9.]+) s', client.out, re.M)[1])


def test_without_credits_a_pause_ends_it_or_makes_it_far_slower(pair):
    blind = changed(CHAPTER, 'blind', BLIND)
    server = first(pair, 'pause', program=hasty(CHAPTER))
    client = to_first(pair, program=blind, status=1)
    assert client.has(r'^wc->status = 13 \(RNR retry counter exceeded\)$')
    client.one_error('wc->status == IBV_WC_SUCCESS: Input/output error$')
    server.end(1).one_error(WAITED)
    server = first(pair, 'pause', program=changed(CHAPTER, 'patient', PATIENT))
    without = to_first(pair, program=blind)
    talks(pair, server, without)
    server = first(pair, 'pause')
    having = to_first(pair)
    talks(pair, server, having)
    assert seconds(without) > 3 * seconds(having)


@pytest.mark.parametrize('call', ['ibv_post_recv 100', 'ibv_post_send 9'])
def test_a_receiver_that_dies_in_the_stream_ends_the_sender(pair, call):
    server = first(pair, at=(call, 'kill'))
    client = to_first(pair, program=hasty(CHAPTER), status=1)
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


COUNT = re.escape('n > 0 && n <= (uint32_t)(DEPTH - conn->credits): Protocol error') + '$'
LENGTH = r'conn->wc.byte_len == sizeof\(n\): Protocol error$'
FAILED = 'wc->status == IBV_WC_SUCCESS: Input/output error$'


@pytest.mark.parametrize('peer, error', [
    ('too_many', COUNT), ('most', COUNT), ('none', COUNT), ('short', LENGTH), ('long', LENGTH),
    ('too_long', FAILED)], indirect=['peer'])
def test_a_receiver_that_tells_of_receives_that_cannot_be(pair, peer, error):
    first(pair, program=peer)
    client = to_first(pair, status=1)
    client.one_error(error)
    assert not client.has('^the receiver has')


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
    pair.start('client', peer, pair.address)
    server.end(1).one_error(error)
    assert not server.has('^received')
