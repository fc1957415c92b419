"""The process that owns a lab of User-Mode Linux nodes. keeper.sh becomes it.

Usage: python3 -m lab.keeper NODES

It keeps to what keeper.sh says of itself: the lines on standard input and
output, which it shares with `up`; the files in the folder of the lab's state.
Whatever it starts dies with it. It has the settings from the environment:
LAB_NAME, LAB_STATE, LAB_REPO, LAB_CACHE, LAB_ROOT, LAB_MEMORY, LAB_DEVICE, LAB_TIME.

Clients connect to STATE/socket-NODE: see client.py and frames.py.
"""
import os
import pathlib
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import time

from lab import uml
from lab.loop import Loop
from lab.node import Node, console_end
from lab.switch import Switch

# From nothing to ready; it takes two seconds.
BOOT_SECONDS = 120
class Settings:
    """What lab.sh has settled before."""

    def __init__(self, environment):
        self.name = environment['LAB_NAME']
        self.state = pathlib.Path(environment['LAB_STATE'])
        self.repository = environment['LAB_REPO']
        self.cache = environment['LAB_CACHE']
        self.root = environment['LAB_ROOT']
        self.memory = environment['LAB_MEMORY']
        self.device = environment['LAB_DEVICE']
        self.time = environment.get('LAB_TIME', '')


class Failed(Exception):
    """The lab cannot be; the arguments are the lines that say why."""


class Keeper:
    """The lab."""

    def __init__(self, settings, count):
        self.settings = settings
        self.loop = Loop()
        self.kernel = uml.Kernel(settings.cache)
        self.nodes = []
        self.kept = self.ending = False
        self.others = []
        cables = uml.wire(count)
        if count == 2:
            # One cable is enough.
            ends = list(cables[0])
        else:
            ends = [pair[0] for pair in cables]
            self.others = [pair[1] for pair in cables]
        for name, end in zip('abcd', ends):
            self.nodes.append(Node(self, name, end))

    def note(self, text):
        """For `status` and others."""
        with open(self.settings.state / 'notes', 'a', encoding='utf-8') as file:
            file.write(text + '\n')

    def tell(self, word, text=''):
        """A line for `up`, as long as it is there."""
        if not self.kept:
            print(word, text, flush=True)

    def prepare(self):
        """The folder that the nodes see as uml.INSIDE."""
        guest = self.settings.state / 'guest'
        here = pathlib.Path(self.settings.repository, 'scripts/lib/lab')
        (guest / 'modules').mkdir(parents=True)
        shutil.copy(here / 'guest-uml.sh', guest / 'init')
        (guest / 'init').chmod(0o755)
        shutil.copy(here / 'guest-setup.sh', guest)
        shutil.copy(self.busybox(), guest / 'busybox')
        for file in self.kernel.folder.glob('modules.*'):
            shutil.copy(file, guest / 'modules')
        (guest / 'lab.conf').write_text(''.join(
            f'{name}={shlex.quote(value)}\n' for name, value in (
                ('LAB_ENGINE', 'uml'), ('LAB_REPO', self.settings.repository),
                ('LAB_VERSION', self.kernel.release),
                ('LAB_NODES', str(len(self.nodes))),
                ('LAB_DEVICE', self.settings.device))))

    def busybox(self):
        """A static busybox, of the files that will be the nodes'."""
        path = ':'.join(os.path.join(self.settings.root, folder) for folder in (
            'usr/sbin', 'usr/bin', 'sbin', 'bin'))
        found = shutil.which('busybox', path=path)
        if not found:
            raise Failed('there is no busybox',
                         'Install the package busybox-static.')
        if subprocess.run(['ldd', found], check=False, stderr=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL).returncode == 0:
            raise Failed(f'{found} is not a static program',
                         'Install the package busybox-static.')
        return found

    def boot(self):
        """Until every node is ready."""
        self.prepare()
        self.tell('step', f'booting {len(self.nodes)} node'
                  f'{"s" if len(self.nodes) > 1 else ""}, uml')
        if self.others:
            self.switch = Switch(self.others, self.loop)
        end = time.monotonic() + BOOT_SECONDS
        for node in self.nodes:
            node.start()
            self.note(f'pid_{node.name}={node.process.pid}')
        while not all(node.ready for node in self.nodes):
            self.turn(max(0, end - time.monotonic()))
            for node in self.nodes:
                if not node.process or time.monotonic() >= end:
                    raise Failed(
                        f'node {node.name} ' + (
                            f'was not ready after {BOOT_SECONDS} s'
                            if node.process else 'ended during the boot'),
                        'From its console:', *(
                            f'| {line}' for line in console_end(node.console)))

    def turn(self, timeout=None):
        """Waits for what comes, and does it."""
        if timeout is None and any(client.left for node in self.nodes
                                   for client in node.clients.values()):
            timeout = 1
        self.loop.turn(timeout)
        if self.ending:
            raise SystemExit(0 if self.kept else 1)
        for node in self.nodes:
            if node.process and node.process.poll() is not None:
                node.died()
            elif node.process and node.is_stuck():
                node.reset()

    def hear_up(self):
        """`up` says keep; if it says nothing more before that, it is dead."""
        word = os.read(0, 64)
        self.loop.forget(0)
        if word.strip() != b'keep':
            self.ending = True
            return
        (self.settings.state / 'up').touch()
        self.kept = True
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.close(nothing)

    def run(self):
        """The life of the lab."""
        wake, ring = os.pipe()
        os.set_blocking(ring, False)
        signal.set_wakeup_fd(ring)
        self.loop.want(wake, selectors.EVENT_READ,
                       lambda: os.read(wake, 512))
        self.loop.want(0, selectors.EVENT_READ, self.hear_up)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.end)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.boot()
        self.note(f'nodes={len(self.nodes)}\naccel=uml\n'
                  f'device={self.settings.device}\n'
                  f'kernel={self.kernel.release}\nimage={self.kernel.image}\n'
                  f'started={int(time.time())}')
        if self.settings.time:
            self.note(f'time={self.settings.time}')
        self.tell('ready')
        while True:
            self.turn()

    def end(self, *_):
        """A signal has come."""
        self.ending = True

    def close(self):
        """Takes everything away."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for node in self.nodes:
            if node.process:
                node.process.kill()
                node.process.wait()
        shutil.rmtree(self.settings.state, ignore_errors=True)


def main():
    """Keeps the lab."""
    keeper = None
    try:
        keeper = Keeper(Settings(os.environ), int(sys.argv[1]))
        keeper.run()
    except (Failed, uml.Unusable) as error:
        for line in error.args:
            print('error', line, flush=True)
        sys.exit(1)
    finally:
        if keeper:
            keeper.close()


if __name__ == '__main__':
    main()
