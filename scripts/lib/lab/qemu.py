"""A node that is a virtual machine: qemu, with KVM or with emulation (tcg)."""
import contextlib
import os
import pathlib
import shutil
import subprocess

from lib.lab import sandbox
from lib.lab.engine import Engine
from lib.lab.kernel import Kernel
from lib.lab.machines import machine
from lib.lab.settings import REPOSITORY, Failed, Settings, say

# A guest under KVM gets so long to find out that it has no files. It needs less than a
# second; where /dev/kvm opens but does not work, it would hang for ever.
KVM_SECONDS = 6
# The processors of a node.
PROCESSORS = 2
# Where the sandbox has the files that the nodes see as theirs.
FILES = '/tmp/files'
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


def boots(kernel: Kernel, accelerator: str, seconds: float) -> bool:
    """Whether a guest comes to the point where it misses its files."""
    try:
        ran = subprocess.run(
            [machine().qemu, *machine().options, '-cpu', 'max', '-accel', accelerator, '-m', '256',
             '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-serial', 'stdio',
             '-kernel', kernel.image, '-append', f'console={machine().console} panic=-1'],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds,
            check=False)
    except subprocess.TimeoutExpired:
        return False
    return b'Kernel panic' in ran.stdout


def why_not_kvm(settings: Settings, found: Kernel | None) -> str:
    """Why no node can be a guest in KVM; '' if one can, as far as that is known without a kernel.

    What was found out is kept until this machine boots again, so only the first `up` pays for it.
    """
    if settings.engine not in ('', 'kvm'):
        return f'LAB_ENGINE={settings.engine}'
    if not os.path.exists('/dev/kvm'):
        return 'there is no /dev/kvm'
    if not os.access('/dev/kvm', os.R_OK | os.W_OK):
        return '/dev/kvm is not yours to use (often it belongs to the group kvm)'
    this_boot = pathlib.Path('/proc/sys/kernel/random/boot_id').read_text('ascii')
    known = pathlib.Path(settings.cache, 'kvm')
    said = known.read_text('ascii') if known.is_file() else ''
    if said == f'{this_boot}hangs' and not settings.engine:
        return 'no guest boots in /dev/kvm'
    if said == f'{this_boot}boots' or not found:
        return ''
    say(f'trying KVM (at most {KVM_SECONDS} s)')
    good = boots(found, 'kvm', KVM_SECONDS)
    with contextlib.suppress(OSError):
        known.parent.mkdir(parents=True, exist_ok=True)
        known.write_text(f'{this_boot}{"boots" if good else "hangs"}', 'ascii')
    return '' if good else f'/dev/kvm opens, but no guest booted in it within {KVM_SECONDS} s'


def escape(path: object) -> str:
    """A path as part of an option of qemu's."""
    return str(path).replace(',', ',,')


class Qemu(Engine):
    """Each node is a virtual machine."""

    line_room = 1 << 16
    has_clock = True

    def __init__(self, settings: Settings, name: str, kernel: Kernel, nodes: int):
        super().__init__(settings)
        self.name, self.kernel, self.nodes = name, kernel, nodes
        self.release, self.image = kernel.release, kernel.image

    def prepare(self) -> None:
        """An initramfs, a sandbox."""
        self.initrd = pathlib.Path(self.settings.folder, 'initrd')
        build(self, self.kernel, self.initrd)
        self.sandbox = self.make_sandbox()

    def make_sandbox(self) -> list[str]:
        """The beginning of a command line, or nothing, which `up` is told."""
        # To change the mode of a file, qemu needs /proc. So the nodes get another view
        # of the files, without it.
        mounts = ['--proc', '/proc', *sandbox.files(FILES),
                  '--dev-bind-try', '/dev/kvm', '/dev/kvm']
        for path in self.kernel.modules, self.image, self.initrd:
            if str(path).startswith(tuple(f'{folder}/' for folder in sandbox.HIDDEN)):
                mounts += ['--ro-bind', str(path), str(path)]
        line = sandbox.command(mounts)
        if not shutil.which('bwrap'):
            why = 'bwrap is not installed'
        else:
            status, why = sandbox.probe(line + ['true'])
            if status == 0:
                return line
        say('warning: a node can write .git, make files setuid, and read /proc and all else '
            f'that you can read, since it has no sandbox: {why.strip()}')
        return []

    def threads(self) -> str:
        """Whether each emulated processor has a thread of its own (multi), or all of
        a node take turns in one (single).

        Where this machine has no more processors than its nodes together, theirs
        mostly wait for each other: see docs/decisions.md.
        """
        theirs = PROCESSORS * self.nodes
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
            '-smp', str(PROCESSORS), '-m', settings.memory,
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
            *share('modules', self.kernel.modules, 'readonly=on'),
            *share('repo', REPOSITORY, 'multidevs=remap'),
            # Datagrams: a wire of TCP (-netdev socket) would delay every packet by
            # Nagle's algorithm.
            '-netdev', f'dgram,id=wire,local.type=fd,local.str={cable}',
            '-device', 'virtio-net-pci,netdev=wire,romfile=,'
            f'mac=52:54:00:52:44:0{number}']

    def start(self, node: str, cable: int, line: int,
              console: int) -> subprocess.Popen[bytes]:
        """In the sandbox, if there is one."""
        return sandbox.run(self.sandbox + self.command(node, cable, line), (cable, line),
                           console)


def share(name: str, path: object, how: str) -> list[str]:
    """A folder that the guest mounts by its name."""
    return ['-fsdev', f'local,id={name},path={escape(path)},'
            f'{how},security_model=none',
            '-device', f'virtio-9p-pci,fsdev={name},mount_tag={name}']


def needed_by(names: tuple[str, ...], kernel: Kernel, root: pathlib.Path) -> list[pathlib.Path]:
    """The files of modules and of what they need, in the order of loading.

    The kernel was chosen so that none is missing that must be there; others may be built in.
    """
    ran = subprocess.run(
        ['modprobe', '-d', root, '-S', kernel.release, '-a', '-D', *names], check=False,
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
    # modprobe insists on lib/modules/VERSION under a root of its own.
    root = tree.parent / 'depmod'
    (root / 'lib/modules').mkdir(parents=True)
    (root / 'lib/modules' / kernel.release).symlink_to(kernel.modules)
    seen: set[str] = set()
    for part, names in (('first', FIRST), ('second', SECOND + DEVICE[engine.settings.device] + OPTIONAL)):
        with open(tree / 'modules' / part, 'w', encoding='utf-8') as lines:
            for path in needed_by(names, kernel, root):
                packing = path.suffix if path.suffix in UNPACK else ''
                plain = path.name.removesuffix(packing)
                if plain in seen:
                    continue
                seen.add(plain)
                with open(tree / 'modules' / plain, 'wb') as file:
                    subprocess.run([*UNPACK.get(packing, ['cat']), path], stdout=file, check=True)
                name = plain.removesuffix('.ko').replace('-', '_')
                lines.write(f'{plain} {"optional" * (name in OPTIONAL)}\n')


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
