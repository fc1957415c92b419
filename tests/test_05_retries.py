"""What chapter 05's client tries again with -r, and what not; and how often it comes back to a server
that is not there. (To one that is full: test_05_multiclient.py.)"""
from refusals import certificates
from test_05_multiclient import HOLDS, holding, leave

CHAPTER = '05_multiclient'


def said_each_time(client, cause):
    """Each failure is an error that says this, and is followed by a new try, of which the story tells."""
    assert client.count(f'^error: .*{cause}', 'err') == len(client.err.splitlines()) == client.count('trying again in ')


def test_what_can_pass_by_itself_is_tried_again(pair):
    """A server that is not there yet, and one that is there and has no time."""
    client = pair.begin_client('-r', 1000, 'write')
    client.says('trying again in ', 3)
    server = pair.server('-t', 60, 'write')
    said_each_time(client.end(), 'connect: Connection refused')
    server.kill('STOP')
    server.stops()
    client = pair.begin_client('-t', 4, '-r', 1000, 'write')
    client.says('trying again in ', 2)
    server.resume()
    said_each_time(client.end(), 'nothing came within 4 s')
    server.stop()
    # As often as was said, and no more.
    client = pair.client('-r', 2, 'write', status=1)
    assert client.count('Connection refused', 'err') == 3 and client.has(r' s, 2 of 2\.')


def once(client, cause):
    """It fails once, for this reason."""
    client.end(1)
    assert client.has(cause, stream='err') and not client.has('trying again')


def test_what_cannot_pass_is_not_tried_again(pair):
    server = pair.server('-t', 60, 'write')
    other = certificates(pair)
    # A certificate does not become better.
    once(pair.begin_client('-r', 5, '-A', other / 'ca.pem', 'write'), 'certificate verify failed')
    # Nor do words that do not fit, and both queue pairs are made by then.
    once(pair.begin_client('-r', 5, 'read'), 'this side runs read and the peer write')
    server.stop()


def test_what_has_begun_is_not_tried_again(pair):
    # The server dies while the client is connected and all is said.
    server = pair.server('-t', 60, 'write')
    client = pair.begin_client('-r', 5, '-w', 3600, 'write')
    client.says(HOLDS)
    server.gone()
    once(client, 'the server ended the connection')
    # It stops when the client has been let in, and has sent its parameters.
    server = pair.server('-t', 60, 'write', at=('ibv_create_qp 1', 'stop'))
    once(pair.begin_client('-t', 6, '-r', 5, 'write'), "the peer's parameters: nothing came within 6 s")
    server.stops()
    server.resume().stop()


def test_who_is_to_make_a_million_connections_makes_them_not_as_fast_as_it_can_and_stops(pair):
    client = pair.begin_client('-p', 4499, '-n', 3, '-N', 1_000_000, 'write', program='./load/load')
    client.says('refused', 12, 'err')
    # Each of three pauses 0.1 s, 0.2 s and so on, or at least half of it.
    assert client.count('refused', 'err') < 100
    leave(client, 1)
    assert client.count('refused', 'err') < 100, 'it went on'
    assert client.has('asked to stop: connections that were not made: 29')


def test_the_same_where_there_is_a_server_that_is_full(pair):
    server = pair.server('-t', 60, '-m', 1, 'write')
    holds = holding(pair, 1)
    client = pair.begin_client('-t', 60, '-N', 1000, 'write', program='./load/load')
    client.says('server full', 2, 'err')
    client.kill('INT')
    assert client.end(1).count('server full', 'err') < 20
    leave(holds)
    server.stop()
