"""Chapter 08: clients that do not keep to the protocol, take no answers or too many of the receives;
and a second device."""
import contextlib
import re
import subprocess

import pytest

import builds
from pair import netem, until
from test_08_crowds import crowd, freed

CHAPTER = '08_event_loop'
OTHER = '198.51.100.1'


@pytest.fixture
def hostile():
    return builds.helper('tests/hostile_07', '-shared')


@pytest.fixture
def calls():
    return builds.helper('scripts/lib/calls', '-shared')


@pytest.fixture
def peer():
    return builds.helper('tests/peer_08', '-lrdmacm', '-libverbs')


def floods(folder):
    """Changes a build: its client posts each request thirty times, takes no answer, and stays."""
    builds.edit(folder / 'client.c', r'conn_create_qp\(&conn, TRANSFER_SENDS', 'conn_create_qp(&conn, 64')
    builds.edit(folder / 'client.c', r'^\tif \(send_request.*', r'''\g<0>
		return -1;
	for (int i = 1; i < 30; i++)
		if (send_request(conn, region))
			return -1;
	if (wait_readable(-1, -1, -1, wait_deadline(3000)) < 0)''')


def forgets(folder):
    """Changes a build: its server does not hear of every fifth of 1,500 requests, as if the device
    had taken a receive, and then forgotten it."""
    builds.edit(folder / 'guests.c', r'^\tif \(received\)$', r'''	static unsigned int come;

	if (received && wc->byte_len > 900 && ++come % 5 == 0 && come <= 1500)
		return;
\g<0>''')


def test_the_srq_tells_when_few_receives_are_left_and_gets_more(pair):
    # It stops at its first answer: until then, each client has had three messages and writes. All of
    # them ask meanwhile, and take 240 of 256 receives.
    server = pair.server('-v', at=('ibv_post_send 721', 'stop'))
    load = pair.begin_client('-n', 240, '-q', 240, '-N', 1, 'sum', program='./load/load')
    server.stops()
    load.sleeps()
    server.resume()
    load.end()
    assert server.has(r'^few receives are left of 256: posting more\.$')
    freed(server, 240)
    server.stop().quiet()


def test_a_server_that_may_lock_no_memory_for_more_receives_makes_do_with_those_it_has(pair):
    server = pair.server('--reuid=65534', '--regid=65534', '--clear-groups', 'bash', '-c',
                         'ulimit -l 2000 && exec ./server -v', program='setpriv')
    load = pair.begin_client('-n', 240, '-q', 240, '-N', 200, '-t', 30, 'sum', program='./load/load')
    load.says('^240 connections in')
    # While it stands, all of them ask: few of its 256 receives are left.
    server.kill('STOP')
    load.sleeps()
    server.resume().says('^error: ibv_reg_mr: .*`ulimit -l`', stream='err')
    # Some of these may find no receive for too long; the server goes on.
    load.any_end()
    crowd(pair, 5, 'write')
    freed(server, 245)
    server.stop()


@pytest.fixture
def older():
    return builds.build('02_write_read') / 'client'


def test_the_client_of_chapter_02_is_served_too(pair, older):
    server = pair.server('-v')
    pair.client('-p', 22228, 'write', program=older).quiet()
    freed(server, 1)
    assert server.has('^Client 1: peer disconnected after 0 requests')
    server.stop().quiet()


def refused(pair, server, hostile, changes):
    """What a client sends is changed as hostile_07.c says: the server says in one line why it ends the
    connection. Then five are served."""
    for number, (change, regex) in enumerate(changes, 1):
        pair.client('-t', 5, 'write', status=1, env={'LD_PRELOAD': hostile, 'HOSTILE': change})
        freed(server, number)
        errors = server.err.splitlines()
        assert len(errors) == number and re.search(rf'^error: Client \d+: .*({regex})', errors[-1]), change


