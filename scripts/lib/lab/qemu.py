"""A node that is a virtual machine: qemu, with KVM or with emulation (tcg)."""
import os
import pathlib
import shutil
import subprocess

from lib.lab import kernel, sandbox, uml
from lib.lab.engine import Engine
from lib.lab.kernel import Kernel
from lib.lab.machines import machine
from lib.lab.node import Node
from lib.lab.settings import REPOSITORY, Failed, Settings

# A guest under KVM gets so long for its first line. It needs less than a second;
# where /dev/kvm opens but does not work, it would hang for ever.
KVM_SECONDS = 6
# Where the sandbox has the files that the nodes see as theirs.
FILES = '/tmp/files'
SLOWER = ('Unset LAB_ENGINE: the lab then runs in software, about ten times '
          'slower.')
# What the file systems need, then what the rest of the boot needs. All are carried in
# the image: modprobe in the guest would cost seconds.
FIRST = ('virtio_pci', '9pnet_virtio', '9p', 'overlay')
SECOND = ('virtio_net', 'virtio_console', 'virtio_rng', 'crc32_generic',
          'ib_uverbs', 'rdma_ucm')
DEVICE = {'rxe': ('rdma_rxe',),
          'siw': ('crc32c_generic', 'libcrc32c', 'iw_cm', 'siw')}
# They do with generic sums; where the processor helps, these are faster.
OPTIONAL = ('crc32_pclmul', 'crc32_ce', 'crc32c_intel', 'crc32c_ce')
UNPACK = {'.xz': ['xz', '-dc'], '.zst': ['zstd', '-qdc'], '.gz': ['gzip', '-dc']}


def kvm_opens() -> bool:
    """Whether /dev/kvm is ours to use."""
    return os.access('/dev/kvm', os.R_OK | os.W_OK)


def boot_id() -> str:
    """What this machine has drawn when it booted."""
    return pathlib.Path('/proc/sys/kernel/random/boot_id').read_text(
        'ascii').strip()


def verdict(settings: Settings) -> str:
    """What was found out since this machine booted: kvm, tcg, or '' (nothing)."""
    try:
        then, word = pathlib.Path(settings.cache, 'kvm').read_text(
            'ascii').split()
    except (OSError, ValueError):
        return ''
    return word if then == boot_id() and word in ('kvm', 'tcg') else ''


def escape(path: object) -> str:
    """A path as part of an option of qemu's."""
    return str(path).replace(',', ',,')


