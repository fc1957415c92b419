"""What docs say that a device answers, to a few mistakes and to memory windows: each is tried, on rxe."""
import pytest

import builds
from nodes import TOP

SAYS = """\
address handle, complete: success
address handle, nobody has the address: Connection timed out
address handle, no GRH: Invalid argument
address handle, the GID is zeros: Invalid argument
address handle, nothing at the GID's index: No data available
atomic: status 0
atomic, no right on the region: status 10
atomic, no right on the queue pair: status 9
atomic, depth 0: status 9
atomic, unaligned: ibv_post_send: Invalid argument
UD, 4 bytes: 44 bytes received, the message is at 40: 1, an IPv4 header at 20: 1
a region that is paged on demand: Invalid argument
endpoints with 1024 descriptors: 339, then: """


@pytest.mark.device
def test_mistakes_are_answered_as_the_entries_say(run):
    program = builds.helper('tests/answers', '-lrdmacm', '-libverbs')
    said = run('scripts/lab.sh', 'exec', 'b', '--', program, '192.0.2.77').stdout
    assert said.startswith(SAYS), said
    # It depends on which of an endpoint's three descriptors is the one too many.
    assert said[len(SAYS):-1] in ('Cannot allocate memory', 'Too many open files'), said


@pytest.mark.device
def test_windows_and_send_with_invalidate_do_what_the_page_says(run):
    program = builds.helper('tests/windows', '-libverbs')
    said = run('scripts/lab.sh', 'exec', 'a', '--', program).stdout
    assert said == (TOP / 'docs/reach/windows.txt').read_text('utf-8'), said
