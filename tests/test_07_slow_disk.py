"""Chapter 07 with a disk that takes longer than -t: neither end takes the other for dead, and signals
and peers that leave are seen all the same. What is slow: see slow_disk.c."""
import time

import pytest

import builds

CHAPTER = '07_full_speed'


@pytest.fixture
def library():
    return builds.helper('tests/slow_disk', '-shared')


def part_of(pair, file):
    """The server's folder has the first 2 MB of the file, as a part."""
    (pair.inbox / f'.{file.name}.{file.stat().st_mtime_ns:016x}.part').write_bytes(file.read_bytes()[:2_000_000])


def slowly(library, ms):
    """Each read takes so long."""
    return {'LD_PRELOAD': library, 'SLOW_READ': str(ms)}


@pytest.mark.parametrize('way, depth', [('send', 4), ('write', 64), ('read', 4)], ids=['send', 'write', 'read'])
def test_who_hashes_what_is_there_for_longer_than_t_is_not_taken_for_dead(pair, library, way, depth):
    """Each end takes 6 s to hash the 2 MB that are there, and the other has -t 2."""
    file = pair.file('file', 2_200_000)
    part_of(pair, file)
    server = pair.server('-1', '-t', 2, '-q', 4, '-d', pair.inbox, env=slowly(library, 200))
    client = pair.client('-t', 2, '-q', depth, way, file, env=slowly(library, 200))
    for program in server.end(), client:
        program.quiet()
    assert client.has('^file: the server has 2000000 of 2200000')
    assert (pair.inbox / 'file').read_bytes() == file.read_bytes()


@pytest.mark.parametrize('way', ['send', 'write', 'read'])
def test_a_disk_of_three_parts_a_second_is_waited_for_at_either_end(pair, library, way):
    """16 parts go together, and 32 credits; each end has -t 2."""
    file = pair.file('file', 2_200_000)
    server = pair.server('-1', '-t', 2, '-d', pair.inbox, env={'LD_PRELOAD': library, 'SLOW_WRITE': '300'})
    client = pair.client('-t', 2, way, file)
    server.end().quiet()
    client.quiet()
    (pair.inbox / 'file').unlink()
    server = pair.server('-1', '-t', 2, '-d', pair.inbox)
    pair.client('-t', 2, way, file, env=slowly(library, 300)).quiet()
    server.end().quiet()
    assert (pair.inbox / 'file').read_bytes() == file.read_bytes()


def test_a_part_that_is_another_one_when_it_is_locked_is_not_written_to(pair, library):
    """The server that had it may have finished the file, and a third one may have begun another."""
    file = pair.file('file', 2_200_000)
    part_of(pair, file)
    server = pair.server('-t', 20, '-d', pair.inbox, env={'LD_PRELOAD': library, 'STOP_LOCK': '1'})
    client = pair.begin_client('-t', 20, 'send', file)
    server.stops()
    part, = pair.inbox.iterdir()
    part.rename(pair.inbox / 'whole')
    part_of(pair, file)
    server.resume()
    client.end(1)
    server.one_error('another server has just been receiving that file; send it again$')
    server.stop()


@pytest.mark.parametrize('slow', ['SLOW_READ', 'SLOW_WRITE'])
def test_sigterm_ends_whose_disk_is_slow_before_all_that_it_has_is_dealt_with(pair, library, slow):
    """That is 20 s at the sender, and more at the receiver."""
    env = {'LD_PRELOAD': library, slow: '300'}
    server = pair.server('-t', 20, '-d', pair.inbox, env=env)
    client = pair.begin_client('-t', 20, 'send', pair.file('file', 40_000_000), env=env)
    server.says('^file: file')
    time.sleep(1)
    begin = time.monotonic()
    if slow == 'SLOW_WRITE':
        server.stop()
    else:
        client.kill('TERM')
    client.end(1)
    assert time.monotonic() - begin < 12, 'it went on'
    if slow == 'SLOW_READ':
        server.stop()


def test_a_server_that_looks_at_its_folder_for_longer_than_t_is_waited_for_and_hears_a_signal(pair, library):
    """A hundred files, as on a network's disk: 5 s, and then 50."""
    for number in range(100):
        (pair.inbox / str(number)).write_text('')
    file = pair.file('file', 3000)
    server = pair.server('-1', '-t', 2, '-d', pair.inbox, env={'LD_PRELOAD': library, 'SLOW_STAT': '50'})
    pair.client('-t', 2, 'write', file).quiet()
    server.end().quiet()
    server = pair.server('-t', 20, '-d', pair.inbox, env={'LD_PRELOAD': library, 'SLOW_STAT': '500'})
    client = pair.begin_client('-t', 20, 'write', pair.file('other', 3000))
    server.says('^files by write')
    begin = time.monotonic()
    server.stop()
    assert time.monotonic() - begin < 25, 'it looked at all of them'
    client.end(1)


@pytest.fixture
def hints():
    return builds.helper('tests/hints', '-shared')


