"""What each chapter's first.c promises: it is short and alone, says what it takes, and ends, with an error, where nobody
is there, or whoever is there stops or dies. What only one of them does: test_NN_first.py."""
import re
import shlex
import shutil
import subprocess

import pytest

from chapters import ALL, by_hand, each, numbers
from first import FIRST, first, hasty, psn, talks, to_first
from nodes import TOP

CM, TLS = ('-lrdmacm', '-libverbs'), ('-libverbs', '-lssl', '-lcrypto')
# The file, how many lines it may have, and what it is linked with.
FILES = [('01_send_recv/first.c', 185, CM), ('02_write_read/first.c', 275, CM), ('03_pure_verbs/loopback.c', 320, ['-libverbs']),
         ('03_pure_verbs/first.c', 430, ['-libverbs']), ('04_tls_psn/first.c', 531, TLS), ('05_multiclient/first.c', 650, TLS),
         ('06_rds/first.c', 175, ['-lc']), ('07_full_speed/first.c', 300, CM), ('08_event_loop/first.c', 310, CM),
         ('09_key_value/first.c', 370, CM)]
# How the usage begins, and what is answered by it.
USAGES = {
    '01 ./first [ADDRESS': ['-h', '--help', "''", 'here', '192.0.2', '-a 192.0.2.1', '192.0.2.1 20886'],
    '02 ./first [ADDRESS': ['-h', "''", 'here', '192.0.2.1 22222'],
    '03 ./first PSN [ADDRESS': ['', '-h', "''", '1x', '-1', '1000000', '0x1000000', '1 here', "1 ''", '1 192.0.2.1 18515'],
    '03 ./loopback ADDRESS': ['', '-h', "''", '192.0.2', '192.0.2.1 1'],
    '04 ./first [ADDRESS': ['-h', "''", 'here', '192.0.2.1 4433'],
    '05 ./first [ADDRESS': ['-h', "''", 'here', '0', '-1', '3x', '192.0.2.1 3'],
    '06 ./first OUR_ADDRESS': ['', '-h', 'here', "192.0.2.1 ''", '192.0.2.1 192.0.2.1 1'],
    '07 ./first [ADDRESS': ['-h', "''", 'here', 'paus', '192.0.2.1 22227', 'pause 192.0.2.1'],
    '08 ./first ADDRESS [CLIENTS]': ['', '-h', 'here', '192.0.2.1 0', '192.0.2.1 some', '192.0.2.1 1 2'],
    '09 ./first [ADDRESS': ['-h', "''", 'here', '192.0.2.1 write']}
CHAPTERS = {c.chapter[:2]: c.chapter for c in ALL}
EVENTS, CQ, SOCKET = (re.escape(f'readable({fd}, TIMEOUT_MS): Connection timed out') + '$' for fd in (
    'conn->events->fd', 'cq->channel->fd', 'conn->sock'))
RECORD = r'(done == 1|n == len): '
# At which call a server stops or dies, and what its client says.
SERVERS = {
    '01': [('rdma_accept 1', 'stop', EVENTS), ('ibv_post_send 1', 'stop', CQ), ('rdma_disconnect 1', 'stop', EVENTS)],
    # Of a server that is killed, the CM tells at once, but the client waits for a completion.
    '02': [('rdma_accept 1', 'stop', EVENTS), ('ibv_post_send 1', 'stop', CQ), ('rdma_disconnect 1', 'stop', EVENTS),
           ('ibv_post_send 1', 'kill', CQ)],
    '03': [(call, 'stop', SOCKET) for call in ('accept 1', 'send 1', 'send 2', 'send 3')] +
          [('ibv_modify_qp 3', 'kill', 'recv|send')],
    '04': [(call, 'stop', f'{RECORD}Connection timed out$') for call in ('SSL_accept 1', 'SSL_write 1', 'SSL_write 2', 'SSL_write 3')],
    '05': [(call, action, RECORD) for call in ('SSL_accept 1', 'ibv_modify_qp 2', 'SSL_write 3') for action in ('kill', 'stop')],
    # Without a credit, with the first ones, in the middle of the stream, and after it.
    '07': [('rdma_accept 1', 'stop', EVENTS), *[(f'ibv_post_send {number}', 'stop', CQ) for number in (1, 2, 9, 33)],
           ('rdma_disconnect 1', 'stop', EVENTS), ('ibv_post_send 1', 'kill', CQ)]}
