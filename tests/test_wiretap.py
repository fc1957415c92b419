"""What docs/psn_security.md says that a switch can do, and what not: seen in the logs of both ends, and in the switch's
capture."""
import functools
import re
import subprocess

import pytest

from nodes import TOP

SERVER, CLIENT = '192.0.2.1', '192.0.2.2'
OURS = '^lent memory: message from active/client side'


class Tap:
    """A run across the switch."""

    def __init__(self, folder):
        self.folder = folder

    def said(self, who):
        """By the server, the client, the switch."""
        files = [self.folder / f'{who}.log'] if who == 'switch' else self.folder.glob(f'logs/{who}.*[gr]')
        return ''.join(path.read_text('utf-8') for path in files)

    def count(self, who, regex):
        return len(re.findall(regex, self.said(who), re.MULTILINE))

    def statuses(self):
        """How many programs ended so."""
        return re.findall(r'exit status (\d+)', self.said('status'))

    def packets(self, wanted, field):
        """Of those that the switch passed on."""
        return subprocess.run(['tshark', '-n', '-r', self.folder / 'switch.pcap', '-Y', wanted, '-T', 'fields', '-e', field],
                              check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.split()

    def carries(self, regex):
        """Whether anybody can read that."""
        return re.search(regex, (self.folder / 'switch.pcap').read_bytes())

    def swallowed(self):
        """The client's last SEND is a success for the client, acknowledged, and was never delivered."""
        # The client: WRITE and MSG_DONE, both complete. But its goodbye is not answered.
        assert self.count('client', '^send completed successfully') == 2
        assert self.count('client', 'WRITE: Both DONE, disconnecting')
        assert self.count('client', '^error: .*ended without a goodbye')
        # The server: nothing came, and it has waited for it.
        assert not self.count('server', 'status=0 .*opcode=128|Both DONE')
        assert self.count('server', "^error: the peer's MSG_DONE .*nothing came")
        assert self.statuses() == ['1', '1']
        # The forged packet had the number of that SEND.
        psn = int(re.search(r' its own: .*PSN (0x\w+),', self.said('switch'))[1], 16)
        for sender, opcode in (CLIENT, 4), (SERVER, 17):
            found = self.packets(f'ip.src == {sender} && infiniband.bth.opcode == {opcode}', 'infiniband.bth.psn')
            assert int(found[-1], 0) == psn
        # More, if the machine is so busy that others were sent again.
        assert int((self.folder / 'duplicates').read_text()) > 0

    def overwritten(self):
        """And the switch's packet is in the server's memory."""
        assert self.count('server', '^lent memory: forged: neither of you wrote this$')
        self.swallowed()

    def unharmed(self):
        """Nothing of what the switch has sent has arrived."""
        assert self.count('switch', '^sent of its own: [1-9]')
        assert self.count('server', OURS) and self.statuses() == ['0', '0']
        assert self.count('server', 'Both DONE') == self.count('client', 'Both DONE') == 1


@functools.lru_cache(1)
def ran(name):
    """All of them, in a lab of their own."""
    return subprocess.run(['env', f'LAB_NAME={name}', TOP / 'scripts/wiretap.sh'], check=True)


@pytest.fixture
def tap(lab):
    """One of the runs."""
    def tap(chapter, link):
        ran(lab.env['LAB_NAME'])
        return Tap(TOP / f'build/wiretap/{chapter}/{link}')
    return tap


@pytest.mark.parametrize('number', ['03', '04'])
def test_one_forged_write_overwrites_memory_and_swallows_a_send(tap, number):
    """In 04 just as in 03, though the exchange cannot be read."""
    one = tap(number, 'open')
    assert one.count('switch', '^read an RDMA WRITE: .*\nits ICRC is what anybody would compute\n')
    assert one.count('switch', '^sent of its own: 1$')
    one.overwritten()
    # It is the payload that can be read: here, the client's message.
    assert bool(one.carries(b'RDMA 1 QPN|RKEY')) == (number == '03') and one.carries(b'message from active/client side')


def test_a_write_of_no_bytes_needs_no_rkey_and_swallows_a_send_as_well(tap):
    one = tap('04', 'nothing')
    assert one.count('switch', '^sends one of its own: .* address 0x0, rkey 0x0$') and one.count('server', OURS)
    one.swallowed()


def test_a_wrong_rkey_at_the_right_number_ends_the_connection(tap):
    one = tap('04', 'badkey')
    assert one.count('server', OURS) and one.statuses() == ['1', '1']
    assert one.count('server', '^error: ') and one.count('client', '^error: ')


def test_who_is_told_the_numbers_need_not_read_a_packet(tap):
    one = tap('04', 'told')
    assert one.count('switch', '^was told of an RDMA WRITE: ')
    one.overwritten()


def test_on_macsec_it_is_not_to_be_read_nor_to_be_forged(tap):
    one = tap('04', 'macsec')
    one.unharmed()
    assert set(one.packets('frame', 'eth.type')) == {'0x88e5'} and not one.carries(b'message from|RDMA|rdma-params')


def test_with_ipsec_it_is_not_to_be_forged_either(tap):
    one = tap('04', 'ipsec')
    one.unharmed()
    assert one.packets('esp', 'frame.number') and not one.packets('ip and not esp', 'frame.number')


def refused(*words, status):
    """It ends so; returns what it says."""
    ran = subprocess.run([str(word) for word in words], cwd=TOP, check=False, text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
    assert ran.returncode == status, ran.stdout
    return ran.stdout


def test_nothing_of_it_runs_outside_of_the_lab(tmp_path):
    network = refused('ip', 'addr', status=0)
    assert 'not a node of the lab' in refused('scripts/lib/python.sh', 'wiretap.switch', 'lo', 'lo', tmp_path / 'capture', status=1)
    assert not (tmp_path / 'capture').exists()
    for words in 'switch', 'macsec lo 00 00':
        assert 'not a node of the lab' in refused('scripts/lib/wiretap/net.sh', *words.split(), status=1)
    assert refused('ip', 'addr', status=0) == network
    refused('scripts/wiretap.sh', '03', status=2)
