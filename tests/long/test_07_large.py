"""Chapter 07: files of more than 4 GiB, which no 32 bits can count."""
import hashlib
import os
import pathlib
import resource
import signal
import subprocess

CHAPTER = '07_full_speed'
BORDER = 1 << 32


def tail(path):
    """Its last 2,000,000 bytes."""
    with open(path, 'rb') as file:
        file.seek(-2_000_000, os.SEEK_END)
        return file.read()


def beyond_4_gib(pair):
    """The file has holes, so it takes no room. What the server has of it ends a little before 4 GiB: both ends go on
    there, and beyond. A program that wanted all of the file in its memory would not get it."""
    signal.alarm(1800)
    file = pair.file('out/file', 0)
    with open(file, 'r+b') as opened:
        opened.seek(BORDER - 500_000)
        opened.write(os.urandom(1_500_003))
    part = pair.inbox / f'.file.{file.stat().st_mtime_ns:016x}.part'
    part.touch()
    os.truncate(part, BORDER - 500_000)
    resource.setrlimit(resource.RLIMIT_AS, (400_000 << 10, resource.RLIM_INFINITY))
    server = pair.server('-1', '-M', 8192, '-d', pair.inbox)
    client = pair.begin_client('write', file).end(seconds=1500)
    client.quiet()
    server.end()
    assert client.has('^file: the server has 4294467296 of 4295967299 bytes', '^file: stored, 4295967299 bytes in ')
    assert server.has('^stored: 4295967299 bytes, SHA-256 ')
    assert os.listdir(pair.inbox) == ['file']
    stored = pair.inbox / 'file'
    assert stored.stat().st_size == 4_295_967_299 and tail(stored) == tail(file)


def five_gigabytes(pair):
    """All of it, to a disk that takes no room for zeros."""
    signal.alarm(7200)
    subprocess.run(('modprobe', 'zram', 'num_devices=1'), check=True)
    pathlib.Path('/sys/block/zram0/disksize').write_text('6G', encoding='ascii')
    subprocess.run(('mkfs.ext4', '-q', '-O', '^has_journal', '-N', '64', '/dev/zram0'), check=True)
    subprocess.run(('mount', '/dev/zram0', '/mnt'), check=True)
    try:
        inbox = pathlib.Path('/mnt/in')
        inbox.mkdir()
        file = pair.file('out/file', 'begin\n')
        with open(file, 'r+b') as opened:
            opened.seek(4_999_999_997)
            opened.write(b'end\n')
        server = pair.server('-1', '-M', 8192, '-d', inbox)
        client = pair.begin_client('-q', 16, '-b', 1 << 20, 'write', file).end(seconds=7000)
        server.end()
        with open(inbox / 'file', 'rb') as stored:
            digest = hashlib.file_digest(stored, 'sha256').hexdigest()
        assert client.has(f'^file: stored, 5000000001 bytes .* SHA-256 {digest}$')
    finally:
        subprocess.run(('umount', '/mnt'), check=True)


def test_a_file_goes_on_across_4_gib(lab, programs):
    lab.call('a', beyond_4_gib, programs)


def test_a_file_of_5_gb_arrives(lab, programs):
    lab.call('a', five_gigabytes, programs)
