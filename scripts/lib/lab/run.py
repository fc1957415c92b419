"""lab.sh run: a lab for one command."""
import argparse
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import typing

from lib.lab.settings import NODES, REPOSITORY, Failed, Misuse, Settings
from lib.lab.up import Words

SECONDS = 20
SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


class Ended(Exception):
    """By a signal, which is the argument."""


class Lab:
    """One that has just been started, and ends with us."""

    def __init__(self, name: str, count: int):
        self.environment = os.environ | {'LAB_NAME': name}
        self.nodes = NODES[:count]

    def words(self, verb: str, *words: str) -> list[str]:
        """A command of lab.sh."""
        return [f'{REPOSITORY}/scripts/lab.sh', verb, *words]

    def call(self, verb: str, *words: str) -> None:
        """Failed: it fails; it has told the reason itself."""
        if subprocess.run(self.words(verb, *words), env=self.environment, check=False, stdin=subprocess.DEVNULL,
                          stdout=sys.stderr).returncode:
            raise Failed(f'run: {verb} {" ".join(words)}'[:200], 'failed; the reason stands above.')

    def start(self, node: str, *words: str, **streams: typing.Any) -> subprocess.Popen[bytes]:
        """Starts a command on a node, in our folder, where it learns of all addresses."""
        known = [f'LAB_{other.upper()}{version}={net}{number}' for number, other in enumerate(self.nodes, 1)
                 for version, net in (('', '192.0.2.'), ('6', '2001:db8::'))]
        return subprocess.Popen(self.words('exec', node, '--', 'env', f'--chdir={os.getcwd()}', f'LAB_NODE={node}',
                                           *known, *words), env=self.environment, **streams)


def percentage(text: str) -> float:
    """Of packets."""
    with contextlib.suppress(ValueError):
        if 0 <= float(text) <= 100:
            return float(text)
    raise argparse.ArgumentTypeError(f'{text}: needs a percentage, 0 to 100')


def read(settings: Settings, words: list[str]) -> argparse.Namespace:
    """The options before --."""
    parser = Words('run', settings)
    parser.set_defaults(nodes=2)
    parser.add_argument('--kernel', default='')
    parser.add_argument('--loss', type=percentage)
    parser.add_argument('--capture', default='')
    parser.add_argument('--on', nargs=2, metavar=('NODE', 'COMMAND'), action='append', default=[])
    options = parser.parse_args(words)
    for node, _ in options.on:
        if node not in tuple(NODES[:options.nodes]):
            parser.error(f"--on {node}: the nodes are {', '.join(NODES[:options.nodes])} (see --nodes)")
    return options


def kernel(folder: str) -> dict[str, str]:
    """The variables that name a kernel: that of a package, or of several, unpacked there."""
    # Packages of Debian 13 and later have all below /usr/lib/modules, or all but the image.
    images, modules = ([path for pattern in patterns for path in pathlib.Path(folder).resolve().glob(pattern)]
                       for patterns in (('boot/vmlinuz-*', 'usr/lib/modules/*/vmlinuz'),
                                        ('lib/modules/*', 'usr/lib/modules/*')))
    if len(images) != 1 or len(modules) != 1:
        raise Failed(f'--kernel {folder}: there must be one boot/vmlinuz-* and one lib/modules/*, or the same below usr',
                     "That is what a kernel's packages have: dpkg -x linux-image-….deb DIR")
    # Who installs such a package runs this.
    if not (modules[0] / 'modules.dep').exists() and subprocess.run(
            ['depmod', '-b', str(modules[0].parents[2]), modules[0].name], check=False,
            env=os.environ | {'PATH': os.environ['PATH'] + ':/usr/sbin:/sbin'}).returncode:
        raise Failed(f'--kernel {folder}: depmod cannot list its modules there', 'The reason stands above.')
    return {'LAB_KERNEL': str(images[0]), 'LAB_MODULES': str(modules[0])}


@contextlib.contextmanager
def captured(lab: Lab, path: str) -> typing.Iterator[None]:
    """What crosses the wire meanwhile goes to the file."""
    if not path:
        yield
        return
    with open(path, 'wb') as file:
        tcpdump = lab.start('a', 'tcpdump', '-i', 'eth0', '--immediate-mode', '-U', '-w', '-', stdin=subprocess.DEVNULL, stdout=file,
                            stderr=subprocess.PIPE)
        said = b''
        while b'listening on' not in said:
            said += (line := tcpdump.stderr.readline())
            if not line:
                raise Failed('--capture: tcpdump does not listen', said.decode(errors='replace').strip())
        try:
            yield
        finally:
            tcpdump.send_signal(signal.SIGINT)
            tcpdump.communicate(timeout=SECONDS)


def end(programs: list[subprocess.Popen[bytes]]) -> int:
    """Ends those that still run; returns the status of the first that had failed before."""
    status = next((program.returncode for program in programs if program.poll()), 0)
    for program in programs:
        program.terminate()
    for program in programs:
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.wait(SECONDS)
    return status


def listen(handler: typing.Any) -> None:
    """What the signals that end us do from here on."""
    for number in SIGNALS:
        signal.signal(number, handler)


def ended(number: int, _: object) -> None:
    """A signal's handler."""
    # Who is impatient sends one more: that is not to end the end half-way.
    listen(signal.SIG_IGN)
    raise Ended(number)


def run(settings: Settings, words: list[str]) -> int:
    """Boots a lab, runs the command on node a, and ends the lab; returns the command's status."""
    if '--' not in words or words[-1] == '--':
        raise Misuse("run: no command; it comes after '--'")
    at = words.index('--')
    options = read(settings, words[:at])
    lab = Lab(f'run.{os.getpid()}', options.nodes)
    if options.kernel:
        lab.environment |= kernel(options.kernel)
    listen(ended)
    programs: list[subprocess.Popen[bytes]] = []
    try:
        lab.call('up', f'--nodes={options.nodes}', *(f'--{name}={value}' for name, value in (
            ('engine', settings.engine), ('device', settings.asked_device)) if value))
        for node in lab.nodes if options.loss else ():
            lab.call('exec', node, '--', 'sh', '-c', 'modprobe sch_netem && exec tc qdisc add dev eth0 root netem '
                     f'limit 10000 loss {options.loss}%')
        with captured(lab, options.capture):
            for node, command in options.on:
                programs.append(lab.start(node, 'sh', '-c', command, stdin=subprocess.DEVNULL))
            status = lab.start('a', *words[at + 1:]).wait()
            failed = end(programs)
            return status or failed
    except Ended as error:
        return 128 + error.args[0]
    finally:
        listen(signal.SIG_IGN)
        end(programs)
        subprocess.run(lab.words('down'), env=lab.environment, check=False, stderr=subprocess.DEVNULL)