# At which call a client dies, and what its server says.
CLIENTS = {
    '01': [('ibv_post_send 1', CQ)],
    '02': [(f'ibv_post_send {number}', CQ) for number in (1, 2, 3)],
    '03': [(call, 'Connection timed out$|recv.*: (Protocol error|Connection reset by peer)$')
           for call in ('ibv_modify_qp 2', 'ibv_post_send 1', 'ibv_post_send 3')],
    '04': [(call, 'Connection timed out$|unexpected eof|Connection reset by peer$|Broken pipe$')
           for call in ('SSL_connect 1', 'SSL_read 2', 'ibv_post_send 1', 'ibv_post_send 3')],
    '07': [(f'ibv_post_send {number}', CQ) for number in (1, 2, 500)]}


def rows(table):
    """A test of each, named by its chapter and call."""
    return [pytest.param(CHAPTERS[number], *row, id=f'{CHAPTERS[number]}-{"-".join(row[:-1])}')
            for number, some in table.items() for row in some]


@pytest.mark.parametrize('compiler', ['gcc', 'clang'])
@pytest.mark.parametrize('path, most, libraries', FILES, ids=[path for path, *_ in FILES])
def test_it_is_not_longer_and_needs_no_other_file(tmp_path, compiler, path, most, libraries):
    lines = len((TOP / path).read_text('utf-8').splitlines())
    assert lines <= most, f'{path} has {lines} lines'
    file = shutil.copy(TOP / path, tmp_path)
    subprocess.run([compiler, '-O2', '-Wall', '-Wextra', '-Werror', file, '-o', 'first', *libraries], cwd=tmp_path, check=True)


@pytest.mark.parametrize('chapter, usage', [(CHAPTERS[usage[:2]], usage) for usage in USAGES], ids=USAGES)
def test_it_says_what_it_takes_and_ends_with_2_also_without_a_device(programs, usage):
    for words in USAGES[usage]:
        ran = subprocess.run([usage.split()[1], *shlex.split(words)], cwd=programs.folder, check=False, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert (ran.returncode, ran.stdout) == (2, '') and ran.stderr.startswith(f'usage: {usage[3:]}'), words


@each(numbers('01', '02', '07', '09'))
def test_without_a_server_without_a_host_without_a_device(pair):
    client = to_first(pair, status=1)
    assert client.has('^RDMA_CM_EVENT_REJECTED, status 8$')
    client.one_error('event->event == want: Protocol error$')
    client = to_first(pair, '192.0.2.99', status=1)
    client.one_error('event->event == want: ')
    assert client.ms < 60_000
    # 127.0.0.1 has no device.
    to_first(pair, '127.0.0.1', status=1).one_error(r'!rdma_resolve_route\(conn->id, 2000\): No such device$')


@each(by_hand)
def test_without_a_server(pair):
    to_first(pair, status=1).one_error('connect.*: Connection refused$')


@pytest.mark.parametrize('chapter, call, action, error', rows(SERVERS))
def test_it_gives_up_a_server_that_stops_or_dies(pair, call, action, error):
    server = first(pair, at=(call, action))
    client = to_first(pair, program=hasty(pair.chapter), status=1)
    client.one_error(error)
    assert client.ms < 60_000 and (client.ms >= 4_000 or 'timed out' not in client.err)
    if action == 'stop':
        server.stops()
        server.kill('KILL')
    server.end(137)


@pytest.mark.parametrize('chapter, call, error', rows(CLIENTS))
def test_it_gives_up_a_client_that_dies_and_another_finds_the_port_free_again(pair, call, error):
    server = first(pair, program=hasty(pair.chapter))
    to_first(pair, status=137, at=(call, 'kill'))
    server.end(1).one_error(error)
    assert server.ms < 60_000
    talks(pair)


@each(numbers('01', '03'))
def test_it_serves_one_client_and_a_second_does_not_disturb_it(pair):
    server = first(pair, at=('rdma_accept 1' if pair.number == '01' else 'ibv_open_device 1', 'stop'))
    client = pair.start('client', FIRST, *psn(pair), pair.address)
    server.stops()
    second = to_first(pair, status=1)
    assert second.has('^RDMA_CM_EVENT_REJECTED, status 8$') or second.has('connect.*: Connection refused$', stream='err')
    server.resume()
    client.end()
    server.end()
