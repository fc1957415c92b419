#!/usr/bin/python3 -B
"""Builds what Containerfile says, without a container engine, and runs a command of this repository in it.

Usage: container.py [--deny ptrace] [--deny namespaces] COMMAND [ARGUMENT...]

The file system comes from debootstrap, in build/container, and is made again when Containerfile has
changed. COMMAND runs in a clone of the last commit, as the user reader, who is not root, in a sandbox of
bwrap's that has a /dev of its own without /dev/kvm. --deny forbids what some container engines forbid: ptrace(), or
new user namespaces. The lab's own kernel is taken from here, if it was built here (make lab-kernel). It needs
root and debootstrap. Exit status: COMMAND's; 1 it could not run, 2 usage.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from lib.arguments import Parser
from lib.lab import rights, uml
from lib.lab.settings import Settings

TOP = pathlib.Path(__file__).resolve().parents[2]
PLACE, FILE = TOP / 'build/container', TOP / 'Containerfile'
ROOT, MADE_OF = PLACE / 'root', PLACE / 'Containerfile'
SUITES = {'debian:12': 'bookworm', 'debian:13': 'trixie'}
READER, EPERM, ENOSYS, PTRACE, UNSHARE, CLONE3 = 1000, 1, 38, 101, 272, 435


def steps(text):
    """What it says: (FROM or COPY or RUN or USER, words)."""
    text = re.sub(r'(?m)^#.*\n', '', text).replace('\\\n', ' ')
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]


def chroot(command):
    """In a mount namespace of its own; its mounts end with it."""
    subprocess.run(['unshare', '--mount', '--pid', '--fork', 'bash', '-euc', '''
        mount --bind "$1" "$1"
        mount -t proc proc "$1/proc"
        mount --rbind /dev "$1/dev"
        exec chroot "$1" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -euc "$2"
        ''', 'bash', ROOT, command], check=True, stdout=sys.stderr)


def build():
    """The file system, if there is none of this Containerfile."""
    text = FILE.read_text('utf-8')
    if MADE_OF.exists() and MADE_OF.read_text('utf-8') == text:
        return
    shutil.rmtree(PLACE, ignore_errors=True)
    ROOT.mkdir(parents=True)
    for word, rest in steps(text):
        if word == 'FROM':
            subprocess.run(['debootstrap', '--variant=minbase', SUITES[rest.rsplit('/', 1)[1]], ROOT,
                            'http://deb.debian.org/debian'], check=True, stdout=sys.stderr,
                           env=os.environ | {'PATH': os.environ['PATH'] + ':/usr/sbin:/sbin'})
        elif word == 'COPY':
            *sources, there = rest.split()
            (ROOT / there.strip('/')).mkdir(parents=True, exist_ok=True)
            for source in sources:
                shutil.copy2(TOP / source, ROOT / there.strip('/'))
        elif word == 'RUN':
            chroot(rest)
    MADE_OF.write_text(text, 'utf-8')


def fill():
    """The reader's files: a clone, and the lab's kernel."""
    home = ROOT / 'home/reader'
    shutil.rmtree(home / 'repo', ignore_errors=True)
    subprocess.run(['git', 'clone', '-q', '--no-hardlinks', TOP, home / 'repo'], check=True)
    kernel = uml.folder_of(Settings(dict(os.environ)))
    if kernel.exists():
        shutil.copytree(kernel, home / '.cache/rdma-lab/uml', dirs_exist_ok=True)
    subprocess.run(['chown', '-R', f'{READER}:{READER}', home], check=True)
    (ROOT / 'etc/resolv.conf').write_bytes(pathlib.Path('/etc/resolv.conf').read_bytes())


def denied(what):
    """A filter of system calls, as bwrap reads it."""
    one, end = rights.instruction, lambda error: rights.instruction(rights.END, rights.FAIL | error)
    program = one(rights.LOAD, rights.NUMBER)
    if 'ptrace' in what:
        program += one(rights.IF_EQUAL, PTRACE, 0, 1) + end(EPERM)
    if 'namespaces' in what:
        program += one(rights.IF_EQUAL, UNSHARE, 0, 1) + end(EPERM)
        program += one(rights.IF_EQUAL, CLONE3, 0, 1) + end(ENOSYS)
        program += one(rights.IF_EQUAL, rights.CLONE['x86_64'], 0, 3) + rights.load_argument(0)
        program += one(rights.IF_SET, rights.NEW_USER, 0, 1) + end(EPERM)
    return program + one(rights.END, rights.ALLOW)


def main(words):
    """As the usage says."""
    parser = Parser(__doc__)
    parser.add_argument('--deny', action='append', choices=('ptrace', 'namespaces'), default=[])
    parser.add_argument('command', nargs='...')
    options = parser.parse_args(words)
    if not options.command:
        parser.error('no command')
    if os.getuid():
        sys.exit('container: only root can do this')
    build()
    fill()
    rules = os.memfd_create('rules')
    os.write(rules, denied(options.deny))
    os.lseek(rules, 0, os.SEEK_SET)
    # The reader may not look into the folders above.
    here = os.open(ROOT, os.O_PATH)
    return subprocess.run(
        ['setpriv', f'--reuid={READER}', f'--regid={READER}', '--clear-groups', 'bwrap', '--unshare-user',
         '--unshare-pid', '--uid', str(READER), '--gid', str(READER), '--bind', f'/proc/self/fd/{here}', '/',
         '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', '/run', '--chdir', '/home/reader/repo',
         '--die-with-parent', '--seccomp', str(rules), '--clearenv', '--setenv', 'HOME', '/home/reader',
         '--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin', '--setenv', 'TERM', 'dumb', *options.command],
        check=False, pass_fds=(rules, here)).returncode


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
