"""What the packets of a fresh run between two nodes say: facts, not bytes. Which packets crossed, in which order, with
which numbers, and that these are the numbers that the programs printed."""
import json
import re
import subprocess

import pytest

from nodes import TOP

SERVER, CLIENT = '192.0.2.1', '192.0.2.2'
ALL = 1 << 24


class Wire:
    """A run that was captured on both nodes."""

    def __init__(self, said):
        self.ladder = said
        self.folder = TOP / re.search(r'(?m)^also: (.*)/wire\.svg ', said)[1]
        self.packets = self.read('a')

    def read(self, node):
        """The packets that were captured there."""
        said = subprocess.run(['node', TOP / 'scripts/lib/wire/packets.mjs', self.folder / f'{node}.pcap'], check=True,
                              text=True, stdout=subprocess.PIPE).stdout
        return [json.loads(line) for line in said.splitlines()]

    def log(self, end):
        """What a program said."""
        return (self.folder / f'logs/{end}').read_text('utf-8')

    def sent(self, node, kind=''):
        """What a node has sent, but not again, as happens where one is slow; nor the CM's "have patience" to that."""
        return [packet for packet in self.packets if packet['src'] == node and re.match(kind, packet['kind']) and
                packet['mark'] != 'again' and packet['kind'] != 'MsgRcptAck']

    def kinds(self, node):
        """Of these, but for acknowledgements."""
        return [packet['kind'] for packet in self.sent(node) if packet['kind'] != 'ACK']

    def field(self, name, kind, node):
        """Of the first packet of that kind from a node."""
        return next(packet[name] for packet in self.packets if packet['kind'] == kind and packet['src'] == node)

    def psn(self, kind, node):
        return int(self.field('psn', kind, node), 0)


@pytest.fixture
def wire(run):
    """Makes such a run, in which all programs must be successful unless it may fail."""
    def wire(chapter, what, fails=False, **network):
        ran = run('env', 'COLUMNS=210', *(f'{name}={value}' for name, value in network.items()), 'scripts/wire.sh',
                  chapter, what)
        assert ran.returncode == 0, ran.stdout
        made = Wire(ran.stdout)
        assert fails or not re.search('exit status [1-9]', made.log('status.log')), ran.stdout
        return made
    return wire


def own(server, client, program='./{}'):
    """A folder for a run of our own: a server's and a client's options."""
    folder = TOP / 'build/tests/own_run'
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'commands').write_text(f'server: {program.format("server")} -1 {server}\n'
                                     f'client: {program.format("client")} -a {SERVER} {client}\n')
    return folder


def test_01_is_req_rep_rtu_a_send_each_way_dreq_drep(wire, run):
    one = wire('01_send_recv', 'default')
    assert one.kinds(CLIENT) == ['ConnectRequest', 'ReadyToUse', 'SEND Only', 'DisconnectRequest']
    assert one.kinds(SERVER) == ['ConnectReply', 'SEND Only', 'DisconnectReply']
    # Each is acknowledged, with its PSN; and the REQ says with which PSN the *other* side is to begin.
    for node, other, begins in (CLIENT, SERVER, 'ConnectRequest'), (SERVER, CLIENT, 'ConnectReply'):
        assert one.psn('ACK', node) == one.psn('SEND Only', other) == int(one.field('start_psn', begins, node), 0)
    assert 'ConnectRequest QPN' in one.ladder and 'received message: message from active/client' in one.log('server.log')
    # No line is longer than the terminal is wide.
    said = run('env', 'COLUMNS=80', 'scripts/lib/python.sh', 'wire.ladder', one.folder).stdout
    assert re.search(r'(?s)a ◀── b    ConnectRequest QPN.*a ──▶ b    ConnectReply', said)
    assert '\n           server     peer disconnected.' in said and max(map(len, said.splitlines())) <= 80
    # What node b has sent, and node a's capture lacks, was lost.
    capture, all_of_it = one.folder / 'a.pcap', one.folder / 'all.pcap'
    capture.rename(all_of_it)
    subprocess.run(['tshark', '-r', all_of_it, '-Y', f'not (ip.src == {CLIENT} && infiniband.bth.opcode == 4)', '-F', 'pcap',
                    '-w', capture], check=True, stderr=subprocess.DEVNULL)
    said = run('env', 'COLUMNS=80', 'scripts/lib/python.sh', 'wire.ladder', one.folder).stdout
    assert said.count('never arrives: ') == said.count('never arrives: SEND Only') == 1


def test_02_writes_to_the_address_and_with_the_rkey_of_msg_mr(wire):
    one = wire('02_write_read', 'write')
    for node, end in (CLIENT, 'client.log'), (SERVER, 'server.log'):
        va, rkey = (one.field(name, 'RDMA WRITE Only', node) for name in ('va', 'rkey'))
        assert f'peer_mr.addr={va}, peer_mr.rkey={rkey}\n' in one.log(end)
    assert one.field('dmalen', 'RDMA WRITE Only', CLIENT) == 1024


def test_02_reads_with_a_request_and_the_peers_device_answers(wire):
    one = wire('02_write_read', 'read')
    for node, other in (CLIENT, SERVER), (SERVER, CLIENT):
        assert one.psn('RDMA READ Request', node) == one.psn('RDMA READ response Only', other)