REQUESTS = [('RDMA 3 1 0=88', 'does not begin with RDMA'),
            ('RDMA 3 1 4=2', 'speaks version 2, this program version 1'),
            ('RDMA 3 1 5=9', 'unknown type 9$'),
            ('RDMA 3 1 6=7', 'MSG_REQUEST has the unknown mode 7$'),
            ('RDMA 3 1 8=1', 'MSG_REQUEST has a value where'),
            ('RDMA 3 1 22=0', 'request has 0 bytes'),
            ('RDMA 3 1 20=255 21=255', 'request has 4294902784 bytes'),
            ('RDMA 3 1 size=1024', '1000 bytes follow .* instead of 1024;'),
            ('RDMA 3 1 23=16', '1024 bytes follow .* instead of 1040;'),
            # Half a request: the header has only begun.
            ('RDMA 3 1 size=24', 'a message of 24 bytes|0 bytes follow'),
            ('RDMA 3 1 5=2 22=0 6=0', 'MSG_DONE is not legal|bytes follow|a message of type 2'),
            ('RDMA 1 1 6=2', 'is not legal in|runs write'),
            ('RDMA 1 1 22=1', '1024 bytes of memory and the peer 256;'),
            ('RDMA 3 1 imm=4', 'a completion with opcode 129'),
            # In the place of its MSG_DONE.
            ('RDMA 2 1 5=3 6=1 23=8 size=32', 'a message of type 3 in the middle of a transfer$')]


def test_malformed_requests_are_refused_by_name_and_others_are_served(pair, hostile):
    server = pair.server('-v')
    refused(pair, server, hostile, REQUESTS)
    crowd(pair, 5, 'write')
    server.stop()


NOWHERE = ' '.join(f'{at}=0' for at in (*range(8, 20), 22))


def test_a_request_in_the_place_of_a_clients_msg_mr_is_refused_and_nothing_is_lent(pair, hostile, calls):
    """A MSG_REQUEST of 64 bytes: nothing is sent, nor written to address 0."""
    trace = pair.scratch / 'trace'
    server = pair.server('-v', '-b', 64, env={'LD_PRELOAD': calls, 'CALLS': trace})
    refused(pair, server, hostile, [
        (f'RDMA 1 1 5=3 6=1 {NOWHERE} 23=64 size=88', 'a message of type 3 in the middle of a transfer$'),
        (f'RDMA 1 1 5=2 6=0 {NOWHERE}', "the peer's MSG_DONE is not legal in SS_INIT and RS_INIT$")])
    made = trace.read_text('utf-8')
    assert made and not re.search('(?m)^reg_mr .*access=0x3$|^post_send', made)
    crowd(pair, 5, '-b', 64, 'write')
    server.stop()


@pytest.fixture
def flooding():
    return builds.build(CHAPTER, 'flood', floods) / 'client'


def test_a_client_that_floods_is_sent_away_and_the_others_are_served(pair, flooding):
    server = pair.server('-v')
    flood = pair.begin_client('-t', 5, 'sum', program=flooding)
    server.says('^error: Client 1: (15 requests, of which no answer was taken; at most 7|send: status 13 )',
                stream='err')
    assert flood.is_running()
    crowd(pair, 20, 'write')
    flood.end(1)
    freed(server, 21)
    server.stop()


def test_a_client_that_sends_nothing_or_nothing_more_is_not_waited_for(pair):
    server = pair.server('-v', '-t', 2, '-w', 3)
    silent = pair.begin_client('-t', 30, 'write', at=('ibv_post_send 1', 'stop'))
    silent.stops()
    crowd(pair, 10, 'write')
    server.says('^error: Client 1: the transfer: nothing came within 2 s;.* -t ', stream='err')
    silent.kill('KILL')
    # It has had its answers, and stays.
    pair.client('-n', 2, '-w', 20, '-t', 30, 'sum', program='./load/load', status=1)
    freed(server, 13)
    assert server.count(': a request: nothing came within 3 s;', 'err') == 2
    server.stop()


def test_a_server_that_is_full_refuses_and_takes_others_later(pair):
    server = pair.server('-v', '-m', 3)
    load = pair.client('-n', 5, '-j', 1, 'sum', program='./load/load', status=1)
    assert load.count(r'REJECTED \(status 28\)', 'err') == 2
    assert load.has(r'^5 connections: 3 served, 2 refused, 0 failed\.$')
    crowd(pair, 3, 'sum')
    server.stop()


