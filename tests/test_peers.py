"""What all chapters make of a peer that does one thing wrong, and in which order they make their own calls:
the same for each chapter. What the peer does: see hostile_post.c and hostile_07.c."""
import contextlib
import os
import re
import resource
import subprocess

import pytest

import builds
from chapters import by_hand, each, in_pairs, with_cm
from pair import until


def not_01(c):
    """It has a mode, write or read."""
    return in_pairs(c) and c.chapter[:2] != '01'


@pytest.fixture
def hostile():
    """Makes the environment of a program that is hostile in this way."""
    return builds.preloaded('tests/hostile_post', 'HOSTILE')


@pytest.fixture
def traced():
    """Makes the environment of a program that writes its calls to a file: see calls.c."""
    return builds.preloaded('scripts/lib/calls', 'CALLS')


@each(in_pairs)
def test_a_write_with_immediate_data_is_a_protocol_error_told_once(pair, hostile):
    error = 'protocol error: a completion with opcode 129'
    server = pair.server(*pair.work)
    pair.begin_client(*pair.work, env=hostile('imm')).any_end()
    server.says('^error: ', stream='err')
    pair.client(*pair.work).quiet()
    server.stop().one_error(error)
    server = pair.server(*pair.work, env=hostile('imm'))
    pair.client(*pair.work, status=1).one_error(error)
    server.stop()


@pytest.mark.parametrize('mode', ['write', 'read'])
@each(not_01)
def test_a_peer_that_reads_in_the_mode_write_or_writes_in_the_mode_read_is_refused(pair, hostile, mode):
    """Neither the queue pair nor the region may allow what the mode does not need."""
    refused = r'RDMA operation: status (9|10) '
    server = pair.server(mode)
    pair.client(mode, status=1, env=hostile('other')).one_error(refused)
    server.says('^error: ', stream='err')
    server.stop().one_error('')
    server = pair.server(mode, env=hostile('other'))
    pair.client(mode, status=1).one_error('')
    server.says('^error: ', stream='err')
    server.stop().one_error(refused)


# 1 is LOCAL_WRITE, 2 REMOTE_WRITE, 4 REMOTE_READ.
@pytest.mark.parametrize('mode, wanted', [('write', '103'), ('read', '114')])
@each(in_pairs)
def test_each_region_has_the_least_access_that_its_mode_needs(pair, traced, mode, wanted):
    words, wanted = ((), '01') if pair.number == '01' else ((mode,), wanted)
    traces = pair.scratch / 'trace.server', pair.scratch / 'trace.client'
    server = pair.server(*words, env=traced(traces[0]))
    pair.client(*words, env=traced(traces[1]))
    server.stop()
    for trace in traces:
        assert ''.join(re.findall('(?m)^reg_mr .*access=0x(.*)', trace.read_text('utf-8'))) == wanted


def orderly(trace, arms=1):
    """No region was deregistered while a request was posted, and the CQ was armed so often, and once more
    after each event."""
    waiting, calls = 0, trace.read_text('utf-8').splitlines()
    count = {name: sum(call.startswith(name) for call in calls)
             for name in ('post_', 'dereg_mr', 'req_notify_cq', 'get_cq_event')}
    assert count['post_'] and count['dereg_mr'] and count['req_notify_cq'] == arms + count['get_cq_event'], trace
    for call in calls:
        waiting += call.startswith('post_') - call.startswith(('not posted', 'completion'))
        assert not (waiting and call.startswith('dereg_mr')), f'freed with {waiting} requests posted: {trace}'
    trace.unlink()


# A server that fails when nothing has come yet has its receives posted.
@pytest.mark.parametrize('who, call', [
    ('nobody', ''), ('client', 'ibv_post_send 1'), ('client', 'ibv_poll_cq 2'), ('server', 'ibv_post_send 1')],
                         ids=['well', 'client-1', 'client-2', 'server'])
