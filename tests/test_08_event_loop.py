"""Chapter 08: clients that do not keep to the protocol, take no echoes or too many of the receives;
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


def forgets(folder):
    """Changes a build: its server does not hear of every fifth of 1,500 messages, as if the device
    had taken a receive, and then forgotten it."""
    builds.edit(folder / 'guests.c', r'^\treceive->returns = false;$', r'''	static unsigned int come;

	if (came && wc->byte_len > 900 && ++come % 5 == 0 && come <= 1500)
		return;
\g<0>''')


def test_the_srq_tells_when_few_receives_are_left_and_gets_more(pair):
    # It stops at its first echo. All of them send meanwhile, and take 240 of 256 receives.
    server = pair.server(at=('ibv_post_send 1', 'stop'))
    load = pair.begin_client('-n', 240, '-q', 240, '-N', 1, program='./load/load')
    server.stops()
    load.sleeps()
    server.resume()
    load.end()
    assert server.has(r'^few receives are left of 256: posting more\.$')
    freed(server, 240)
    server.stop().quiet()


def test_a_server_that_may_lock_no_memory_for_more_receives_makes_do_with_those_it_has(pair):
    server = pair.server('--reuid=65534', '--regid=65534', '--clear-groups', 'bash', '-c',
                         'ulimit -l 400 && exec ./server', program='setpriv')
    load = pair.begin_client('-n', 240, '-q', 240, '-N', 200, '-t', 30, program='./load/load')
    load.says('^240 connections in')
    # While it stands, all of them send: few of its 256 receives are left.
    server.kill('STOP')
    load.sleeps()
    server.resume().says('^error: ibv_reg_mr: .*`ulimit -l`', stream='err')
    # Some of these may find no receive for too long; the server goes on.
    load.any_end()
    crowd(pair, 5)
    freed(server, 245)
    server.stop()


@pytest.fixture
def talkative():
    return builds.build(CHAPTER, 'talkative', lambda folder: builds.edit(
        folder / 'carried/message.h', 'MESSAGE_SIZE 1024', 'MESSAGE_SIZE 4096')) / 'client'


def test_what_the_server_has_not_asked_for_ends_one_connection_and_others_are_served(pair, hostile, talkative):
    """A write with immediate data (hostile_07.c), and a message that is too long. Of one that has left at
    once, the server says nothing."""
    server = pair.server()
    pair.client('-t', 5, '-s', 'RDMA 5', status=1, env={'LD_PRELOAD': hostile, 'HOSTILE': 'RDMA 53 1 imm=4'})
    pair.client('-t', 5, '-s', 1025 * 'x', program=talkative, status=1)
    freed(server, 2)
    assert re.fullmatch('(error: Client 1: .*a completion with opcode 129.*\n)?'
                        '(error: Client 2: receive: status [12] .*\n)?', server.err)
    crowd(pair, 5)
    server.stop()


def test_a_client_that_floods_is_sent_away_and_the_others_are_served(pair):
    server = pair.server()
    flood = pair.begin_client('-n', 1, '-g', 30, '-t', 30, program='./load/load')
    server.says('^error: Client 1: (15 messages, of which no echo was taken; at most 7|send: status 13 )',
                stream='err')
    flood.end(1)
    crowd(pair, 20)
    freed(server, 21)
    server.stop()


def test_a_client_that_sends_nothing_or_nothing_more_is_not_waited_for(pair):
    server = pair.server('-w', 3)
    silent = pair.begin_client('-t', 30, at=('ibv_post_send 1', 'stop'))
    silent.stops()
    crowd(pair, 10)
    # The other two have had their echo, and stay.
    pair.client('-n', 2, '-w', 20, '-t', 30, program='./load/load', status=1)
    silent.kill('KILL')
    freed(server, 13)
    assert server.count(': a message: nothing came within 3 s;', 'err') == 3
    server.stop()


def test_a_server_that_is_full_refuses_and_takes_others_later(pair):
    server = pair.server('-m', 3)
    load = pair.client('-n', 5, '-j', 1, program='./load/load', status=1)
    assert load.count(r'REJECTED \(status 28\)', 'err') == 2
    assert load.has(r'^5 connections: 3 served, 2 refused, 0 failed\.$')
    crowd(pair, 3)
    server.stop()


@pytest.fixture
def forgetful():
    return builds.build(CHAPTER, 'forgetful', forgets) / 'server'


def test_receives_that_the_device_has_forgotten_are_replaced(pair, forgetful):
    server = pair.server('-t', 2, program=forgetful)
    # Their messages come back, or the connections are given up for what does not.
    for _ in range(6):
        pair.client('-t', 3, '-n', 250, '-N', 1, '-q', 250, program='./load/load', status=(0, 1))
    assert server.has('receives have not come back: posting others')
    crowd(pair, 20, '-N', 5)
    server.stop()


def seven(pair, count):
    """On node b: a client that never has more than seven messages without an echo."""
    # The host may lack it.
    from pyverbs.cmid import CMID, AddrInfo, ConnParam
    from pyverbs.cm_enums import RDMA_PS_TCP
    from pyverbs.qp import QPCap, QPInitAttr
    with netem('loss', '2%'):
        client = CMID(creator=AddrInfo(dst=pair.address, dst_service='20886', port_space=RDMA_PS_TCP),
                      qp_init_attr=QPInitAttr(cap=QPCap(max_send_wr=8, max_recv_wr=8)))
        # Endless retries are not granted.
        client.connect(ConnParam(rnr_retry=6))
        region = client.reg_msgs(64)
        for _ in range(8):
            client.post_recv(region)
        for number in range(count + 7):
            if number >= 7:
                assert not client.get_send_comp().status and not client.get_recv_comp().status
                client.post_recv(region)
            if number < count:
                client.post_send(region)
        client.disconnect()


def test_at_two_percent_loss_an_honest_client_with_seven_messages_at_a_time_gets_all_back(lab, programs):
    with lab.serving(programs) as server:
        lab.call('b', seven, programs, 3000)
    server.quiet()
    assert server.has('peer disconnected after 3000 messages')


@pytest.fixture
def endless():
    """The path of a load that asks for endless retries."""
    return builds.build(CHAPTER, 'endless', lambda folder: builds.edit(
        folder / 'load/making.c', 'rnr_retry_count = 6', 'rnr_retry_count = 7')) / 'load/load'


def take_nothing(pair, endless):
    """On node b: connections that send and take no echo."""
    assert pair.client('-n', 3, '-g', 7, program=endless, status=1).has('^3 connections: 0 served, 3 refused')
    holders = pair.begin_client('-t', 60, '-n', 100, '-q', 100, '-g', 7, program='./load/load')
    holders.says('7 messages are sent, and no echo is taken', 20)
    # Their receives are there again, as soon as they are sent away.
    until('a client that is served', lambda: pair.begin_client('-t', 5).any_end().status == 0)
    crowd(pair, 20, '-N', 5)
    holders.end(1)


def test_clients_that_take_no_echo_are_sent_away_and_others_are_served(lab, programs, endless):
    with lab.serving(programs, '-t', 4) as server:
        lab.call('b', take_nothing, programs, endless)
    assert server.count('refused: .*rnr_retry_count 7') == 3
    assert server.has('^error: Client .*: (send: status 13|the completion of an echo)', stream='err')


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
        other = pair.start('other', './load/load', '-t', 60, '-w', 100, '-n', 1, '-a', OTHER)
        other.says('are held')
        crowd(pair, 5)
        other.kill('TERM')
        other.end(1)
        by_other(pair)
        server.stop()


@pytest.mark.parametrize('call', ['ibv_create_comp_channel 2', 'ibv_create_cq 2', 'ibv_create_srq 2',
                                  'ibv_reg_mr 2'])
def test_a_device_that_cannot_be_used_its_client_is_refused_and_the_others_are_served(pair, call):
    """What the clients of the other device share cannot be made, once."""
    with other_device():
        server = pair.server(at=(call, 'fail'))
        pair.client()
        by_other(pair, status=1).one_error('rejected')
        server.one_error(f'^error: {call.split()[0]}: Input/output error')
        pair.client()
        by_other(pair)
        server.stop()
