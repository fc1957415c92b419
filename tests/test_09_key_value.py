"""09's careful pair: what one client puts, all others read; counters lose nothing; and what a peer does wrong harms
nobody else."""
import re
import subprocess

import pytest

import builds
from pair import until

CHAPTER = '09_key_value'


def put(pair, key, value, **more):
    return pair.client('put', key, value, **more)


def ended(server):
    """A server, when all of its clients have left and it was asked to stop."""
    server.done()
    return server.stop()


def shows(pair, key, value, version):
    """A GET finds this."""
    client = pair.client('get', key)
    client.quiet()
    assert client.has(f'^version {version}: {key} = {value}$', '^READs: [0-9]+, torn: [0-9]+$')


@pytest.mark.parametrize('variant', ['plain', 'sanitized'])
def test_values_of_each_length_are_read_as_they_were_put(pair):
    server = pair.server()
    for length in 0, 1, 255, 256:
        put(pair, f'k{length}', 'v' * length).quiet()
        shows(pair, f'k{length}', 'v' * length, 1)
    put(pair, 'x' * 23, 'one')
    put(pair, 'x' * 23, 'two')
    shows(pair, 'x' * 23, 'two', 2)
    assert pair.client('scan').count('^version ') == 5
    ended(server).quiet()


# What is changed in a build: FILE, what is there, and what comes there.
CHANGES = {
    # A table that never grows.
    'small': ('table.h', 'BUCKETS_MAX = 512', 'BUCKETS_MAX = 8'),
    # The client does not lock what is to move,
    'hasty': ('talk.c', r'if \(place->client && ', 'if (place->client > 1000 && '),
    # or writes where it may not,
    'lies': ('client.c', r'if \(!client->place.client\)', 'if (0)'),
    # or has a lease that is as long as a lock can say, 65 s.
    'greedy': ('talk.c', 'LEASE_MS << 16', '0xffffu << 16'),
    # Two clients at a time.
    'few': ('server.c', '#define GUESTS 64', '#define GUESTS 2'),
}


@pytest.fixture
def changed(request):
    """The folder of such a build."""
    file, old, new = CHANGES[request.param]
    return builds.build(CHAPTER, request.param, lambda folder: builds.edit(folder / file, old, new))


@pytest.mark.parametrize('changed', ['small'], indirect=True)
@pytest.mark.parametrize('words', [(), ('--one-sided',)], ids=['sent', 'one_sided'])
def test_a_full_table_refuses_one_key_more_and_still_takes_new_values(pair, words, changed):
    server = pair.server(*words, program=changed / 'server')
    more = {'program': changed / 'client'}
    for number in range(8):
        pair.client(*words, 'put', f'k{number}', 'old', **more).quiet()
    pair.client(*words, 'put', 'one more', 'value', status=1, **more).one_error("the server's table is full")
    pair.client(*words, 'put', 'k7', 'new', **more).quiet()
    shows(pair, 'k7', 'new', 2)
    scan = pair.client('scan', **more)
    assert scan.count('^version ') == 8 and scan.has('^READs: 1, torn: 0$')
    pair.client('get', 'one more', status=1, **more).one_error('this key is not in the table')
    ended(server).quiet()


def fill(pair, first, end, *words):
    """One client puts so many keys; 8 of them are a full table, and with 9 it moves."""
    lines = ''.join(f'put k{number} v{number}\n' for number in range(first, end))
    pair.client(*words, 'do', pair.file('lines', lines)).quiet()


def holds(pair, count):
    """Each of these keys is there, once."""
    scan = pair.client('scan')
    scan.quiet()
    assert sorted(re.findall(r'(?m)^version 1: k(\d+) = v\1$', scan.out), key=int) == \
        [str(number) for number in range(count)] and scan.count('^version ') == count


@pytest.mark.parametrize('variant', ['plain', 'sanitized'])
@pytest.mark.parametrize('words', [(), ('--one-sided',)], ids=['sent', 'one_sided'])
def test_who_knows_only_an_old_table_finds_its_way_to_the_new_one(pair, words):
    """However often it has moved meanwhile, and whatever it is asked for."""
    server = pair.server(*words, '-t', 100)
    fill(pair, 0, 8, *words)
    late = [pair.begin_client(*words, *asks, at=('ibv_post_send 1', 'stop'))
            for asks in (('put', 'k40', 'v40'), ('scan',), *(('get', f'k{number}') for number in (30, *range(8))))]
    for client in late:
        client.stops()
    fill(pair, 8, 40, *words)
    for client in late:
        client.resume().end().quiet()
        # Who only sends needs no place.
        assert client.count("^the server's table: ") == (1 if client is late[0] and not words else 2)
    assert late[1].count('^version 1: k') >= 40
    # The first eight are in a bucket of their own each.
    for client, number in zip(late[2:], (30, *range(8))):
        assert client.has(f'^version 1: k{number} = v{number}$')
    holds(pair, 41)
    assert re.findall('the table has moved: (.*) buckets', server.out) == ['16', '32', '64']
    ended(server).quiet()


