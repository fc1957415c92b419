"""Chapter 05's server when nobody reads what it says, and when it can wait no more."""
import fcntl
import os
import re
import subprocess

from pair import until
from test_05_multiclient import are_served, holding

CHAPTER = '05_multiclient'


def test_a_server_whose_log_nobody_reads_serves_and_ends(pair):
    """Its stdout is a pipe that is full."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
    filled = 0
    try:
        while True:
            filled += os.write(writer, bytes(4096))
    except BlockingIOError:
        fcntl.fcntl(writer, fcntl.F_SETFL, 0)
    server = pair.start('server', 'bash', '-c', 'exec ./server -G 0 write >"$0"', f'/proc/{os.getpid()}/fd/{writer}')
    until('a server that listens', lambda: subprocess.run(
        ['ss', '-Htln', 'sport = :4433'], check=True, stdout=subprocess.PIPE).stdout)
    are_served(pair, '-n', 3)
    server.quiet()
    holds = holding(pair, 1)
    # Somebody reads again, and is told.
    while filled:
        filled -= len(os.read(reader, filled))
    server.kill('USR1')
    lost = os.read(reader, 4096).splitlines()[0].decode()
    assert int(re.fullmatch(r'\((\d+) lines were lost here\)', lost)[1]) > 16
    server.stop()
    holds.end(1)
    os.close(reader)
    os.close(writer)


def test_a_server_that_can_never_wait_again_cuts_its_clients_off_and_ends(pair):
    """poll(2) fails where fewer descriptors are allowed than it is asked about."""
    server = pair.server('write')
    holds = holding(pair, 1)
    subprocess.run(['prlimit', '--pid', str(server.pid), '--nofile=1'], check=True)
    server.kill('USR1')
    server.end(1).says('^error: poll: Invalid argument', stream='err')
    holds.end(1)
