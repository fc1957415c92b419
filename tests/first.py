"""What the tests of the chapters' first files have in common: first.c is both ends.

What each of them promises is in test_every_first.py; a file tests/test_NN_first.py has CHAPTER,
and tests of what only this one does. What takes `pair` runs on node a.
"""
import functools

import builds
from nodes import TOP

FIRST = './first'


@functools.lru_cache(None)
def changed(chapter, name, *changes):
    """The path of a program: first.c, in which each (old, new) of the changes is made."""
    text = (TOP / chapter / 'first.c').read_text('utf-8')
    for old, new in changes:
        assert text.count(old) == 1, f'{name}: first.c has {text.count(old)} times: {old}'
        text = text.replace(old, new)
    with builds.only_one(f'{chapter}.first.{name}') as folder:
        folder.mkdir(exist_ok=True)
        (folder / 'first.c').write_text(text, 'utf-8')
        builds.tool('cc', '-O2', folder / 'first.c', '-o', folder / 'first',
                    '-lrdmacm', '-libverbs', '-lssl', '-lcrypto')
    return str(folder / 'first')


def hasty(chapter):
    """The path of a program: its first.c, which gives up after 4 s, and not after 10."""
    return changed(chapter, 'hasty', ('#define TIMEOUT_MS 10000', '#define TIMEOUT_MS 4000'))


def psn(pair):
    """What 03's is told first; it is told no other secret."""
    return ('1',) if pair.number == '03' else ()


def first(pair, *words, program=FIRST, **more):
    """It as a server, when it listens."""
    return pair.server(*(words or psn(pair)), program=program, **more)


def to_first(pair, *words, program=FIRST, status=0, **more):
    """It as a client, when it has ended with that status or one of these."""
    client = pair.start('client', program, *(words or (*psn(pair), pair.address)), **more)
    return client.end(*(status if isinstance(status, tuple) else (status,)))


def both(server, client, at_server=(), at_client=()):
    """Each has ended well, says no error, and has these lines: expressions, in which {pid} is
    the other's."""
    __tracebackhide__ = True
    for program in server.end(), client:
        program.quiet()
    for program, other, regexes in (server, client, at_server), (client, server, at_client):
        for regex in regexes:
            regex = regex.replace('{pid}', str(other.pid))
            assert program.has(regex), f'the {program.role} does not say: {regex}'


CLIENTS, SERVERS = 'message from active/client side with pid', 'message from passive/server side with pid'
# What a server and a client of a chapter say when they have talked with each other.
TALKS = {
    '01': ([f'^received message: {CLIENTS} {{pid}}$'], [f'^received message: {SERVERS} {{pid}}$']),
    '02': ([f'^my memory: {SERVERS} [0-9]+$', '^received message: done$', f'^my memory: {CLIENTS} {{pid}}$'],
           ['^write completed', '^read completed', f"^the server's memory: {CLIENTS} [0-9]+$"]),
    '03': (['^received message: done$', f'^shared memory: {CLIENTS} {{pid}}$'],
           ['^write completed', '^read completed', '^send completed']),
    '07': (['^received 1024 messages, all as they should be.$'],
           [r'^the receiver has posted 64 receives\.$', r'^sent 1024 messages in [0-9.]+ s, [0-9.]+ MB/s\.$'])}
TALKS['04'] = TALKS['03']


def talks(pair, server=None, client=None):
    """The two do, and say all that is to be said; returns them."""
    __tracebackhide__ = True
    server = server or first(pair)
    client = client or to_first(pair)
    both(server, client, *TALKS[pair.number])
    return server, client
