"""Chapter 01 when the other end is absent, is stuck, or is killed before anybody looks at it: each wait
has the deadline of -t, the error says what was waited for, and the next client is served."""
import json
import subprocess

import pytest

CHAPTER = '01_send_recv'
# A call before which an end stops, and what the other waits for then.
STOPS = [('rdma_accept 1', 'rdma_get_cm_event 3', 'RDMA_CM_EVENT_ESTABLISHED'),
         ('ibv_post_send 1', 'ibv_post_send 1', 'a completion'),
         ('rdma_disconnect 1', 'rdma_disconnect 1', 'RDMA_CM_EVENT_DISCONNECTED')]


def test_a_host_that_is_absent_one_that_is_down_and_one_without_a_server(pair):
    here, pair.address = pair.address, '192.0.2.99'
    client = pair.client(status=1)
    client.one_error(r'RDMA_CM_EVENT_ADDR_ERROR \(status -110, Conn.*\): ')
    assert client.ms < 60_000
    # This one has an answer to "who has 192.0.2.98", but none after.
    pair.address = '192.0.2.98'
    device = json.loads(subprocess.run(['ip', '-j', 'route', 'get', pair.address], check=True,
                                       stdout=subprocess.PIPE).stdout)[0]['dev']
    neighbour = ['ip', 'neigh', 'replace', pair.address, 'dev', device]
    subprocess.run([*neighbour, 'lladdr', '02:00:00:00:00:98', 'nud', 'permanent'], check=True)
    client = pair.client('-t', 2, status=1)
    subprocess.run([*neighbour[:2], 'del', *neighbour[3:]], check=True)
    client.one_error('RDMA_CM_EVENT_ESTABLISHED: nothing came within 2 s; .* -t ')
    # The CM by itself would take a minute and a half.
    assert 2_000 <= client.ms < 60_000
    pair.address = here
    pair.client('-p', 20999, status=1).one_error(r'RDMA_CM_EVENT_REJECTED \(status 8\): no server lis')


@pytest.mark.parametrize('call, what', [(stop[0], stop[2]) for stop in STOPS], ids=lambda text: text.split()[0])
def test_a_server_that_does_not_answer_is_given_up(pair, call, what):
    server = pair.server(at=(call, 'stop'))
    client = pair.client('-t', 3, status=1)
    client.one_error(f'{what}: nothing came within 3 s; .* -t ')
    assert 3_000 <= client.ms < 60_000
    server.stops()
    server.resume().done()
    pair.served(server)
    server.stop()


@pytest.mark.parametrize('call, what', [stop[1:] for stop in STOPS], ids=lambda text: text.split()[0])
def test_a_client_that_does_not_answer_is_given_up(pair, call, what):
    server = pair.server('-t', 3)
    stuck = pair.begin_client(at=(call, 'stop'))
    stuck.stops()
    server.says('^received connection request')
    server.done()
    server.one_error(f'{what}: nothing came within 3 s; .* -t ')
    # The first is still there.
    pair.served(server)
    server.stop()


def test_clients_are_killed_before_the_server_has_looked_at_them(pair):
    server = pair.server('-t', 2, at=('rdma_get_cm_event 1', 'stop'))
    clients = [pair.begin_client(at=('rdma_get_cm_event 3', 'stop')) for _ in range(2)]
    for client in clients:
        client.stops()
    server.stops()
    for client in clients:
        client.kill('KILL')
        client.end(137)
    server.resume().says('^error: ', 2, 'err')
    pair.served(server)
    server.stop()