class Qemu(Engine):
    """Each node is a virtual machine."""

    line_room = 1 << 16
    has_clock = True

    def prepare(self) -> None:
        """A kernel, an initramfs, a sandbox."""
        self.keeper.tell('step', 'looking for a kernel')
        found = kernel.find(self.keeper)
        if self.settings.device == 'siw' and not found.has('siw'):
            raise Failed(
                f'the kernel {found.release} has no siw', "The lab's own kernel "
                'has it: make lab-kernel builds that, once.',
                f'Why it is not used: {uml.why_not(self.settings)}',
                "Or name a kernel that has siw, as Ubuntu's have: LAB_KERNEL "
                'and LAB_MODULES.')
        self.release, self.image = found.release, found.image
        self.modules = found.modules
        self.keeper.tell('step',
                         f'building the boot image (kernel {self.release})')
        self.initrd = pathlib.Path(self.settings.folder, 'initrd')
        build(self, found, self.initrd)
        self.sandbox = self.make_sandbox()

    def make_sandbox(self) -> list[str]:
        """The beginning of a command line, or nothing, which `up` is told."""
        # To change the mode of a file, qemu needs /proc. So the nodes get another view
        # of the files, without it.
        mounts = ['--proc', '/proc', *sandbox.files(FILES),
                  '--dev-bind-try', '/dev/kvm', '/dev/kvm']
        for path in self.modules, self.image, self.initrd:
            if str(path).startswith(tuple(f'{folder}/' for folder in sandbox.HIDDEN)):
                mounts += ['--ro-bind', str(path), str(path)]
        line = sandbox.command(mounts)
        if not shutil.which('bwrap'):
            why = 'bwrap is not installed'
        else:
            ran = sandbox.run(line + ['true'], (), subprocess.PIPE)
            why = ran.communicate()[0].decode(errors='replace').strip()
            if ran.returncode == 0:
                return line
        self.keeper.tell('warning', 'a node can write .git, make files setuid, and '
                         'read /proc and all else that you can read, since it has no '
                         f'sandbox: {why}')
        return []

    def settle(self, node: Node) -> None:
        """KVM, if a guest really boots in it.

        The answer holds until this machine boots again, so only the first `up` pays
        for finding out.
        """
        asked = self.settings.engine
        if asked == 'tcg' or not (asked or kvm_opens()):
            self.name = 'tcg'
            return
        if not kvm_opens():
            raise Failed(
                'LAB_ENGINE=kvm, and /dev/kvm cannot be opened', 'It is absent or '
                'not yours to use (often it belongs to the group kvm).', SLOWER)
        self.name = '' if asked else verdict(self.settings)
        if self.name:
            return
        self.name = 'kvm'
        self.keeper.tell('step', f'trying KVM (at most {KVM_SECONDS} s)')
        node.start()
        self.keeper.wait(lambda: node.has_said_hello or not node.process,
                         KVM_SECONDS)
        if not node.has_said_hello:
            node.stop()
            if asked:
                raise Failed(
                    'LAB_ENGINE=kvm, and no guest boots in it',
                    '/dev/kvm opens, but a guest in it did not come to its first '
                    f'line within {KVM_SECONDS} s.', SLOWER,
                    *self.keeper.state.console_end(node.name))
            self.name = 'tcg'
        try:
            os.makedirs(self.settings.cache, exist_ok=True)
            pathlib.Path(self.settings.cache, 'kvm').write_text(
                f'{boot_id()} {self.name}\n', 'ascii')
        except OSError:
            # Then the next one finds out again.
            pass

    def threads(self) -> str:
        """Whether each emulated processor has a thread of its own (multi), or all of
        a node take turns in one (single).

        Where this machine has no more processors than its nodes together, theirs
        mostly wait for each other: see docs/decisions.md.
        """
        theirs = int(self.settings.cpus) * len(self.keeper.nodes)
        return 'multi' if len(os.sched_getaffinity(0)) > theirs else 'single'

    def command(self, node: str, cable: int, line: int) -> list[str]:
        """The command line of a node."""
        settings, here = self.settings, machine()
        number = 'abcd'.index(node) + 1
        # Translated code would otherwise fill a gigabyte.
        how, without, arguments = ('kvm', '', '') if self.name == 'kvm' else (
            f'tcg,thread={self.threads()},tb-size=256', here.without,
            here.emulated)
        return [
            here.qemu, '-name', f'rdma-lab-{settings.name}-{node}',
            *here.options, '-cpu', f'max{without}', '-accel', how,
            '-smp', settings.cpus, '-m', settings.memory,
            '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot',
            # Whoever needs the time must not get it from this chip (Node.send_date).
            '-rtc', 'base=2000-01-01,clock=host',
            '-kernel', self.image, '-initrd', str(self.initrd), '-append',
            f'console={here.console} quiet loglevel=4 panic=-1 net.ifnames=0 '
            f'rdinit=/lab/init rdma_lab=1 lab.node={node} {arguments}',
            '-chardev', 'stdio,id=console,signal=off',
            '-serial', 'chardev:console',
            '-chardev', f'socket,id=line,fd={line}', '-device',
            'virtio-serial-pci', '-device', 'virtserialport,chardev=line,nr=1',
            '-object', 'rng-random,id=rng,filename=/dev/urandom',
            '-device', 'virtio-rng-pci,rng=rng',
            *share('root', FILES if self.sandbox else '/',
                   'readonly=on,multidevs=remap'),
            *share('modules', self.modules, 'readonly=on'),
            *share('repo', REPOSITORY, 'multidevs=remap'),
            # Datagrams: a wire of TCP (-netdev socket) would delay every packet by
            # Nagle's algorithm.
            '-netdev', f'dgram,id=wire,local.type=fd,local.str={cable}',
            '-device', 'virtio-net-pci,netdev=wire,romfile=,'
            f'mac=52:54:00:52:44:0{number}']

    def start(self, node: str, cable: int, line: int,
              console: int) -> subprocess.Popen[bytes]:
        """In the sandbox, if there is one. It ends with the keeper."""
        before = self.sandbox or ['setpriv', '--pdeathsig', 'KILL']
        return sandbox.run(before + self.command(node, cable, line), (cable, line),
                           console)

    def inner(self, process: subprocess.Popen[bytes]) -> int | None:
        """Without a sandbox, the process is qemu itself."""
        return super().inner(process) if self.sandbox else process.pid


