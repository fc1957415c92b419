"""What a node gets to see of this machine.

Root in a node can have qemu, or its User-Mode Linux kernel, open any file as the user
who started the lab. So bubblewrap (bwrap) makes sure that it can write only
the repository, but not its .git, and that it sees nothing of root's files and those in
/tmp.
"""
import contextlib
import os
import pathlib
import signal
import subprocess

from lib.lab.settings import REPOSITORY


def command(mounts: list[str], root: str = '/') -> list[str]:
    """The beginning of a node's command line; mounts are options of bwrap's."""
    git = f'{REPOSITORY}/.git'
    line = ['bwrap', '--unshare-pid', '--unshare-ipc', '--die-with-parent',
            '--cap-drop', 'ALL', '--ro-bind', root, '/', '--dev', '/dev',
            '--proc', '/proc',
            '--tmpfs', '/root', '--tmpfs', '/tmp', '--tmpfs', '/var/tmp']
    if os.getuid() == 0:
        # Root may own none of the files of the repository.
        line += ['--cap-add', 'CAP_DAC_OVERRIDE', '--cap-add', 'CAP_FOWNER']
    return line + mounts + [
        '--bind', REPOSITORY, REPOSITORY, '--ro-bind-try', git, git,
        '--chdir', '/tmp', '--']


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
