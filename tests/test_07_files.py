"""Chapter 07: many files, rights that are missing, strangers' names, answers that are lost, what a
person sees who waits."""
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
def test_a_thousand_small_files_and_what_both_say_of_each_in_order(pair, way):
    """With few descriptors, so that one that stays open is noticed."""
    files = [pair.file(f'out/file number {at:03}', 1501) for at in range(1000)]
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, before[1]))
    try:
        server = pair.server('-1', '-d', pair.inbox)
        client = pair.begin_client(way, *files)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    for program in client.end(), server.end():
        program.quiet()
    digests = [digest(file) for file in files]
    assert [digest(path) for path in sorted(pair.inbox.iterdir())] == digests
    assert re.findall(r'(?m)^(file number \d+): stored, .* SHA-256 (\w+)$', client.out) == \
        [(file.name, digests[at]) for at, file in enumerate(files)]
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
    # One that may not be read is named, and the next one arrives.
    server = pair.server(*NOBODY, './server', '-1', '-q', 8, '-d', opened, program='setpriv')
    client = pair.start('client', 'setpriv', *NOBODY, './client', '-a', pair.address, '-q', 8, 'write',
                        secret, good).end(1)
    client.one_error('open: Permission denied; .*/secret is not sent')
    server.end().quiet()
    assert os.listdir(opened) == ['good']


def test_a_file_of_the_year_2400_does_not_keep_its_name_for_ever(pair):
    def send_dated(text, years, status):
        file = pair.file('report', text)
        os.utime(file, 2 * (time.time() + years * 31_557_600,))
        pair.client('send', file, status=status)
    server = pair.server('-u', '-d', pair.inbox)
    send_dated('future', 370, 0)
    send_dated('present', 0, 0)
    assert (pair.inbox / 'report').read_text() == 'present', 'the year 2400 stays'
    send_dated('future', 370, 1)
    assert server.has("the time of the new one is ahead of this machine's clock", stream='err')
    send_dated('past', -6, 1)
    assert server.has('it is not older', stream='err')
    assert (pair.inbox / 'report').read_text() == 'present'
    server.stop()


# What a terminal or a command would obey; and U+202E, 2066, 200B, FEFF: the text runs backwards, or has more.
NAMES = ['-rf', '--checkpoint-action=exec=sh x', 'a\x1b]0;title\a\x1b[2Jb\nc', os.fsdecode(b'\xff\xfe'),
         'invoice\u202efdp.exe', 'a\u2066b', 'good\u200b', '\ufeffgood']


def test_what_a_stranger_may_do_to_the_folder_and_to_who_reads_its_logs(pair):
    script = pair.inbox / 'deploy.sh'
    script.write_text('original')
    files = [pair.scratch / f'out/{name}' for name in (*NAMES, 'deploy.sh', 'good')]
    files[0].parent.mkdir()
    for file in files:
        file.write_text('evil')
    server = pair.server('-d', pair.inbox)
    client = pair.client('send', *sorted(files), status=1)
    assert server.has(rf'^the client is at {pair.address}\.$')
    assert client.count('does not take a file of that name$', 'err') == len(NAMES)
    assert client.has(r'deploy\.sh: .* it has a file of that name', stream='err')
    assert server.has('is there already; -u replaces', stream='err')
    server.says('peer disconnected')
    assert sorted(os.listdir(pair.inbox)) == ['deploy.sh', 'good'] and script.read_text() == 'original'
    # Neither end prints what a terminal would obey, what changes the direction of a line, or what nobody sees.
    for program in client, server:
        assert not re.search('[\x00-\x08\x0b-\x1f\x7f\u200b\u202e\u2066\ufeff]', program.out + program.err)
    server.stop()


def test_with_u_an_older_file_is_replaced_and_a_newer_one_is_not(pair):
    old, good = pair.file('deploy.sh', 'new'), pair.file('good', 'new')
    for path, time_ in (pair.inbox / 'deploy.sh', 1e9), (pair.inbox / 'good', 1.2e9):
        path.write_text('old')
        os.utime(path, (time_, time_))
    os.utime(good, (1.1e9, 1.1e9))
    server = pair.server('-1', '-u', '-d', pair.inbox)
    pair.client('send', old, good, status=1).one_error('good: .* it has a file of that name')
    server.end()
    assert (pair.inbox / 'deploy.sh').read_text() == 'new' and (pair.inbox / 'good').read_text() == 'old'


def test_no_more_is_taken_than_m_says(pair):
    server = pair.server('-1', '-M', 1, '-d', pair.inbox)
    client = pair.client('send', pair.file('one', 700_000), pair.file('two', 700_000), status=1)
    client.one_error('two: .* it does not take that much in all')
    server.end()
    assert os.listdir(pair.inbox) == ['one']


