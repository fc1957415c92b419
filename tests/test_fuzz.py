"""Decoders, fed with what is kept in tests/fuzz/corpus and with some thousands of inputs made from it (libFuzzer,
sanitizers); tests/long/test_decoders.py takes longer. What a peer may never get past them is in tests/fuzz/fuzz_*.c. The
corpus alone finds each fault that was found once.

A line of a corpus is an input: its bytes in hexadecimal digits, with spaces between them or not. 20*1024 is the byte 20 so
many times. Behind # is a comment. Or a line is = and a text, whose end is a newline, too.

build/fuzz/TARGET has the program, fuzz; what it found worth keeping, corpus/; and any input that broke the decoder,
crash-…, which breaks it again when given to fuzz.
"""
import os
import re
import shutil
import subprocess

import pytest

from nodes import TOP

# The files of the chapter that the fuzzer is linked with, the longest input, and the libraries.
FUZZERS = {
    '02_transfer': ('transfer.c state.c pattern.c', 96, '-libverbs'),
    '03_params': ('params.c', 300, ''),
    # A conversation over TLS.
    '04_exchange': ('oob.c line.c tls.c tls_fail.c who.c client_hello.c gid.c sock.c addr.c wait.c params.c', 512,
                    '-libverbs -lssl -lcrypto'),
    '06_dgram': ('rds.c hints.c ipv4.c wait.c', 1100, ''),
    '07_hello': ('hello.c flow.c message.c wait.c', 320, '-libverbs'),
}


def inputs(target):
    """Those that are kept."""
    for line in (TOP / 'tests/fuzz/corpus' / target).read_text('utf-8').splitlines():
        digits = re.sub(r'(..)\*(\d+)', lambda x: x[1] * int(x[2]), line.partition('#')[0])
        if line.startswith('=') or digits:
            yield line[1:].encode() + b'\n' if line.startswith('=') else bytes.fromhex(digits)


def build(target):
    """The fuzzer, in a folder with its first inputs."""
    sources, _, libraries = FUZZERS[target]
    chapter, folder = next(TOP.glob(f'{target[:2]}_*')), TOP / 'build/fuzz' / target
    shutil.rmtree(folder / 'seeds', ignore_errors=True)
    for name in 'seeds', 'corpus':
        (folder / name).mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(inputs(target), 1):
        (folder / f'seeds/{number:03}').write_bytes(data)
    files = [path for name in ('log.c output.c explain.c ' + sources).split()
             for path in (chapter / name, chapter / 'carried' / name, chapter / 'plumbing' / name) if path.exists()]
    # Whatever else these files call is never called here.
    subprocess.run(['clang', *'-std=gnu11 -Wall -Wextra -Werror -O1 -g -fno-omit-frame-pointer'.split(),
                    '-fsanitize=fuzzer,address,undefined', '-fno-sanitize-recover=undefined',
                    '-Wl,--unresolved-symbols=ignore-all', f'-I{chapter}', f'-I{chapter}/carried', f'-I{chapter}/plumbing',
                    '-o', folder / 'fuzz', TOP / f'tests/fuzz/fuzz_{target[3:]}.c', *files, *libraries.split()], check=True)
    if (chapter / 'certs.sh').exists():
        subprocess.run([chapter / 'certs.sh', '--if-needed', '--names', 'IP:127.0.0.1', folder / 'certs'], check=True)
    return folder


def feed(target, limit):
    """Nothing breaks it, until this limit, nor of the inputs that are kept; returns how many there were. What the decoder
    says of each, nobody reads."""
    folder = build(target)
    ran = subprocess.run(['nice', '-n', '5', folder / 'fuzz', limit, '-close_fd_mask=3', '-timeout=60', '-use_value_profile=1',
                          f'-max_len={FUZZERS[target][1]}', '-print_final_stats=1', f'-artifact_prefix={folder}/',
                          folder / 'corpus', folder / 'seeds'], check=False, text=True, errors='replace',
                         env=dict(os.environ, FUZZ_CERTS=folder / 'certs'), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert ran.returncode == 0, ran.stdout
    assert int(re.search(r'seed corpus: files: (\d+)', ran.stdout)[1]) >= len([*inputs(target)])
    return int(re.search(r'stat::number_of_executed_units: +(\d+)', ran.stdout)[1])


@pytest.mark.parametrize('target', [pytest.param(target, marks=pytest.mark.xdist_group(f'fuzz {target}'))
                                    for target in FUZZERS])
def test_nothing_breaks(target):
    # Each input of the exchange is a handshake, so there are few.
    count = 100 if target == '04_exchange' else 20000
    assert feed(target, f'-runs={count}') >= count
