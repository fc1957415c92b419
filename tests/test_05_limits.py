"""Chapter 05's server when nobody reads what it says, and when it can wait no more."""
import contextlib
import fcntl
import os
import re
import struct
import subprocess
import termios
import threading
import time

from pair import until
from test_05_multiclient import are_served, holding

CHAPTER = '05_multiclient'


def writes_to(pair, writer):
    """A server whose stdout that end of a pipe is, and the reader of which only this test is."""
    server = pair.start('server', 'bash', '-c', 'exec ./server -G 0 write >"$0"', f'/proc/{os.getpid()}/fd/{writer}')
    until('a server that listens', lambda: subprocess.run(
        ['ss', '-Htln', 'sport = :4433'], check=True, stdout=subprocess.PIPE).stdout)
    os.close(writer)
    return server


def test_a_server_whose_log_nobody_reads_serves_and_ends(pair):
    """Its stdout is a pipe that is full."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
    filled = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            filled += os.write(writer, bytes(4096))
    fcntl.fcntl(writer, fcntl.F_SETFL, 0)
    server = writes_to(pair, writer)
    are_served(pair, '-n', 3)
    server.quiet()
    holds = holding(pair, 1)
    # Somebody reads again, and is told, once.
    with open(reader, 'rb', buffering=0) as log:
        while filled:
            filled -= len(log.read(filled))
        server.kill('USR1')
        said = log.read(4096)
        server.stop()
        said += log.readall()
    assert int(re.match(rb'\((\d+) lines were lost here\)\n', said)[1]) > 16
    assert said.count(b'lost here') == 1
    holds.end(1)


def test_a_reader_of_the_log_that_is_slow_misses_nothing(pair):
    """Its pipe has two pages: when the first is full and the second is begun, whoever says more waits for the reader."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 8192)
    said, over = [], threading.Event()

    def is_full():
        # A line that does not fit into a page begins the next.
        return struct.unpack('i', fcntl.ioctl(reader, termios.FIONREAD, bytes(4)))[0] > 4096 - 200

    def read():
        with open(reader, 'rb', buffering=0) as log:
            while part := log.read(4096):
                said.append(part)
                until('a full pipe', lambda: is_full() or over.is_set())
                time.sleep(0.1)
    slow = threading.Thread(target=read, daemon=True)
    slow.start()
    server = writes_to(pair, writer)
    are_served(pair, '-n', 20)
    server.stop().quiet()
    over.set()
    slow.join()
    said = b''.join(said)
    assert said.count(b': peer disconnected.\n') == 20 and b'lost' not in said


def test_a_server_that_can_never_wait_again_cuts_its_clients_off_and_ends(pair):
    """poll(2) fails where fewer descriptors are allowed than it is asked about."""
    server = pair.server('write')
    holds = holding(pair, 1)
    subprocess.run(['prlimit', '--pid', str(server.pid), '--nofile=1'], check=True)
    server.kill('USR1')
    server.end(1).says('^error: poll: Invalid argument', stream='err')
    holds.end(1)
