"""Two real hosts, reached by ssh: here two nodes with a server of ssh. Their reader's machine is node a."""
import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from nodes import TOP
from pair import ENOUGH, until

pytestmark = [pytest.mark.device, pytest.mark.xdist_group('hosts')]
# What the reader has cloned, with the programs built.
READER = pathlib.Path('/tmp/reader')
KEY = READER / 'key'
NFT = 'table ip hosts {{ chain in {{ type filter hook input priority 0; {} drop; }}; }}'


def called(*words, status=0, **more):
    """A program on the node must end so; returns what it says."""
    ran = subprocess.run([str(word) for word in words], check=False, text=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    assert ran.returncode == status, ran.stdout
    return ran.stdout


def reader():
    """On node a: the clone, and a key; returns its public part."""
    READER.mkdir()
    for name in 'Makefile', 'chapters.tsv', 'scripts', '01_send_recv', '02_write_read', '03_pure_verbs', '07_full_speed':
        called('cp', '-rp', TOP / name, READER)
    called('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', KEY)
    common = f'''Host *
        User root
        Port 2222
        IdentityFile {KEY}
        StrictHostKeyChecking no
        LogLevel ERROR
        UserKnownHostsFile /dev/null'''
    (READER / 'config').write_text(f'Host one\nHostName 192.0.2.1\nHost two\nHostName 192.0.2.2\n{common}\n')
    return pathlib.Path(f'{KEY}.pub').read_text()


def serve_ssh(key):
    """On both."""
    folder = pathlib.Path('/root/.ssh')
    folder.mkdir(mode=0o700)
    (folder / 'authorized_keys').write_text(key)
    called('dropbearkey', '-t', 'ed25519', '-f', folder / 'host')
    # It goes to the background, where no pipe is to wait for it.
    subprocess.run(('dropbear', '-r', folder / 'host', '-p', '2222', '-P', folder / 'pid'), check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until('a server of ssh', (folder / 'pid').exists)


def end_ssh():
    """On both; the next test begins anew. After one that has failed, so do the nodes."""
    folder = pathlib.Path('/root/.ssh')
    if folder.exists():
        os.kill(int((folder / 'pid').read_text()), signal.SIGTERM)
        # It removes that file itself, as the last thing.
        until('the end of the server of ssh', lambda: not (folder / 'pid').exists())
        shutil.rmtree(folder)
    shutil.rmtree(READER, ignore_errors=True)


def left():
    """What of a run is on a host: files, and processes in its folder."""
    return glob.glob('/tmp/rdma-*') + glob.glob('/tmp/tmp.*') + [
        link for link in glob.glob('/proc/[0-9]*/cwd') if '/tmp/rdma-' in target(link)]


def target(link):
    """Of a process that may have ended."""
    try:
        return os.readlink(link)
    except OSError:
        return ''


@pytest.fixture(autouse=True)
def hosts(lab):
    """Both serve ssh; after the test, nothing of the run is left there."""
    key = lab.call('a', reader)
    before = {node: lab.call(node, left) for node in 'ab'}
    for node in 'a', 'b':
        lab.call(node, serve_ssh, key)
    yield
    for node in 'a', 'b':
        assert set(lab.call(node, left)) <= set(before[node])
        lab.call(node, end_ssh)


def make(*words, status=0, hosts='one,two'):
    """On node a, as a reader types it; returns what was said."""
    return called('make', '-s', *words, f'HOSTS={hosts}', 'SSH_CONFIG=config', cwd=READER, status=status)


def report():
    """What is to be sent back."""
    return (READER / 'build/hosts/report.txt').read_text()


def reported():
    """On node a: what becomes of lines that name both hosts, as the log of a run that differs does."""
    names = ['rxe0', 'eth0', os.uname().nodename, 'two', '192.0.2.1', '2001:db8::2']
    called('bash', '-c', 'HOSTS=one,two device_top=$PWD; . scripts/lib/hosts.sh; echo "said: $*" | hosts_report run',
           'bash', *names, cwd=READER)
    return names, report()


def test_the_logged_runs_match_and_the_report_names_nobody(lab):
    said = lab.call('a', make, 'demo', 'CH=01 02', 'DEVICE=rxe0')
    runs = [*TOP.glob('0[12]_*/expected/*/commands')]
    assert len(runs) > 6 and said.count('matches  ') == len(runs), said
    assert 'RDMA devices: 192.0.2.1 on host a, 192.0.2.2 on host b' in said
    text = lab.call('a', report)
    assert text.count(' matches ') == len(runs), text
    assert re.search('(?m)^host b: Linux [0-9].*\n  device: rxe, node_type 1: CA', text), text
    assert not re.search(r'192\.0\.2|node-[ab]|\btwo\b|rxe0|eth0', text), text
    names, text = lab.call('a', reported)
    assert 'said: ' in text and not re.search('|'.join(rf'\b{name}\b' for name in names), text), text


def test_a_case_breaks_as_it_does_in_the_lab(lab):
    said = lab.call('a', make, 'break', 'CH=01', 'CASE=no_recv')
    assert 'recorded run: matches' in said, said
    assert 'error: send: status 13' in said and 'What happened, and why' in said, said
    assert 'make break of 01_send_recv, no_recv' in lab.call('a', report)


def measured(name, status=0):
    """On node a: what a comparison says."""
    return called('scripts/bench.sh', '-p', '1', name, cwd=READER, status=status,
                  env=os.environ | {'HOSTS': 'one,two', 'SSH_CONFIG': 'config', 'BENCH_COUNT': '500'})


def test_a_comparison_has_its_server_on_one_host_and_its_client_on_the_other(lab):
    said = lab.call('a', measured, '07_steps')
    assert 'Measured on two hosts, Linux ' in said and len(re.findall(r'(?m)^(?:write|read), \w+ +\d', said)) == 7, said
    assert 'write, selective' in lab.call('a', report)
    assert '08_loop does not run on two hosts; 07 07_steps do' in lab.call('a', measured, '08_loop', status=2)


def device(verb):
    """On node b: del, or add."""
    if verb == 'add':
        called('rdma', 'link', 'add', 'rxe0', 'type', 'rxe', 'netdev', 'eth0')
        return
    # With a program that has it open, this hangs, and cannot be killed.
    until('a device that no program has open', lambda: 'pid' not in called('rdma', 'resource', 'show', 'ctx'))
    called('rdma', 'link', 'delete', 'rxe0')


def sentences(said, *parts):
    """What, why and what to try, in that order, and nothing else is wrong."""
    assert re.search('(?s)' + r'[^\n]*\n'.join((
        f'hosts: {parts[0]}', f'  why: [^\n]*{parts[1]}', f'  try: [^\n]*{parts[2]}')), said), said
    assert len(re.findall('(?m)^hosts: (?!host [ab] is)', said)) == 1 and 'matches' not in said, said


def test_a_host_that_there_is_not(lab):
    sentences(lab.call('a', make, 'demo', 'CH=01', status=2, hosts='one,nobody'),
              'host b: ssh does not reach nobody', 'resolve', 'ssh -F .*config nobody true')


def test_a_host_without_a_device(lab):
    lab.call('b', device, 'del')
    try:
        said = lab.call('a', make, 'demo', 'CH=01', status=2)
    finally:
        lab.call('b', device, 'add')
    sentences(said, r'host b \(two\) has no RDMA device', 'there is no RDMA device', 'sudo scripts/setup_rxe.sh')


def filtered(rule):
    """On node a, from now on."""
    called('nft', NFT.format(rule))


def unfiltered():
    """As before."""
    called('nft', 'delete table ip hosts')


def test_a_firewall_that_drops_what_the_client_sends(lab):
    lab.call('a', filtered, 'ip saddr 192.0.2.2 udp dport 4791')
    try:
        said = lab.call('a', make, 'demo', 'CH=01', status=2)
    finally:
        lab.call('a', unfiltered)
    sentences(said, r'the client on host b does not reach the server on host a \(192.0.2.1\)',
              'error: .* that address is answering ping. .*UDP port 4791', 'ufw allow 4791/udp')


def serves():
    """Whether a server runs on node a."""
    return any(target(path).startswith('/tmp/rdma-tutorial.') and target(path).endswith('/server')
               for path in glob.glob('/proc/[0-9]*/exe'))


def is_copying():
    """Whether the first file of what is copied is there."""
    return glob.glob('/tmp/rdma-tutorial.*/*/*')


def interrupted(moment):
    """On node a: Ctrl-C then."""
    with subprocess.Popen(('make', '-s', 'demo', 'CH=01', 'HOSTS=one,two', 'SSH_CONFIG=config'), cwd=READER,
                          start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as demo:
        until('that moment', moment)
        os.killpg(demo.pid, signal.SIGINT)
        return demo.wait(ENOUGH)


@pytest.mark.parametrize('moment', [serves, is_copying])
def test_after_ctrl_c_nothing_is_left_either(lab, moment):
    assert lab.call('a', interrupted, moment) != 0
