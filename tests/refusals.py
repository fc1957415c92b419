"""What tests do with a peer that a server must turn away."""
import contextlib
import re
import socket
import subprocess

from pair import until


@contextlib.contextmanager
def refused(server, regex):
    """Within it, a peer does what a server of one after another refuses with one error, whereupon it
    holds no queue pair."""
    __tracebackhide__ = True
    before = server.err
    yield
    server.says('^error: ', before.count('\n') + 1, 'err')
    until('a server without a queue pair', server.has_no_queue_pair)
    said = server.err[len(before):]
    assert re.fullmatch(f'error: .*{regex}.*\n', said), f'the server does not say: {regex}, but: {said}'


def certificates(pair, *options):
    """A folder of certificates that are not those of the build."""
    folder = pair.scratch / f'certs{len(list(pair.scratch.iterdir()))}'
    subprocess.run(['./certs.sh', *options, folder], cwd=pair.folder, check=True, stdout=subprocess.PIPE)
    return folder


def stranger(address, port, said):
    """Connects over TCP, and says this; returns when the server has ended the connection."""
    with socket.create_connection((address, port), 100) as peer, contextlib.suppress(ConnectionResetError):
        peer.sendall(said)
        while peer.recv(4096):
            pass
