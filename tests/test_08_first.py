"""08's first.c: it serves the clients of 01's first.c, many at a time, and none of them disturbs the
others: killed, silent, greedy or too many."""
import pytest

import builds
from first import changed, first
from pair import until

CHAPTER = '08_event_loop'
OTHER = '01_send_recv'


@pytest.fixture
def ours():
    """The path of 01's first."""
    return str(builds.build(OTHER) / 'first')


def patient():
    """The path of a server that gives nobody up soon."""
    return changed(CHAPTER, 'patient', ('#define TIMEOUT_S 10 ', '#define TIMEOUT_S 1000 '))


def come(pair, program, **more):
    """A client of this server, which runs."""
    return pair.start('client', program, pair.address, **more)


def served(*clients):
    """Each gets its own message back."""
    for client in clients:
        client.end().quiet()
        assert client.has(f'^received message: message from active/client side with pid {client.pid}$')


def gone(server):
    """Whether all who have come are gone."""
    return server.count(': gone') == server.count(': come')


def emptied(server):
    """Waits until they are. The server still runs; that is its end."""
    until('a server without clients', gone, server)
    server.kill('TERM')
    server.end(143).quiet()


def test_it_serves_two_hundred_at_once_and_ends_when_they_have_gone(pair):
    # All of them ask to be let in before the first one is; nobody's time is up for long.
    server = first(pair, pair.address, 200, program=patient(), at=('rdma_accept 1', 'stop'))
    one = changed(OTHER, 'patient', ('#define TIMEOUT_MS 10000', '#define TIMEOUT_MS 1000000'))
    clients = [come(pair, one, at=('rdma_connect 1', 'stop')) for _ in range(200)]
    for client in clients:
        client.stops()
    for client in clients:
        client.resume()
    server.stops()
    server.resume()
    served(*clients)
    server.end().quiet()
    assert server.count('^qp_num=0x[0-9a-f]+: a message') == 200 and gone(server)


def test_a_message_comes_back_as_it_was_even_if_it_is_empty(pair):
    # An event wakes the server, and not the end of its sleep, which is for deadlines.
    sleepy = changed(CHAPTER, 'sleepy', ('*more ? 0 : 1000)', '*more ? 0 : 1000000)'))
    server = first(pair, pair.address, 2, program=sleepy)
    client = str(builds.build(OTHER) / 'client')
    for text, said in ('', ''), ('\x1b[31m\xe9', r'\\x1b\[31m\xe9'):
        ended = pair.client('-s', text, program=client)
        ended.quiet()
        assert ended.has(f'^received message: {said}$')
    server.end().quiet()


def test_who_says_nothing_is_sent_away_and_others_are_served_meanwhile(pair, ours):
    server = first(pair, pair.address)
    # Two do not even say that they are connected; the server cannot go on waiting for them.
    silent = [come(pair, ours, at=('ibv_post_send 1', 'stop')),
              come(pair, ours, at=('rdma_get_cm_event 3', 'stop'))]
    for client in silent:
        client.stops()
    served(*[come(pair, ours) for _ in range(5)])
    assert not gone(server)
    emptied(server)


def test_greedy_clients_that_take_no_answer_are_sent_away_and_harm_nobody(pair, ours):
    greedy = changed(
        OTHER, 'greedy', ('.cap.max_send_wr = 1,', '.cap.max_send_wr = 64,'),
        ('.retry_count = 6 }', '.retry_count = 6, .rnr_retry_count = 7 }'),
        ('#define TIMEOUT_MS 10000', '#define TIMEOUT_MS 1000000'),
        ('CHECK(!rdma_post_recv(conn->id, NULL, conn->theirs, SIZE,\n\t\t\t\t     conn->mr));', 'true;'),
        ('\treturn CHECK(!rdma_post_send(', '\tfor (int i = 0; i < 63; i++)\n\t\trdma_post_send(conn->id, NULL, '
         'buf, len, conn->mr, 0);\n\treturn CHECK(!rdma_post_send('))
    server = first(pair, pair.address, program=patient())
    others = [come(pair, greedy if number % 3 else ours) for number in range(60)]
    served(*others[::3])
    until('a server without clients', gone, server)
    # At the third message of each: nobody's time is up for long.
    assert server.count('a message') <= 20 + 40 * 2
    for client in others:
        client.gone()
    served(come(pair, ours))
    emptied(server)


def test_who_sends_more_than_a_slot_holds_is_sent_away(pair, ours):
    long = changed(OTHER, 'long', ('#define SIZE 1024', '#define SIZE 2000'),
                   ('send_bytes(conn, conn->ours, strlen(conn->ours)) &&\n\t       receive_message(conn) && CHECK',
                    'send_bytes(conn, conn->ours, SIZE) &&\n\t       receive_message(conn) && CHECK'))
    server = first(pair, pair.address)
    come(pair, long).end(1)
    server.says(r'^qp_num=0x[0-9a-f]+: status [0-9]+ \(.*\)$')
    assert not server.has('a message')
    served(come(pair, ours))
    emptied(server)


def test_who_finds_no_place_is_refused_and_the_next_one_finds_one(pair, ours):
    server = first(pair, pair.address, program=changed(CHAPTER, 'two', ('#define CLIENTS 256', '#define CLIENTS 2')))
    here = [come(pair, ours, at=('ibv_post_send 1', 'stop')) for _ in range(2)]
    for client in here:
        client.stops()
    refused = come(pair, ours).end(1)
    assert refused.has('^RDMA_CM_EVENT_REJECTED, ')
    server.one_error('client < &server->clients.*: Too many users$')
    for client in here:
        client.resume()
    served(*here)
    until('a server without clients', gone, server)
    served(come(pair, ours))


def test_it_says_which_of_its_calls_fails_and_only_a_client_that_it_lets_in_is_no_reason_to_end(pair, ours):
    seen = []
    while True:
        server = first(pair, pair.address, 1, must=False, at=(len(seen) + 1, 'fail'))
        client = come(pair, ours)
        until('an end', lambda: not (server.is_running() and client.is_running()))
        if pair.happened in ('rdma_create_qp', 'rdma_accept'):
            served(come(pair, ours))
        server.end(0, 1)
        client.gone()
        if not pair.happened:
            break
        seen.append(pair.happened)
        # Nobody is told when that fails: there is no connection any more.
        assert server.has('^error: ', stream='err') or pair.happened == 'rdma_disconnect', seen
        assert (server.status == 0) == (
            pair.happened in ('rdma_create_qp', 'rdma_accept', 'rdma_disconnect')), seen
    assert len(seen) > 20
