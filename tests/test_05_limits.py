"""Chapter 05's server when there is little memory, when nobody reads what it says, when one identity
would have all; new certificates; and clients that may not come."""
import fcntl
import os
import re
import shutil
import subprocess

from pair import until
from test_05_multiclient import HOLDS, are_served, figures, holding, holds_nothing, idle, is_served, leave

CHAPTER = '05_multiclient'


def certificates(pair, folder, *words):
    """New ones, in a folder of their own."""
    subprocess.run([pair.folder / 'certs.sh', *words, folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def shown(folder, name):
    """What a program shows of them, and whom it takes."""
    return '-A', folder / 'ca.pem', '-C', folder / f'{name}.pem', '-K', folder / f'{name}.key'


def test_one_identity_cannot_have_all_places(pair):
    """It has no more than its share, and another one has the others."""
    mine = certificates(pair, pair.scratch / 'mine', '--client', 'alice')
    both = 'spiffe://rdma.example/client write\nspiffe://rdma.example/client/alice write\n'
    allowed = pair.file('mine.list', both)
    server = pair.server(*shown(mine, 'server'), '-l', allowed, '-t', 60, '-m', 5, '-U', 3, 'write')
    load = pair.begin_client('-t', 60, *shown(mine, 'client'), '-n', 5, '-w', 3600, 'write', program='./load/load')
    load.says(HOLDS, 3)
    load.says(r'server full \(3 of 3\)', 2, 'err')
    assert server.count('spiffe://rdma.example/client has 3 connections') == 2
    text = figures(server)
    assert 'connected: 3 of 5; shaking hands: 0' in text and 'served: 0; refused: 2;' in text
    # Those who hold do so beside this one.
    pair.client('-t', 60, *shown(mine, 'client-alice'), 'write')
    leave(load, 1)
    idle(server)
    # Who is not in the list any more gets nothing at all.
    allowed.write_text(both.splitlines()[0] + '\n')
    pair.client('-t', 60, *shown(mine, 'client-alice'), 'write', status=1)
    assert server.has('client/alice, serial', stream='err')
    # What is given back can be had again.
    are_served(pair, *shown(mine, 'client'), '-n', 3)
    server.stop()


def serial(text):
    """That of a certificate."""
    return subprocess.run(['openssl', 'x509', '-noout', '-serial'], input=text, check=True,
                          stdout=subprocess.PIPE).stdout


def test_sighup_new_certificates_for_new_clients(pair):
    """What cannot be read changes nothing."""
    mine = certificates(pair, pair.scratch / 'mine')
    server = pair.server(*shown(mine, 'server'), '-t', 60, 'write')
    is_served(pair, *shown(mine, 'client'))
    holds = holding(pair, 1, *shown(mine, 'client'))
    certificates(pair, mine)
    (mine / 'server.key').chmod(0o644)
    server.kill('HUP')
    server.says('read before stay')
    server.one_error('others on this machine can read')
    (mine / 'server.key').chmod(0o600)
    server.kill('HUP')
    server.says('certificates read again')
    # The one that is there has noticed nothing.
    assert holds.is_running()
    leave(holds)
    is_served(pair, *shown(mine, 'client'))
    shows = subprocess.run(['openssl', 's_client', '-connect', f'{pair.address}:4433', '-cert', mine / 'client.pem',
                            '-key', mine / 'client.key', '-alpn', 'rdma-params/3'], check=False,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    assert serial(shows) == serial((mine / 'server.pem').read_bytes())
    idle(server)
    server.stop()


def test_no_more_is_lent_than_there_is_memory_for(pair):
    """It is counted before it is there: three quarters of a GiB, and 128 MiB for each."""
    meminfo = pair.file('meminfo', 'MemAvailable: 1048576 kB\n')
    server = pair.server('-m', 'bash', '-c', 'mount --bind "$0" /proc/meminfo && exec ./server -t 60 -b 67108864 write',
                         meminfo, program='unshare')
    assert server.has('786432 kB of memory: room for 6 clients')
    assert 'connected: 0 of 6;' in figures(server)
    server.stop()


def limited(pair, kb):
    """A server that may lock so much memory, as nobody: for root there is no limit."""
    certs = pair.scratch / 'certs'
    if not certs.exists():
        shutil.copytree(pair.folder / 'certs', certs)
        for path in pair.scratch, certs, *certs.iterdir():
            shutil.chown(path, 'nobody')
    return pair.server('--reuid=nobody', '--regid=nogroup', '--clear-groups', 'bash', '-c',
                       f'ulimit -l {kb} && exec ./server -t 60 -C "$0/server.pem" -K "$0/server.key" '
                       '-A "$0/ca.pem" write', certs, program='setpriv', must=False)


def test_as_many_clients_as_there_is_memory_for_are_let_in_others_hear_of_it(pair):
    server = limited(pair, 128)
    room = int(re.search(r' more kB of locked memory: room for (\d+) clients', server.out)[1])
    assert 5 <= room < 20
    load = pair.begin_client('-t', 60, '-n', room + 3, '-w', 3600, 'write', program='./load/load')
    load.says(HOLDS, room)
    load.says(rf'server full \({room} of {room}\)', 3, 'err')
    server.quiet()
    leave(load, 1)
    idle(server)
    are_served(pair, '-n', room)
    server.stop().quiet()
    # And none at all: said before anybody comes.
    assert limited(pair, 8).end(1).has('this memory is locked, and `ulimit -l`', stream='err')


def test_a_server_whose_log_nobody_reads_serves_and_ends(pair):
    """Its stdout is a pipe that is full."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
    try:
        while os.write(writer, bytes(4096)):
            pass
    except BlockingIOError:
        fcntl.fcntl(writer, fcntl.F_SETFL, 0)
    server = pair.start('server', 'bash', '-c', 'exec ./server -G 0 write >"$0"', f'/proc/{os.getpid()}/fd/{writer}')
    until('a server that listens', lambda: subprocess.run(
        ['ss', '-Htln', 'sport = :4433'], check=True, stdout=subprocess.PIPE).stdout)
    are_served(pair, '-n', 3)
    server.quiet()
    holds = holding(pair, 1)
    server.stop()
    holds.end(1)
    os.close(reader)
    os.close(writer)


def refused(pair, server, error, client):
    """The server says this, and then serves another."""
    before = server.count('error: ', 'err')
    # openssl's client has done all that it does before it is refused.
    assert client().any_end().status or error.startswith('the client came'), 'it was served'
    server.says('error: ', before + 1, 'err')
    assert re.search(f'^error: .*{error}', server.err.splitlines()[-1])
    is_served(pair)


def test_a_client_that_may_not_come_is_refused_and_the_next_one_is_served(pair):
    other = certificates(pair, pair.scratch / 'other')
    server = pair.server('-t', 30, 'write')
    # It is who it says, but its queue pair would live elsewhere.
    refused(pair, server, 'GID is not the address that it was authenticated at',
            lambda: pair.begin_client('-g', 0, 'write'))
    refused(pair, server, 'the client came without a certificate: refused', lambda: pair.start(
        'openssl', 'timeout', 20, 'openssl', 's_client', '-connect', f'{pair.address}:4433', '-CAfile',
        'certs/ca.pem', '-alpn', 'rdma-params/3', '-verify_return_error'))
    refused(pair, server, r'verify failed \(20, ', lambda: pair.begin_client(
        '-C', other / 'client.pem', '-K', other / 'client.key', 'write'))
    refused(pair, server, r'verify failed \(26, .*for its role', lambda: pair.begin_client(
        '-C', 'certs/server.pem', '-K', 'certs/server.key', 'write'))
    until('four that failed', lambda: 'served: 4; refused: 0; failed: 4' in figures(server))
    assert holds_nothing(server)
    server.stop()
