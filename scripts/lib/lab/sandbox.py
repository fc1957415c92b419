"""What a node gets to see of this machine.

Root in a node can have qemu, or its User-Mode Linux kernel, open any file as the user
who started the lab, and may find a way to have that kernel do anything else, too. So
bubblewrap (bwrap) makes sure that the process can write only the repository, but not
its .git. It sees no other process, no network, no environment, no keys, and nothing in
the folders of HIDDEN; and a filter of system calls keeps it from making files setuid.
"""
import contextlib
import errno
import fcntl
import os
import signal
import struct
import subprocess

from lib.lab.settings import REPOSITORY

# Processes and devices, the doors of services, root's files, and those of everybody.
HIDDEN = '/proc', '/sys', '/dev', '/run', '/root', '/tmp', '/var/tmp'
# In a command line, where the number of the filter's file belongs.
FILTER = '{filter}'
# bwrap's --die-with-parent comes too late for a parent that is killed before bwrap, or its
# second process, has asked for it. So another process waits for the end of standard input, a
# pipe whose other end the parent has.
GUARDED = ('sh', '-c', 'exec 3<&0; ((read -r _; kill -KILL -$$) <&3 >/dev/null 2>&1 &); '
           'exec "$@" </dev/null 3<&-', 'sh')

# The filter of system calls, in the form that bwrap reads (--seccomp): a program for the
# kernel's BPF machine. Root in a node can ask for a file of any mode in the repository. A
# setuid bit is refused. Setting a setgid bit seems to succeed but does nothing, since qemu
# also asks for it when a folder is made in one that has it: there the kernel gives it to
# the new folder by itself. Some calls do not exist for a node's process: those that could
# make such a file past the filter, those that read the caller's keys, and those that make
# a user namespace, in which a process has all rights.
SETUID, SETGID = 0o4000, 0o2000
# As in <fcntl.h>: O_CREAT, and what O_TMPFILE has beside O_DIRECTORY.
CREATES = 0o100 | 0o20000000

# For each system call with a mode: its number, which of its arguments, from 0, is the
# mode, and which has the flags that say whether there is one.
CALLS: dict[str, tuple[int, dict[str, tuple[int, int, int | None]]]] = {
    'x86_64': (0xc000003e, {
        'open': (2, 2, 1), 'creat': (85, 1, None), 'chmod': (90, 1, None),
        'fchmod': (91, 1, None), 'mknod': (133, 1, None),
        'openat': (257, 3, 2), 'mknodat': (259, 2, None),
        'fchmodat': (268, 2, None), 'fchmodat2': (452, 2, None)}),
    'aarch64': (0xc00000b7, {
        'mknodat': (33, 2, None), 'fchmod': (52, 1, None),
        'fchmodat': (53, 2, None), 'openat': (56, 3, 2),
        'fchmodat2': (452, 2, None)}),
}
# What does not exist. openat2() has the mode in memory, where a filter cannot look, and
# so has what io_uring does; so has clone3() its flags, and programs then use clone().
ABSENT = {
    'x86_64': {'openat2': 437, 'io_uring_setup': 425, 'clone3': 435, 'unshare': 272,
               'add_key': 248, 'request_key': 249, 'keyctl': 250},
    'aarch64': {'openat2': 437, 'io_uring_setup': 425, 'clone3': 435, 'unshare': 97,
                'add_key': 217, 'request_key': 218, 'keyctl': 219},
}
# clone(), whose first argument may have CLONE_NEWUSER.
CLONE, NEW_USER = {'x86_64': 56, 'aarch64': 220}, 0x10000000
# From here on, the x86_64 kernel has the same calls once more, for x32.
X32 = 0x40000000

# As in <linux/bpf_common.h> and <linux/seccomp.h>: load a word of the call's data;
# jump if it is equal, at least that, or has one of these bits; end.
LOAD, IF_EQUAL, IF_AT_LEAST, IF_SET, END = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE = 0, 4
ALLOW, FAIL = 0x7fff0000, 0x00050000


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


def filtered(line: list[str]) -> tuple[list[str], int]:
    """The line with the number of the filter's file, which is open."""
    made = os.memfd_create('rights')
    # Not 3, where GUARDED has that pipe.
    rules = fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(made)
    if FILTER in line:
        os.write(rules, program(os.uname().machine))
        os.lseek(rules, 0, os.SEEK_SET)
    return [str(rules) if word == FILTER else word for word in line], rules


def run(line: list[str], kept: tuple[int, ...],
        output: int) -> subprocess.Popen[bytes]:
    """Starts a program, with no environment, which ends with this process; the files that
    are kept have the same numbers there."""
    words, rules = filtered(line)
    try:
        return subprocess.Popen(
            [*GUARDED, *words], env={'PATH': os.environ['PATH']}, stdin=subprocess.PIPE,
            stdout=output, stderr=subprocess.STDOUT, pass_fds=[*kept, rules],
            start_new_session=True)
    finally:
        os.close(rules)


def probe(line: list[str], seconds: float | None = None) -> tuple[int, str]:
    """The status of a program that ends by itself, and what it says. May raise TimeoutExpired."""
    words, rules = filtered(line)
    try:
        ran = subprocess.run(
            words, env={'PATH': os.environ['PATH']}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, pass_fds=[rules], timeout=seconds, check=False)
        return ran.returncode, ran.stdout.decode(errors='replace')
    finally:
        os.close(rules)


def kill(process: subprocess.Popen[bytes]) -> None:
    """All of its process group. bwrap is two processes; were only the outer one killed
    just as it begins, the inner one would wait for it for ever."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def instruction(code: int, operand: int, yes: int = 0, no: int = 0) -> bytes:
    """One; yes and no are how many of the next ones a jump leaves out."""
    return struct.pack('=HBBI', code, yes, no, operand)


def load_argument(number: int) -> bytes:
    """Its lower half, on a little-endian machine."""
    return instruction(LOAD, 16 + 8 * number)


def call(name: str, number: int, mode: int, flags: int | None) -> list[bytes]:
    """What becomes of one system call. Every way through it ends."""
    body = []
    if flags is not None:
        body += [load_argument(flags), instruction(IF_SET, CREATES, 1),
                 instruction(END, ALLOW)]
    body += [load_argument(mode), instruction(IF_SET, SETUID, 0, 1),
             instruction(END, FAIL | errno.EPERM),
             instruction(IF_SET, SETGID, 0, 1),
             instruction(END, FAIL | (0 if 'chmod' in name else errno.EPERM)),
             instruction(END, ALLOW)]
    return [instruction(IF_EQUAL, number, 0, len(body))] + body


def program(machine: str) -> bytes:
    """The filter for a node's process on such a machine."""
    architecture, calls = CALLS[machine]
    absent = instruction(END, FAIL | errno.ENOSYS)
    lines = [instruction(LOAD, ARCHITECTURE),
             instruction(IF_EQUAL, architecture, 1), absent,
             instruction(LOAD, NUMBER), instruction(IF_AT_LEAST, X32, 0, 1), absent]
    for number in ABSENT[machine].values():
        lines += [instruction(IF_EQUAL, number, 0, 1), absent]
    lines += [instruction(IF_EQUAL, CLONE[machine], 0, 4), load_argument(0),
              instruction(IF_SET, NEW_USER, 0, 1),
              instruction(END, FAIL | errno.EPERM), instruction(END, ALLOW)]
    for name, how in calls.items():
        lines += call(name, *how)
    return b''.join(lines + [instruction(END, ALLOW)])