@each(in_pairs)
def test_no_memory_is_freed_while_a_request_uses_it_and_cqs_are_armed_once_for_each_event(
        pair, traced, who, call):
    traces = {end: pair.scratch / f'trace.{end}' for end in ('server', 'client')}
    at = {'at': (call, 'fail')}
    server = pair.server('-t', 20, *pair.work, env=traced(traces['server']), **at if who == 'server' else {})
    pair.begin_client(*pair.work, env=traced(traces['client']), **at if who == 'client' else {}).any_end()
    until('the end of the conversation', lambda: server.has('peer disconnected') or
          server.has('^error: ', stream='err'))
    server.stop()
    for end, trace in traces.items():
        if who != 'server' or end == 'server':
            orderly(trace)


@each(in_pairs)
def test_an_end_whose_cq_could_not_be_armed_arms_it_for_what_is_flushed(pair, traced):
    """Or else it waits until -t is over, unless the flush is faster."""
    trace = pair.scratch / 'trace'
    server = pair.server('-t', 60, *pair.work, env=traced(trace), at=('ibv_req_notify_cq 2', 'fail'))
    # When the client stops at this send, the server can complete so many of its own.
    send, sends = {'01': (1, 1), '02': (2, 3)}.get(pair.number, (1, 2))
    client = pair.begin_client(*pair.work, at=(f'ibv_post_send {send}', 'stop'))
    until('a client that stops, or ends', lambda: client.state() in 'TZ')
    until('a server that waits for the client, or has failed', lambda: server.err or
          server.count('send completed') == sends and server.waits())
    client.resume().any_end()
    server.says('^error: .*ibv_req_notify_cq', stream='err')
    server.stop()
    orderly(trace, 2)


@pytest.mark.parametrize('how', ['mute', 'reset'])
@each(by_hand)
def test_a_tcp_connection_that_ends_without_a_goodbye_is_an_error(pair, hostile, how):
    server = pair.server(*pair.work)
    client = pair.client(*pair.work, status=1, env=hostile(how))
    client.one_error('connection ended without a goodbye')
    server.says('^error: ', stream='err')
    pair.client(*pair.work).quiet()
    server.stop().one_error('connection ended without a goodbye')
    assert server.count(r'peer disconnected\.$') == 1


@pytest.mark.parametrize('who', ['server', 'client'])
@each(by_hand)
def test_the_path_has_the_mtu_of_the_smaller_port(pair, hostile, who):
    env = {'env': hostile('small')}
    server = pair.server('-1', *pair.work, **env if who == 'server' else {})
    client = pair.client(*pair.work, **env if who == 'client' else {})
    for program in server.end(), client:
        program.quiet()
        assert program.has('path_mtu=256,')


@each(by_hand)
def test_a_psn_of_010_is_10_since_no_number_is_octal(pair):
    server = pair.server('-1', '-P', '010', *pair.work)
    client = pair.client('-P', '0x010', *pair.work)
    server.end()
    assert client.has('Local PSN: 0x000010, Remote PSN: 0x00000a$')


@pytest.fixture
def altered(programs):
    """What makes the environment of a program that changes a byte of a message, and the first message:
    MSG_MR, or where the parameters went another way MSG_DONE."""
    first = 2 if list(programs.folder.rglob('oob.c')) else 1
    return builds.preloaded('tests/hostile_07', 'HOSTILE'), f'RDMA {first} 1'


NOT_DONE = "the peer's message is not this version's MSG_DONE"


def refused(pair, altered, change, regex):
    """A server refuses a client that changes it, and serves the next."""
    hostile, message = altered
    server = pair.server(*pair.work)
    pair.begin_client(*pair.work, env=hostile(f'{message} {change}')).any_end()
    server.says('^error: ', stream='err')
    pair.client(*pair.work).quiet()
    server.stop().one_error(regex)


# Only chapter 08 knows type 3.
@each(not_01)
def test_a_message_of_a_type_that_is_not_the_chapters_is_refused(pair, altered):
    by_line = 'RDMA 2' in altered[1]
    refused(pair, altered, '5=3', NOT_DONE if by_line else 'a message of the unknown type 3$')


@each(by_hand)
def test_each_other_byte_of_msg_done_is_looked_at(pair, altered):
    for change in ('3=66', '4=2', '6=1', '7=1'):
        refused(pair, altered, change, NOT_DONE)


