#!/usr/bin/python3 -B
"""What took the processors' time: minutes by kind of program.

Usage: processor_time.py [--proc DIR] PID

Looks once a second at the process PID and at all that have CHECK_PROCESSES=PID in
their environment, which is what PID exports, until it gets SIGTERM or PID has ended.
Then it prints how much time of the processors they took, by kind:

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
was last seen.

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


class Process:
    """What was last seen of a process: times are in ticks of the clock."""

    def __init__(self, stat):
        name, rest = re.fullmatch(r'\d+ \((.*)\) (.*)\n?', stat, re.DOTALL).groups()
        fields = rest.split()
        self.name, self.parent = name, int(fields[1])
        self.own = int(fields[11]) + int(fields[12])
        self.children = int(fields[13]) + int(fields[14])
        self.began = int(fields[19])


class Processes:
    """All processes of PID that were ever seen; a key is (pid, began)."""

    def __init__(self, pid, proc):
        self.pid, self.proc = pid, proc
        self.known = {}     # key: whether it is ours
        self.ours = {}      # key: Process; what was last seen
        self.alive = set()  # keys of the last look
        self.parents = {}   # key: the parent's, as first seen

    def look(self):
        """Looks at all that run now; says whether PID does."""
        now = {}
        for entry in os.listdir(self.proc):
            try:
                process = Process((self.proc / entry / 'stat').read_text('utf-8', 'replace'))
                now[int(entry)] = process
            except (OSError, AttributeError, ValueError):
                continue
            key = (int(entry), process.began)
            # It keeps what it was started with; so once is enough.
            if key not in self.known:
                self.known[key] = self._is_ours(key[0])
        self.alive = {(pid, process.began) for pid, process in now.items()
                      if self.known[pid, process.began]}
        for key in self.alive:
            parent = now[key[0]].parent
            if key in self.parents and parent != self.parents[key][0]:
                # Nobody of ours waits for it any longer.
                del self.parents[key]
            elif key not in self.ours and parent in now:
                self.parents[key] = (parent, now[parent].began)
            self.ours[key] = now[key[0]]
        return self.pid in now

    def _is_ours(self, pid):
        try:
            environ = (self.proc / str(pid) / 'environ').read_bytes()
        except OSError:
            environ = b''
        return pid == self.pid or f'CHECK_PROCESSES={self.pid}'.encode() in environ.split(b'\0')

    def by_kind(self):
        """Ticks by kind."""
        sums = dict.fromkeys(ORDER, 0)
        ended = {}
        for key, parent in self.parents.items():
            if key not in self.alive:
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
    while processes.look() and not ended.wait(1):
        pass
    if ended.is_set():
        processes.look()
    print('\n'.join(report(processes.by_kind(), os.sysconf('SC_CLK_TCK'))))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
