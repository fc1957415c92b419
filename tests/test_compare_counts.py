"""compare_logs.sh: numbers that count the lines before them, lines that may stand for others, and the
lines of many clients in one log. Two runs of 02_write_read in read mode (fixtures/compare_counts: in
expected/ the server's own requests complete early, in run/ all that the peer sends arrives before any
of them), and the logged run of 05_multiclient with thirteen clients, as they are and with changes."""
import re
import shutil

import pytest

from nodes import TOP
from test_compare_logs import logs

COUNTS, APART = TOP / 'tests/fixtures/compare_counts', TOP / '05_multiclient/expected/thirteen'
CLIENT, SERVER, RACES = 'run/client.log', 'run/server.log', 'expected/races'
ERROR = 'client.err: error: receive: status 5 | error: send of *: status 5'


@pytest.fixture
def change(logs):
    """Puts the two runs there, and changes them: a file, and a sed script, lines to add, or moves (from
    which line, behind which)."""
    def change(runs, *changes):
        logs.clear()
        shutil.copytree(runs if runs == APART else runs / 'expected', logs.expected, dirs_exist_ok=True)
        shutil.copytree(runs if runs == APART else runs / 'run', logs.run, dirs_exist_ok=True)
        for path, what in changes:
            file = logs.folder / path
            lines = file.read_text('utf-8').splitlines() if file.exists() else []
            if isinstance(what, str) and re.match(r'[\d,]*s?/', what):
                logs.edit(path, what, '-E')
                continue
            if isinstance(what, str):
                lines += what.splitlines()
            else:
                for source, behind in what:
                    lines.insert(behind - (source <= behind), lines.pop(source - 1))
            logs.write(path, *lines)
        return logs
    return change


def errors(expected, run):
    """What the client says on stderr."""
    return ('expected/client.err', f'error: {expected}'), ('run/client.err', f'error: {run}')


@pytest.mark.parametrize('runs, changes', [
    (COUNTS, []),
    # The MSG_DONE to the end, where its race allows it, or behind a completion and what that says.
    (COUNTS, [(CLIENT, [(4, 14)]), (CLIENT, '14s/send_state=0/send_state=3/'), (CLIENT, '4,13s/recv_state=2/recv_state=1/')]),
    (COUNTS, [(CLIENT, [(4, 6)]), (CLIENT, '4s/recv_state=2/recv_state=1/'), (CLIENT, '6s/send_state=0/send_state=1/')]),
    (COUNTS, [*errors('receive: status 5', 'send of MSG_DONE: status 5'), (RACES, ERROR)]),
    (COUNTS, [*errors('send of MSG_MR: status 5', 'receive: status 5'), (RACES, ERROR)]),
    (COUNTS, [*errors('receive: status 5', 'receive: status 5'), (RACES, ERROR)]),
    (APART, []),
    # All at one address: in the logged run each had its own.
    (APART, [(SERVER, 's/conn=0x[0-9a-f]+/conn=0x7f0011223344/')])])
def test_what_may_be_another_way_matches(change, runs, changes):
    change(runs, *changes).match()


@pytest.mark.parametrize('runs, changes, said', [
    (COUNTS, [(RACES, '/ counts /d')], 'client.log: missing line'),
    (COUNTS, [(CLIENT, '/send_state=1/s/send_state=1/send_state=2/')], 'send_state=2 (not 1),'),
    (COUNTS, [(CLIENT, '11s/send_state=1/send_state=none/')], 'send_state=none (not 1),'),
    # A line that moves takes its number along; one event's lines stay together; requests keep their order.
    (COUNTS, [(CLIENT, [(4, 14)])], 'send_state=0 (not 3)'),
    (COUNTS, [(CLIENT, [(4, 5)]), (CLIENT, '4s/recv_state=2/recv_state=1/')], 'client.log: another order'),
    (COUNTS, [(CLIENT, [(11, 4), (12, 5)]), (CLIENT, '5s/send_state=1/send_state=0/'), (CLIENT, '7s/send_state=0/send_state=1/')],
     'client.log: another order'),
    # What follows from the peer's MSG_MR does not come before it.
    (COUNTS, [(CLIENT, [(7, 2), (8, 3), (9, 4), (10, 5)])], 'client.log: another order'),
    (COUNTS, errors('receive: status 5', 'send of MSG_DONE: status 5'), 'send of MSG_DONE'),
    (COUNTS, [*errors('receive: status 5', 'send of MSG_DONE: status 12'), (RACES, ERROR)], '-<a line of races:'),
    (COUNTS, [*errors('receive: status 5', 'receive: status 5\nerror: x'), (RACES, ERROR)], '+error: x'),
    (APART, [(SERVER, '/^Client 4: both sides are READY/d'),
             (SERVER, r's/^(Client 4: received connection.*)/\1\nClient 4: both sides are READY./')], '--- expected server.log of 4'),
    (APART, [(CLIENT, '/^Client 7:/d')], 'client.log of 7: the log of the run is empty'),
    (APART, [(CLIENT, 'Client 11: exchange connected.')], 'client.log of 11: extra line'),
    (APART, [(SERVER, r's/^(Client 5: Local PSN: .*, Remote PSN: ).*/\10x000abc/')], 'token identity broken'),
    (APART, [(SERVER, r's/^(Client 9: .*opcode=1, send_state=)0/\12/')], 'Client 9')])
def test_what_may_not_is_shown(change, runs, changes, said):
    change(runs, *changes).differ(said)


def test_every_number_is_checked_of_either_state_and_at_either_end(change):
    logs, tried = change(COUNTS), 0
    for path in logs.run.glob('*.log'):
        text = path.read_text()
        for found in re.finditer(r'(send|recv)_state=\d', text):
            path.write_text(f'{text[:found.end() - 1]}7{text[found.end():]}')
            logs.differ(f'{found[1]}_state=7 (not ')
            tried += 1
        path.write_text(text)
    assert tried == 20


@pytest.mark.parametrize('runs, races, why', [
    (COUNTS, '*.log: state={m}, * counts sent', 'races:1: not of the form'),
    (COUNTS, '*.log: state={n} counts send completed successfully.', 'races:1: no line of *.log'),
    (COUNTS, '*.log: * send_state={n}, * counts received MSG_MR*', 'does not count so'),
    (COUNTS, 'client.log: nothing of this | nor this', 'no line of client.log'),
    (APART, '*.log: Client *: * apart', 'with a name in braces apart'),
    (APART, '*.log: Customer {n}: * apart', 'no line of')])
def test_a_declaration_that_is_wrongly_written_or_fits_no_line_is_refused(change, runs, races, why):
    logs = change(runs)
    logs.write(RACES, races)
    logs.refused(why)
