"""Chapter 05's server when nobody reads what it says, and clients that may not come."""
import fcntl
import os
import re
import subprocess

from pair import until
from test_05_multiclient import are_served, figures, holding, holds_nothing, is_served

CHAPTER = '05_multiclient'


def certificates(pair, folder, *words):
    """New ones, in a folder of their own."""
    subprocess.run([pair.folder / 'certs.sh', *words, folder], check=True, stdout=subprocess.DEVNULL)
    return folder


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


def test_a_server_that_can_never_wait_again_cuts_its_clients_off_and_ends(pair):
    """poll(2) fails where fewer descriptors are allowed than it is asked about."""
    server = pair.server('write')
    holds = holding(pair, 1)
    subprocess.run(['prlimit', '--pid', str(server.pid), '--nofile=1'], check=True)
    server.kill('USR1')
    server.end(1).says('^error: poll: Invalid argument', stream='err')
    holds.end(1)


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
        'certs/ca.pem', '-alpn', 'rdma-params/2', '-verify_return_error'))
    refused(pair, server, r'verify failed \(20, ', lambda: pair.begin_client(
        '-C', other / 'client.pem', '-K', other / 'client.key', 'write'))
    refused(pair, server, r'verify failed \(26, .*for its role', lambda: pair.begin_client(
        '-C', 'certs/server.pem', '-K', 'certs/server.key', 'write'))
    until('four that failed', lambda: 'served: 4; refused: 0; failed: 4' in figures(server))
    assert holds_nothing(server)
    server.stop()
