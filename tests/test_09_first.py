"""09's first.c: a table is read while it is written, and what is torn is never believed; whatever the peer is and
whatever fails, it ends, with an error. Nobody writes to what is lent."""
import re

import pytest

from first import both, changed, first, to_first

CHAPTER = '09_key_value'
CHECK = """		if (be64toh(copy->version) % 2 == 0 &&
		    copy->checksum == checksum(copy))
			return true;"""


@pytest.mark.parametrize('variant', ['plain', 'sanitized'])
def test_it_sees_torn_reads_under_a_writer_and_believes_none(pair):
    server = first(pair, 'write')
    both(server, to_first(pair), [], ['^1000 values, 0 of them mixed; torn reads: [1-9]'])


def test_without_its_checks_it_would_believe_some(pair):
    """So the test before this one can fail."""
    server = first(pair, 'write')
    both(server, to_first(pair, program=changed(CHAPTER, 'trusts', (CHECK, '		return true;'))),
         [], ['^1000 values, [1-9][0-9]* of them mixed; torn reads: 0$'])


# Servers that are not as they should be: what is changed in them, and what the client says.
SERVERS = {
    'odd_for_ever': ([('	set_version(bucket, version + 2);', '	set_version(bucket, version + 1);')],
                     'a bucket of one moment'),
    'no_sum': ([('	bucket->checksum = checksum(&after);', '')], 'a bucket of one moment'),
    'no_keys': ([('#define KEYS 8', '#define KEYS 4')], 'the key": No such file'),
    'host_order': ([('	place->length = htobe32(sizeof(conn->table));', '	place->length = sizeof(conn->table);')],
                   r'place->length == sizeof\(conn->table\): Protocol error'),
    'short': ([('rdma_post_send(conn->id, NULL, place, sizeof(*place),', 'rdma_post_send(conn->id, NULL, place, 8,')],
              r'conn->wc.byte_len == sizeof\(\*place\): Protocol error'),
    'no_right': ([('					      IBV_ACCESS_REMOTE_READ)))', '					      0)))')],
                 'wc->status == IBV_WC_SUCCESS: Input/output error'),
}
PEERS = {name: changes for name, (changes, _) in SERVERS.items()}


@pytest.mark.parametrize('peer, error', [(name, error) for name, (_, error) in SERVERS.items()], ids=SERVERS, indirect=['peer'])
def test_a_client_gives_up_a_server_that_is_not_as_it_should_be(pair, peer, error):
    server = first(pair, program=peer)
    to_first(pair, status=1).one_error(error)
    server.end(0, 1)


def test_a_server_that_sleeps_for_ever_is_read(pair):
    server = first(pair, at=('ibv_poll_cq 1', 'stop'))
    client = to_first(pair, status=1)
    assert client.has('^1000 values, 0 of them mixed; torn reads: 0$')
    server.stops()
    server.resume()
    server.end(0, 1)


def test_a_client_may_read_for_longer_than_a_step_may_take(pair):
    server = first(pair, program=changed(CHAPTER, 'hasty', ('TIMEOUT_MS 10000', 'TIMEOUT_MS 3000')))
    slow = changed(CHAPTER, 'slow', ('		if (!get(conn, key))', '		if (poll(NULL, 0, 4) || !get(conn, key))'))
    both(server, to_first(pair, program=slow), [], ['^1000 values, 0 of them mixed'])


@pytest.mark.parametrize('words', [(), ('write',)], ids=['sleeps', 'writes'])
def test_a_client_that_is_killed_ends_its_server_and_the_next_is_served(pair, words):
    server = first(pair, *words)
    to_first(pair, status=137, at=('ibv_poll_cq 50', 'kill'))
    server.end(0, 1)
    both(first(pair), to_first(pair), [], ['^1000 values, 0 of them mixed'])


def test_a_client_that_stays_silent_is_given_up_by_a_server_that_writes(pair):
    server = first(pair, 'write', program=changed(CHAPTER, 'brief', ('STAY_MS 60000', 'STAY_MS 5000')))
    client = pair.start('client', './first', pair.address, at=('ibv_poll_cq 50', 'stop'))
    client.stops()
    server.end(1).one_error(re.escape('readable(conn->events->fd, TIMEOUT_MS): Connection timed out'))
    client.kill('KILL')
    client.end(137)
