"""Chapter 03: sanitizers for threads, what the device reports, and its story, which from
the operation on is that of chapter 02."""
import re
import subprocess

import pytest

from nodes import TOP
from refusals import refused

CHAPTER = '03_pure_verbs'


def test_the_receive_of_each_side_comes_back_if_their_modes_differ(pair):
    server = pair.server('read')
    with refused(server, 'this side runs read and the peer write'):
        client = pair.client('write', status=1)
    client.one_error('this side runs write and the peer read')
    assert client.has('^drained: 1 posted') and server.has('^drained: 1 posted')
    pair.served(server, 'read')
    server.stop()


def test_who_is_killed_in_a_transfer_is_missed_in_time_and_each_request_comes_back_once(pair):
    """Seen, or drained: the server's receive, its WRITE and, if that succeeded, the message behind it."""
    server = pair.server('write')
    pair.served(server)
    with refused(server, r'(receive|RDMA operation): status (5|10|12) '):
        pair.client('write', status=137, at=('ibv_post_send 1', 'kill'))
    said = server.out.rpartition('About to post RDMA WRITE\n')[2]
    back = re.findall(r'(?m)^\[on_completion\] .*', said)
    drained = sum(int(count) for count in re.findall(r'(?m)^drained: (\d+)', said))
    assert len(back) + drained == (3 if any(re.search('status=0 .*opcode=1,', line) for line in back) else 2)
    pair.served(server)
    client = pair.begin_client('-t', 20, 'write', at=('ibv_post_send 1', 'stop'))
    client.stops()
    server.kill('KILL')
    server.end(137)
    client.resume().end(1)
    assert client.has('^error: ', stream='err')


@pytest.mark.parametrize('words, regex', [
    (['-p', 18516], 'connect: Connection refused'), (['-a', '127.0.0.1'], 'loopback address'),
    (['-g', 200], 'GID index 200'), (['-d', 'none0'], 'device none0')])
def test_an_option_that_names_nothing(pair, words, regex):
    server = pair.server('write')
    pair.client(*words, 'write', status=1).one_error(regex)
    if '127.0.0.1' in words:
        # It was connected, and says the same of its own end.
        server.says('loopback address', stream='err')
    pair.served(server)
    server.stop()


def test_a_port_that_goes_down_and_up_is_named_and_the_server_serves_on(pair):
    server = pair.server('write')
    subprocess.run(['ip', 'link', 'set', 'eth0', 'down'], check=True)
    try:
        server.says(r'^\[async\] port error \(port_num 1\)$')
    finally:
        subprocess.run(['ip', 'link', 'set', 'eth0', 'up'], check=True)
        # It has lost this.
        subprocess.run(['ip', 'addr', 'replace', '2001:db8::1/64', 'dev', 'eth0', 'nodad'], check=True)
    server.says(r'^\[async\] port active \(port_num 1\)$')
    pair.served(server)
    server.stop()


@pytest.mark.parametrize('variant', ['threads'])
@pytest.mark.parametrize('words', [['write'], ['-b', 200_000, 'write']], ids=['little', 'much'])
def test_no_data_race(pair, words):
    server = pair.server('-1', *words)
    pair.client(*words).quiet()
    server.end().quiet()


def story(chapter, mode, end):
    """From the operation on, without what only one chapter says. Where the peer's MSG_DONE stands, and so
    the numbers, may vary."""
    text = (TOP / chapter / f'expected/{mode}/{end}.log').read_text('utf-8')
    text = re.search(r'(?ms)^\[DEBUG\] About to post.*?^remote buffer.*?\n', text)[0]
    assert len(text.splitlines()) > 8
    return re.sub('(send|recv)_state=[0-9]', r'\1_state=N', re.sub('Both DONE, .*', 'Both DONE', text))


@pytest.mark.parametrize('mode', ['write', 'read'])
def test_from_the_operation_on_the_logs_are_those_of_chapter_02(tmp_path, mode):
    for chapter in '02_write_read', CHAPTER:
        (tmp_path / chapter).mkdir()
        for end in 'server', 'client':
            (tmp_path / chapter / f'{end}.log').write_text(story(chapter, mode, end))
    races = (TOP / CHAPTER / f'expected/{mode}/races').read_text('utf-8')
    (tmp_path / CHAPTER / 'races').write_text(''.join(re.findall('.* <> .*\n', races)))
    ran = subprocess.run([TOP / 'scripts/compare_logs.sh', tmp_path / '02_write_read', tmp_path / CHAPTER],
                         check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert (ran.returncode, ran.stdout) == (0, 'matches\n')
