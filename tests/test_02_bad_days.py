"""Chapter 02 and a peer that does not keep to the protocol: what is wrong is named by whoever gets it, and
the next client is served. What is changed in messages and data: see hostile_07.c."""
import re

import pytest

import builds
from refusals import refused

CHAPTER = '02_write_read'

# MSG_MR's bytes: 4 version, 5 type, 6 mode, 8 address, 20 length.
WRONG = [
    ('RDMA 1 1 0=88', 'does not begin with RDMA'),
    ('RDMA 1 1 4=2', 'speaks version 2, this program version 1'),
    ('RDMA 1 1 5=9', 'unknown type 9$'),
    ('RDMA 1 1 6=7', 'unknown mode 7$'),
    ('RDMA 1 1 7=1', 'where there must be zero$'),
    ('RDMA 1 1' + ''.join(f' {at}=255' for at in range(8, 16)), 'end of the address space'),
    ('RDMA 1 1 22=1', '1024 bytes of memory and the peer 256;'),
    ('RDMA 1 1 22=0', '1024 bytes of memory and the peer 0;'),
    ('RDMA 1 1 20=255 21=255 22=255 23=255', '1024 bytes of memory and the peer 4294967295;'),
    ('RDMA 1 1 6=2', 'runs write and the peer read'),
    # The wrong kind, and the wrong size.
    ('RDMA 1 1 5=2 6=0' + ''.join(f' {at}=0' for at in range(8, 24)),
     'MSG_DONE is not legal in SS_INIT and RS_INIT$'),
    ('RDMA 2 1 5=1 6=1 22=4', 'MSG_MR is not legal in SS_[A-Z_]* and RS_MR_RECV$'),
    ('RDMA 2 1 23=1', 'MSG_DONE has a value where there must be zero'),
    ('RDMA 1 1 size=23', 'of 23 bytes instead of 24'),
    ('RDMA 1 1 size=0', 'of 0 bytes instead of 24'),
    # Local length error, or what rxe makes of it.
    ('RDMA 1 1 size=25', 'receive: status [12] ')]


@pytest.fixture
def hostile():
    """Makes the environment of a program that is hostile in this way."""
    return builds.preloaded('tests/hostile_07', 'HOSTILE')


def test_a_message_of_a_client_that_is_malformed_is_refused_by_name(pair, hostile):
    server = pair.server('write')
    for how, regex in WRONG:
        with refused(server, regex):
            # How it ends is its own affair: it may have been done already.
            pair.begin_client('write', env=hostile(how)).any_end()
    pair.served(server)
    server.stop()


@pytest.mark.parametrize('how, regex', [
    ('RDMA 1 1 4=2', 'speaks version 2, '), ('RDMA 1 1 5=3', 'unknown type 3$'),
    ('RDMA 1 1 22=8', '1024 bytes of memory and the peer 2048; start both')])
def test_a_message_of_a_server_as_well(pair, hostile, how, regex):
    server = pair.server('write', env=hostile(how))
    pair.client('write', status=1).one_error(regex)
    server.stop()


@pytest.mark.parametrize('byte, size', [(64, 1024), (1023, 1024), (1048575, 1048576)])
@pytest.mark.parametrize('mode', ['write', 'read'])
def test_a_wrong_byte_of_the_memory_is_named_by_the_side_that_has_it(pair, hostile, mode, byte, size):
    server = pair.server('-1', '-b', size, mode)
    client = pair.client('-b', size, mode, env=hostile(f'data {byte}'))
    # What the server has done for it is right.
    assert client.has(f'^{size} bytes verified')
    server.end(1).one_error(f'^error: byte {byte} of the memory is 0x')
    assert not server.has('verified')


def test_a_client_names_a_wrong_byte_as_well(pair, hostile):
    server = pair.server('-b', 100_000, 'write', env=hostile('data 70000'))
    pair.client('-b', 100_000, 'write', status=1).one_error('^error: byte 70000 of the memory is 0x')
    server.stop()


def test_of_a_peers_text_of_8_mib_a_server_shows_what_fits_into_a_line(pair, hostile):
    """The most that rxe takes."""
    server = pair.server('-t', 100, '-b', 8 << 20, 'write')
    pair.begin_client('-t', 100, '-b', 8 << 20, 'write', env=hostile('data text')).any_end()
    server.says('memory is 0x78', stream='err')
    assert 4_000 < len(re.search('.*xxxx\n', server.out)[0]) < 9_000
    server.stop()