# A request of a client's that moves the table: 8 READs find no bucket free, 8 lock all of them, and the last one asks.
@pytest.mark.parametrize('post', [9, 10, 13, 17])
def test_who_comes_next_moves_the_table_if_the_client_that_began_is_killed(pair, post):
    server = pair.server('--one-sided')
    fill(pair, 0, 8, '-W')
    alone(pair, 'k8', 'v8', at=(f'ibv_post_send {post}', 'kill'), status=137)
    shows(pair, 'k1', 'v1', 1)
    fill(pair, 8, 9, '-W')
    holds(pair, 9)
    assert server.count('the table has moved: 16 buckets') == 1
    ended(server)


@pytest.mark.parametrize('post', [4, 5, 6])
def test_a_put_that_was_too_slow_for_a_table_that_moves_is_not_reported(pair, post):
    server = pair.server('--one-sided')
    fill(pair, 0, 8, '-W')
    slow = pair.begin_client('-W', 'put', 'k0', 'slow', at=(f'ibv_post_send {post}', 'stop'))
    slow.stops()
    fill(pair, 8, 9, '-W')
    slow.resume().end(1).one_error('nothing more is written$|taken from us')
    assert re.search('k0 = (v0|slow)$', pair.client('get', 'k0').out, re.M)[1] == ('slow' if post == 6 else 'v0')
    ended(server)


@pytest.mark.parametrize('changed', ['hasty'], indirect=True)
def test_a_table_that_is_not_locked_does_not_move(pair, changed):
    server = pair.server('--one-sided')
    fill(pair, 0, 8, '-W')
    alone(pair, 'k8', 'v8', program=changed / 'client', status=1).one_error('status 5 |DISC')
    holds(pair, 8)
    ended(server).one_error('the client has not locked the table')


def test_a_client_does_what_each_line_of_a_file_says(pair):
    server = pair.server()
    lines = pair.file('lines', 'put a 1\n\nget b\nincr 3\ncas 3 7 8\nget a\n')
    pair.client('do', lines, status=1)
    done = pair.programs[-1]
    assert done.count('^error: ', 'err') == 2 and done.has('^version 1: a = 1$', '^counter 3: 1$')
    pair.client('do', pair.file('bad', 'do bad\nput a 2\n'), status=1).one_error('begins with no command')
    pair.client('do', pair.file('few', 'put a\n'), status=1).one_error('needs 2 words')
    pair.client('do', pair.scratch / 'none', status=1).one_error('No such file')
    shows(pair, 'a', '1', 1)
    ended(server).quiet()


def test_many_clients_add_at_the_same_time_and_none_is_lost(pair):
    server = pair.server()
    clients = [pair.begin_client('incr', 5) for _ in range(24)]
    for client in clients:
        client.end().quiet()
    got = sorted(int(re.search('(?m)^counter 5: ([0-9]+)$', client.out)[1]) for client in clients)
    assert got == list(range(1, 25))
    pair.client('cas', 5, 24, 2 ** 64 - 1).quiet()
    pair.client('cas', 5, 24, 0, status=1).one_error(f'it is {2 ** 64 - 1} and not 24, and stays so$')
    assert pair.client('incr', 5).has('^counter 5: 0$')
    assert pair.client('incr', 4).has('^counter 4: 1$'), 'another counter is changed'
    ended(server).quiet()


def test_an_answered_put_is_there_after_its_client_is_killed_and_any_put_is_whole(pair):
    """At one call after another."""
    server = pair.server()
    for call in range(1, 1000, 3):
        put(pair, 'always', 'a' * 200)
        killed = pair.begin_client('put', 'always', 'b' * 200, at=(call, 'kill')).any_end()
        client = pair.client('get', 'always')
        value = re.search('always = ([ab]*)$', client.out, re.M)[1]
        assert value in ('a' * 200, 'b' * 200)
        assert value[0] == 'b' or not killed.has('^put: version')
        if killed.status == 0:
            break
    assert call > 12
    until('a server that holds no queue pair', server.has_no_queue_pair)
    ended(server)


