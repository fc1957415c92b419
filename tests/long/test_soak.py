"""One server and a thousand clients, one after another, chapter by chapter: nothing may grow, and nobody may be turned
away. SOAK_CLIENTS overrides the number. What these say (-rP shows it) is in docs/reliability.md."""
import os
import re
import signal

import pytest

from pair import objects, until

TOTAL = int(os.environ.get('SOAK_CLIENTS', 1000))
# In 01 and 02 a client may leave before its device has acknowledged what it has (docs/troubleshooting.md#status-5).
EARLY = r'(?m)^error: send(?: of MSG_DONE)?: status 5 \(Work Request Flushed Error\).*\n'


def held(server):
    """By a server that waits for clients."""
    server.done()
    until('a server without a queue pair', server.has_no_queue_pair)
    return len(objects(server)), server.descriptors()


def soak(pair, words):
    """After the first twenty clients nothing grows; returns what it has cost."""
    signal.alarm(300 + 4 * TOTAL)
    server = pair.server(*words)
    for number in range(1, TOTAL + 1):
        pair.client(*words)
        if number == 20:
            before, memory = held(server), server.memory()
    until('a server that holds what it did', lambda: held(server) == before)
    grown, early = server.memory() - memory, len(re.findall(EARLY, server.err))
    assert grown < 512
    assert re.sub(EARLY, '', server.err) == '' and early <= TOTAL // 100
    server.stop()
    return f'{TOTAL} clients; memory +{grown} kB; left before they acknowledged: {early}'


@pytest.mark.parametrize('chapter, words', [('01_send_recv', ()), ('02_write_read', ('write',)), ('02_write_read', ('read',)),
                                            ('03_pure_verbs', ('write',)), ('04_tls_psn', ('write',))])
def test_a_thousand_clients_leave_nothing_behind(lab, programs, words):
    print(lab.call('a', soak, programs, words))
