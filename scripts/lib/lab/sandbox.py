"""What a node gets to see of this machine.

Root in a node can have qemu, or its User-Mode Linux kernel, open any file as the user
who started the lab, and may find a way to have that kernel do anything else, too. So
bubblewrap (bwrap) makes sure that the process can write only the repository, but not
its .git. It sees no other process, no network, no environment, no keys, and nothing in
the folders of HIDDEN; and a filter of system calls keeps it from making files setuid.
"""
import contextlib
import fcntl
import functools
import os
import pathlib
import signal
import subprocess

from lib.lab import rights
from lib.lab.settings import REPOSITORY

# Processes and devices, the doors of services, root's files, and those of everybody.
HIDDEN = '/proc', '/sys', '/dev', '/run', '/root', '/tmp', '/var/tmp'
# In a command line, where the number of the filter's file belongs.
FILTER = '{filter}'
# bwrap's --die-with-parent comes too late for a parent that is killed before bwrap, or its
# second process, has asked for it. So another process waits for the end of the lifeline.
GUARDED = ('sh', '-c', 'exec 3<&0; ((read -r _; kill -KILL -$$) <&3 >/dev/null 2>&1 &); '
           'exec "$@" </dev/null 3<&-', 'sh')


def files(at: str) -> list[str]:
    """This machine's files, read-only, as options of bwrap's; HIDDEN is empty there."""
    line = ['--ro-bind', '/', at]
    for folder in HIDDEN:
        if os.path.isdir(folder):
            line += ['--tmpfs', os.path.normpath(at + folder)]
    return line


def command(mounts: list[str]) -> list[str]:
    """The beginning of a node's command line; mounts are options of bwrap's."""
    git = f'{REPOSITORY}/.git'
    line = ['bwrap', '--seccomp', FILTER, '--unshare-pid', '--unshare-ipc',
            '--unshare-net', '--unshare-uts', '--unshare-cgroup-try',
            '--die-with-parent', '--cap-drop', 'ALL', *files('/'),
            '--dev', '/dev']
    if os.getuid() == 0:
        # Root may own none of the files of the repository.
        line += ['--cap-add', 'CAP_DAC_OVERRIDE', '--cap-add', 'CAP_FOWNER']
    return line + mounts + [
        '--bind', REPOSITORY, REPOSITORY, '--ro-bind-try', git, git,
        '--chdir', '/tmp', '--']


@functools.cache
def lifeline() -> tuple[int, int]:
    """A pipe into which nobody writes; its second end is open as long as this process is there."""
    return os.pipe()


def run(line: list[str], kept: tuple[int, ...],
        output: int) -> subprocess.Popen[bytes]:
    """Starts a program, with no environment; the files that are kept have the same
    numbers there."""
    # Not 3, where GUARDED has the lifeline.
    made = os.memfd_create('rights')
    rules = fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(made)
    try:
        if FILTER in line:
            os.write(rules, rights.program(os.uname().machine))
            os.lseek(rules, 0, os.SEEK_SET)
        return subprocess.Popen(
            [*GUARDED, *(str(rules) if word == FILTER else word for word in line)],
            env={'PATH': os.environ['PATH']}, stdin=lifeline()[0],
            stdout=output, stderr=subprocess.STDOUT, pass_fds=[*kept, rules],
            start_new_session=True)
    finally:
        os.close(rules)


def inner(process: subprocess.Popen[bytes]) -> int | None:
    """The process that runs in the sandbox; None: it is about to end."""
    found = process.pid
    for _ in 'bwrap', 'bwrap in the namespace':
        path = pathlib.Path(f'/proc/{found}/task/{found}/children')
        try:
            found = int(path.read_text(encoding='ascii').split()[0])
        except (OSError, IndexError):
            return None
    return found


def kill(process: subprocess.Popen[bytes]) -> None:
    """All of its process group. bwrap is two processes; were only the outer one killed
    just as it begins, the inner one would wait for it for ever."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
