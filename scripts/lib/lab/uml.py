"""A node that is an ordinary process: a User-Mode Linux kernel, in a sandbox.

Usage: python3 -m lab.uml why-not

Prints why this machine cannot run such a node, and fails; or nothing, if it
can. The kernel is the lab's own (make lab-kernel). It makes system calls on
this machine in the name of whoever started the lab, so bubblewrap (bwrap)
sees to it that all it can write is the repository.
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys

# One frame is one datagram; the kernel may be slower to read than the other
# node is to write.
WIRE_BUFFER = 8 << 20
# A kernel that cannot work here says so at once; this is for a busy machine.
PROBE_SECONDS = 30
# Where the sandbox has the files of the lab.
INSIDE = '/tmp/lab'


class Unusable(Exception):
    """Why there can be no such node here, as text."""


class Kernel:
    """The lab's own kernel, as scripts/lib/kernel/build.sh has left it."""

    def __init__(self, cache):
        self.folder = pathlib.Path(cache, 'uml')
        self.image = self.folder / 'linux'
        if not self.image.exists():
            raise Unusable('its kernel has not been built: make lab-kernel')
        self.release = (self.folder / 'release').read_text().strip()


def sandbox(kernel, repository, root='/', files=None):
    """The beginning of the command line: what the kernel gets to see.

    Root's files and those in /tmp are not among it. files is the folder that
    is INSIDE.
    """
    git = os.path.join(repository, '.git')
    command = ['bwrap', '--unshare-pid', '--unshare-ipc', '--die-with-parent',
               '--cap-drop', 'ALL',
               '--ro-bind', root, '/', '--dev', '/dev', '--proc', '/proc',
               '--tmpfs', '/root', '--tmpfs', '/tmp', '--tmpfs', '/var/tmp']
    if os.getuid() == 0:
        # Root may own none of the files of the repository.
        command += ['--cap-add', 'CAP_DAC_OVERRIDE', '--cap-add', 'CAP_FOWNER']
    if files:
        command += ['--ro-bind', str(files), INSIDE]
    return command + ['--bind', repository, repository,
                      '--ro-bind-try', git, git,
                      '--ro-bind', str(kernel.image), '/tmp/linux',
                      '--chdir', '/tmp', '--']


def why_not(kernel, repository):
    """Tries whether the kernel works here; returns why not, or None.

    It is started without a file system, so it ends at once.
    """
    missing = [name for name in ('bwrap', 'busybox', 'python3')
               if not shutil.which(name)]
    if missing:
        return f'not installed: {" ".join(missing)}'
    try:
        ran = subprocess.run(
            sandbox(kernel, repository) +
            ['/tmp/linux', 'mem=64M', 'con=null', 'con0=null,fd:1'],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=PROBE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f'its kernel said nothing for {PROBE_SECONDS} s'
    said = ran.stdout.decode(errors='replace').splitlines()
    if any('Kernel panic' in line for line in said):
        return None
    if any('ptrace' in line for line in said):
        return 'ptrace is forbidden here: ' + said[-1]
    return 'its kernel does not start: ' + (said[-1] if said else 'no word')


def wire(count):
    """For each of count nodes, its own end and the other one of a cable."""
    pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
             for _ in range(count)]
    for end in (end for pair in pairs for end in pair):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, WIRE_BUFFER)
    return pairs


def megahertz():
    """This machine's, for programs that count cycles."""
    with open('/proc/cpuinfo', encoding='ascii', errors='replace') as file:
        for line in file:
            if line.startswith('cpu MHz'):
                return line.split(':')[1].strip()
    return '1000'


def start(kernel, settings, node, cable, line, console):
    """Starts a node; returns its Popen, a process group of its own.

    cable, line and console are open files: its end of the wire, of the
    serial line to its agent, and where its console goes. settings is the
    keeper's.
    """
    command = sandbox(kernel, settings.repository, settings.root,
                      settings.state / 'guest')
    command += [
        '/tmp/linux', f'mem={settings.memory}M', f'umid={node}',
        'uml_dir=/tmp/uml', 'root=/dev/root', 'rootfstype=hostfs',
        'rootflags=/', 'ro', f'init={INSIDE}/init', 'quiet', 'loglevel=4',
        'con=null', 'con0=null,fd:1', 'ssl=null', f'ssl0=fd:{line}',
        f'vec0:transport=fd,fd={cable},vec=0',
        # Else these are there, under names that tests give to their own.
        'bonding.max_bonds=0', 'dummy.numdummies=0', 'ifb.numifbs=0',
        'rdma_lab=1', f'lab.name=rdma-lab-{settings.name}-{node}',
        f'lab.node={node}', f'lab.mhz={megahertz()}']
    if settings.device == 'siw':
        # RDS listens at a TCP port, and for iWARP, its other half at the same one:
        # the connection manager then refuses the whole device.
        command.append('initcall_blacklist=rds_tcp_init')
    if settings.time == 'own':
        command.append('time-travel=inf-cpu')
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=console,
                            stderr=console, pass_fds=[cable, line],
                            start_new_session=True)


def stand_still(process, yes):
    """Stops the node of that Popen, or lets it go on.

    It is the kernel that must be stopped: it is in a process group of its own,
    and it traces the node's programs, which stop with it at their next call.
    """
    kernel = process.pid
    for _ in 'bwrap', 'bwrap in the namespace':
        path = pathlib.Path(f'/proc/{kernel}/task/{kernel}/children')
        children = path.read_text(encoding='ascii').split()
        if not children:
            # It is ending.
            return
        kernel = int(children[0])
    os.kill(kernel, signal.SIGSTOP if yes else signal.SIGCONT)


def main():
    """As the usage says."""
    try:
        reason = why_not(Kernel(os.environ['LAB_CACHE']),
                         os.environ['LAB_REPO'])
    except Unusable as error:
        reason = str(error)
    if reason:
        print(reason)
        sys.exit(1)


if __name__ == '__main__':
    main()
