"""The chapters that run over iWARP, on siw in a lab of its own: they count on the verbs and not on rxe; and
what says that it does not run there."""
import re

import pytest

import builds
from chapters import ALL, by_hand, each, with_cm
from test_every_chapter import RUNS, name

# One worker has all, and with them the lab.
pytestmark = [pytest.mark.device, pytest.mark.siw, pytest.mark.xdist_group('siw')]
OVER_IWARP = [c.chapter for c in ALL if with_cm(c)]


def test_the_lab_says_what_it_has_and_gives_no_other_device(run):
    assert 'node b: up, siw0 on eth0: 192.0.2.2' in run('scripts/lab.sh', 'status').stdout
    ran = run('scripts/lab.sh', 'exec', 'b', '--', 'scripts/setup_rxe.sh', '--quiet-check')
    assert (ran.returncode, ran.stdout.strip()) == (0, '192.0.2.2')
    ran = run('scripts/lab.sh', 'up', '--device', 'rxe')
    assert ran.returncode == 1 and 'is up with siw, and rxe is asked for' in ran.stdout


def test_without_a_kernel_that_has_it_the_lab_says_how_to_get_one(run):
    ran = run('env', 'LAB_NAME=none', 'LAB_ENGINE=tcg', 'scripts/lab.sh', 'up', '--device', 'siw', '--nodes', 1)
    assert ran.returncode == 1
    assert re.search('(?s)has no siw.*make lab-kernel.*LAB_ENGINE=tcg', ran.stdout)


def forty_clients(pair):
    """On node b."""
    for _ in range(40):
        client = pair.client()
        assert client.has('^received message: message from passive')


@pytest.mark.parametrize('chapter', ['01_send_recv'])
def test_of_forty_clients_no_first_message_is_lost(lab, programs):
    with lab.serving(programs, '-a', '192.0.2.1'):
        lab.call('b', forty_clients, programs)


def goes(folder):
    """Not where iWARP lacks it, writes with immediate data; nor where 08's first.c would hear of its clients' end."""
    lines = (folder / 'commands').read_text('utf-8')
    return folder.parts[-3] in OVER_IWARP and not re.search(r'(?m)^client: .* write /|^client1: \.\./01_send_recv/first', lines)


@pytest.mark.parametrize('folder', filter(goes, RUNS), ids=name)
def test_a_logged_run_can_be_had_again(run, tmp_path, folder):
    """As over rxe or, where that cannot be, as in expected/siw."""
    # Without its address, a server listens on IPv6's wildcard, where siw takes no client that comes by IPv4.
    commands = tmp_path / 'commands'
    commands.write_text(re.sub(r'(?m)^(server: .*(?:\./server|bench/bench)) -', r'\1 -a 192.0.2.1 -',
                               (folder / 'commands').read_text('utf-8')))
    ran = run('scripts/pair.sh', '-n', 2, '-d', builds.build(folder.parts[-3]), commands, tmp_path / 'run')
    assert ran.returncode == 0, ran.stdout
    siw = folder.parent / 'siw' / folder.name
    ran = run('scripts/compare_logs.sh', tmp_path / 'run', siw if siw.exists() else folder)
    assert ran.returncode == 0 and 'matches' in ran.stdout, ran.stdout


@pytest.mark.parametrize('chapter, words', [
    ('01_send_recv', ()), ('02_write_read', ('-o', 'first', 'write'))], ids=['01', '02'])
def test_a_server_that_would_be_first_waits_until_the_client_has_sent(pair, words):
    """A client that is connected says nothing; the server has something to say, and says nothing either."""
    server = pair.server('-1', '-t', 3, '-a', pair.address, *words)
    client = pair.begin_client(*pair.work, at=('ibv_post_send 1', 'stop'))
    client.stops()
    server.end(1).one_error("the client's message, which comes first over iWARP: nothing came within 3 s")
    client.resume().end(1)


@pytest.mark.parametrize('chapter', ['07_full_speed'])
def test_write_of_07_refuses_since_iwarp_has_no_immediate_data(pair):
    client = pair.client('-R', 9, 'write', '/etc/hostname', status=1)
    client.one_error('^error: write: this device is iWARP, .*; use send or read')


@each(by_hand)
def test_who_has_no_cm_says_at_once_that_it_does_not_run_there(pair):
    server = pair.start('server', './server', *pair.work).end(1)
    server.one_error('siw0 is an iWARP device, whose queue pairs only')