@pytest.mark.parametrize('words', [(), ('--one-sided',)], ids=['sent', 'one_sided'])
def test_clients_put_and_read_at_the_same_time(pair, words):
    server = pair.server(*words)
    pair.client(*words, 'put', 'busy', '0' * 256)
    clients = [pair.begin_client(*asks) for number in range(1, 9)
               for asks in ((*words, 'put', 'busy', str(number) * 256), ('get', 'busy'), ('scan',))]
    for client in clients:
        client.end().quiet()
        for value in re.findall('busy = (.*)$', client.out, re.M):
            assert len(value) == 256 and len(set(value)) == 1
    assert {int(version) for client in clients for version in re.findall('^put: version ([0-9]+)', client.out, re.M)} \
        == set(range(2, 10))
    ended(server).quiet()


def alone(pair, key, value, **more):
    """A PUT in which the server has no part."""
    return pair.client('--one-sided', 'put', key, value, **more)


def test_clients_put_new_keys_at_the_same_time_without_the_server(pair):
    server = pair.server('--one-sided')
    clients = [pair.begin_client('-W', 'put', f'k{number % 32}', f'v{number}') for number in range(64)]
    for client in clients:
        client.end().quiet()
    scan = pair.client('scan')
    assert scan.count('^version 2: k') == scan.count('^version ') == 32
    ended(server).quiet()


# Before which request the owner is killed, and what is in the bucket until the next PUT.
@pytest.mark.parametrize('post, value', [(3, 'old'), (4, 'old'), (5, 'old'), (6, 'new')])
def test_a_lock_is_taken_from_an_owner_that_was_killed_when_its_lease_has_lapsed(pair, post, value):
    server = pair.server('--one-sided')
    alone(pair, 'k', 'old').quiet()
    alone(pair, 'k', 'new', at=(f'ibv_post_send {post}', 'kill'), status=137)
    shows(pair, 'k', value, 1 + (value == 'new'))
    client = alone(pair, 'k', 'next')
    client.quiet()
    assert client.has('^client 2 has let its lease lapse$') and client.ms >= 4000
    shows(pair, 'k', 'next', 2 + (value == 'new'))
    alone(pair, 'k', 'last').quiet()
    ended(server)


@pytest.mark.parametrize('post, error', [(3, 'nothing more is written$'), (6, 'taken from us')])
def test_an_owner_that_was_too_slow_says_so(pair, post, error):
    """It stops with the lock, and goes on when another client has had that."""
    server = pair.server('--one-sided')
    slow = pair.begin_client('-W', 'put', 'k', 'slow', at=(f'ibv_post_send {post}', 'stop'))
    slow.stops()
    alone(pair, 'k', 'quick').quiet()
    slow.resume().end(1).one_error(error)
    shows(pair, 'k', 'quick', 1 + (post == 6))
    ended(server)


@pytest.mark.parametrize('changed', ['lies'], indirect=True)
def test_where_only_clients_write_none_may_send_and_elsewhere_none_may_write(pair, changed):
    server = pair.server('--one-sided')
    put(pair, 'k', 'v', status=1).one_error('only clients write .*; give --one-sided')
    ended(server).quiet()
    server = pair.server()
    alone(pair, 'k', 'v', status=1).one_error('lets no client write; start it with --one-sided')
    alone(pair, 'k', 'v', program=changed / 'client', status=1).one_error('status 10 ')
    put(pair, 'k', 'sent').quiet()
    shows(pair, 'k', 'sent', 1)
    ended(server)


@pytest.mark.parametrize('changed', ['greedy'], indirect=True)
def test_a_client_that_lies_holds_a_lock_and_the_value_is_still_read(pair, changed):
    server = pair.server('--one-sided')
    alone(pair, 'k', 'v').quiet()
    alone(pair, 'k', 'x', program=changed / 'client', at=('ibv_post_send 3', 'kill'), status=137)
    pair.client('-t', 6, '--one-sided', 'put', 'k', 'w', status=1).one_error(
        'client 2 has locked this bucket and does not let it go')
    shows(pair, 'k', 'v', 1)
    ended(server)


def nft(line):
    """On a node, as root of it."""
    subprocess.run(('nft', line), check=True)


def reads(pair):
    """A client that has what it wants, and leaves."""
    pair.client('scan').quiet()


