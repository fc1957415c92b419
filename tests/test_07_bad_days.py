"""Chapter 07 on a bad day: files that cannot be sent or taken, ends that are killed, connections that
are come back from."""
import contextlib
import os
import pathlib
import subprocess
import time

import pytest

import builds

CHAPTER = '07_full_speed'
BENCH = 'bench/bench'
WAYS = pytest.mark.parametrize('way', ['send', 'write', 'read'])


def test_a_file_that_cannot_be_sent_or_taken_is_named_and_the_next_one_arrives(pair):
    good, hidden, missing = pair.file('good', 'good\n'), pair.file('.hidden', 'bad\n'), pair.scratch / 'missing'
    folder, fifo = pair.scratch / 'folder', pair.scratch / 'fifo'
    folder.mkdir()
    os.mkfifo(fifo)
    server = pair.server('-d', pair.inbox)
    for file, error in (missing, 'missing is not sent$'), (hidden, r'\.hidden: .* does not take a file of that name$'), \
            (folder, 'folder: only files are sent'), ('/dev/null', '/dev/null: only files are sent'), \
            (fifo, 'fifo: only files are sent'):
        pair.client('send', file, status=1).one_error(error)
    pair.client('send', good).quiet()
    assert (pair.inbox / 'good').read_text() == 'good\n'
    assert os.listdir(pair.inbox) == ['good']
    # In the place of a folder.
    (pair.inbox / 'good2').mkdir()
    client = pair.client('write', pair.file('good2', 'good\n'), status=1)
    client.one_error('good2: the server refuses it: it has a file of that')
    server.says('something of that name already', stream='err')
    server.stop()
    assert sorted(os.listdir(pair.inbox)) == ['good', 'good2']
    # Where nothing is taken.
    server = pair.server('-1')
    pair.client('read', good, status=1).one_error('start it with -d DIRECTORY')
    server.end()


@contextlib.contextmanager
def disk(size):
    """One of so many bytes."""
    subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size}', 'none', '/mnt'], check=True)
    try:
        yield pathlib.Path('/mnt')
    finally:
        subprocess.run(['umount', '-l', '/mnt'], check=True)


@WAYS
def test_the_disk_is_full_nothing_is_left_and_a_smaller_file_arrives(pair, way):
    with disk('1m') as mnt:
        server = pair.server('-d', mnt)
        pair.client(way, pair.file('large', 3_000_000), status=1).one_error('large: the server refuses it: it cannot w')
        pair.client(way, pair.file('small', 'small\n')).quiet()
        server.stop().one_error('pwrite: No space left on device; is the disk')
        assert os.listdir(mnt) == ['small']


@WAYS
def test_a_disk_that_is_full_at_any_part_leaves_the_connection_alone(pair, way):
    """It has room for one part. Files of so many parts that their last ones, or END, wait for a credit
    when the server cannot write them."""
    with disk('64k') as mnt:
        (mnt / 'filler').write_bytes(bytes(61440))
        server = pair.server('-q', 4, '-d', mnt)
        for parts in 2, 3, 4, 5, 8:
            client = pair.client('-q', 4, '-b', 4096, way, pair.file('late', 4096 * parts), status=1)
            client.one_error('late: the server refuses it')
            assert client.has('^disconnected'), f'{parts} parts'
            pair.client('-q', 4, '-b', 4096, way, pair.file('small', 'small\n')).quiet()
            (mnt / 'small').unlink()
        server.stop()


@pytest.mark.parametrize('shrinks, error', [
    (True, 'file has become shorter while it was being sent'),
    (False, 'file has changed while it was being sent.*send it again')], ids=['shrinks', 'changes'])
@WAYS
def test_a_file_that_does_while_it_is_sent_is_given_up_by_both(pair, way, shrinks, error):
    """When half of it is sent, it is made shorter, or all of it is written anew, in place."""
    file = pair.file('file', 3_000_000)
    server = pair.server('-1', '-d', pair.inbox)
    client = pair.begin_client('-q', 4, '-b', 4096, way, file, at=('ibv_post_send 6', 'stop'))
    client.stops()
    # The file's time is that of the clock's last tick.
    time.sleep(0.05)
    with open(file, 'r+b') as opened:
        if shrinks:
            opened.truncate(0)
        else:
            opened.write(os.urandom(3_000_000))
    client.resume().end(1).one_error(error)
    server.end().quiet()
    assert not os.listdir(pair.inbox)


def arrived(pair, file):
    """It did, and nothing else is there."""
    assert (pair.inbox / file.name).read_bytes() == file.read_bytes()
    assert os.listdir(pair.inbox) == [file.name]