def share(name: str, path: object, how: str) -> list[str]:
    """A folder that the guest mounts by its name."""
    return ['-fsdev', f'local,id={name},path={escape(path)},'
            f'{how},security_model=none',
            '-device', f'virtio-9p-pci,fsdev={name},mount_tag={name}']


class Modules:
    """The modules of an image, and the order in which to load them."""

    def __init__(self, kernel: Kernel, folder: pathlib.Path,
                 scratch: pathlib.Path):
        self.release, self.folder, self.root = kernel.release, folder, scratch
        self.seen: set[str] = set()
        # modprobe insists on lib/modules/VERSION under a root of its own.
        (scratch / 'lib/modules').mkdir(parents=True)
        (scratch / 'lib/modules' / kernel.release).symlink_to(kernel.modules)

    def add(self, names: tuple[str, ...], mark: str = '') -> list[str]:
        """Copies modules and what they need, unpacked; returns lines of a list.

        The kernel was chosen so that none is missing that must be there; others may
        be built in.
        """
        lines = []
        for name in names:
            for path in needed_by(name, self.root, self.release):
                plain = path.name.removesuffix(packing(path))
                if plain in self.seen:
                    continue
                self.seen.add(plain)
                with open(self.folder / plain, 'wb') as file:
                    subprocess.run(UNPACK.get(packing(path), ['cat']) + [path],
                                   stdout=file, check=True)
                lines.append(f'{plain}{mark}\n')
        return lines


def packing(path: pathlib.Path) -> str:
    """The ending that says how a module is packed, or ''."""
    return path.suffix if path.suffix in UNPACK else ''


def needed_by(name: str, root: pathlib.Path, release: str) -> list[pathlib.Path]:
    """The files of a module and what it needs, in the order of loading."""
    ran = subprocess.run(
        ['modprobe', '-d', root, '-S', release, '-D', name], check=False,
        text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [pathlib.Path(line.split()[1]) for line in ran.stdout.splitlines()
            if line.startswith('insmod ')]


def fill(tree: pathlib.Path, engine: Engine, kernel: Kernel) -> None:
    """Puts all files in their places."""
    for folder in 'dev', 'proc', 'sys', 'modules':
        (tree / folder).mkdir(parents=True)
    engine.guest(tree / 'lab', '/lab', '/dev/vport0p1')
    # Without one, switch_root takes this for no initramfs.
    (tree / 'init').touch()
    modules = Modules(kernel, tree / 'modules', tree.parent / 'depmod')
    first = modules.add(FIRST)
    second = modules.add(SECOND + DEVICE[engine.settings.device])
    second += modules.add(OPTIONAL, ' optional')
    (tree / 'modules/first').write_text(''.join(first))
    (tree / 'modules/second').write_text(''.join(second))


def build(engine: Engine, kernel: Kernel, image: pathlib.Path) -> None:
    """Builds it; the folder of the image is one to work in, too."""
    tree = image.parent / 'tree'
    try:
        fill(tree, engine, kernel)
        names = [os.path.relpath(path, tree) for path in [tree, *tree.rglob('*')]]
        with open(image, 'wb') as file:
            subprocess.run(['cpio', '-o', '-H', 'newc', '--quiet', '-R', '0:0'],
                           cwd=tree, input='\n'.join(names).encode(),
                           stdout=file, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failed("cannot build the guest's boot image", str(error),
                     f'It is built in {image.parent}: is there room in /tmp?'
                     ) from error
    finally:
        for folder in tree, image.parent / 'depmod':
            shutil.rmtree(folder, ignore_errors=True)
