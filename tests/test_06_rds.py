"""Chapter 06: a network that loses packets, a connection that others break, and a server that is sent
nonsense. Node a, 192.0.2.1, has the server, and node b, 192.0.2.2, the client."""
import errno
import pathlib
import re
import select
import socket
import struct
import subprocess
import time

import pytest

import builds
import in_node
from pair import netem

CHAPTER = '06_rds'
TRANSPORTS = pytest.mark.parametrize('transport', ['tcp', 'ib'])
SOL_RDS, CONG_UPDATE, CONG_MONITOR, TRANSPORT, TCP, IB = 276, 5, 6, 8, 2, 0
HELLO, ECHO, BORROW, WRITTEN, BYE = (b'RDS6\0' + bytes([kind]) + bytes(6) for kind in (2, 5, 6, 8, 9))
ALL = '^  {} messages, all of them, in order$'


@pytest.fixture(autouse=True)
def rds(run):
    """Both nodes have it."""
    for node in 'a', 'b':
        assert run('scripts/lab.sh', 'exec', node, '--', 'scripts/setup_rds.sh').returncode == 0


@pytest.fixture
def comes_back(run, record_property):
    """Whether a connection over ib that breaks is made anew here; if not, nothing more can be seen."""
    ran = run('scripts/lab.sh', 'exec', 'a', '--', 'scripts/setup_rds.sh', '--reconnects')
    if ran.returncode:
        record_property('not tested', ran.stdout.strip())
    return not ran.returncode


def bound(address, port=0, transport=None, seconds=60):
    """A socket of this node."""
    made = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET, 0)
    if transport is not None:
        made.setsockopt(SOL_RDS, TRANSPORT, struct.pack('i', transport))
    made.bind((address, port))
    made.settimeout(seconds)
    return made


def client(pair, *words, **more):
    """On node b."""
    return pair.client(*words, **more)


def listens(transport, *words):
    """What a server is told to do."""
    return '-a', '192.0.2.1', '-T', transport, *words


def two_that_lose(pair, transport):
    """On node a: two servers."""
    with netem('loss', '5%'):
        serves = [pair.server(*listens(transport, '-p', port)) for port in (4000, 4010)]
        in_node.tell('they listen')
        in_node.channel.receive()
    for server in serves:
        server.stop().quiet()


