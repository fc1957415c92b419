"""Runs a command, and writes down when it has printed each of its lines.

Usage: timed.py FILE COMMAND [ARGUMENT...]     (by pair.sh -t)

What it prints on stdout and on stderr is passed on. In the end FILE has the lines of both, in the
order in which they were written: the time in seconds, then `|`, or `!` if it was on stderr, and the
line. A program that reads two pipes cannot know that order: both may have something when it looks.
So both are sockets here, for which the kernel notes the time of each write(2), and a program that
flushes every line, as those of the chapters do, gets one for each.

Exit status: that of the command, as a shell has it; 127 if it cannot be run.
"""
import operator
import os
import select
import signal
import socket
import struct
import subprocess
import sys

SO_TIMESTAMPNS = 35  # of <sys/socket.h>; Python has no name for it


class Stream:
    """One of the two: the socket that the command writes to, who gets that, and its lines."""

    def __init__(self, file, mark):
        self.ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.ours.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.file, self.mark = file, mark
        # (time, mark, line): as a list, since a line may come in pieces.
        self.lines = []

    def pass_on(self):
        """All that has been written so far."""
        while select.select([self.ours], [], [], 0)[0]:
            text, [(_, _, when)], _, _ = self.ours.recvmsg(1 << 18, 256)
            self.file.write(text)
            self.file.flush()
            for piece in text.splitlines(keepends=True):
                if not self.lines or self.lines[-1][2].endswith(b'\n'):
                    self.lines.append([struct.unpack('@ll', when), self.mark, b''])
                self.lines[-1][2] += piece


def run(command, streams):
    """Returns its exit status."""
    child, told = None, False

    def end(*_):
        nonlocal told
        told = True
        if child:
            child.terminate()

    # Whoever ends us ends it, from its first moment on; what it has said is passed on before.
    signal.signal(signal.SIGTERM, end)
    try:
        child = subprocess.Popen(command, stdout=streams[0].theirs, stderr=streams[1].theirs)
    except OSError as error:
        print(f'timed: {command[0]}: {error.strerror}', file=sys.stderr)
        return 127
    if told:
        child.terminate()
    ended = os.pidfd_open(child.pid)
    ready = []
    while ended not in ready:
        ready, _, _ = select.select([ended, *(stream.ours for stream in streams)], [], [])
        for stream in streams:
            stream.pass_on()
    status = child.wait()
    return status if status >= 0 else 128 - status


def main(path, *command):
    """Runs it, and writes the file."""
    streams = Stream(sys.stdout.buffer, b'|'), Stream(sys.stderr.buffer, b'!')
    status = run(command, streams)
    lines = sorted(streams[0].lines + streams[1].lines, key=operator.itemgetter(0))
    with open(path, 'wb') as file:
        for (seconds, nanoseconds), mark, line in lines:
            file.write(b'%d.%06d %b %b\n' % (seconds, nanoseconds // 1000, mark, line.removesuffix(b'\n')))
    return status


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]) if sys.argv[2:] else __doc__)