def test_02_a_mebibyte_is_first_middle_last_and_a_read_takes_its_answers_psns(wire):
    one = wire('02', own('-b 1048576 write', '-b 1048576 write'))
    # MSG_MR: address and rkey are bytes 8 to 15 and 16 to 19.
    message = subprocess.run(['tshark', '-r', one.folder / 'a.pcap', '-T', 'fields', '-e', 'data.data', '-Y',
                              f'ip.src == {SERVER} && infiniband.bth.opcode == 4'], check=True, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.split()[0]
    place = [int(one.field(name, 'RDMA WRITE First', CLIENT), 0) for name in ('va', 'rkey')]
    assert place == [int(message[16:32], 16), int(message[32:40], 16)]
    assert one.field('dmalen', 'RDMA WRITE First', CLIENT) == 1048576
    # That is 1,024 packets of 1,024 bytes.
    sent, psn = one.sent(CLIENT, 'RDMA WRITE')[:1024], one.psn('RDMA WRITE First', CLIENT)
    assert [int(packet['psn'], 0) for packet in sent] == [(psn + number) % ALL for number in range(1024)]
    assert [packet['kind'].split()[-1] for packet in sent] == ['First', *['Middle'] * 1022, 'Last']
    # So is the way back of a READ, with the PSNs from that of the request on.
    one = wire('02', own('-b 1048576 read', '-b 1048576 read'))
    psn = one.psn('RDMA READ Request', CLIENT)
    answers = {(int(packet['psn'], 0) - psn) % ALL: packet['kind'].split()[-1]
               for packet in one.sent(SERVER, 'RDMA READ response')}
    assert answers.keys() >= {*range(1024)} and (answers[0], answers[1023]) == ('First', 'Last')
    # What is asked for next comes after all of them.
    asked = [int(packet['psn'], 0) for packet in one.sent(CLIENT, 'RDMA READ Req|SEND')]
    assert asked[asked.index(psn) + 1] == (psn + 1024) % ALL


def test_03_begins_with_the_psn_that_it_says_and_says_it_in_the_clear(wire):
    one = wire('03_pure_verbs', 'write')
    for node, end in (CLIENT, 'client.log'), (SERVER, 'server.log'):
        psn = re.search(r'(?m)^Local PSN: (0x\w+),', one.log(end))[1]
        assert int(psn, 0) == one.psn('RDMA WRITE Only', node)
        assert re.search(rf'RDMA 1 QPN 0x\w+ PSN {psn} '.encode(), (one.folder / 'a.pcap').read_bytes())


def test_03_psn_wrap_goes_from_0xffffff_to_0(wire):
    # It has no patch, so the chapter's own programs will do.
    one = wire('03_pure_verbs', TOP / '03_pure_verbs/break/psn_wrap')
    assert one.field('psn', 'RDMA WRITE First', CLIENT) == '0xfffffd'
    sent = [packet['psn'] for packet in one.sent(CLIENT, 'SEND|RDMA')]
    assert sent[sent.index('0xffffff') + 1] == '0x0'
    for end in 'client.log', 'server.log':
        assert re.search('(?m)^65536 bytes verified', one.log(end))


def came_through(one):
    """With packets sent again, every byte is right."""
    return sum(packet['mark'] == 'again' for packet in one.packets) >= 3 and 'exit status 1' not in one.log('status.log') \
        and all('\n36864 bytes verified' in one.log(end) for end in ('client.log', 'server.log'))


def test_03_with_5_percent_loss_is_sent_again_and_every_byte_is_right(wire):
    """With rxe, each loss within one request counts against its 6 retries, and chance may lose no packet at all: either is
    rare, and three times in a row it is none."""
    for _ in range(3):
        one = wire('03', own('-b 36864 write', '-b 36864 write'), fails=True, LOSS='5%')
        if came_through(one):
            break
    assert came_through(one)
    assert re.search(r'RDMA .* \[retransmission\]', one.ladder)
    assert re.search('(?m)^rdma statistic show  *before  *after', one.ladder)
    assert re.search('(?m)^[ab] (duplicate_request|out_of_seq_request|completer_retry_err|rcvd_seq_err) ', one.ladder)


def test_05_three_clients_are_three_queue_pairs_on_each_side(wire):
    one = wire('05_multiclient', 'read')
    for node, whose in (SERVER, 'remote:'), (CLIENT, 'local: '):
        sent = {int(packet['destqp'], 0) for packet in one.packets if packet['src'] == node and packet['kind'] == 'SEND Only'}
        said = {int(qpn, 0) for qpn in re.findall(rf'{whose} QPN (0x\w+),', one.log('server.log'))}
        assert len(sent) == 3 and sent == said


def test_07_sends_as_many_messages_as_it_has_credits_and_they_come_back(wire):
    """A credit for each receive of the server's, -q 4, of which WELCOME tells; HELLO has taken one before."""
    one = wire('07_full_speed', 'send')
    may, left = None, []
    for packet in one.packets:
        if packet['mark'] == 'again' or not re.match('SEND Only [A-Z]', packet['text']):
            continue
        if packet['src'] == CLIENT:
            may = 0 if may is None else may - 1
            left += [may] if ' DATA' in packet['text'] else []
        elif given := re.search(r'credits: (\d+)', packet['text']):
            may += int(given[1])
    assert len(left) == 6 and min(left) >= 1
    assert not any('RNR NAK' in packet['text'] for packet in one.packets)
    for text in r'CREDIT \(credits: 2\)', r'HELLO \(credits: 4\)', r'WELCOME \(credits: 4\)':
        assert re.search(f'SEND Only {text}', one.ladder)
