"""A peer of chapter 04 or 05 that was let in and never stops talking: it is given up in time, and costs
little until then."""

import pytest

import builds
from chapters import each, numbers
from pair import until

ALPN = 'rdma-params/2'


def too_many(what):
    """What is said of it."""
    return f'{what}: the peer has sent more than 16 key updates'


@pytest.fixture
def flood():
    return builds.helper('tests/flood_keys', '-lssl', '-lcrypto')


def is_over(flood):
    """It was ended by the other side, and long before its time."""
    assert flood.end().ms < 60_000


@each(numbers('04', '05'))
def test_a_client_that_sends_nothing_but_key_updates_is_given_up(pair, flood):
    server = pair.server('-t', 600, 'write')
    is_over(pair.start('flood', flood, 'client', 4433, ALPN, 240, pair.address))
    server.says(too_many("the peer's parameters"), stream='err')
    pair.client('-t', 60, 'write').quiet()
    server.stop().one_error(too_many("the peer's parameters"))


@each(numbers('04', '05'))
def test_a_server_that_sends_nothing_but_key_updates_is_given_up(pair, flood):
    server = pair.start('flood', flood, 'server', 4434, ALPN, 240)
    server.says('^listening')
    pair.client('-p', 4434, '-t', 600, 'write', status=1).one_error(too_many('hello'))
    is_over(server)


def computes_little(program, done):
    """Until it is so, for three seconds at most. Who looks again without a wait does so all the time."""
    def is_done():
        assert program.computed() - before < 3, f'the {program.role} computes'
        return done()
    before = program.computed()
    until(f'an end of what the {program.role} does', is_done)


@pytest.fixture
def asks():
    """A peer that asks for key updates and does not read the answers: hostile_post.c."""
    return builds.helper('tests/hostile_post', '-shared')


@pytest.mark.parametrize('how', ['keys', 'late-keys'])
@each(numbers('04', '05'))
def test_a_client_that_asks_for_them_costs_the_server_little(pair, asks, how):
    """In the middle of the transfer, and after it. Whoever comes next is served."""
    server = pair.server('-t', 30, 'write')
    client = pair.begin_client('-t', 60, 'write', env={'LD_PRELOAD': asks, 'HOSTILE': how})
    computes_little(server, lambda: server.has(too_many('TLS'), stream='err'))
    client.end(0, 1)
    pair.client('-t', 60, 'write').quiet()
    server.stop().one_error(too_many('TLS'))


def a_server_asks(pair, asks, how, *words, **more):
    server = pair.server('-t', 60, 'write', env={'LD_PRELOAD': asks, 'HOSTILE': how})
    client = pair.begin_client('-t', 30, *words, 'write', **more)
    computes_little(client, lambda: not client.is_running())
    client.end(1).one_error(too_many('TLS'))
    server.says('^error: ', stream='err')
    server.stop()


@each(numbers('04', '05'))
def test_a_server_that_asks_for_them_costs_the_client_little(pair, asks):
    a_server_asks(pair, asks, 'keys')


@each(numbers('05'))
def test_a_server_that_asks_for_them_while_the_client_holds_its_connection(pair, asks):
    a_server_asks(pair, asks, 'late-keys', '-w', 100, program='./load/load')
