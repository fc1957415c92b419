"""Chapter 06: whatever is sent to a server, and whatever fails there, it serves the next, and soon. In a
lab of its own: RDS goes on connecting to the strangers when they are gone."""
import errno
import os

import pytest

import builds
import in_node
from nodes import TOP, Lab
from test_06_rds import BYE, ECHO, HELLO, bound, client, new_address, shell

CHAPTER = '06_rds'


@pytest.fixture(scope='module')
def labs(request):
    """With this one, as long as it is needed; all are reset after a failure."""
    labs = request.config.workplace.labs
    labs['strangers'] = Lab(f'{request.config.workplace.name}-strangers')
    yield labs
    labs.pop('strangers').down()


@pytest.fixture
def lab(labs):
    for node in 'a', 'b':
        labs['strangers'].call(node, shell, str(TOP / 'scripts/setup_rds.sh'))
    return labs['strangers']


@pytest.fixture
def server_at(lab, programs):
    """An address of node a. Of two kernels, the one with the smaller address connects."""
    programs.address = lab.call('a', new_address, 200)
    return programs.address


@pytest.fixture
def stranger(lab):
    """One of node b."""
    return lab.call('b', new_address, 10)


def strange(pair, server, *words):
    """What a stranger does: see rds_over_tcp.py."""
    return pair.start('stranger', TOP / 'tests/rds_over_tcp.py', server, *words).end()


def test_no_datagram_ends_the_server_whatever_its_length(lab, programs, server_at, stranger):
    second = lab.call('b', new_address, 10)
    with lab.serving(programs, '-t', 3, '-T', 'tcp', '-a', server_at) as server:
        # ECHO, up to what the send buffer holds, more than it, more than RDS has.
        lab.call('b', strange, programs, server_at, stranger, 5, 7000, 0, 1, 11, 12, 106496, 106497, 1048576,
                 1048577, 3000000)
        lab.call('b', client, programs, '-T', 'tcp', '-t', 60, 'talk')
        lab.call('b', strange, programs, server_at, second, 5, 7000, 'full', 100)
        lab.call('b', client, programs, '-T', 'tcp', '-t', 60, 'talk')
    assert server.count('^received message: ') == 2
    assert server.count(f'bytes to {stranger} port 700[56]: Message too long', 'err') == 2
    assert server.count(f'{stranger} port 700[78] has sent a datagram of more than 1048576 bytes', 'err') == 2
    assert server.has(f'100 bytes to {second} port 7001: No buffer space available', stream='err')


def is_asked(pair, server, stranger):
    """On node b: whom a client on the servers' node, the one with the larger address, asks."""
    one = bound('192.0.2.2', 4000)
    in_node.tell('it listens')
    peer = one.recvfrom(2000)[1]
    strange(pair, f'{server}:{peer[1]}', stranger, 5, 7000, 1048577)
    # The client's port is congested until the client has taken that; without a timeout, sendto() waits.
    one.settimeout(None)
    one.sendto(HELLO + b'so it is', peer)
    one.settimeout(60)
    assert one.recv(100) == BYE
    one.sendto(BYE, peer)


def test_nor_does_a_strangers_end_a_client(lab, programs, server_at, stranger):
    lab.start('b', is_asked, programs, server_at, stranger)
    lab.hear('b')
    programs.address = '192.0.2.2'
    asks = lab.call('a', client, programs, '-b', server_at, '-T', 'tcp', '-t', 60, 'talk')
    lab.result('b')
    assert asks.has('^received message: so it is$')
    asks.one_error(f'^error: recvmsg: {stranger} port 7000 has sent a datagram of more than 1048576 bytes')


@pytest.fixture
def errors():
    return builds.helper('tests/rds_errors', '-shared')


def echoes(server, count):
    """On node b: so many are asked for; returns the number of the one that is answered first."""
    one = bound('192.0.2.2')
    for number in range(count):
        one.sendto(ECHO[:8] + number.to_bytes(4, 'big'), (server, 4000))
    return int.from_bytes(one.recv(100)[8:], 'big')


RECV = 'EFAULT ETIMEDOUT ENOMEM ENOBUFS ECONNRESET EPERM EIO EINVAL ENOTCONN EBADF'
SEND = 'EMSGSIZE EOPNOTSUPP EINVAL ENOTCONN ENOMEM EFAULT ENOBUFS EINTR EPERM ENODEV EHOSTUNREACH ENETUNREACH ' \
    'EADDRNOTAVAIL EDESTADDRREQ EIO'


# The first ones are no errors for this server: where EAGAIN is none, the same datagram comes to the next one.
@pytest.mark.parametrize('call, none, some', [('recvmsg', 'EAGAIN EINTR', RECV), ('sendmsg', 'EAGAIN', SEND)],
                         ids=['recvmsg', 'sendmsg'])
def test_no_error_of_recvmsg_or_of_sendmsg_ends_the_server(lab, programs, server_at, errors, call, none, some):
    numbers = ' '.join(str(getattr(errno, name)) for name in f'{none} {some}'.split())
    some = some.split()
    library = os.path.relpath(errors, programs.folder)
    with lab.serving(programs, f'LD_PRELOAD={library}', f'RDS_CALL={call}', f'RDS_ERRORS={numbers}', './server',
                     '-T', 'tcp', '-a', server_at, program='env') as server:
        if call == 'sendmsg':
            assert lab.call('b', echoes, server_at, len(some) + 1) == len(some)
        lab.call('b', client, programs, '-T', 'tcp', '-t', 60, 'talk')
    assert server.count(f'^error: {call}: ', 'err') == len(some)
    if call == 'recvmsg':
        assert len(server.err.splitlines()) == len(some)


def gives_up(pair, *words):
    """On node a: a server, until it has given up whoever acknowledges nothing."""
    server = pair.server(*words)
    in_node.tell('it listens')
    in_node.channel.receive()
    server.says('acknowledges nothing')
    return server.stop()


def beside(pair, server_at, stranger, kind, lengths):
    """On node b: a client that comes while a stranger's datagrams keep a server busy; it waits no longer than that."""
    said = strange(pair, server_at, stranger, kind, 7000, *lengths, '--', f'./client -a {server_at} -T tcp -t 150 talk')
    assert said.has('^received message: ') and int(said.out.rpartition('seconds: ')[2]) <= 15


def test_a_host_that_acknowledges_nothing_is_given_up_once(lab, programs, server_at, stranger):
    """And not once a port: forty times -t would be two minutes."""
    lab.start('a', gives_up, programs, '-t', 3, '-T', 'tcp', '-a', server_at)
    lab.hear('a')
    lab.call('b', beside, programs, server_at, stranger, 5, 40 * [100000])
    lab.channels['a'].send(b'')
    assert lab.result('a').count(f'^{stranger} acknowledges nothing') == 1


def test_nor_does_a_host_to_which_there_is_no_connection_over_ib_keep_others_waiting(lab, programs, server_at, stranger):
    lab.call('b', shell, "nft 'add table ip t; add chain ip t o { type filter hook input priority 0; };"
             f"add rule ip t o ip daddr {stranger} udp dport 4791 drop'")
    with lab.serving(programs, '-t', 3, '-T', 'ib', '-a', server_at) as server:
        lab.call('b', beside, programs, server_at, stranger, 6, 20 * [12])
    # RDS takes a key to send as soon as it has a queue pair to connect with, which may be before the twentieth.
    assert server.count('^lending ') == 20
    assert server.has(f'^error: sendmsg: 24 bytes to {stranger} port 7000: ', stream='err')
