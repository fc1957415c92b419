#!/usr/bin/python3 -B
"""What took the processors' time: minutes by kind of program.

Usage: processor_time.py [--proc DIR] PID

Looks every two seconds at all processes that the process PID has started, or that these
have, and so on, until it gets SIGTERM or PID has ended. Then it prints how much
time of the processors they took, by kind:

  nodes       the lab's machines: User-Mode Linux, QEMU
  compilers   gcc, clang, as, ld, make
  shells      bash, bats, and small programs that scripts call
  browsers    Chromium, Node.js
  python      Python
  other       the rest
  short       processes that ended before they were seen, and what others took after
              they were last seen; where it is a node, a compiler or a browser that
              waited for them, it is part of theirs

A process says how much time it took, and how much those of its children did for
which it has waited. So the sum misses nothing but what nobody waited for after it
was last seen. What has the variable CHECK_PROCESSES=PID in its environment belongs
to PID, too, even where its parent has ended, as a lab's has.

  --proc DIR  read this instead of /proc

Exit status: 0, or 2 for wrong usage.
"""
import os
import pathlib
import re
import signal
import sys
import threading

from lib.arguments import Parser, folder

# The first that fits the name of a process says what it is.
KINDS = (
    ('nodes', r'linux|qemu.*|bwrap|UML.*|uml.*'),
    ('compilers', r'cc1(plus)?|gcc.*|g\+\+.*|cc|c\+\+|clang.*|as|ld(\..*)?|ar|ranlib|'
                  r'collect2|lto.*|g?make|x86_64-linux-gn.*'),
    ('browsers', r'chrom.*|headless_shell|node|MainThread|node-MainThread|npm.*|firefox.*'),
    ('python', r'python.*'),
    ('shells', r'bash|sh|dash|bats.*|prove|perl|git|timeout|env|cat|tac|cp|mv|rm|ls|ln|'
               r'mkdir|mktemp|head|tail|sort|uniq|cut|tr|tee|wc|seq|date|stat|touch|'
               r'cmp|comm|diff|patch|grep|sed|[gm]?awk|find|xargs|tar|flock|sleep|'
               r'md5sum|sha\d+sum|basename|dirname|readlink|realpath|pgrep|ps'),
)
# Whatever these wait for is of their kind.
OWN_CHILDREN = ('nodes', 'compilers', 'browsers')
ORDER = ('nodes', 'compilers', 'shells', 'browsers', 'python', 'other', 'short')


def kind_of(name):
    """The kind of program that a process of this name runs."""
    for kind, regex in KINDS:
        if re.fullmatch(regex, name):
            return kind
    return 'other'


def read(path):
    """The bytes of a file in /proc, which is short; open() would take three times as
    long."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 4096)
    finally:
        os.close(file)


class Process:
    """What was last seen of a process: times are in ticks of the clock."""

    def __init__(self, stat):
        # There may be more in the name than the last parenthesis.
        before, _, rest = stat.rpartition(b') ')
        fields = rest.split(None, 20)
        self.name = before.partition(b'(')[2].decode(errors='replace')
        self.parent = int(fields[1])
        self.own = int(fields[11]) + int(fields[12])
        self.children = int(fields[13]) + int(fields[14])
        self.began = int(fields[19])


class Processes:
    """All processes of PID that were ever seen."""

    def __init__(self, pid, proc):
        self.pid, self.proc = pid, proc
        self.ours = {}      # (pid, began): Process; what was last seen
        self.alive = {}     # pid: (pid, began) of the last look
        self.strangers = set()
        self.parents = {}   # (pid, began): the parent's, as first seen

    def look(self):
        """Looks at all that run now; says whether PID does."""
        now = {}
        for entry in os.listdir(self.proc):
            if entry.isdigit():
                try:
                    now[int(entry)] = Process(read(f'{self.proc}/{entry}/stat'))
                except (OSError, IndexError):
                    pass
        self.alive = {}
        # A parent can have the higher number, where numbers have begun anew.
        found = set()
        while self._take(now, found):
            pass
        for pid in found:
            key, parent = (pid, now[pid].began), now[pid].parent
            if key not in self.ours and parent in found:
                self.parents[key] = (parent, now[parent].began)
            elif key in self.parents and parent != self.parents[key][0]:
                # Nobody of ours waits for it any longer.
                del self.parents[key]
            self.ours[key] = now[pid]
            self.alive[pid] = key
        self.strangers &= {(pid, process.began) for pid, process in now.items()}
        return self.pid in now

    def _take(self, now, found):
        """Takes what belongs to PID; says whether there was something new."""
        before = len(found)
        for pid, process in now.items():
            key = (pid, process.began)
            if pid not in found and self._is_ours(key, process, found):
                found.add(pid)
        return len(found) > before

    def _is_ours(self, key, process, found):
        if key in self.ours or key[0] == self.pid or process.parent in found:
            return True
        if key in self.strangers:
            return False
        # It keeps what it was started with; so once is enough.
        try:
            environ = (self.proc / str(key[0]) / 'environ').read_bytes()
        except OSError:
            environ = b''
        if f'CHECK_PROCESSES={self.pid}'.encode() in environ.split(b'\0'):
            return True
        self.strangers.add(key)
        return False

    def by_kind(self):
        """Ticks by kind."""
        sums = dict.fromkeys(ORDER, 0)
        ended = {}
        for key, parent in self.parents.items():
            if self.alive.get(key[0]) != key:
                ended.setdefault(parent, []).append(key)

        def total(key):
            """Of a process and all that it has waited for, as far as is known."""
            return self.ours[key].own + max(self.ours[key].children, waited(key))

        def waited(key):
            return sum(total(child) for child in ended.get(key, ()))

        for key, process in self.ours.items():
            kind = kind_of(process.name)
            sums[kind] += process.own
            unseen = max(0, process.children - waited(key))
            sums[kind if kind in OWN_CHILDREN else 'short'] += unseen
        return sums


def report(sums, ticks):
    """The sums as lines."""
    total = sum(sums.values())
    yield f'Processors: {total / ticks / 60:.1f} min, of which'
    for kind in ORDER:
        if sums[kind]:
            yield (f'  {kind:<10} {sums[kind] / ticks / 60:6.1f} min '
                   f'{100 * sums[kind] / total:3.0f} %')


def main(arguments):
    """Looks, and prints; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_argument('--proc', type=folder, default=pathlib.Path('/proc'))
    parser.add_argument('pid', type=int, metavar='PID')
    options = parser.parse_args(arguments)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    processes = Processes(options.pid, options.proc)
    while processes.look() and not ended.wait(2):
        pass
    if ended.is_set():
        processes.look()
    print('\n'.join(report(processes.by_kind(), os.sysconf('SC_CLK_TCK'))))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
