"""Chapters 03 to 05: what a server and a client make of whatever a peer says that was let in."""
import contextlib
import os
import re
import signal
import socket
import subprocess
import time

import pytest

from chapters import each, numbers
from openssl_peers import BYE, FALSE_PORT, HELLO, PORT, READY, Peers
from pair import until


def parameters(gid='::ffff:192.0.2.1', length=1024, version=1, qpn='000011', psn='123456', mtu=1024, addr='55d0c0ffee00'):
    """Of a queue pair that is not there."""
    return (f'RDMA {version} QPN 0x{qpn} PSN 0x{psn} GID {gid} LID 0x0000 MTU {mtu} MODE write '
            f'ADDR 0x{addr} RKEY 0x000007f1 LENGTH {length}\n').encode()


# What no queue pair can have, or its line; all else that is refused is tried by tests/fuzz/fuzz_params.c.
LIES = [({'version': 2}, 'version 2, this program version 1'), ({'qpn': '000001'}, 'QPN 0x1 is not one'),
        ({'psn': '1000000'}, 'PSN 0x1000000 has more than 24 bits'), ({'mtu': 1025}, 'does not have the form'),
        ({'gid': '::'}, 'GID is zero'), ({'gid': 'ff02::1'}, 'a multicast address'),
        ({'gid': '::ffff:127.0.0.1'}, 'an IPv4 address that no host has'), ({'length': 0}, '1 to 67108864 are allowed'),
        ({'addr': 'ffffffffffffffff'}, 'beyond the end of the address space')]


class Talker:
    """A client that says what it likes, and hears nothing."""

    def __init__(self, peers):
        self.peers, address = peers, peers.pair.address
        if peers.pair.number == '03':
            self.socket = socket.create_connection((address, PORT[peers.pair.chapter]))
            self.say = self.socket.sendall
            return
        self.process = subprocess.Popen(
            ('openssl', 's_client', '-quiet', '-connect', f'{address}:4433', '-cert', 'own.pem', '-key', 'own.key',
             *peers.alpn), cwd=peers.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, **peers.env})

    def say(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def is_cut(self):
        """TCP ends, and no goodbye is said."""
        if self.peers.pair.number == '03':
            self.socket.close()
        else:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process.stdin.close()


def requests(server):
    return server.count('received connection request')


def hear(peers, server, *said):
    """The line that a server says of a client that says this."""
    before, heard, posted = len(server.err), requests(server), begun(server)
    talker = Talker(peers)
    for text in said:
        if text is None:
            until('a server that has let it in', lambda: requests(server) > heard)
            talker.is_cut()
        elif text is ...:
            until('a transfer that has begun', lambda: begun(server) > posted)
        else:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                talker.say(text)
    until('an error of the server', lambda: server.err[before:].endswith('\n'))
    talker.is_cut()
    return server.err[before:]


def begun(server):
    return server.count('About to post')


@each(numbers('03', '04', '05'))
def test_a_server_believes_nothing_that_a_client_says_in_the_exchange(pair):
    peers = Peers(pair)
    server = peers.server()
    good, wrong = parameters(), 'something other than '
    cases = [
        ((good[:-1],), "parameters: nothing came within 3 s"),
        ((good[:-1], None), 'closed the connection|Connection reset'),
        ((good, BYE), wrong), ((good, HELLO), wrong),
        ((good, READY, ..., READY), wrong),
        ((parameters(length=1000), READY), 'start both with the same -b'),
        ((b'x' * 257,), 'more than 256 bytes'), ((b'x' * 255 + b'\n',), 'begin with RDMA'),
        ((good.replace(b'MTU', b'\0TU'),), 'does not have the form'), *(((parameters(**lie),), error) for lie, error in LIES),
    ]
    if pair.number != '03':
        cases += [((parameters(gid),), 'GID is not the address') for gid in (
            '::ffff:192.0.2.2', '::ff:c000:201')]
        # In one record, of which OpenSSL keeps the rest.
        cases += [((good, READY + more), 'other than READY behind it') for more in (READY, BYE)]
    for said, error in cases:
        assert re.fullmatch(f'error: .*({error}).*\n', hear(peers, server, *said)), said
    # Each byte is news, and the deadline stays where it was.
    talker, lines, times = Talker(peers), len(server.err), 0
    while len(server.err) == lines:
        assert times < 25, 'a client that says a byte now and then is waited for'
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            talker.say(good[times:times + 1])
        times += 1
        time.sleep(0.8)
    talker.is_cut()
    assert 'parameters: nothing came within 3 s' in server.err[lines:]
    # It is cut off in the middle of the transfer.
    assert 'status 5 ' in hear(peers, server, good, READY, ..., None)
    # What is good is served, whatever was before.
    pair.client(*peers.files(), 'write', env=peers.env).quiet()
    server.stop()


@each(numbers('03', '04', '05'))
def test_a_client_talks_only_to_a_server_that_says_hello(pair):
    peers = Peers(pair)
    said = [b'SSH-2.0-OpenSSH_9.2p1\r\n', b'HELLO RDMA 2\n']
    if pair.number == '05':
        # And only to one that says whether there is a place.
        said += [HELLO + b'PLACE 1, 1 of \n', HELLO + b'PLACE 01, 1 of 9\n', HELLO + READY]
    for text in said:
        if pair.number != '03':
            client = peers.refused_by_client('own', pair.address, says=text)
        else:
            with socket.create_server((pair.address, FALSE_PORT)) as listener:
                client = pair.begin_client('-p', FALSE_PORT, 'write')
                listener.accept()[0].sendall(text)
                client.end(1)
        client.one_error('something other than (hello|PLACE)')


@each(numbers('05'))
def test_a_names_first_address_is_silent_and_the_second_has_its_time(pair):
    server = pair.server('write')
    subprocess.run(('nft', 'add table inet t; add chain inet t i { type filter hook input priority 0; };'
                    'add rule inet t i ip6 daddr 2001:db8::1 tcp dport 4433 drop'), check=True)
    try:
        client = pair.client('-a', 'node-a', '-t', 10, 'write')
    finally:
        subprocess.run(('nft', 'delete table inet t'), check=True)
    client.one_error('the TCP connection: nothing came within 5 s')
    server.stop().quiet()


@each(numbers('03', '04', '05'))
def test_without_a_random_number_no_psn_is_made_up(pair):
    call = 'getrandom' if pair.number == '03' else 'RAND_bytes'
    server = pair.server('write')
    pair.client('write', status=1, at=(f'{call} 1', 'fail')).one_error(f'{call}: .*no PSN without it')
    server.stop()


@each(numbers('04', '05'))
@pytest.mark.parametrize('role', ['server', 'client'])
def test_a_goodbye_that_the_system_does_not_take_is_a_failure_of_this_side(pair, role):
    """The peer is not blamed; that one hears nothing."""
    at = {role: ('SSL_write 1', 'fail')}
    server = pair.server('-1', 'write', at=at.get('server'))
    client = pair.client('write', at=at.get('client'), status=1)
    server.end(1)
    ends = {'server': server, 'client': client}
    ends.pop(role).one_error('SSL_write: Input/output error')
    for other in ends.values():
        other.one_error('without a goodbye')
