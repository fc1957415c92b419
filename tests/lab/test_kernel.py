"""Kernels and their modules."""
import os
import pathlib
import tempfile
import unittest

from lib.lab import image, kernel, run
from lib.lab.settings import Failed, Settings

COMPLETE = ''.join(f'kernel/{name}.ko.xz:\n' for name in kernel.NEEDED)


class Kernels(unittest.TestCase):
    """kernel.Kernel and where it is from"""

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.settings = Settings({'LAB_CACHE': str(self.folder)})

    def make(self, release: str, modules: str = COMPLETE) -> pathlib.Path:
        """A kernel in the cache."""
        folder = pathlib.Path(self.settings.kernels, release)
        (folder / 'modules' / release).mkdir(parents=True)
        (folder / 'vmlinuz').touch()
        (folder / 'modules' / release / 'modules.dep').write_text(modules)
        return folder

    def test_newest(self) -> None:
        """6.12 comes after 6.9."""
        self.assertIsNone(kernel.from_cache(self.settings))
        for release in '6.9.1-amd64', '6.12.0-amd64', '6.1.0-56-amd64':
            self.make(release)
        found = kernel.from_cache(self.settings)
        assert found
        self.assertEqual(found.release, '6.12.0-amd64')
        self.assertTrue(found.image.endswith('/vmlinuz'))
        pathlib.Path(self.settings.kernels, '6.12.0-amd64/vmlinux').touch()
        found = kernel.from_cache(self.settings)
        assert found and found.image.endswith('/vmlinux')

    def test_lacks(self) -> None:
        """One without a module will not do; built in is as good as a file."""
        folder = self.make('6.1', COMPLETE.replace('kernel/rdma_rxe', 'kernel/xrdma_rxe'))
        found = kernel.newest(self.settings)
        assert found
        self.assertEqual(found.lacks(), ['rdma_rxe'])
        self.assertIsNone(kernel.from_cache(self.settings))
        (folder / 'modules/6.1/modules.builtin').write_text('a/rdma_rxe.ko\n')
        self.assertIsNotNone(kernel.from_cache(self.settings))

    def test_unpacked(self) -> None:
        """lab.sh run --kernel: a package has no modules.dep, and each Debian another place for all else."""
        for number, (boot, modules) in enumerate([('boot/vmlinuz-7.3.4', 'lib/modules/7.3.4'),
                                                  ('boot/vmlinuz-7.3.4', 'usr/lib/modules/7.3.4'),
                                                  ('usr/lib/modules/7.3.4/vmlinuz', 'usr/lib/modules/7.3.4')]):
            folder = self.folder / str(number)
            for file in boot, f'{modules}/modules.order', f'{modules}/modules.builtin':
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).touch()
            self.assertEqual(run.kernel(str(folder)),
                             {'LAB_KERNEL': str(folder / boot), 'LAB_MODULES': str(folder / modules)})
            self.assertTrue((folder / modules / 'modules.dep').exists())

    def test_from_caller(self) -> None:
        """LAB_KERNEL and LAB_MODULES, and what is wrong with them."""
        folder = self.make('6.1')
        self.settings.kernel = str(folder / 'none')
        with self.assertRaisesRegex(Failed, 'is not a file that can be read'):
            kernel.from_caller(self.settings)
        self.settings.kernel = str(folder / 'vmlinuz')
        self.settings.modules = str(folder)
        with self.assertRaisesRegex(Failed, 'no modules for the kernel'):
            kernel.from_caller(self.settings)
        self.settings.modules = str(folder / 'modules/6.1/')
        self.assertEqual(kernel.from_caller(self.settings).release, '6.1')
        (folder / 'modules/6.1/modules.dep').write_text('')
        with self.assertRaisesRegex(Failed, 'lack: 9pnet_virtio 9p'):
            kernel.from_caller(self.settings)

    def test_modules_of_an_image(self) -> None:
        """They are unpacked, once each, in the order of loading."""
        source, target = self.folder / 'source', self.folder / 'target'
        source.mkdir()
        target.mkdir()
        (source / 'one.ko').write_text('one')
        os.system(f'echo two | gzip >{source}/two.ko.gz')
        modules = image.Modules(kernel.Kernel('', str(source), '6.1'), target,
                                self.folder / 'depmod')
        real, image.needed_by = image.needed_by, lambda *_: [
            source / 'one.ko', source / 'two.ko.gz']
        try:
            self.assertEqual(modules.add(('two',)), ['one.ko\n', 'two.ko\n'])
            self.assertEqual(modules.add(('one',), ' optional'), [])
        finally:
            image.needed_by = real
        self.assertEqual((target / 'two.ko').read_text(), 'two\n')
