"""Which device, port and GID a program takes on a host with several, and what a network may want of its
packets: in the lab, with Soft-RoCE on a netdev, on another, on a bond, and for a VLAN."""
import contextlib
import pathlib
import re
import socket
import subprocess

import pytest

from chapters import each, numbers
from pair import until

CHAPTER = '03_pure_verbs'
# rxe1 on t0 and rxe2 on a bond, which lead nowhere; a VLAN on eth0, whose addresses rxe0 has as well.
SET_UP = '''set -e
modprobe -a veth 8021q bonding
ip link add t0 type veth peer name t1
ip link add bond0 type bond mode active-backup miimon 100 fail_over_mac active
ip link add t2 type veth peer name t3
ip link add t4 type veth peer name t5
ip link set t2 master bond0
ip link set t4 master bond0
ip link add link eth0 name eth0.7 type vlan id 7
for netdev in t0 t1 t2 t3 t4 t5 bond0 eth0.7; do ip link set "$netdev" up; done
ip addr add "198.51.100.$0/26" dev t0
ip addr add "198.51.100.$((64 + $0))/26" dev bond0
ip addr add "198.51.100.$((128 + $0))/26" dev eth0.7
scripts/setup_rxe.sh -i t0 -n rxe1
scripts/setup_rxe.sh -i bond0 -n rxe2
for netdev in eth0 eth0.7; do
	until ip -6 addr show dev "$netdev" scope link -tentative | grep -q fe80; do
		read -rt 0.1 <> <(:) || true
	done
done'''
TAKE_DOWN = '''rdma link delete rxe1; rdma link delete rxe2
for netdev in t0 t2 t4 bond0 eth0.7; do ip link del "$netdev"; done; true'''


@pytest.fixture(autouse=True)
def netdevs(run):
    """Both nodes have them."""
    try:
        for node, number in ('a', 1), ('b', 2):
            ran = run('scripts/lab.sh', 'exec', node, '--', 'bash', '-c', SET_UP, number)
            assert ran.returncode == 0, ran.stdout
        yield
    finally:
        for node in 'a', 'b':
            run('scripts/lab.sh', 'exec', node, '--', 'bash', '-c', TAKE_DOWN)


@pytest.fixture
def link_local(run):
    """The address that node a's eth0 and its VLAN share."""
    said = run('scripts/lab.sh', 'exec', 'a', '--', 'ip', '-6', '-o', 'addr', 'show', 'dev', 'eth0',
               'scope', 'link').stdout
    return re.search('inet6 (fe80::[^/]+)', said)[1]


def test_of_several_devices_a_bond_and_a_vlan_the_one_with_the_address_is_used(pair):
    # It listens at all its addresses.
    server = pair.server('write')
    for address, device in (('192.0.2.1', 'rxe0'), ('198.51.100.1', 'rxe1'), ('198.51.100.65', 'rxe2'),
                            ('198.51.100.129', 'rxe0')):
        client = pair.client('-a', address, 'write')
        assert client.has(f'^Opened RDMA device: {device},', '^remote buffer: ')
        if device == 'rxe1':
            assert client.has('sgid_index=1$')
        server.done()
    server.stop()
    assert server.has(*(f'^Opened RDMA device: {device}' for device in ('rxe0', 'rxe1', 'rxe2')))


@contextlib.contextmanager
def capturing(pair, packets):
    """On a node: as long as it goes on. Then the set has of each packet: VLAN, IPv4 and IPv6 sender, DSCP,
    length."""
    file = pair.scratch / 'packets.pcap'
    capture = pair.start('capture', 'tcpdump', '-i', 'eth0', '-n', '-s', 4096, '--immediate-mode', '-B', 32768,
                         '-U', '-Z', 'root', '-w', file,
                         'udp port 9 or udp port 4791 or (vlan and udp port 4791)')
    capture.says('listening on', stream='err')
    yield
    # What was sent before this is in the file when this is.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.sendto(b'all of it', ('192.0.2.1', 9))
    until('the end of the capture', lambda: b'all of it' in file.read_bytes())
    capture.stop('INT')
    fields = [word for name in ('vlan.id', 'ip.src', 'ipv6.src', 'ip.dsfield.dscp', 'frame.len')
              for word in ('-e', name)]
    packets.update(subprocess.run(['tshark', '-r', file, '-Y', 'udp.port != 9', '-T', 'fields', *fields], check=True,
                                  text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout.splitlines())


def captured(pair, *clients):
    """On node b: clients with these words, when they have ended; and the packets."""
    packets = set()
    with capturing(pair, packets):
        clients = [pair.client(*words) for words in clients]
    return clients, [packet.split('\t') for packet in packets]


def test_a_vlans_packets_are_tagged_by_its_ipv4_address_and_its_link_local_one(lab, programs, link_local):
    with lab.serving(programs, 'write'):
        clients, packets = lab.call('b', captured, programs, *(
            ('-a', to, 'write') for to in ('198.51.100.129', f'{link_local}%eth0', f'{link_local}%eth0.7')))
    assert all(client.has('^remote buffer') for client in clients) and clients[1].has('sgid_index=0$')
    # Of one address, with a tag and without; of IPv4, only with.
    assert {vlan for vlan, _, six, *_ in packets if six == link_local} == {'7', ''}
    assert {vlan for vlan, four, *_ in packets if four == '198.51.100.129'} == {'7'}


def classes(packets):
    """The traffic classes, each of them with a sender, as DSCP."""
    return {(four, dscp) for _, four, _, dscp, _ in packets}


def test_traffic_class_and_mtu_are_in_the_packets_timeout_and_retries_in_the_queue_pair(lab, programs):
    with lab.serving(programs, '-Q', 104, 'write'):
        (client,), packets = lab.call('b', captured, programs, (
            '-Q', 72, '-M', 256, '-S', 3, '-I', 0, '-E', 17, '-N', 3, 'write'))
    assert client.has('path_mtu=256', 'timeout=17, retry_cnt=3', '^remote buffer')
    assert classes(packets) == {('192.0.2.1', '26'), ('192.0.2.2', '18')}
    # 1,024 bytes in packets of 256, and headers of at most 74.
    assert max(int(length) for *_, length in packets) < 340


def fail_over(server):
    """The other end of the active side's cable is taken off: the bond goes on by the other side, and with
    its hardware address, of which the CM tells."""
    bond = pathlib.Path('/proc/net/bonding/bond0')
    # The bond's own line is the third.
    until('a bond with two sides', lambda: bond.read_text().count('MII Status: up') == 3)
    side = pathlib.Path('/sys/class/net/bond0/bonding/active_slave').read_text().strip()
    end = f't{int(side[1:]) + 1}'
    subprocess.run(['ip', 'link', 'set', end, 'down'], check=True)
    server.says('ADDR_CHANGE: only a hint')
    subprocess.run(['ip', 'link', 'set', end, 'up'], check=True)


@each(numbers('01', '02', '07'))
def test_a_bond_that_fails_over_ends_no_server_that_waits_for_a_client(pair):
    serves, asks = pair.work, pair.work
    if pair.number == '07':
        serves, asks = ('-d', pair.scratch), ('send', '/etc/services')
    pair.address = '198.51.100.65'
    server = pair.server('-1', '-a', pair.address, *serves)
    fail_over(server)
    pair.client(*asks)
    server.end().quiet()
    server = pair.server('-1', '-a', pair.address, *serves)
    fail_over(server)
    server.stop().quiet()
