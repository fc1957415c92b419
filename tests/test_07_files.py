"""Chapter 07: many files, rights that are missing, strangers' names, answers that are lost."""
import hashlib
import os
import re
import resource
import time

import pytest

import builds

CHAPTER = '07_full_speed'
WAYS = pytest.mark.parametrize('way', ['send', 'write', 'read'])
NOBODY = '--reuid=65534', '--regid=65534', '--clear-groups'


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def arrived(pair, file):
    """It did, and nothing else is there."""
    assert (pair.inbox / file.name).read_bytes() == file.read_bytes()
    assert os.listdir(pair.inbox) == [file.name]


@WAYS
def test_a_hundred_small_files_one_after_another(pair, way):
    """With few descriptors, so that one that stays open is noticed."""
    files = [pair.file(f'out/file number {at:03}', 1501) for at in range(100)]
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, before[1]))
    try:
        server = pair.server('-d', pair.inbox)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    digests = [digest(file) for file in files]
    for file, due in zip(files, digests):
        client = pair.client(way, file)
        client.quiet()
        assert client.has(f'^{file.name}: stored, 1501 bytes in .* SHA-256 {due}$')
    server.stop().quiet()
    assert [digest(path) for path in sorted(pair.inbox.iterdir())] == digests
    assert re.findall(r'(?m)^stored: .* SHA-256 (\w+)$', server.out) == digests


def test_a_folder_that_may_not_be_written_to_and_a_file_that_may_not_be_read(pair):
    """Neither end is root here."""
    good, secret = pair.file('good', 'good\n'), pair.file('secret', 'secret\n')
    opened = pair.scratch / 'open'
    opened.mkdir()
    for path, mode in (pair.scratch, 0o755), (opened, 0o777), (secret, 0o600):
        path.chmod(mode)
    server = pair.server(*NOBODY, './server', '-1', '-q', 8, '-d', pair.inbox, program='setpriv')
    client = pair.client('write', good, status=1)
    client.one_error('good: the server refuses it: it cannot write the file')
    server.end().one_error('openat: Permission denied; may this user write to th')
    assert not os.listdir(pair.inbox)
    # One that may not be read is named, and another one arrives.
    server = pair.server(*NOBODY, './server', '-1', '-q', 8, '-d', opened, program='setpriv')
    for file, status in (secret, 1), (good, 0):
        client = pair.start('client', 'setpriv', *NOBODY, './client', '-a', pair.address, '-q', 8, 'write',
                            file).end(status)
        if status:
            client.one_error('open: Permission denied; .*/secret is not sent')
    server.end().quiet()
    assert os.listdir(opened) == ['good']


# What a terminal or a command would obey; and U+202E, 2066, 200B, FEFF: the text runs backwards, or has more.
NAMES = ['-', '-rf', '--checkpoint-action=exec=sh x', '.a', 'a\x1b]0;title\a\x1b[2Jb\nc', '\x7f', 'invoice\u202efdp.exe',
         'a\u2066b', 'a\u2028b', 'good\u200b', '\ufeffgood', '\x9b2J', 200 * '\a', 200 * 'a' + 'b',
         # No UTF-8: cut off, too long a form, a surrogate.
         *map(os.fsdecode, (b'\xff\xfe', b'a\xc3', b'\xc0\xaf', b'\xed\xa0\x80'))]
GOOD = ['good', 'a b.txt', 'a-b', 'a.', '~', '\\', '$(x)', 'naïve', '日本語', 200 * 'a']
HARMFUL = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u202e\u2066\ufeff]')


def test_what_a_stranger_may_do_to_the_folder_and_to_who_reads_its_logs(pair):
    script = pair.inbox / 'deploy.sh'
    script.write_text('original')
    files = [pair.scratch / f'out/{name}' for name in (*NAMES, 'deploy.sh', *GOOD)]
    files[0].parent.mkdir()
    for file in files:
        file.write_text('evil')
    server = pair.server('-d', pair.inbox)
    for file in files:
        client = pair.client('send', file, status=int(file.name not in GOOD))
        if file.name == 'deploy.sh':
            client.one_error(r'deploy\.sh: .* it has a file of that name')
        elif file.name not in GOOD:
            client.one_error('does not take a file of that name$')
        # Neither end prints what a terminal would obey, what changes a line's direction, or what nobody sees.
        assert not HARMFUL.search(client.out + client.err)
    assert server.has(rf'^the client is at {pair.address}\.$')
    assert server.has('a file of that name is there already', stream='err')
    assert sorted(os.listdir(pair.inbox)) == sorted(['deploy.sh', *GOOD]) and script.read_text() == 'original'
    assert not HARMFUL.search(server.out + server.err)
    server.stop()


