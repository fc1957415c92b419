"""06's first.c: a message each way by RDS, and that it ends, with an error, whatever strangers send
and whoever is not there."""
import socket
import subprocess
import time

import pytest

from first import both, first, hasty, to_first
from nodes import TOP

CHAPTER = '06_rds'
SIZE = 4096


def rds(*transports):
    """The kernel's modules, on this node."""
    subprocess.run([TOP / 'scripts/setup_rds.sh', *transports], check=True, stdout=subprocess.DEVNULL)


def stranger(pair, port=0):
    """A socket of its own."""
    made = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET)
    made.bind((pair.address, port))
    made.settimeout(60)
    return made


def talks(pair, server):
    """A client and that server, whatever was before."""
    both(server, to_first(pair, pair.address, pair.address),
         ['^received message: message from active/client side with pid {pid}$', '^sent, and'],
         ['^received message: message from passive/server side with pid {pid}$', '^sent, and'])


def test_without_a_server_without_a_host_at_an_address_of_others(pair):
    rds('tcp')
    client = to_first(pair, pair.address, pair.address, status=1)
    assert client.has('^sent, and acknowledged')
    client.one_error(r'ready\(sock->fd, POLLIN, deadline\): Connection timed out$')
    assert 9_000 <= client.ms < 60_000
    client = to_first(pair, pair.address, '192.0.2.77', program=hasty(CHAPTER), status=1)
    client.one_error(r'ready\(sock->fd, POLLOUT, .*\): Connection timed out$')
    assert not client.has('^sent')
    for address in '192.0.2.9', '0.0.0.0':
        to_first(pair, address, pair.address, status=1).one_error(r'!bind\(')


@pytest.mark.parametrize('who', ['server', 'client'])
@pytest.mark.parametrize('call', ['poll 1', 'recvmsg 1'])
def test_it_says_which_call_fails_and_ends(pair, who, call):
    rds('tcp')
    server = first(pair, pair.address, **{'at': (call, 'fail')} if who == 'server' else {})
    client = to_first(pair, pair.address, pair.address, program=hasty(CHAPTER), status=(0, 1),
                      **{'at': (call, 'fail')} if who == 'client' else {})
    if server.is_running() and not server.has('^received'):
        server.kill('TERM')
    server.end(0, 1, 143)
    assert pair.happened
    {'server': server, 'client': client}[who].one_error('Input/output error$')


@pytest.mark.parametrize('action', ['kill', 'stop'])
def test_it_gives_up_a_server_that_dies_or_stops(pair, action):
    rds('tcp')
    first(pair, pair.address, at=('recvmsg 1', action))
    client = to_first(pair, pair.address, pair.address, program=hasty(CHAPTER), status=1)
    client.one_error('POLLIN.*Connection timed out$')


def test_what_strangers_send_to_a_server_is_no_message(pair):
    rds('tcp')
    server, other = first(pair, pair.address), stranger(pair)
    for data in b'', b'short', b'\x1b[31m' * 1000:
        other.sendto(data, (pair.address, 4000))
    talks(pair, server)
    assert server.count('^received') == 1


def test_it_prints_no_byte_that_is_no_text(pair):
    rds('tcp')
    server, other = first(pair, pair.address), stranger(pair)
    other.sendto(b'\x1b\x07\xe9' + bytes([255]) * (SIZE - 3), (pair.address, 4000))
    assert len(other.recv(SIZE + 1)) == SIZE
    assert server.end().has(r'^received message: \?{4095}$')


def test_a_client_waits_for_its_server_only_and_no_stranger_makes_it_wait_longer(pair):
    rds('tcp')
    server, other = stranger(pair, 4000), stranger(pair)
    client = pair.start('client', './first', pair.address, pair.address)
    _, to = server.recvfrom(SIZE)
    for data in b'another'.ljust(SIZE, b'\0'), b'x' * (SIZE + 1):
        other.sendto(data, to)
    server.sendto(b'not whole', to)
    server.sendto(b'yes'.ljust(SIZE, b'\0'), to)
    client.end().quiet()
    assert client.has('^received message: yes$') and client.count('^received') == 1
    client = pair.start('client', hasty(CHAPTER), pair.address, pair.address)
    _, to = server.recvfrom(SIZE)
    while client.is_running():
        other.sendto(b'another'.ljust(SIZE, b'\0'), to)
        time.sleep(0.5)
    client.any_end().one_error('POLLIN.*Connection timed out$')
    assert client.status == 1 and client.ms < 30_000