def test_who_has_left_when_the_acknowledgement_is_lost_is_no_failure(lab, programs):
    # 0x11 is the opcode of an acknowledgement, and not of what answers a READ.
    lab.call('a', nft, 'add table ip t; add chain ip t i { type filter hook input priority 0; };'
             'add rule ip t i udp dport 4791 @th,64,8 0x11 drop')
    try:
        with lab.serving(programs) as server:
            lab.call('b', reads, programs)
    finally:
        lab.call('a', nft, 'flush ruleset')
    assert not server.err and server.count('peer disconnected') == 1


def test_who_says_nothing_is_sent_away_after_t_and_others_are_served_meanwhile(pair):
    server = pair.server('-t', 2)
    silent = pair.begin_client('put', 'a', 'b', at=('ibv_post_send 1', 'stop'))
    silent.stops()
    put(pair, 'c', 'd').quiet()
    server.says('Client 1: a completion: nothing came within 2 s', stream='err')
    silent.resume().end(1).one_error('status 5 ')
    shows(pair, 'c', 'd', 1)
    ended(server)


@pytest.fixture
def hostile():
    return builds.preloaded('tests/hostile_post', 'HOSTILE')


@pytest.fixture
def other():
    """Makes the environment of a client that changes its message."""
    return builds.preloaded('tests/hostile_07', 'HOSTILE')


@pytest.mark.parametrize('change, error', [
    ('5=3', 'a message of type 3, where one of type 2 is due'), ('4=9', 'a value where there must be another'),
    ('0=0', 'a value where there must be another'), ('7=1', 'a value where there must be another'),
    ('33=1', 'a value where there must be another'), ('42=2', 'a key or a length that cannot be'),
    ('48=0', 'a key or a length that cannot be')])
def test_a_message_that_cannot_be_is_refused_and_the_table_is_as_it_was(pair, other, change, error):
    server = pair.server()
    pair.begin_client('put', 'k', 'v', env=other(f'RDMA 2 1 {change}')).end(1)
    server.says(error, stream='err')
    assert pair.client('scan').has('^READs: 1, torn: 0$') and not pair.programs[-1].has('^version')
    put(pair, 'k', 'v').quiet()
    ended(server).one_error(error)


def test_a_write_with_immediate_data_is_a_protocol_error(pair, hostile):
    server = pair.server()
    pair.begin_client('put', 'k', 'v', env=hostile('imm')).any_end()
    server.says('^error: ', stream='err')
    put(pair, 'k', 'v').quiet()
    ended(server).one_error('')


@pytest.mark.parametrize('changed', ['few'], indirect=True)
def test_who_finds_no_place_is_refused_and_the_next_one_finds_one(pair, changed):
    trace = pair.scratch / 'trace'
    server = pair.server(program=changed / 'server',
                         env=builds.preloaded('scripts/lib/calls', 'CALLS')(trace))
    here = [pair.begin_client('put', 'k', 'v', at=('ibv_post_send 1', 'stop')) for _ in range(2)]
    for client in here:
        client.stops()
    pair.client('incr', 1, status=1).one_error('RDMA_CM_EVENT_REJECTED')
    server.one_error('a client is refused, since 2 are here$')
    for client in here:
        client.resume().end().quiet()
    server.says('peer disconnected', 2)
    until('a free place', lambda: pair.client('incr', 1, status=(0, 1)).status == 0)
    ended(server)
    # Each id that was made, or came with a request (event 4), is gone, and those that were refused, too.
    calls = trace.read_text('utf-8')
    assert len(re.findall('(?m)^(?:create_id 0|get_cm_event event=4)$', calls)) == \
        len(re.findall('(?m)^destroy_id 0$', calls))


@pytest.mark.parametrize('words, access', [((), '4'), (('--one-sided',), 'f')], ids=['plain', 'one_sided'])
def test_each_region_has_the_least_access_and_nothing_is_left(pair, words, access):
    trace = pair.scratch / 'trace'
    server = pair.server('-e', 2, *words, env=builds.preloaded('scripts/lib/calls', 'CALLS')(trace))
    pair.client(*words, 'put', 'k', 'v')
    pair.client('incr', 1)
    server.end().quiet()
    # 1 is LOCAL_WRITE, 2 REMOTE_WRITE, 4 REMOTE_READ, 8 REMOTE_ATOMIC.
    assert re.findall('(?m)^reg_mr .*access=0x(.*)', trace.read_text('utf-8')) == ['1', access, '9'] * 2
