"""compare_logs.sh: which lines of two runs may change places, stand for others, or be missing, as
their file `races` declares it; and what cannot be compared."""
import random
import shutil

import pytest

from test_compare_logs import FIXTURES, SWAP_8_9, logs, script

RACE = 'server.log: received message: * <> send completed successfully.'


def test_lines_of_a_declared_race_may_change_places_others_may_not(logs):
    logs.write('expected/races', '# what the server says first', RACE)
    assert logs.compare()[0] == 0
    logs.edit('run/server.log', SWAP_8_9)
    assert logs.compare()[0] == 0
    assert logs.compare(run=logs.expected)[0] == 0
    # The same swap in a log that the race does not name.
    for folder in logs.run, logs.expected:
        shutil.copy(folder / 'server.log', folder / 'server-2.log')
    assert '--- expected server.log' not in logs.differ('--- expected server-2.log')


def test_a_race_does_not_let_a_line_pass_a_third_one(logs):
    logs.write('expected/races', RACE)
    logs.edit('run/server.log', '7{h;d};8{G}')
    assert logs.compare()[0] == 1
    shutil.copy(FIXTURES / 'run/server.log', logs.run)
    logs.edit('run/server.log', '8{h;d};10{G}')
    assert logs.compare()[0] == 1


def test_lines_joined_by_plus_change_places_as_a_block_and_not_one_by_one(logs):
    logs.clear()
    logs.write('expected/server.log', *'status received status sent gone'.split())
    logs.write('run/server.log', *'status sent status received gone'.split())
    assert logs.compare()[0] == 1
    logs.write('expected/races', 'server.log: status + received <> status + sent')
    assert logs.compare()[0] == 0
    logs.write('run/server.log', *'status status sent received gone'.split())
    assert logs.compare()[0] == 1
    logs.write('run/server.log', *'status sent gone status received'.split())
    logs.differ('another order')
    logs.write('expected/races', 'server.log: status + received <> status + lost')
    logs.refused('no line of server.log')


@pytest.mark.parametrize('declared, why', [
    ('server.log: one line', 'races:1: not of the form LOG: PATTERN <> PATTERN'),
    ('server.log: peer gone. <> send completed successfully.', 'races:1: no line of server.log'),
    ('sever.log: peer disconnected. <> send completed successfully.', ''),
    ('server.log: sent + lost | gone', 'races:1: no line of server.log')])
def test_a_race_wrongly_written_or_that_no_line_has_is_refused(logs, declared, why):
    logs.write('expected/races', declared)
    logs.refused(why)


@pytest.mark.parametrize('run, matches', [
    ('good came bad sent', True), ('bad sent', True), ('good bad sent', False), ('came good bad sent', False),
    ('good came bad bad sent', False), ('good came sent', False), ('sent good came bad', False), ('sent', False)])
def test_a_block_may_stand_for_a_line_together_in_its_order_once(logs, run, matches):
    logs.clear()
    for one, other in (('expected', 'run'), ('run', 'expected')):
        logs.write(f'{one}/server.log', 'start', *run.split(), 'end')
        logs.write(f'{other}/server.log', *'start bad sent end'.split())
        logs.write('expected/races', 'server.log: good + came + bad | bad')
        assert (logs.compare()[0] == 0) == matches
        # In the logs that are named, and in no others.
        logs.write('expected/races', 'client.log: good + came + bad | bad')
        logs.refused('no line of client.log')


def test_stderr_is_compared_where_it_is_expected_and_shown_where_it_is_not(logs):
    logs.write('run/client.err', 'error: no route')
    status, said = logs.compare()
    assert status == 0 and 'Not compared, but the run has client.err:\n  error: no route' in said
    logs.edit('run/client.log', '/^disconnected/d')
    logs.differ('Not compared, but the run has client.err:', 'error: no route')
    shutil.copy(FIXTURES / 'run/client.log', logs.run)
    logs.write('expected/client.err', 'error: no address')
    logs.differ('-error: no address', '+error: no route')
    (logs.run / 'client.err').unlink()
    logs.differ('client.err: the log of the run is empty')
    shutil.copy(logs.expected / 'client.err', logs.run)
    assert logs.compare()[0] == 0


def test_wrong_usage_and_folders_without_logs_end_with_2_and_a_reason(logs):
    status, said = script(logs.run)
    assert status == 2 and 'Usage:' in said
    assert script('-x', logs.run, logs.expected)[0] == 2
    status, said = script(logs.run, logs.folder / 'none')
    assert status == 2 and 'none: no such folder' in said
    (logs.folder / 'empty').mkdir()
    status, said = logs.compare(expected=logs.folder / 'empty')
    assert status == 2 and 'no *.log in it' in said
    (logs.run / 'server.log').unlink()
    logs.refused('no server.log in it')
    status, said = script('-h')
    assert status == 0 and 'EXPECTED_DIR' in said


def test_a_thousand_clients_in_any_order_are_compared_in_seconds(logs):
    logs.clear()
    logs.write('expected/races', 'server.log: Client {n}: * apart')
    draw = random.Random(1)
    for path in 'expected/server.log', 'run/server.log':
        left = [[f'Client {i}: PSN {draw.getrandbits(40):#x}', f'Client {i}: served', f'Client {i}: gone']
                for i in range(1, 1001)]
        order = [i for i in range(1000) for _ in range(3)]
        # Up to forty at once, as in a run.
        order.sort(key=lambda i: i + draw.random() * 40)
        logs.write(path, *(left[i].pop(0) for i in order))
    assert script(logs.run, logs.expected) == (0, 'matches\n')
