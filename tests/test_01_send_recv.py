"""Chapter 01 when all goes well: texts of every kind between two nodes, and a hundred clients, of whom
nothing is left."""
import pathlib
import re

import pytest

from pair import objects, until

CHAPTER = '01_send_recv'

TEXTS = {
    '': '',
    1024 * 'x': 1024 * 'x',
    r'no "%s" \n here': r'no "%s" \n here',
    '你好，这是一条测试消息。': '你好，这是一条测试消息。',
    # Control bytes, and what is no UTF-8.
    b'\x1b[31mred\a\n\x7f \xc2\x9b1m \xe4\xbd'.decode('utf-8', 'surrogateescape'):
        r'\x1b[31mred\x07\x0a\x7f \xc2\x9b1m \xe4\xbd'}


def send_texts(pair):
    """On node b; returns the last client, who has no text."""
    for text in TEXTS:
        pair.client('-s', text).quiet()
    return pair.client()


def test_no_text_much_chinese_and_control_bytes(lab, programs):
    with lab.serving(programs) as server:
        client = lab.call('b', send_texts, programs)
    server.quiet()
    assert re.findall('(?m)^received message: (.*)', server.out) == [
        *TEXTS.values(), f'message from active/client side with pid {client.pid}']
    assert server.count(r'^peer disconnected\.$') == len(TEXTS) + 1


def test_of_a_hundred_clients_no_object_descriptor_or_memory_is_left(pair):
    server = pair.server()
    for number in range(6):
        pair.client('-s', f'number {number}')
    server.done()
    held = objects(server), server.descriptors()
    memory = server.memory()
    # Two at a time, so that one of them has to wait.
    for number in range(6, 100, 2):
        for client in [pair.begin_client('-s', f'number {number + one}') for one in (0, 1)]:
            client.end()
    server.done()
    until('as little as before', lambda: (objects(server), server.descriptors()) == held)
    assert server.memory() - memory < 512
    assert server.count('^received message: number ') == 100
    # On a busy machine one client in hundreds has the message, and leaves, before its device has
    # acknowledged it: then the server's send is flushed.
    flushed = server.count('^error: send: status 5 ', 'err')
    assert flushed <= 2 and server.count('.', 'err') >= flushed == len(server.err.splitlines())
    assert server.count('^send completed successfully') + flushed == 100
    server.stop()


@pytest.mark.parametrize('variant', ['sanitized'])
def test_memory_that_is_lost_is_seen_where_tests_run_with_sanitizers(pair):
    server = pair.server()
    client = pair.client(status=1, at=('rdma_connect 1', 'leak'))
    assert client.has('^SUMMARY: AddressSanitizer: 77 byte', stream='err')
    server.stop()


@pytest.mark.parametrize('variant', ['sanitized'])
def test_of_all_signals_a_server_waits_for_those_that_ask_it_to_end(pair):
    """SIGINT is bit 1, and SIGTERM bit 14."""
    server = pair.server()
    assert 'SigBlk:\t0000000000004002\n' in pathlib.Path(f'/proc/{server.pid}/status').read_text('utf-8')
    server.stop()
