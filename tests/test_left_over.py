"""A server that somebody left running is not taken for ours: it is named, and how to end it, and no client is run.

Those of a run that is interrupted end with it.
"""
import os
import re
import signal
import subprocess

import pytest

from nodes import TOP
from pair import until

COMMANDS = '01_send_recv/expected/default/commands'
PAIR = 'pair.sh', COMMANDS


@pytest.fixture
def left(lab):
    """A server of 01, which listens."""
    subprocess.run(['make', '-s', '-C', TOP / '01_send_recv'], check=True)
    with subprocess.Popen([TOP / 'scripts/lab.sh', 'exec', 'a', '--', 'bash', '-c', f'cd {TOP}/01_send_recv && exec ./server'],
                          env=lab.env, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as server:
        assert server.stdout.readline().startswith('listening')
        yield server
        server.terminate()


def matches(run, commands, out):
    """A run goes as it is recorded."""
    assert run('scripts/pair.sh', commands, out).returncode == 0
    ran = run('scripts/compare_logs.sh', out, commands.rpartition('/')[0])
    assert ran.stdout == 'matches\n', ran.stdout


def test_a_server_of_01_that_was_left_running_is_named_and_no_client_is_run(left, run, tmp_path):
    for words, status in ((('break.sh', '01', 'no_recv'), 4), (('demo.sh', '01'), 1), ((*PAIR, tmp_path), 4),
                          (('exercise.sh', '--check', '01', 'three', '01_send_recv'), 1)):
        ran = run(f'scripts/{words[0]}', *words[1:])
        assert ran.returncode == status, ran.stdout
        assert re.search(r'(?s)another program has this port.*pair: a server was left running, process \d+ \(\./server\); end it',
                         ran.stdout), ran.stdout
        assert 'matches' not in ran.stdout and 'missing' not in ran.stdout
    assert not (tmp_path / 'client.log').exists()
    # Others are not in its way, nor is it in theirs.
    matches(run, '03_pure_verbs/expected/write/commands', tmp_path)
    # What the refusal says ends it.
    end, = set(re.findall(', or: (.*kill [0-9]+)\n', ran.stdout))
    assert run(*end.split()).returncode == 0
    left.wait(60)
    matches(run, COMMANDS, tmp_path)


def test_ctrl_c_ends_a_run_whole_so_that_a_demo_begins_no_other(lab, run, tmp_path):
    subprocess.run(['make', '-s', '-C', TOP / '01_send_recv'], check=True)
    (tmp_path / 'commands').write_text('server: ./server -1\nclient: bash -c "echo begun; exec tail -f /dev/null"\n')
    with subprocess.Popen([TOP / 'scripts/pair.sh', '-v', '-d', TOP / '01_send_recv', tmp_path / 'commands', tmp_path / 'out'],
                          env=lab.env, text=True, start_new_session=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE) as pair:
        while 'begun' not in pair.stdout.readline():
            assert pair.poll() is None
        os.killpg(pair.pid, signal.SIGINT)
    # Of another status, demo.sh would make a run that differs.
    assert pair.returncode == -signal.SIGINT
    until('their end', lambda: run('scripts/lab.sh', 'exec', 'a', '--', 'pgrep', '-x', 'server|tail').returncode == 1)