def test_what_is_gone_on_with_given_up_or_replaced_counts_once_for_m(pair):
    """The first file is there but for its end, and the third, of which there is as much, has become another
    one. Then eight are replaced of the year 2001."""
    parts, other = [pair.file(name, 900_000) for name in ('one', 'three')], pair.file('two', 100_000)
    for file in parts:
        (pair.inbox / f'.{file.name}.{file.stat().st_mtime_ns:016x}.part').write_bytes(file.read_bytes()[:800_000])
    (pair.inbox / f'.three.{parts[1].stat().st_mtime_ns:016x}.part').write_bytes(bytes(800_000))
    server = pair.server('-M', 2, '-u', '-d', pair.inbox)
    pair.client('write', parts[0], other, parts[1]).quiet()
    several = [pair.file(f'several{number}', 100_000) for number in range(8)]
    for path in pair.inbox.iterdir():
        path.unlink()
    for file in several:
        path = pair.inbox / file.name
        path.write_bytes(bytes(190_000))
        os.utime(path, (1e9, 1e9))
    pair.client('write', *several).quiet()
    server.stop().quiet()


@pytest.mark.parametrize('newer', [False, True], ids=['alone', 'newer'])
def test_stored_is_lost_the_file_is_neither_sent_again_nor_stored_twice(pair, newer):
    """The server is killed when the file has its name, and STORED was not sent: it comes back, and so
    does the client. Somebody else may have stored a newer one meanwhile: that stays."""
    file = pair.file('file', 50_000)
    # Two messages of hello.h and READY come before it.
    server = pair.server('-t', 3, '-d', pair.inbox, at=('ibv_post_send 4', 'kill'))
    client = pair.begin_client('-t', 5, '-R', 50, 'send', file)
    server.end(137)
    arrived(pair, file)
    if newer:
        (pair.inbox / 'file').write_text('newer')
    server = pair.server('-t', 3, '-u', '-d', pair.inbox)
    client.end(int(newer))
    if newer:
        assert client.has('file: .* it has a file of that name', stream='err')
        assert (pair.inbox / 'file').read_text() == 'newer' and os.listdir(pair.inbox) == ['file']
    else:
        assert client.has('^file: the server has 50000 of 50000', '^file: stored, 50000 bytes')
        arrived(pair, file)
    server.stop()


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
    client = pair.client('-t', 30, way, other)
    assert client.has('^doc: that is of another file of this name')
    arrived(pair, other)
    # All of it is there: it stays, and the first one is refused.
    pair.client('-t', 30, way, one, status=1).one_error('has another file of that name, size and time')
    arrived(pair, other)
    server.stop()


def test_two_servers_on_one_folder_do_not_mix_what_they_store(pair):
    one, other = two_of_one_name(pair, 3_000_000)
    first = pair.server('-t', 20, '-p', 7001, '-d', pair.inbox)
    client = pair.begin_client('-t', 20, '-p', 7001, '-q', 8, '-b', 16384, 'send', one, at=('ibv_post_send 40', 'stop'))
    client.stops()
    second = pair.server('-t', 20, '-p', 7002, '-d', pair.inbox)
    pair.client('-p', 7002, 'send', other, status=1).one_error('doc: the server refuses it: it cannot write the file')
    second.one_error('^error: flock: .* is another server receiving that file')
    second.stop()
    client.resume().end()
    arrived(pair, one)
    first.stop()


def test_on_a_terminal_the_client_says_how_far_it_is(pair):
    file = pair.file('file', 3_000_000)
    server = pair.server('-1', '-d', pair.inbox, at=('ibv_post_recv 60', 'stop'))
    client = pair.start('client', 'script', '-qec',
                        f'./client -a {pair.address} -q 8 -b 16384 write {file}', '/dev/null')
    server.stops()
    # For longer than it takes until a client tells of itself.
    time.sleep(1.5)
    server.resume().end()
    client.end()
    out = (pair.scratch / f'{client.logs}.log').read_bytes().decode()
    found = re.search(r'[\r\n]([0-9 ]{3}) %, ([0-9]+\.[0-9]) MB/s, ([0-9]+) s left', out)
    percent, rate, left = (float(text) for text in found.groups())
    # The three must fit: what is left takes so long at that rate.
    assert 0 < percent <= 100 and rate > 0
    due = 3 * (1 - percent / 100)
    assert left * (rate - 0.05) <= due + 0.03 + rate / 2 and left * (rate + 0.05) >= due - 0.03 - rate / 2
    # What it said is wiped away before the line that stays.
    assert re.search(' left {20,}file: stored, 3000000', out.replace('\r', ''))


@pytest.fixture
def library():
    return builds.helper('tests/hostile_07', '-shared')


@pytest.mark.parametrize('way', ['write', 'read'])
def test_a_wrong_rkey_puts_the_queue_pair_in_err_and_the_file_arrives_once(pair, library, way):
    """That of one part. Who asks for a part's bytes is who has the wrong key."""
    file, hostile = pair.file('file', 3_000_000), {'LD_PRELOAD': library, 'HOSTILE': f'{way} 60 rkey=255'}
    server = pair.server('-t', 20, '-d', pair.inbox, env=hostile if way == 'read' else {})
    client = pair.client('-t', 20, '-R', 3, '-q', 8, '-b', 16384, way, file, env=hostile if way == 'write' else {})
    assert client.count('^the connection broke; again in') == 1
    assert client.has('^file: the server has [1-9][0-9]* of 3000000')
    assert re.search(r'of a part: status 10 \(remote access error', client.err + server.err)
    arrived(pair, file)
    server.stop()
