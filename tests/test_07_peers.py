"""Chapter 07 and a peer that does not keep to the protocol: what is wrong is named, no file is wrong,
and the next client is served. What is changed in the messages: see hostile_07.c."""
import os
import re

import pytest

import builds
from pair import until

CHAPTER = '07_full_speed'

HELLO = [
    ('RDMA 4 1 19=3', 'send', 'wants 3 parts of 16384 bytes; from 4 to 1024'),
    ('RDMA 4 1 19=0', 'read', 'wants 0 parts of 16384'),
    ('RDMA 4 1 22=0 23=255', 'write', 'wants 8 parts of 255 bytes; .* at least 256'),
    ('RDMA 4 1 20=4 22=0', 'write', 'wants 8 parts of 67108864 bytes; .* and 67108864 bytes in all'),
    ('RDMA 4 1 6=3', 'send', 'MSG_FILES has the unknown mode 3'),
    ('RDMA 4 1 5=2 6=0 19=0 22=0', 'send', 'message type 2 at the beginning'),
    ('RDMA 2 1 5=4 6=1 22=16', 'write', 'message type 4 instead of 2')]
# The header's bytes: 5 type, 6 credits, 8 done, 12 length, 16 number, 32 rkey; the types: 1 BEGIN,
# 4 DATA, 5 HERE, 6 END, 8 GIVE_UP.
HEADERS = [
    ('RDMF 4 3 39=1', 'send', 'does not begin with a header'),
    ('RDMF 4 3 6=1 7=0', 'send', 'the peer returns 256 credits, and has [0-8] of 8'),
    ('RDMF 4 3 15=1', 'send', '16384 bytes after a header that announces 16385'),
    ('RDMF 4 3 size=10039', 'send', '9999 bytes after a header that announces 16384'),
    ('RDMF 4 3 5=1', 'send', 'a text of 16384 bytes'),
    ('RDMF 4 3 5=5 12=0 14=0 size=40', 'send', 'a part that comes another way'),
    ('RDMF 5 3 5=4 14=0', 'read', 'a part that comes another way'),
    ('RDMF 4 3 imm=100', 'send', 'a write with immediate data'),
    ('RDMF 6 1 5=1', 'write', 'a file within a file'),
    ('RDMF 6 1 15=31 size=71', 'write', 'a digest of 31 bytes'),
    ('RDMF 1 1 5=6 15=32 size=72', 'read', 'the end of no file'),
    ('RDMF 1 1 5=8', 'write', 'a part of no file'),
    ('RDMF 1 1 5=2', 'read', 'message type 2 to a receiver')]
PARTS = [
    # The immediate value is the length; the ring is 131072 bytes.
    ('write 3 imm=0', 'write', 'a part of 0 bytes'),
    ('write 3 imm=16385', 'write', 'a part of 16385 bytes, where 16384'),
    ('write 3 addr=131072', 'write', r'status 5 \('),
    ('write 3 rkey=255', 'write', r'status 5 \('),
    # HERE: where the server is to read, and how much of it.
    ('RDMF 5 3 13=1', 'read', 'a part of 81920 bytes'),
    ('RDMF 5 3 14=0', 'read', 'a part of 0 bytes'),
    ('RDMF 5 3 32=0 33=0 34=0', 'read', r'read of a part: status 10 \('),
    ('RDMF 5 3 24=127', 'read', r'read of a part: status 10 \(')]


@pytest.fixture
def library():
    return builds.helper('tests/hostile_07', '-shared')


def begin(pair):
    """A server, and a file to send it."""
    return pair.server('-t', 30, '-q', 16, '-d', pair.inbox), pair.file('out/file', 300_000)


def hostile(pair, library, server, change, way, file):
    """A client that is, and after which the server is done. Its own end is its own affair."""
    client = pair.begin_client('-t', 30, '-q', 8, '-b', 16384, way, file,
                               env={'LD_PRELOAD': library, 'HOSTILE': change}).any_end()
    until('a server that is done with the client', lambda: server.count(
        '^received connection request') == server.count(r'^\[LOG\] closing connection'))
    return client


def serves_the_next(pair, server, way, file):
    """A client that keeps to the protocol."""
    pair.client(way, file).quiet()
    assert (pair.inbox / 'file').read_bytes() == file.read_bytes()
    server.stop()


