"""Chapter 07 when the power goes: a file of which the client was told that it is stored is there
afterwards, and one of which it was not, is there whole, or not at all.

Node a of a lab of its own is switched off in the middle of what it does. It has a disk with ext4, a
loop device: what was in the node's memory only is lost then. Nothing gets from there to the disk by
itself, since the kernel is told to wait with that for ten minutes."""
import contextlib
import filecmp
import os
import pathlib
import shutil
import subprocess

import pytest

import builds
import in_node
from nodes import Lab
from pair import until

CHAPTER = '07_full_speed'
FOLDER = builds.BUILDS / 'power'
DISK, NEW = FOLDER / 'disk', FOLDER / 'new'
SLOW_DISK = builds.BUILDS / 'slow_disk.so'
MNT = pathlib.Path('/mnt')


@pytest.fixture
def lab(request):
    builds.helper('tests/slow_disk', '-shared')
    FOLDER.mkdir(exist_ok=True)
    NEW.write_bytes(os.urandom(300_000))
    lab = Lab(f'{request.config.workplace.name}-power')
    yield lab
    lab.down()
    shutil.rmtree(FOLDER)


@contextlib.contextmanager
def mounted():
    """On node a. With noauto_da_alloc, ext4 does not do by itself what a program has forgotten."""
    if os.path.exists('/proc/modules'):
        subprocess.run(['modprobe', '-a', 'loop', 'ext4'], check=True)
    pathlib.Path('/proc/sys/vm/dirty_writeback_centisecs').write_text('0')
    subprocess.run(['mount', '-o', 'loop,commit=600,noauto_da_alloc', DISK, MNT], check=True)
    try:
        yield
    finally:
        subprocess.run(['umount', '-l', MNT], check=True)


def make_disk():
    """With nothing on it."""
    DISK.unlink(missing_ok=True)
    # Inodes of 128 bytes would have no room for nanoseconds.
    subprocess.run(['mkfs.ext4', '-q', '-I', '256', DISK, '32M'], check=True, stderr=subprocess.DEVNULL)
    with mounted():
        (MNT / 'lost+found').rmdir()
        # umount -l may return before the disk has all of it.
        os.sync()


def server_on_disk(pair, **slow):
    return pair.server('-t', 20, '-d', MNT, env={'LD_PRELOAD': SLOW_DISK, **slow})


def serves(pair):
    """Until the node is switched off."""
    with mounted():
        server_on_disk(pair)
        in_node.tell('ready')
        in_node.channel.receive()


def stops(pair, then):
    """With the new name given, and the folder not on the disk; something happens then."""
    with mounted():
        server = server_on_disk(pair, STOP_SYNC='2')
        in_node.tell('ready')
        until('a server that stops', server.is_stopped)
        assert filecmp.cmp(NEW, MNT / 'file', False), 'it has not its name'
        if then == 'sync':
            subprocess.run(['sync', MNT], check=True)
        elif then == 'killed':
            server.gone()
            server_on_disk(pair)
        in_node.tell('stopped')
        in_node.channel.receive()


def sends(pair):
    """On node b: the client, when it has ended."""
    return pair.client('-t', 5, 'write', shutil.copy2(NEW, pair.scratch / 'file'), status=(0, 1))


def finds(stored):
    """After the next boot, the disk has the file, or else a part that is whole; and no other names."""
    with mounted():
        parts = list(MNT.glob('.file.*.part'))
        assert len(os.listdir(MNT)) == 1 and len(parts) == (not stored)
        assert not stored or filecmp.cmp(NEW, MNT / 'file', False)
        assert all(filecmp.cmp(NEW, one, False) for one in parts)


def cut(lab):
    """Node a is off, and on again."""
    lab.run('reset', 'a')
    # Not before that: a far end that hears it ends the server, and unmounts the disk as one should.
    lab.channels.pop('a').close()


def begin(lab, function, *arguments):
    """It runs on node a, and has a server that listens."""
    lab.start('a', function, *arguments)
    assert lab.hear('a') == 'ready'


def is_stored_for_good(lab, programs):
    """What is sent now is there when the power has gone."""
    assert lab.call('b', sends, programs).has('^file: stored, 300000 bytes')
    cut(lab)
    lab.call('a', finds, True)


def test_a_file_that_is_stored_is_there_when_the_power_has_gone(lab, programs):
    lab.call('a', make_disk)
    begin(lab, serves, programs)
    is_stored_for_good(lab, programs)


@pytest.mark.parametrize('then', ['nothing', 'sync'])
def test_the_power_goes_before_the_name_is_on_the_disk_a_part_or_the_file_is_whole(lab, programs, then):
    lab.call('a', make_disk)
    begin(lab, stops, programs, then)
    lab.start('b', sends, programs)
    assert lab.hear('a') == 'stopped'
    cut(lab)
    client = lab.result('b')
    assert client.status == 1 and not client.has('stored')
    lab.call('a', finds, then == 'sync')
    # It is sent again, and then it is there.
    begin(lab, serves, programs)
    is_stored_for_good(lab, programs)


def test_who_finds_the_file_under_its_name_syncs_the_name_too(lab, programs):
    lab.call('a', make_disk)
    begin(lab, stops, programs, 'killed')
    lab.start('b', sends, programs)
    assert lab.hear('a') == 'stopped'
    lab.result('b')
    is_stored_for_good(lab, programs)
