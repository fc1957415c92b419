"""A node that is an ordinary process: a User-Mode Linux kernel, in a sandbox.

The kernel is the lab's own (make lab-kernel). It makes system calls on this machine
as the user who started the lab.
"""
import os
import pathlib
import shutil
import subprocess
import zlib

from lib.lab import sandbox
from lib.lab.engine import Engine
from lib.lab.settings import Settings

# A kernel that cannot work here says so at once; this is for a busy machine.
PROBE_SECONDS = 30
# Where the sandbox has the files of the lab.
INSIDE = '/tmp/lab'


def folder_of(settings: Settings) -> pathlib.Path:
    """Where scripts/lib/kernel/build.sh leaves the kernel."""
    return pathlib.Path(settings.cache, 'uml')


def command(settings: Settings, mounts: list[str]) -> list[str]:
    """The beginning of the kernel's command line."""
    kernel = str(folder_of(settings) / 'linux')
    # Which registers a program has, it reads there.
    return sandbox.command(
        mounts + ['--ro-bind', kernel, '/tmp/linux',
                  '--ro-bind', '/proc/cpuinfo', '/proc/cpuinfo']) + ['/tmp/linux']


def why_not(settings: Settings) -> str:
    """Why a node cannot be a User-Mode Linux kernel here; '' if it can.

    The kernel is started without a file system, so it ends at once.
    """
    if settings.engine not in ('', 'uml'):
        return f'LAB_ENGINE={settings.engine}'
    if settings.kernel:
        return 'another kernel is asked for (LAB_KERNEL)'
    if not (folder_of(settings) / 'linux').exists():
        return 'its kernel has not been built: make lab-kernel'
    missing = [name for name in ('bwrap', 'busybox', 'python3', 'taskset')
               if not shutil.which(name)]
    if missing:
        return f'not installed: {" ".join(missing)}'
    try:
        _, text = sandbox.probe(command(settings, []) + ['mem=64M', 'con=null', 'con0=null,fd:1'],
                                PROBE_SECONDS)
    except subprocess.TimeoutExpired:
        return f'its kernel said nothing for {PROBE_SECONDS} s'
    said = text.splitlines()
    if any('Kernel panic' in line for line in said):
        return ''
    if any('ptrace' in line for line in said):
        return 'ptrace is forbidden here: ' + said[-1]
    return 'its kernel does not start: ' + (said[-1] if said else 'it says nothing')


class Uml(Engine):
    """Each node is a kernel."""

    # A terminal's buffer has 4096 bytes; when it is nearly full, User-Mode Linux 6.1
    # stops listening to the line, for ever (line_throttle() in
    # arch/um/drivers/line.c takes the interrupt away, and line_unthrottle() does not
    # give it back).
    line_room = 2048
    has_clock = False

    def prepare(self) -> None:
        """The folder that the nodes see as INSIDE."""
        kernel = folder_of(self.settings)
        self.name, self.image = 'uml', str(kernel / 'linux')
        self.processors = sorted(os.sched_getaffinity(0))
        self.release = (kernel / 'release').read_text('utf-8').strip()
        guest = pathlib.Path(self.settings.folder, 'guest')
        self.guest(guest, INSIDE, '/dev/ttyS0')
        (guest / 'modules').mkdir()
        for file in kernel.glob('modules.*'):
            shutil.copy(file, guest / 'modules')
        # perftest turns cycles into time by what a User-Mode Linux kernel does not say.
        first, _, _ = pathlib.Path('/proc/cpuinfo').read_text('utf-8', 'replace').partition('\n\n')
        (guest / 'cpuinfo').write_text(f'{first}\n\n')

    def command(self, node: str, cable: int, line: int) -> list[str]:
        """The command line of a node."""
        settings = self.settings
        guest = f'{settings.folder}/guest'
        words = command(settings, ['--ro-bind', guest, INSIDE]) + [
            f'mem={settings.memory}M', f'umid={node}',
            'uml_dir=/tmp/uml', 'root=/dev/root', 'rootfstype=hostfs',
            'rootflags=/', 'ro', f'init={INSIDE}/init', 'quiet', 'loglevel=4',
            'con=null', 'con0=null,fd:1', 'ssl=null', f'ssl0=fd:{line}',
            f'vec0:transport=fd,fd={cable},vec=0',
            # Else these are there, under names that tests give to their own.
            'bonding.max_bonds=0', 'dummy.numdummies=0', 'ifb.numifbs=0',
            'rdma_lab=1', f'lab.name=rdma-lab-{settings.name}-{node}',
            f'lab.node={node}']
        if settings.device == 'siw':
            # RDS listens at a TCP port, and for iWARP, its other half at the same
            # one: the connection manager then refuses the whole device.
            words.append('initcall_blacklist=rds_tcp_init')
        return words

    def start(self, node: str, cable: int, line: int,
              console: int) -> subprocess.Popen[bytes]:
        """As a process group of its own, on one processor.

        At each call and fault of a program, the kernel and the program wake each
        other, and that costs three times as much from one processor to another.
        """
        first = zlib.crc32(self.settings.name.encode()) + ord(node)
        processor = self.processors[first % len(self.processors)]
        return sandbox.run(
            ['taskset', '--cpu-list', str(processor)] +
            self.command(node, cable, line), (cable, line), console)
