"""The first file system of a virtual machine (initramfs): busybox, modules, scripts."""
import os
import pathlib
import shutil
import subprocess

from lib.lab.engine import Engine, busybox
from lib.lab.kernel import Kernel
from lib.lab.settings import PARTS, Failed

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
    for folder in 'bin', 'dev', 'proc', 'sys', 'modules', 'lab':
        (tree / folder).mkdir(parents=True)
    shutil.copyfile(busybox(), tree / 'bin/busybox')
    shutil.copyfile(f'{PARTS}/guest-init.sh', tree / 'init')
    for program in 'init', 'bin/busybox':
        (tree / program).chmod(0o755)
    shutil.copy(f'{PARTS}/guest-setup.sh', tree / 'lab')
    (tree / 'lab.conf').write_text(engine.configuration('/dev/vport0p1'))
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
