"""Chapter 06: memory that is lent over ib, the keys for it, and what is on the wire. Node a, 192.0.2.1,
has the server, and node b, 192.0.2.2, who borrows."""
import ctypes
import re
import socket
import struct
import subprocess

import builds
import in_node
from nodes import TOP, serve
from pair import until
from test_06_rds import BORROW, IB, SOL_RDS, WRITTEN, bound, client, comes_back, listens, new_address, rds, shell

CHAPTER = '06_rds'


def key_for(one):
    """What a socket borrows: the key."""
    one.sendto(BORROW, ('192.0.2.1', 4000))
    key, = (struct.unpack('Q', data)[0] for level, kind, data in one.recvmsg(100, 100)[1]
            if (level, kind) == (SOL_RDS, 2))
    return key


def borrow(spoil=False):
    """On node b: a program that borrows memory over ib; returns the key. It may also write, with another
    key: so it acknowledges nothing."""
    with bound('192.0.2.2', 0, IB) as one:
        key = key_for(one)
        if spoil:
            text = ctypes.create_string_buffer(64)
            vector = (ctypes.c_uint64 * 2)(ctypes.addressof(text), 64)
            wrong = struct.pack('=7Q', key + 0x10, 0, 64, ctypes.addressof(vector), 1, 1, 0)
            one.sendmsg([WRITTEN], [(SOL_RDS, 1, wrong)], 0, ('192.0.2.1', 4000))
    return key


def keep_a_loan(pair):
    """On node b: after a client that writes, one that borrows twice, and says that it has written, and has not."""
    client(pair, '-T', 'ib', 'write').quiet()
    with bound('192.0.2.2', 0, IB) as one:
        first = key_for(one)
        client(pair, '-T', 'ib', '-t', 3, 'write', status=1).one_error('^error: the loan: nothing came within 3 s')
        assert key_for(one) != first
        one.sendto(WRITTEN, ('192.0.2.1', 4000))
        client(pair, '-T', 'ib', 'write').quiet()


def test_one_client_has_the_memory_at_a_time_and_finds_nothing_of_the_one_before(lab, programs):
    with lab.serving(programs, *listens('ib', '-t', 60)) as server:
        lab.call('b', keep_a_loan, programs)
    server.one_error('another client has our memory')
    assert server.count('^the memory that was lent: .') == 2 and server.has('^the memory that was lent: $')


def sleeping_server(pair):
    """On node a: one that sleeps when it has lent something: it is the kernels that see to it."""
    server = pair.server(*listens('ib', '-t', 300))
    in_node.tell('it listens')
    in_node.channel.receive()
    server.kill('STOP')
    in_node.tell('it sleeps')
    in_node.channel.receive()
    server.resume().stop()


def test_a_key_that_was_used_once_is_good_for_nothing_more(lab, programs, comes_back):
    if not comes_back:
        return
    lab.start('a', sleeping_server, programs)
    lab.hear('a')
    key = lab.call('b', borrow)
    lab.channels['a'].send(b'')
    lab.hear('a')
    # Neither gets an answer.
    first = lab.call('b', client, programs, '-T', 'ib', '-t', 6, '-k', hex(key), 'write', status=(0, 1))
    second = lab.call('b', client, programs, '-T', 'ib', '-t', 20, '-k', hex(key), 'write', status=(0, 1))
    lab.channels['a'].send(b'')
    lab.result('a')
    assert first.has(r'^write completed: status=0 \(success\)\.$')
    assert second.has(r'^error: RDMA write: status 1 \(remote error', stream='err') and not second.has('completed')


def test_a_loan_that_nobody_uses_is_taken_back_and_the_connection_comes_back(lab, programs, comes_back):
    """What is lent and not used keeps the hosts apart when their connection breaks."""
    if not comes_back:
        return
    with lab.serving(programs, *listens('ib', '-t', 5)) as server:
        lab.call('b', borrow, True)
        one = lab.call('b', client, programs, '-T', 'ib', '-t', 60, 'talk')
    one.quiet()
    assert server.has('^taking back what 192.0.2.2 port') and one.has('^received message: ')


def test_without_a_connection_for_it_nothing_is_lent_and_that_is_said_and_then_there_is_one(lab, programs):
    """The clients come over tcp from an address that no connection over ib has yet. They cannot use what they
    get over ib; that is their own affair."""
    address = lab.call('b', new_address, 100)
    words = '-b', address, '-T', 'tcp', '-t', 5, 'write'
    with lab.serving(programs, *listens('ib')) as server:
        first = lab.call('b', client, programs, *words, status=1)
        second = lab.call('b', client, programs, *words, status=(0, 1))
    lab.call('b', shell, f'ip address del {address}/24 dev eth0')
    first.one_error('^error: the loan: nothing came within 5 s')
    assert server.has(f'^error: sendmsg: 24 bytes to {address} port [0-9]*: Resource temporarily unavailable; '
                      '.*no connection over ib yet', stream='err')
    assert second.has('^borrowed: rkey=')


def serve_and_mark(pair):
    """On node a: what comes last on the wire is a mark."""
    serve(pair, *listens('ib'))
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'all of it', ('192.0.2.2', 9))


CAPTURE = builds.BUILDS / '06_rds.pcap'


def captured(pair):
    """On node b: a client, and what was on the wire."""
    dump = pair.start('tcpdump', 'tcpdump', '-Z', 'root', '-i', 'eth0', '-n', '-s', 4096, '--immediate-mode',
                      '-B', 32768, '-U', '-w', CAPTURE, 'udp port 4791 or udp port 9')
    dump.says('listening on', stream='err')
    # Of so many messages, some ask for an acknowledgement.
    pair.client('-T', 'ib', '-n', 40, 'count')
    one = pair.client('-T', 'ib', 'write')
    in_node.tell('it has ended')
    until('all of it', lambda: b'all of it' in CAPTURE.read_bytes())
    dump.kill('INT')
    dump.any_end()
    return one


def test_on_the_wire_a_loan_a_write_with_its_key_and_its_end(lab, programs):
    """The key that the packets of the queue pair have is the one that RDS's own messages lend and take
    back."""
    CAPTURE.unlink(missing_ok=True)
    lab.start('a', serve_and_mark, programs)
    lab.hear('a')
    lab.start('b', captured, programs)
    lab.hear('b')
    lab.channels['a'].send(b'')
    lab.result('a')
    one = lab.result('b')
    one.quiet()
    said = subprocess.run([TOP / 'scripts/wire.sh', '--read', CAPTURE], check=False, text=True,
                          stdout=subprocess.PIPE).stdout
    rkey = re.search('(?m)^borrowed: rkey=(0x[0-9a-f]*),', one.out)[1]
    assert re.search(rf'(?s)rkey {rkey} is lent.*RDMA WRITE Only va 0x0 rkey {rkey} .*rkey {rkey} was used', said)
    assert '> 0 (ping' in said
