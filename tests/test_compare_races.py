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
    status, said = logs.compare('-v')
    assert status == 0 and 'Lines of this race changed places' in said
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
    *((f'server.log: {{a}} {meaning}', 'races:1: not of the form')
      for meaning in ('means *', 'means a + b', 'means {new}', '+ {b} means {b}')),
    ('server.log: {a} lost means {a} and gone', 'races:1: no line of server.log')])
def test_a_race_or_meaning_wrongly_written_or_that_no_line_has_is_refused(logs, declared, why):
    logs.write('expected/races', declared)
    logs.refused(why)


STORY = {'S': 'sent', 'C': 'but it has come', 'G': 'wr_id=0x7, good, state=1',
         'B': 'wr_id=0x7, bad, state=1', '2': 'wr_id=0x7, bad, state=2', '8': 'wr_id=0x8, bad, state=1'}


def story(letters):
    """The lines of a log."""
    return ['start', *(STORY[letter] for letter in letters), 'conn=0x7', 'end']


@pytest.mark.parametrize('letters, said', [
    ('BCS', 'matches'), ('GS', 'matches'), ('BS', 'expected "good,", got "bad,"'),
    ('GCS', 'server.log: extra line: line 3: "but it has come"'), ('CS', 'differs'), ('CBS', 'differs'),
    ('BSC', 'differs'), ('BCCS', 'differs'), ('BCBCS', 'server.log: extra line'), ('BCGS', 'differs'),
    ('SBC', 'differs'), ('2CS', 'expected "state=1", got "state=2"'), ('8CS', 'token identity broken')])
def test_lines_that_mean_another_are_read_as_it_together_in_their_order_once(logs, letters, said):
    logs.clear()
    logs.write('expected/server.log', *(line.replace('0x7', '0x1') for line in story('GS')))
    logs.write('run/server.log', *story('BCS'))
    assert logs.compare()[0] == 1
    # What the names stand for is compared as it would be in the one line.
    logs.write('expected/races', 'server.log: {a}, bad, {b} + but it has come means {a}, good, {b}')
    logs.write('run/server.log', *story(letters))
    if said == 'matches':
        logs.match()
    else:
        logs.differ(said)


def test_the_logged_run_may_be_the_one_that_has_the_lines_that_mean_another(logs):
    logs.clear()
    logs.write('run/server.log', 'wr_id=0x1, good', 'sent')
    logs.write('expected/server.log', 'wr_id=0x2, bad', 'but it has come', 'sent')
    logs.write('expected/races', 'server.log: {a}, bad + but it has come means {a}, good')
    assert logs.compare()[0] == 0
    # In the logs that are named, and in no others.
    logs.edit('expected/races', 's/server/client/')
    for folder in logs.run, logs.expected:
        shutil.copy(folder / 'server.log', folder / 'client.log')
    status, said = logs.compare()
    assert status == 1 and '--- expected client.log' not in said


def test_stderr_is_compared_where_it_is_expected_and_shown_where_it_is_not(logs):
    logs.write('run/client.err', 'error: no route')
    status, said = logs.compare()
    assert status == 0 and f'not compared: 1 lines of {logs.run}/client.err' in said
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
