"""Chapter 07 and a peer that does not keep to the protocol: what is wrong is named, no file is wrong,
and the next client is served. What is changed in the messages: see hostile_07.c."""
import os
import re

import pytest

import builds
from pair import until

CHAPTER = '07_full_speed'

# The header's bytes: 5 type, 6 credits, 8 done, 12 length, 16 number, 32 rkey, or of HELLO the bytes of a
# part, 36 mode; the types: 1 HELLO, 4 DATA, 5 HERE, 6 END, 8 CREDIT.
HELLO = [
    ('RDMF 1 1 7=3', 'send', 'wants 3 parts of 16384 bytes by send; from 4 parts'),
    ('RDMF 1 1 7=0', 'read', 'wants 0 parts of 16384'),
    ('RDMF 1 1 34=0 35=255', 'write', 'wants 8 parts of 255 bytes by write; .* and 256 bytes on'),
    ('RDMF 1 1 32=4 34=0', 'write', 'wants 8 parts of 67108864 bytes .* and 67108864 bytes in all'),
    ('RDMF 1 1 39=4', 'send', 'wants 8 parts of 16384 bytes by benchmark'),
    ('RDMF 1 1 39=5', 'send', 'unknown type 1, or mode 5'),
    ('RDMF 1 1 5=8 39=0', 'send', 'message type 8 at the beginning'),
    ('RDMF 1 1 imm=1', 'write', 'opcode 129, where a message was to come')]
HEADERS = [
    ('RDMF 4 3 39=1', 'send', 'unknown type 4, or mode 1'),
    ('RDMF 4 3 4=3', 'send', 'does not begin with a header'),
    ('RDMF 4 3 6=1 7=0', 'send', 'the peer returns 256 credits, and has [0-8] of 8'),
    ('RDMF 4 3 15=1', 'send', '16384 bytes after a header that announces 16385'),
    ('RDMF 4 3 size=10039', 'send', '9999 bytes after a header that announces 16384'),
    ('RDMF 4 3 5=1 39=1', 'send', 'a text of 16384 bytes'),
    ('RDMF 4 3 5=5 12=0 14=0 size=40', 'send', 'a part that comes another way'),
    ('RDMF 5 3 5=4 14=0', 'read', 'a part that comes another way'),
    ('RDMF 4 3 imm=100', 'send', 'a part that comes another way'),
    ('RDMF 6 1 5=1 39=1', 'write', 'message type 1 with a text of 32 bytes, in the middle'),
    ('RDMF 6 1 15=31 size=71', 'write', 'message type 6 with a text of 31 bytes'),
    ('RDMF 6 1 5=2', 'read', 'message type 2 with a text of 32 bytes')]
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
                          # With what is counted for its last block, it would be nothing.
                          ('RDMF 1 1' + ''.join(f' {at}=255' for at in range(16, 24)), 'does not take that much in all'),
                          ('RDMF 6 1 40=0 41=0 71=0', 'is not what was sent')):
        refuses_file(pair, library, server, file, change, way, regex)
    assert server.count('more than the 37856 bytes that the file has', 'err') == 1
    assert server.count('is not the one that was sent: it is thrown away', 'err') == 2
    # One byte further on, in a place that is its own.
    if way == 'write':
        refuses_file(pair, library, server, file, 'write 3 addr=1', way, 'is not what was sent')
    serves_the_next(pair, server, way, file)


# The types: 2 WELCOME, 3 REFUSED, 7 STORED.
@pytest.mark.parametrize('change, way, error', [
    ('RDMF 2 1 39=3', 'write', 'the server has 3 receives'),
    ('RDMF 2 1 39=65', 'read', 'the server has 65 receives'),
    ('RDMF 2 1 7=65', 'send', 'the peer returns 65 credits, and has 64 of 64'),
    ('RDMF 2 1 15=31 size=71', 'send', 'a digest of 31 bytes'),
    ('RDMF 2 1 20=1', 'send', 'has more of it than there is'),
    ('RDMF 2 1 8=1', 'read', 'has taken more parts than there were'),
    ('RDMF 2 1 5=7 39=0', 'read', 'message type 7 instead of 2'),
    ('RDMF 7 1 5=1 39=1', 'send', 'message type 1 instead of 7'),
    ('RDMF 7 1 5=4', 'send', 'a part of 0 bytes'),
    ('RDMF 7 1 5=5', 'write', 'a part that comes another way'),
    ('RDMF 7 1 imm=1', 'read', 'a part that comes another way'),
    # By a server that has no folder.
    ('RDMF 3 1 16=1', 'read', 'the server refuses it: for no known reason')])
def test_a_hostile_server_is_refused_as_well(pair, library, change, way, error):
    folder = () if change.startswith('RDMF 3') else ('-d', pair.inbox)
    # What it makes of that is its own affair.
    pair.server('-1', '-t', 30, '-q', 8, *folder, env={'LD_PRELOAD': library, 'HOSTILE': change})
    client = pair.client('-t', 30, '-b', 16384, way, pair.file('file', 300_000), status=1)
    client.one_error(error)
    assert not client.has('stored')