def test_who_hashes_for_longer_than_t_while_a_bond_fails_over_is_not_taken_for_dead(pair, library, hints):
    """Again and again, as each end hears while either hashes for 6 s; see hints.c."""
    file = pair.file('file', 2_200_000)
    part_of(pair, file)
    env = slowly(f'{library}:{hints}', 200) | {'HINTS': '300'}
    server = pair.server('-1', '-t', 2, '-q', 4, '-d', pair.inbox, env=env)
    client = pair.client('-t', 2, '-q', 4, 'write', file, env=env)
    for program in server.end(), client:
        program.quiet()
        assert program.count('ADDR_CHANGE: only a hint') > 10
    assert (pair.inbox / 'file').read_bytes() == file.read_bytes()


def test_sigterm_and_a_client_that_leaves_end_a_hash(pair, library):
    """Of 30 s."""
    file = pair.file('file', 2_200_000)
    part_of(pair, file)
    server = pair.server('-t', 20, '-d', pair.inbox, env=slowly(library, 1000))
    client = pair.begin_client('-t', 20, 'write', file)
    server.says('^file: file')
    client.gone()
    assert pair.client('-t', 20, 'write', pair.file('small', 'small\n')).ms < 15000, 'the next one waited'
    part, = pair.inbox.glob('.file.*')
    assert part.stat().st_size == 2_000_000, 'the part is not kept'
    client = pair.begin_client('-t', 20, 'write', file)
    server.says('^file: file', 2)
    begin = time.monotonic()
    server.stop()
    assert time.monotonic() - begin < 20, 'it went on hashing'
    client.end(1)


def rewrites(folder):
    """Changes a build: its client sends another first byte, and writes the right one over it when the
    server's disk has that."""
    builds.edit(folder / 'sender.c', r'\A', '#include "wait.h"\n')
    builds.edit(folder / 'sender.c', r'^\t\t\tif \(stream_send_part\(stream, n\)\)\n\t\t\t\treturn -1;', r'''
			struct ibv_sge sge = chain_piece(&stream->parts, part, 1);
			struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE };

			wr.wr.rdma.remote_addr = stream->ring;
			wr.wr.rdma.rkey = stream->ring_rkey;
			part[0] ^= 1;
			if (stream_send_part(stream, n) || chain_post_sends(&stream->chain))
				return -1;
			wait_readable(-1, -1, -1, wait_deadline(1500));
			part[0] ^= 1;
			if (ibv_post_send(stream->conn->id->qp, &wr, &bad))
				return -1;''')


@pytest.fixture
def mallory():
    return builds.build(CHAPTER, 'rewrites', rewrites) / 'client'


def test_what_a_client_writes_again_is_not_what_the_digest_is_of(pair, library, mallory):
    """The byte changes in the server's memory while its disk writes it, for 5 s."""
    server = pair.server('-1', '-d', pair.inbox, env={'LD_PRELOAD': library, 'SLOW_WRITE': '5000'})
    client = pair.client('write', pair.file('file', 5000), program=mallory, status=1)
    client.one_error('file: the server refuses it: what arrived is not what was sent')
    server.end().one_error('is not the one that was sent: it is thrown away')


def sends_without_end(folder):
    """Changes a build: its client tells of credits before it waits for the answer; its server has a
    message whenever it looks, and each look takes 30 ms: a client that keeps to its credits is never
    that late."""
    builds.edit(folder / 'hello.c', r'\A((?:.*\n)*?)^\tif \(stream_post\(stream, head, name, NULL\) \|\|\n.*\n\t\treturn -1;', r'''\1
	if (stream_post(stream, head, name, NULL))
		return -1;
	for (int i = 1; i <= 600; i++) {
		struct head credit = { .type = HEAD_CREDIT };

		log_line("flood %d", i);
		if (stream_send(stream, &credit, NULL, 0))
			return -1;
	}
	if (stream_message(stream, answer))
		return -1;''')
    builds.edit(folder / 'chain.c', r'^\t\tn = ibv_poll_cq\(chain->conn->cq, BATCH_MAX, chain->wcs\);',
                '\t\tn = (wait_readable(-1, -1, -1, wait_deadline(30)), ibv_poll_cq(chain->conn->cq, 1, chain->wcs));')


@pytest.fixture
def flood():
    return builds.build(CHAPTER, 'flood', sends_without_end)


def flooded(pair, flood, slow):
    """A server that hashes what it has of a file, and a client that floods it meanwhile."""
    file = pair.file('file', 2_200_000)
    part_of(pair, file)
    server = pair.server('-q', 8, '-t', 40, '-d', pair.inbox, program=flood / 'server', env=slow)
    return server, pair.begin_client('-q', 8, '-t', 40, 'send', file, program=flood / 'client')


def test_a_client_that_sends_without_end_keeps_nobody_from_the_works_end(pair, flood, library):
    """The hash takes 3 s, and the flood 20 s."""
    server, client = flooded(pair, flood, slowly(library, 100))
    client.end(1).one_error('the peer does not wait for an answer')
    assert not client.has('^flood 600$'), 'the server went on when all had come'
    server.stop()


def test_a_client_that_sends_without_end_keeps_nobody_from_a_signal(pair, flood, library):
    """The hash takes 30 s, and SIGTERM comes at its beginning."""
    server, client = flooded(pair, flood, slowly(library, 1000))
    server.says('^file: file')
    server.stop()
    client.end(1)
    assert not client.has('^flood 600$'), 'SIGTERM had to wait for all of it'