@pytest.fixture
def forgetful():
    return builds.build(CHAPTER, 'forgetful', forgets) / 'server'


def test_receives_that_the_device_has_forgotten_are_replaced(pair, forgetful):
    server = pair.server('-t', 2, program=forgetful)
    # Their requests are answered, or the connections are given up for what is not.
    for _ in range(6):
        pair.client('-t', 3, '-b', 1024, '-n', 250, '-N', 1, '-q', 250, 'sum', program='./load/load', status=(0, 1))
    assert server.has('receives have not come back: posting others')
    crowd(pair, 20, '-N', 5, 'sum')
    server.stop()


def seven(pair, peer, count):
    """On node b: a client that never has more than seven requests without an answer."""
    with netem('loss', '2%'):
        client = pair.start('client', peer, pair.address, 'seven', count).end()
    assert client.has(f'^{count} answers in .*; never more than 7')


def test_at_two_percent_loss_an_honest_client_with_seven_requests_at_a_time_gets_all_answers(lab, programs, peer):
    with lab.serving(programs) as server:
        lab.call('b', seven, programs, peer, 3000)
    server.quiet()


def take_nothing(pair, peer):
    """On node b: connections that ask and take no answer."""
    # Endless retries are not granted.
    pair.start('refused', peer, pair.address, 'hold', 3, 7).says('^0 of 3 connections')
    holders = pair.start('holders', peer, pair.address, 'hold', 100, 6)
    holders.says('^[0-9]+ of .* hold')
    # They are sent away, whatever they do, and their receives are there again.
    holders.says('^100 were sent away')
    until('a client that is served', lambda: pair.begin_client('-t', 5, 'sum').any_end().status == 0)
    crowd(pair, 20, '-N', 5, 'sum')
    assert holders.is_running()


def test_clients_that_take_no_answer_are_sent_away_and_others_are_served(lab, programs, peer):
    with lab.serving(programs, '-t', 4) as server:
        lab.call('b', take_nothing, programs, peer)
    assert re.search('refused: .*rnr_retry_count 7', server.out + server.err)
    assert server.has('^error: Client .*: (send: status 13|an answer)', stream='err')


@contextlib.contextmanager
def other_device():
    """Of the server's."""
    def run(line):
        subprocess.run(line.split(), check=True)
    run('ip link add veth8 type veth peer name veth9')
    try:
        for end in 'veth8', 'veth9':
            run(f'ip link set {end} up')
        run(f'ip addr add {OTHER}/24 dev veth8')
        run('rdma link add rxe8 type rxe netdev veth8')
        yield
    finally:
        run('rdma link delete rxe8')
        run('ip link del veth8')


def by_other(pair, *words, status=0):
    """A client by the other device."""
    return pair.start('client', './client', '-a', OTHER, *words).end(status)


def test_a_client_by_a_second_device_is_served_and_so_are_those_by_the_first(pair):
    with other_device():
        server = pair.server()
        other = pair.start('other', './load/load', '-t', 60, '-w', 100, '-n', 1, '-a', OTHER, 'sum')
        other.says('are held')
        crowd(pair, 5, 'write')
        other.kill('TERM')
        other.end(1)
        by_other(pair, 'write')
        server.stop()


@pytest.mark.parametrize('call', ['ibv_create_comp_channel 2', 'ibv_create_cq 2', 'ibv_create_srq 2',
                                  'ibv_reg_mr 4', 'ibv_reg_mr 5'])
def test_a_device_that_cannot_be_used_its_client_is_refused_and_the_others_are_served(pair, call):
    """What the clients of the other device share cannot be made, once."""
    with other_device():
        server = pair.server(at=(call, 'fail'))
        pair.client('write')
        by_other(pair, 'write', status=1).one_error('rejected')
        server.one_error(f'^error: {call.split()[0]}: Input/output error')
        pair.client('write')
        by_other(pair, 'write')
        server.stop()
