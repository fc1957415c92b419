"""Chapter 04 on the wire between two nodes: the PSNs of the logs are those of the packets, and the exchange
cannot be read."""
import re
import shutil
import subprocess

import pytest

import builds
from nodes import TOP

CHAPTER = '04_tls_psn'
ADDRESSES = {'server': '192.0.2.1', 'client': '192.0.2.2'}
OTHER = {'server': 'client', 'client': 'server'}
TARGET = 'peer_mr.addr=(0x[0-9a-f]+), peer_mr.rkey=(0x[0-9a-f]+)$'


class Wire:
    """The logs and the packets of a run."""

    def __init__(self, folder):
        self.folder = folder

    def fields(self, packets, *names):
        """Of the packets that fit, a list each."""
        options = [word for name in names for word in ('-e', name)]
        ran = subprocess.run(['tshark', '-n', '-r', self.folder / 'a.pcap', '-Y', packets, '-T', 'fields', *options],
                             check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return [line.split('\t') for line in ran.stdout.splitlines()]

    def values(self, end, regex):
        """What the expression first finds in a log, as numbers."""
        said = (self.folder / f'logs/{end}.log').read_text('utf-8')
        return [int(value, 16) for value in re.search(f'(?m){regex}', said).groups()]


RUNS = []


@pytest.fixture
def wire(run):
    """A run, made once; in a folder of its own, since other tests look at the logged ones."""
    if not RUNS:
        folder = TOP / 'build/pytest/exchange'
        shutil.copytree(TOP / CHAPTER / 'expected/read', folder, dirs_exist_ok=True)
        ran = run('scripts/wire.sh', CHAPTER, folder)
        assert ran.returncode == 0, ran.stdout
        RUNS.append(Wire(TOP / 'build/wire' / CHAPTER / folder.name))
    return RUNS[0]


@pytest.mark.parametrize('end', ADDRESSES)
def test_each_direction_begins_with_the_psn_that_its_sender_logs(wire, end):
    psn = wire.values(end, 'Local PSN: (0x[0-9a-f]+),')
    # Requests only: an answer has its request's number.
    packets = wire.fields(f'ip.src == {ADDRESSES[end]} && infiniband.bth.opcode < 13', 'infiniband.bth.psn')
    assert [int(packets[0][0])] == psn
    assert wire.values(end, ' sq_psn=(0x[0-9a-f]+),') == psn
    assert wire.values(OTHER[end], ' rq_psn=(0x[0-9a-f]+),') == psn


@pytest.mark.parametrize('end', ADDRESSES)
def test_no_number_of_the_exchange_can_be_read_in_it(wire, end):
    exchange = ''.join(payload for payload, in wire.fields('tcp', 'tcp.payload'))
    assert len(exchange) > 2000
    qpn, psn = wire.values(end, '^local:  QPN (0x[0-9a-f]+), PSN (0x[0-9a-f]+),')
    addr, rkey = wire.values(end, TARGET)
    # As the line has them, and as bytes.
    for text in f'0x{qpn:06x} PSN 0x{psn:06x}', f'0x{addr:x}', '::ffff:192.0.2.', 'RDMA 1 ':
        assert text.encode().hex() not in exchange
    assert f'{qpn:08x}{psn:08x}' not in exchange and f'{addr:016x}' not in exchange
    packets = (wire.folder / 'a.pcap').read_bytes()
    assert not re.search(b'QPN 0x|PSN 0x|RKEY 0x|RDMA tutorial', packets)
    # What the exchange kept to itself is in the first packets: each side's READ has the other's address
    # and rkey, and what is read.
    reads = wire.fields(f'ip.src == {ADDRESSES[end]} && infiniband.bth.opcode == 12', 'infiniband.reth.va',
                        'infiniband.reth.r_key')
    assert [int(value, 0) for value in reads[0]] == [addr, rkey]
    assert b'message from passive/server side' in packets and b'message from active/client side' in packets


def test_it_is_tls_1_3_and_all_but_its_beginning_is_encrypted(wire):
    # The version that the server has chosen, and the one protocol offered.
    assert wire.fields('tls.handshake.type == 2', 'tls.handshake.extensions.supported_version') == [['0x0304']]
    assert wire.fields('tls.handshake.type == 1', 'tls.handshake.extensions_alpn_str') == [['rdma-params/2']]
    # Certificates, in which names and addresses are, are not to be seen.
    assert not wire.fields('tls.handshake.certificate', 'frame.number')
    # In the clear, each direction has one handshake message (22) and the change cipher spec (20) that TLS
    # 1.3 keeps for old middleboxes. All other records say that they are data (23), whatever is in them.
    for port in 'src', 'dst':
        found = wire.fields(f'tcp.{port}port == 4433 && tls', 'tls.record.content_type', 'tls.record.opaque_type')
        clear, opaque = (','.join(filter(None, column)).split(',') for column in zip(*found))
        assert clear == ['22', '20'] and set(opaque) == {'23'}


SLOW = '''#!/bin/bash
{
	until pgrep -x server; do sleep 0.02; done
	kill -STOP $$
	while pgrep -x server; do sleep 0.1; done
	sleep 2
	kill -CONT $$
} </dev/null >/dev/null 2>&1 &
exec /usr/bin/tcpdump "$@"
'''


def test_the_observer_of_plain_exchange_has_all_of_it_however_slow_the_capture_is(run):
    """It stands still while the programs run, and for two seconds after that."""
    assert run('scripts/break.sh', '--prepare', '04', 'plain_exchange').returncode == 0
    slow = builds.BUILDS / 'slow/tcpdump'
    slow.parent.mkdir(parents=True, exist_ok=True)
    slow.write_text(SLOW)
    slow.chmod(0o755)
    said = run('scripts/lab.sh', 'exec', 'a', '--', 'bash', '-c', f'PATH={slow.parent}:$PATH; cd "$0" &&'
               './plain_exchange.sh 192.0.2.1', TOP / f'build/break/{CHAPTER}/plain_exchange').stdout
    assert len(re.findall('(?m)^RDMA 1 QPN 0x.* PSN 0x', said)) == 2
    assert re.search('(?s)HELLO RDMA 1.*chapter 04.*rdma-params/2', said)
