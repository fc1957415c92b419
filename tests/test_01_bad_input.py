"""Chapter 01 with addresses that are none, or on a machine that lacks something: one line says what, why
and what to try. With sanitizers: what was made before is given back."""
import pathlib
import re
import subprocess

import pytest

CHAPTER = '01_send_recv'
pytestmark = pytest.mark.parametrize('variant', ['sanitized'])
IN_USE = '^error: rdma_bind_addr: .*; another program has this port of .*; give another with -p'
NO_DEVICE = '^error: rdma_create_event_channel: .*`rdma link`'


def no_server(pair, regex, *words):
    """It ends with this error."""
    pair.start('server', './server', *words).end(1).one_error(regex)


def no_client(pair, regex, address):
    """The same."""
    client = pair.start('client', './client', '-a', address).end(1)
    client.one_error(regex)
    return client.err


def test_addresses_that_do_not_exist_or_not_here(pair):
    name = 64 * 'x' + '.invalid'
    no_client(pair, f'^error: cannot look up {name}: .*; give an address that', name)
    no_server(pair, f'^error: cannot look up {name}: .*; give an address that', '-a', name)
    no_server(pair, '^error: rdma_bind_addr: .* 198.51.100.1 an address of this', '-a', '198.51.100.1')


def test_a_loopback_address_has_no_device_and_one_that_would_do_is_named(pair):
    loopback = r"^error: {}: a loopback address .* also this machine's \[docs"
    no_client(pair, loopback.format('::1'), '::1')
    no_server(pair, loopback.format('127.0.0.1'), '-a', '127.0.0.1')
    said = no_client(pair, loopback.format('127.0.0.1'), '127.0.0.1')
    pair.address = re.search('; use ([^ ,]*), which is', said)[1]
    server = pair.server()
    pair.served(server)
    server.stop()


@pytest.mark.parametrize('words', [(), ('-a', '192.0.2.1')], ids=['of all addresses', 'of one'])
def test_a_port_that_is_in_use(pair, words):
    server = pair.server(*words)
    no_server(pair, IN_USE)
    no_server(pair, IN_USE, '-a', pair.address)
    pair.served(server)
    # Another port is nobody's.
    other = pair.server('-p', 20887)
    assert other.has(r'^listening on port 20887\.$')
    other.stop('INT')
    server.stop()


def limited(pair, limit):
    """A client, when it has ended, of a user who may lock so many kB."""
    return pair.start('client', 'setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'bash', '-c',
                      'ulimit -l "$0" && exec "$@"', limit, './client', '-a', pair.address).any_end()


def test_a_memlock_limit_that_is_too_small(pair):
    """Root may lock as much as it likes; another user has a limit."""
    server = pair.server()
    for limit in 0, 4:
        client = limited(pair, limit)
        # libibverbs warns of a small limit in two lines of its own.
        assert client.status == 1 and client.has('^libibverbs: Warning: RLIMIT_MEMLOCK is ', stream='err')
        assert client.has('^error: ibv_reg_mr: .*; 1024 bytes: .*`ulimit -l`', stream='err')
        assert len(client.err.splitlines()) == 3
    assert limited(pair, 64).status == 0
    server.stop()


def test_without_a_device(pair):
    subprocess.run(['rdma', 'link', 'delete', 'rxe0'], check=True)
    try:
        no_server(pair, NO_DEVICE)
        no_client(pair, NO_DEVICE, pair.address)
        no_client(pair, NO_DEVICE, '127.0.0.1')
    finally:
        subprocess.run(['rdma', 'link', 'add', 'rxe0', 'type', 'rxe', 'netdev', 'eth0'], check=True)


@pytest.mark.skipif(pathlib.Path('/dev/infiniband/rdma_cm').exists(), reason='this host has it')
@pytest.mark.parametrize('words', [['./server'], ['./client', '-a', '192.0.2.1']], ids=['server', 'client'])
def test_on_a_machine_without_dev_infiniband(programs, words):
    ran = subprocess.run(words, cwd=programs.folder, text=True, check=False, stderr=subprocess.PIPE)
    assert ran.returncode == 1 and re.fullmatch(NO_DEVICE + '.*\n', ran.stderr)