def test_no_more_is_taken_than_m_says(pair):
    server = pair.server('-M', 1, '-d', pair.inbox)
    pair.client('send', pair.file('one', 700_000))
    pair.client('send', pair.file('two', 700_000), status=1).one_error('two: .* it does not take that much in all')
    server.stop()
    assert os.listdir(pair.inbox) == ['one']


def test_what_is_gone_on_with_or_given_up_counts_once_for_m(pair):
    """The first file is there but for its end, and the third, of which there is as much, has become another
    one: what is there of that is forgotten, and so it has room."""
    parts, other = [pair.file(name, 900_000) for name in ('one', 'three')], pair.file('two', 100_000)
    for file in parts:
        (pair.inbox / f'.{file.name}.{file.stat().st_mtime_ns:016x}.part').write_bytes(file.read_bytes()[:800_000])
    (pair.inbox / f'.three.{parts[1].stat().st_mtime_ns:016x}.part').write_bytes(bytes(800_000))
    server = pair.server('-M', 2, '-d', pair.inbox)
    for file in parts[0], other:
        pair.client('write', file).quiet()
    pair.client('write', parts[1], status=1).one_error('three: the server has a part of another file of that name and')
    pair.client('write', parts[1]).quiet()
    server.stop().quiet()


def part(pair, file):
    """Where a server would write it until it has all of it."""
    return pair.inbox / f'.{file.name}.{file.stat().st_mtime_ns:016x}.part'


def test_what_others_have_put_where_a_part_would_be_is_not_written_to(pair):
    """A symbolic link, a pipe, a file that has another name as well, and one of another user."""
    file, mine = pair.file('file', 5000), pair.file('mine', 'mine')
    place, server = part(pair, file), pair.server('-d', pair.inbox)
    for make, error in (
            (lambda: place.symlink_to(mine), 'openat: '), (lambda: os.mkfifo(place), "something of somebody else's"),
            (lambda: os.link(mine, place), "something of somebody else's"),
            (lambda: (place.write_text('mine'), os.chown(place, 65534, 65534)), "something of somebody else's")):
        make()
        before = len(server.err)
        pair.client('send', file, status=1).one_error('it cannot write the file')
        assert re.fullmatch(f'error: .*{error}.*\n', server.err[before:])
        place.unlink()
    assert mine.read_text() == 'mine'
    pair.client('send', file).quiet()
    server.stop()
    arrived(pair, file)


def test_parts_that_nobody_has_gone_on_with_for_a_day_are_removed_and_nothing_else(pair):
    file = pair.file('file', 5000)
    stay = ['a', '.a.part', '.a.0000000000000g01.part', 'a.0000000000000001.part', '..0000000000000001.part']
    for name in (*stay, '.a.0000000000000001.part', '.b.0000000000000001.part'):
        (pair.inbox / name).write_text('x')
        os.utime(pair.inbox / name, (1, 1))
    os.utime(pair.inbox / '.b.0000000000000001.part', 2 * (time.time() - 23 * 3600,))
    server = pair.server('-d', pair.inbox)
    pair.client('send', file).quiet()
    server.stop().quiet()
    assert server.count('^removed, since nobody has continued it') == 1
    assert sorted(os.listdir(pair.inbox)) == sorted([*stay, '.b.0000000000000001.part', 'file'])


@pytest.fixture
def disk():
    return builds.helper('tests/slow_disk', '-shared')


@pytest.mark.parametrize('env', [{}, {'NO_RENAME': '1'}], ids=['renamed', 'linked'])
def test_a_file_that_others_store_at_the_last_moment_stays(pair, disk, env):
    file = pair.file('file', 5000)
    server = pair.server('-d', pair.inbox, env={'LD_PRELOAD': disk, 'STOP_NAME': '1', **env})
    for theirs in 'theirs', '':
        client = pair.begin_client('-t', 60, 'send', file)
        server.stops()
        if theirs:
            (pair.inbox / 'file').write_text(theirs)
        server.resume()
        client.end(int(bool(theirs)))
        if theirs:
            client.one_error('it has a file of that name')
            assert os.listdir(pair.inbox) == ['file'] and (pair.inbox / 'file').read_text() == theirs
            (pair.inbox / 'file').unlink()
    server.stop()
    arrived(pair, file)