@WAYS
def test_the_server_is_killed_and_started_again_and_the_client_goes_on_there(pair, way):
    file = pair.file('file', 3_000_000)
    server = pair.server('-t', 3, '-d', pair.inbox, at=('ibv_post_recv 60', 'kill'))
    client = pair.begin_client('-t', 5, '-R', 50, '-q', 8, '-b', 16384, way, file)
    server.end(137)
    server = pair.server('-t', 3, '-d', pair.inbox)
    client.end()
    assert client.has('^trying again in', '^file: the server has [1-9][0-9]* of 3000000')
    arrived(pair, file)
    server.stop()


def test_the_server_is_killed_without_r_it_is_one_error(pair):
    server = pair.server('-d', pair.inbox, at=('ibv_post_recv 60', 'kill'))
    client = pair.client('-t', 5, '-q', 8, '-b', 16384, 'send', pair.file('file', 3_000_000), status=1)
    server.end(137)
    assert client.count('^error: ', 'err') == 1
    assert not (pair.inbox / 'file').exists()


def fails_at_parts(folder):
    """Changes a build: its server takes the file, and fails at the first part of it."""
    builds.edit(folder / 'receiver.c', r'^\t\tif \(stream_next\(stream, &news\)\)$', '\t\tif (1)')


@pytest.fixture
def failing():
    return builds.build(CHAPTER, 'fails', fails_at_parts) / 'server'


def test_a_server_that_fails_each_time_is_given_up(pair, failing):
    """What the client has sent by then is no progress."""
    server = pair.server('-d', pair.inbox, program=failing)
    client = pair.client('-R', 3, 'send', pair.file('large', 3_000_000), status=1)
    assert client.count('^trying again in ') == 3
    # Half of each pause is random: not all three are the longest.
    assert client.has(r'again in 0\.(0[5-9]|10) s, 1 of 3', r'again in 0\.(1[0-9]|20) s, 2 of 3',
                      r'again in 0\.([23][0-9]|40) s, 3 of 3')
    assert not client.has(r'again in 0\.10 s', r'again in 0\.20 s', r'again in 0\.40 s')
    server.stop()


def test_a_client_is_killed_its_file_is_kept_and_the_next_goes_on_with_it(pair):
    file = pair.file('file', 3_000_000)
    server = pair.server('-t', 20, '-d', pair.inbox)
    pair.client('-q', 8, '-b', 16384, 'write', file, at=('ibv_post_send 60', 'kill'), status=137)
    server.done()
    assert server.has(r'of 3000000 bytes are kept\.$')
    assert not (pair.inbox / 'file').exists()
    client = pair.client('send', file)
    assert client.has('the server has [1-9][0-9]* of 3000000')
    arrived(pair, file)
    server.stop()


def test_either_side_is_killed_in_a_benchmark_the_other_says_so_and_goes_on(pair):
    server = pair.server('lend', program=BENCH)
    client = pair.begin_client('-t', 5, '-b', 64, '-n', 10_000_000, 'measure', program=BENCH, at=('ibv_post_send 50', 'stop'))
    client.stops()
    client.resume()
    server.kill('KILL')
    client.end(1).one_error(r'^error: RDMA operation: status (5|10|12) \(|RDMA operation: nothing')
    assert not client.has('^write '), 'the client prints a table'
    server = pair.server('lend', program=BENCH)
    pair.client('-b', 64, '-n', 10_000_000, 'measure', program=BENCH, at=('ibv_post_send 50', 'kill'), status=137)
    server.done()
    server.one_error(r'^error: receive: status 5 \(')
    pair.client('-n', 10, 'measure', program=BENCH).quiet()
    server.stop()


def test_a_client_that_is_silent_in_a_benchmark_is_given_up_after_t(pair):
    """And the next one is served."""
    server = pair.server('-t', 3, 'lend', program=BENCH)
    # The server has had a sign of life by then: the first comes after 256 operations.
    silent = pair.begin_client('-t', 30, '-b', 64, '-n', 10_000_000, 'measure', program=BENCH, at=('ibv_post_send 2000', 'stop'))
    silent.stops()
    server.done()
    server.one_error('a sign of life in a benchmark: nothing came within 3 s')
    pair.client('-n', 10, 'measure', program=BENCH)
    silent.gone()
    server.stop()


@pytest.mark.parametrize('call', ['ibv_alloc_pd 1', 'ibv_reg_mr 1', 'ibv_post_recv 1', ''])
def test_what_this_machine_cannot_do_is_not_tried_again(pair, call):
    """What would fail again in the same way is said once: a call, or the look-up of a name."""
    server, file = pair.server('-d', pair.inbox), pair.file('file', 'x\n')
    if call:
        client = pair.client('-R', 3, 'send', file, at=(call, 'fail'), status=1)
        assert client.has(f'^error: {call[:-2]}: ', stream='err')
    else:
        client = pair.client('-a', 'no-such-host.invalid', '-R', 3, 'send', file, status=1)
        client.one_error(r'^error: cannot look up no-such-host\.invalid: ')
    assert not client.has('again in')
    pair.client('-R', 3, 'send', file)
    server.stop()