@contextlib.contextmanager
def second_device():
    """This node has one, on a netdev that leads nowhere."""
    def run(*words):
        subprocess.run(words, check=True)
    run('ip', 'link', 'add', 'dummy7', 'type', 'dummy')
    try:
        run('ip', 'address', 'add', '198.51.100.7/24', 'dev', 'dummy7')
        run('ip', 'link', 'set', 'dummy7', 'up')
        run('rdma', 'link', 'add', 'rxe7', 'type', 'rxe', 'netdev', 'dummy7')
        yield
        run('rdma', 'link', 'delete', 'rxe7')
    finally:
        run('ip', 'link', 'del', 'dummy7')


def identities(pair, names):
    """Options for server and client with certificates of these names, where they have any."""
    if not (pair.folder / 'certs.sh').exists():
        return (), ()
    folder = pair.scratch / 'two_devices'
    subprocess.run(['./certs.sh', '--names', names, folder], cwd=pair.folder, check=True, stdout=subprocess.PIPE)
    return [('-A', folder / 'ca.pem', '-C', folder / f'{end}.pem', '-K', folder / f'{end}.key')
            for end in ('server', 'client')]


@each(by_hand)
def test_of_two_devices_each_client_is_met_by_the_one_that_has_its_address(pair):
    other = '198.51.100.7'
    of_server, of_client = identities(pair, f'IP:192.0.2.1,IP:{other}')
    with second_device():
        server = pair.server(*of_server, *pair.work)
        for to in pair.address, other, pair.address:
            pair.client(*of_client, '-a', to, *pair.work).quiet()
        server.done()
        server.stop().quiet()
        assert server.has(r'local: .*GID ::ffff:198\.51\.100\.7,')
        # With an address to listen on, only that one's.
        server = pair.server(*of_server, '-a', other, *pair.work)
        pair.client(*of_client, '-a', other, *pair.work)
        server.done()
        server.stop()
        assert server.count('Opened RDMA device: rxe7') == 1 and not server.has('RDMA device: rxe0')


def without_descriptors(pair):
    """A server that has none left for the next client, who is there."""
    server = pair.server(*pair.work)
    pair.client(*pair.work).quiet()
    server.done()
    until('a server with nobody', server.has_no_queue_pair)
    free = next(fd for fd in range(1024) if not os.path.lexists(f'/proc/{server.pid}/fd/{fd}'))
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (free, 1024))
    pair.client('-t', 5, *pair.work, status=1)
    server.says('^error: ', stream='err')
    return server


@each(lambda c: in_pairs(c) and with_cm(c))
def test_with_the_cm_no_descriptor_for_a_client_is_told_and_the_next_is_served(pair):
    server = without_descriptors(pair)
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (1024, 1024))
    pair.client(*pair.work).quiet()
    server.done()
    server.stop().one_error('Too many open files', 'ulimit -n')


@each(lambda c: by_hand(c) and c.chapter[:2] != '05')
def test_without_the_cm_no_descriptor_for_a_client_ends_the_server(pair):
    """It would be told again and again, and fill the disk."""
    server = without_descriptors(pair)
    until('an end, or a second error', lambda: not server.is_running() or server.count('^error', 'err') > 1)
    server.end(1).one_error('Too many open files', 'ulimit -n')


@each(lambda c: in_pairs(c) and with_cm(c))
def test_a_names_first_address_fails_the_second_is_taken_and_nothing_is_lost(pair, traced):
    trace = pair.scratch / 'trace'
    server = pair.server(*pair.work)
    pair.address = 'node-a'
    client = pair.client(*pair.work, at=('rdma_resolve_addr 1', 'fail'), env=traced(trace))
    client.one_error('rdma_resolve_addr: Input/output')
    server.done()
    server.stop()
    # One of them is the library's own.
    calls = trace.read_text('utf-8')
    assert len(re.findall('(?m)^create_id 0$', calls)) == len(re.findall('(?m)^destroy_id ', calls)) == 3
    # With 7, rxe would try for ever.
    assert set(re.findall('(?m)^tries retry_count=(.*?)(?: |$)', calls)) == {'6'}