def client_that_loses(pair, transport):
    """On node b: one of both."""
    with netem('loss', '5%'):
        one = pair.begin_client('-a', '192.0.2.1,192.0.2.1:4010', '-T', transport, '-t', 250, '-n', 40, 'count')
        one.end(seconds=260).quiet()
        said = subprocess.run(['tc', '-s', 'qdisc', 'show', 'dev', 'eth0', 'root'], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
    assert re.search('dropped [1-9]', said) and one.count(ALL.format(40)) == 2


@TRANSPORTS
def test_a_network_that_loses_five_percent_loses_no_message(lab, programs, transport):
    lab.start('a', two_that_lose, programs, transport)
    lab.hear('a')
    lab.call('b', client_that_loses, programs, transport)
    lab.channels['a'].send(b'')
    lab.result('a')


def nobodys(pair):
    """On node b: a client that writes with a wrong key in the middle; not as root, for it takes no rights at all."""
    return pair.start('client', 'setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', './client',
                      '-a', '192.0.2.1', '-T', 'ib', '-t', 60, '-n', 2000, '-k', 7, 'count').end()


def test_any_users_wrong_key_resets_the_connection_and_costs_no_message(lab, programs, comes_back):
    if not comes_back:
        return
    with lab.serving(programs, *listens('ib')):
        one = lab.call('b', nobodys, programs)
    one.quiet()
    assert one.has(ALL.format(2000), r'^the write: status=1 \(remote error')


def test_who_chooses_no_transport_gets_ib_and_either_reaches_the_other(lab, programs):
    with lab.serving(programs, '-a', '192.0.2.1') as server:
        one = lab.call('b', client, programs, '-T', 'tcp', 'talk')
    one.quiet()
    assert server.has(r'^listening on 192.0.2.1 port 4000 over ib\.$')
    assert one.has(r'^bound to 192.0.2.2 over tcp\.$')


@pytest.mark.parametrize('transport, size', [('tcp', 12), ('ib', 65536)])
def test_round_trips_and_messages_per_second_are_measured(lab, programs, transport, size):
    with lab.serving(programs, *listens(transport)):
        one = lab.call('b', client, programs, '-T', transport, '-n', 30, '-s', size, program='./load/load')
    one.quiet()
    assert one.has(rf'^ping,{size},30,[0-9.]+,$', rf'^flood,{size},30,,[0-9]+$')


def send_nonsense():
    """On node b; and then an echo is answered."""
    one = bound('192.0.2.2', seconds=5)
    for text in (b'', b'RDS6', b'GET / HTTP/1.1\r\n', b'RDS6' + bytes(8), b'RDS6\0\x02' + bytes(6),
                 b'RDS6\0\x63' + bytes(6), b'RDS6\0\x01' + bytes(6) + b'\1' * 1025):
        one.sendto(text, ('192.0.2.1', 4000))
    one.sendto(ECHO, ('192.0.2.1', 4000))
    assert one.recv(100) == ECHO


def test_a_server_that_is_sent_nonsense_says_so_and_serves_the_next(lab, programs):
    with lab.serving(programs, *listens('tcp')) as server:
        lab.call('b', send_nonsense)
    assert server.count('^error: a datagram', 'err') == len(server.err.splitlines()) == 7
    # Nothing of what is too long has been printed.
    assert not server.has('received')


def test_a_client_ignores_whom_it_has_not_asked_and_waits_on(pair):
    server, other = bound(pair.address, 4000), bound(pair.address, 4444)
    asks = pair.begin_client('-T', 'tcp', 'talk')
    peer = server.recvfrom(2000)[1]
    other.sendto(HELLO + b'not so', peer)
    server.sendto(HELLO + b'so it is', peer)
    assert server.recv(100) == BYE
    other.sendto(BYE, peer)
    server.sendto(BYE, peer)
    asks.end().quiet()
    assert asks.has('^received message: so it is$') and not asks.has('not so')


def be_full(transport, port):
    """On node a: two ports that will be, one after the other; until the third hears something."""
    sockets = [bound('192.0.2.11', port + more, transport, 240) for more in (0, 10, 20)]
    in_node.tell('listening')
    sockets[2].recv(1)


def send_to_full(one, port, data=b'x'):
    """Returns why it cannot."""
    try:
        one.sendto(data, ('192.0.2.11', port))
    except OSError as error:
        return error.errno
    return 0


def refused(transport, port):
    """A socket that has filled a port."""
    one = bound('192.0.2.12', 0, transport)
    one.setsockopt(SOL_RDS, CONG_MONITOR, 1)
    one.sendto(b'', ('192.0.2.11', 0))
    one.recv(1)
    one.setblocking(False)
    sent, until = 0, time.monotonic() + 120
    while (error := send_to_full(one, port, b'x' * 4096)) != errno.ENOBUFS:
        assert time.monotonic() < until, f'{sent} messages were taken over {transport}, and then came errno {error}'
        sent += not error
        select.select([], [one], [], 10)
    return one


def hears_news(one, port, seconds):
    """Whether it hears of a map that says what it knows."""
    if not select.select([one], [], [], seconds)[0]:
        return False
    assert one.recvmsg(1, 100)[1] == [(SOL_RDS, CONG_UPDATE, struct.pack('Q', 1 << port % 64))]
    assert send_to_full(one, port) == errno.ENOBUFS
    return True


def fill_two(transport, port):
    """On node b: whether the second one's map is news for the socket that the first one refuses."""
    first = refused(transport, port)
    while hears_news(first, port, 1):
        pass
    second = refused(transport, port + 10)
    news = hears_news(first, port, 10)
    assert send_to_full(first, port) == errno.ENOBUFS
    second.sendto(b'x', ('192.0.2.11', port + 20))
    return news


def shell(line):
    """What it says, on a node."""
    return subprocess.run(line, shell=True, check=True, text=True, stdout=subprocess.PIPE).stdout


def test_over_tcp_each_map_of_the_congestion_is_news_over_ib_what_it_says(lab):
    """Where there is a connection over tcp, each map comes over that as well."""
    for node, address in ('a', 11), ('b', 12):
        lab.call(node, shell, f'ip address add 192.0.2.{address}/24 dev eth0')
    # Ports of its own for each: node b hears only later that those before are no longer congested.
    for transport, news, port in (IB, False, 4000), (TCP, True, 5000), (IB, True, 6000):
        # In a lab where this test has run, they know each other over tcp.
        if not news and lab.call('b', shell, 'ss -Htn src 192.0.2.12'):
            continue
        lab.start('a', be_full, transport, port)
        lab.hear('a')
        assert lab.call('b', fill_two, transport, port) == news, transport
        lab.result('a')
    for node, address in ('a', 11), ('b', 12):
        lab.call(node, shell, f'ip address del 192.0.2.{address}/24 dev eth0')


def new_address(first):
    """An address for this node, of which no kernel of this lab has a connection yet."""
    last = pathlib.Path(f'/run/address.{first}')
    number = int(last.read_text() if last.exists() else first) + 1
    last.write_text(str(number))
    shell(f'ip address add 192.0.2.{number}/24 dev eth0')
    return f'192.0.2.{number}'


@pytest.fixture
def calls():
    return builds.helper('docs/rds/calls')


def hold(pair, calls):
    """On node a: a peer that reads nothing."""
    pair.start('peer', calls, '192.0.2.1', '192.0.2.2', 'tcp', 'hold').sleeps()
    in_node.tell('it holds')
    in_node.channel.receive()


def test_single_calls_sleep_and_copy_as_docs_rds_says(lab, programs, calls):
    """Which calls sleep, and that zero-copy is there over tcp only."""
    def says(regex, *words):
        said = lab.call('b', shell, f'{calls} 192.0.2.2 {" ".join(words)} 2>&1 || true')
        assert re.search(f'(?s){regex}', said), f'{words}: {said}'
    says(r': Connection timed out, after 1\.', '192.0.2.77', 'ib', 'full')
    says(': success, after ', '192.0.2.77', 'ib', 'first')
    # One socket in eight has path 0, and need not wait for the others.
    says(r': success, after [05-9]\.', '192.0.2.77', 'tcp', 'first')
    lab.start('a', hold, programs, calls)
    lab.hear('a')
    says('20000 messages of 0 bytes were taken$', '192.0.2.1', 'tcp', 'empty')
    says('MSG_ZEROCOPY, cookie 77: success.*: 0 bytes more.*COMPLETION: 1 cookie, 77$', '192.0.2.1', 'tcp', 'zero')
    says(': Interrupted system call, after [5-9]', '192.0.2.1', 'tcp', 'blocked')
    lab.channels['a'].send(b'')
    lab.result('a')
    says('sendmsg with MSG_ZEROCOPY: Operation not supported', '192.0.2.1', 'ib', 'zero')


def test_a_server_with_w_reads_nothing_for_so_long(pair):
    server = pair.server(*listens('tcp', '-1', '-w', 3))
    talk = client(pair, '-T', 'tcp', 'talk')
    talk.quiet()
    # From what has come on, and not from when the server began.
    assert talk.ms >= 3000
    server.end().quiet()