@pytest.mark.parametrize('newer', [False, True], ids=['alone', 'newer'])
def test_stored_is_lost_the_file_is_neither_sent_again_nor_stored_twice(pair, newer):
    """The server is killed when the file has its name, and STORED was not sent: it comes back, and so
    does the client. Somebody else may have stored a newer one meanwhile: that stays."""
    file = pair.file('file', 50_000)
    # WELCOME comes before it.
    server = pair.server('-t', 3, '-d', pair.inbox, at=('ibv_post_send 2', 'kill'))
    client = pair.begin_client('-t', 5, '-R', 50, 'send', file)
    server.end(137)
    arrived(pair, file)
    if newer:
        (pair.inbox / 'file').write_text('newer')
    server = pair.server('-t', 3, '-d', pair.inbox)
    client.end(int(newer))
    if newer:
        assert client.has('file: .* it has a file of that name', stream='err')
        assert (pair.inbox / 'file').read_text() == 'newer' and os.listdir(pair.inbox) == ['file']
    else:
        assert client.has('^file: the server has 50000 of 50000', '^file: stored, 50000 bytes')
        arrived(pair, file)
    server.stop()


@pytest.mark.parametrize('call', ['fsync 1', 'fsync 2'], ids=['file', 'folder'])
def test_what_is_found_under_its_name_and_cannot_be_synced_is_not_stored(pair, call):
    file = pair.file('file', 5000)
    server = pair.server('-1', '-d', pair.inbox)
    pair.client('send', file).quiet()
    server.end()
    server = pair.server('-1', '-d', pair.inbox, at=(call, 'fail'))
    pair.client('send', file, status=1).one_error('file: the server refuses it: it cannot write the file')
    server.end().one_error('^error: fsync: ')
    arrived(pair, file)


def two_of_one_name(pair, size):
    """And time, with two contents."""
    one, other = pair.file('x/doc', size), pair.file('y/doc', size)
    status = one.stat()
    os.utime(other, ns=(status.st_mtime_ns, status.st_mtime_ns))
    return one, other


@WAYS
def test_another_file_of_the_same_name_and_time_is_not_gone_on_with(pair, way):
    one, other = two_of_one_name(pair, 1_000_000)
    server = pair.server('-t', 20, '-d', pair.inbox)
    pair.client('-q', 8, '-b', 16384, way, one, at=('ibv_post_send 25', 'kill'), status=137)
    pair.client('-t', 30, way, other, status=1).one_error('doc: the server has a part of another file of that name and')
    pair.client('-t', 30, way, other).quiet()
    arrived(pair, other)
    # All of it is there: it stays, and the first one is refused.
    pair.client('-t', 30, way, one, status=1).one_error('doc: the server has all of another file of that name and time$')
    arrived(pair, other)
    server.stop()


def test_two_servers_on_one_folder_do_not_mix_what_they_store(pair):
    one, other = two_of_one_name(pair, 3_000_000)
    first = pair.server('-t', 20, '-p', 7001, '-d', pair.inbox)
    client = pair.begin_client('-t', 20, '-p', 7001, '-q', 8, '-b', 16384, 'send', one, at=('ibv_post_send 40', 'stop'))
    client.stops()
    # However old it is.
    os.utime(part(pair, one), (1, 1))
    second = pair.server('-t', 20, '-p', 7002, '-d', pair.inbox)
    pair.client('-p', 7002, 'send', other, status=1).one_error('doc: the server refuses it: it cannot write the file')
    second.one_error('^error: flock: .* is another server receiving that file')
    second.stop()
    client.resume().end()
    arrived(pair, one)
    first.stop()


@pytest.fixture
def library():
    return builds.helper('tests/hostile_07', '-shared')


@pytest.mark.parametrize('way', ['write', 'read'])
def test_a_wrong_rkey_puts_the_queue_pair_in_err_and_the_file_arrives_once(pair, library, way):
    """That of one part. Who asks for a part's bytes is who has the wrong key."""
    file, hostile = pair.file('file', 3_000_000), {'LD_PRELOAD': library, 'HOSTILE': f'{way} 60 rkey=255'}
    server = pair.server('-t', 20, '-d', pair.inbox, env=hostile if way == 'read' else {})
    client = pair.client('-t', 20, '-R', 3, '-q', 8, '-b', 16384, way, file, env=hostile if way == 'write' else {})
    assert client.count('^trying again in') == 1
    assert client.has('^file: the server has [1-9][0-9]* of 3000000')
    assert re.search(r'of a part: status 10 \(remote access error', client.err + server.err)
    arrived(pair, file)
    server.stop()