@pytest.mark.parametrize('changes', [HELLO, HEADERS, PARTS], ids=['never_agreed', 'headers', 'places'])
def test_the_server_says_in_one_line_why_it_ends_the_connection(pair, library, changes):
    server, file = begin(pair)
    for number, (change, way, regex) in enumerate(changes, 1):
        hostile(pair, library, server, change, way, file)
        errors = server.err.splitlines()
        assert len(errors) == number and re.search(f'^error: .*{regex}', errors[-1]), change
        assert not (pair.inbox / 'file').exists(), change
        for part in pair.inbox.glob('.file.*'):
            part.unlink()
    serves_the_next(pair, server, changes[-1][1], file)


def refuses_file(pair, library, server, file, change, way, regex):
    """The server tells the client so, and all else goes on."""
    client = hostile(pair, library, server, change, way, file)
    assert client.has(regex, stream='err') and client.has('^disconnected'), change
    assert not os.listdir(pair.inbox), change


# A name is at 40: "file" becomes "../f", "a/le", "f", 0, "le", and ".ile".
@pytest.mark.parametrize('change', ['40=46 41=46 42=47 43=102', '40=97 41=47', '41=0', '40=46'],
                         ids=['above', 'below', 'zero', 'dot'])
def test_a_name_that_is_none_is_refused(pair, library, change):
    server, file = begin(pair)
    refuses_file(pair, library, server, file, f'RDMF 1 1 {change}', 'send', 'does not take a file of that name')
    assert not (pair.scratch / 'f').exists(), 'it wrote outside of its folder'
    server.quiet()
    serves_the_next(pair, server, 'send', file)


@pytest.mark.parametrize('way', ['send', 'write', 'read'])
def test_a_size_and_a_digest_that_are_wrong_are_found_out(pair, library, way):
    server, file = begin(pair)
    # 300000 is 0x0493e0: less, more, and much more than is sent.
    for change, regex in (('RDMF 1 1 21=0', 'it cannot write the file'),
                          ('RDMF 1 1 20=1', 'is not what was sent'),
                          ('RDMF 1 1 16=127', 'does not take that much in all'),
                          ('RDMF 6 1 40=0 41=0 71=0', 'is not what was sent')):
        refuses_file(pair, library, server, file, change, way, regex)
    assert server.count('more than the 37856 bytes that the file has', 'err') == 1
    assert server.count('is not the one that was sent: it is thrown away', 'err') == 2
    # One byte further on, in a place that is its own.
    if way == 'write':
        refuses_file(pair, library, server, file, 'write 3 addr=1', way, 'is not what was sent')
    serves_the_next(pair, server, way, file)


# The types: 2 READY, 3 REFUSED, 7 STORED.
@pytest.mark.parametrize('change, way, error', [
    ('RDMA 1 1 23=1', 'write', 'the server offers 131073 bytes for a write'),
    ('RDMA 1 1 6=2', 'write', 'the server offers 131072 bytes for a read'),
    ('RDMA 1 1 21=34', 'send', 'the server offers 2228224 bytes'),
    ('RDMF 2 1 20=1', 'send', 'has more of it than there is'),
    ('RDMF 2 1 6=1', 'write', 'the peer returns 256 credits, and has [0-8] of 8'),
    ('RDMF 2 1 8=1', 'read', 'has taken more parts than there were'),
    ('RDMF 7 1 5=1', 'send', 'message type 1 instead of 7'),
    ('RDMF 7 1 5=4', 'send', 'a part of 0 bytes'),
    ('RDMF 7 1 5=5', 'write', 'a part that comes another way'),
    ('RDMF 7 1 imm=1', 'read', 'a write with immediate data'),
    # By a server that has no folder.
    ('RDMF 3 1 16=1', 'read', 'the server refuses it: for no known reason')])
def test_a_hostile_server_is_refused_as_well(pair, library, change, way, error):
    folder = () if change.startswith('RDMF 3') else ('-d', pair.inbox)
    # What it makes of that is its own affair.
    pair.server('-1', '-t', 30, '-q', 8, *folder, env={'LD_PRELOAD': library, 'HOSTILE': change})
    client = pair.client('-t', 30, '-b', 16384, way, pair.file('file', 300_000), status=1)
    client.one_error(error)
    assert not client.has('stored')
