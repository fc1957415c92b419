"""compare_logs.sh: two runs of one story match, whatever they drew; everything else does not, and
the reader is told what and why. The fixtures are written for these tests: expected/ is a run with
both ends on one host, run/ the same on two hosts whose pids, queue pair numbers and keys count
from the same start."""
import re
import shutil
import signal
import subprocess
import time

import pytest

from nodes import TOP
from lib import compare_logs

FIXTURES = TOP / 'tests/fixtures/compare_logs'


class Logs:
    """Two folders, and what is said of them."""

    def __init__(self, folder, capsys):
        self.folder, self.capsys = folder, capsys
        self.run, self.expected = folder / 'run', folder / 'expected'

    def compare(self, *options, run=None, expected=None):
        """Returns the status, and what is said."""
        handler = signal.getsignal(signal.SIGPIPE)
        status = compare_logs.main([*options, str(run or self.run), str(expected or self.expected)])
        signal.signal(signal.SIGPIPE, handler)
        return status, ''.join(self.capsys.readouterr())

    def match(self):
        assert self.compare() == (0, 'matches\n')

    def differ(self, *texts, status=1):
        """And all this is said of it; returns what is said."""
        got, said = self.compare()
        assert got == status
        for text in texts:
            assert text in said
        return said

    def refused(self, *texts):
        """They cannot be compared, and this is why."""
        self.differ(*texts, status=2)

    def edit(self, path, script, *options):
        """With sed, which must change something."""
        before = (self.folder / path).read_bytes()
        subprocess.run(['sed', '-i', *options, script, self.folder / path], check=True)
        assert (self.folder / path).read_bytes() != before

    def write(self, path, *lines):
        (self.folder / path).write_text(''.join(f'{line}\n' for line in lines), 'utf-8')

    def clear(self):
        for path in (*self.run.iterdir(), *self.expected.iterdir()):
            path.unlink()


@pytest.fixture
def logs(tmp_path, capsys):
    shutil.copytree(FIXTURES, tmp_path, dirs_exist_ok=True)
    return Logs(tmp_path, capsys)


def script(*words):
    """The script itself: status, and what it says."""
    ran = subprocess.run([TOP / 'scripts/compare_logs.sh', *words], check=False, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20)
    return ran.returncode, ran.stdout


def test_a_run_matches_itself_and_another_on_two_hosts_both_ways_round(logs):
    assert script(logs.expected, logs.expected) == (0, 'matches\n')
    logs.match()
    assert logs.compare(run=logs.expected, expected=logs.run) == (0, 'matches\n')


SWAP_8_9 = '8{h;d};9{G}'


# The end whose log is edited, how, and what is said then.
@pytest.mark.parametrize('end, edit, texts', [
    # A line is missing, or there is one more; or an event has another value.
    ('client', '/^send completed/d', [
        '--- expected client.log', '-send completed successfully.',
        'client.log: missing line: expected as line 7: "send completed']),
    ('server', '3i surprise', ['+surprise', 'server.log: extra line: line 3: "surprise"']),
    ('server', 's/status=0 (success)/status=5 (Work Request Flushed Error)/', [
        'server.log: line 7: expected "[on_completion] wr_id=ADDR', 'got "[on_completion] wr_id=ADDR']),
    ('server', SWAP_8_9, ['another order: expected as line 9: "send completed successfully."']),
    # One character is enough.
    ('client', r's/^disconnected\./ disconnected./', ['got " disconnected."']),
    ('client', r's/^disconnected\./disconnected/', ['got "disconnected"']),
    ('client', 's/^disconnected/Disconnected/', ['got "Disconnected."']),
    # What one end says of the other's is not what that says of its own.
    ('client', 's/Remote PSN: 0x0003dc/Remote PSN: 0x0003dd/', [
        'token identity broken: 0x0003dd is PSN3; expected here: PSN1, 0x0003dc in this run',
        'PSN3 = 0x0003dd (run)', 'PSN1 = 0x0003dc (run), 0x3ef333 (expected)']),
    ('server', r'/^Local PSN/s/0x0003dc\(.*\)0xfffe00/0xfffe00\10x0003dc/', [
        'token identity broken: 0x0003dc is PSN1; expected here: PSN2']),
    ('client', 's/peer_mr.rkey=0x00011e/peer_mr.rkey=0x000177/', [
        '0x000177 is KEY2; expected here: KEY3']),
    ('client', 's/peer_mr.addr=0xaaab01feab10/peer_mr.addr=0xaaab01fe8630/', ['token identity broken']),
    ('server', '/local address/s/::ffff:192.0.2.1/fe80::5054:ff:fe12:3456/', [
        'token identity broken']),
    ('client', '/remote address/s/QPN 0x000011/QPN 0x000012/', [
        'token identity broken: 0x000012 is QPN']),
    ('client', 's/conn=0xaaab01facf00/conn=0xaaab01facf08/', [
        'token identity broken: 0xaaab01facf08 is ADDR']),
    # No such tokens: a null pointer, another number base, a documented port.
    ('client', 's/conn=0x[0-9a-f]*/conn=0x0/', ['conn=0x0,']),
    ('client', '/local address/s/QPN 0x000011/QPN 17/', ['QPN2/decimal,']),
    ('client', 's/port 18515/port 4433/', ['port 4433."']),
])
def test_each_fault_in_a_log_is_found_and_said_where_it_is_and_nowhere_else(logs, end, edit, texts):
    logs.edit(f'run/{end}.log', edit)
    said = logs.differ(*texts)
    assert edit == SWAP_8_9 or edit.endswith('d') or 'missing line' not in said
    assert 'identity' in said or said.count('--- expected ') < 2


def test_one_value_where_two_are_expected_and_two_where_one_is(logs):
    logs.edit('run/server.log', 's/0x0003dc/0xfffe00/')
    logs.edit('run/client.log', 's/0x0003dc/0xfffe00/')
    logs.differ('token identity broken')
    status, said = logs.compare(run=logs.expected, expected=logs.run)
    assert status == 1 and 'token identity broken' in said


def test_addresses_of_one_pair_of_programs_say_nothing_of_those_of_another(logs):
    texts = {end: (logs.expected / f'{end}.log').read_text() for end in ('server', 'client')}
    logs.clear()
    for folder in logs.run, logs.expected:
        for end, text in texts.items():
            for pair in '12':
                (folder / f'{end}{pair}.log').write_text(text)
    # As where each process has addresses of its own, for both ends of pair 2.
    logs.edit('run/server2.log', 's/=0x56/=0x57/g')
    logs.edit('run/client2.log', 's/=0x56/=0x57/g')
    assert logs.compare()[0] == 0
    assert logs.compare(run=logs.expected)[0] == 0
    # Within a pair they hang together as ever.
    logs.edit('run/client2.log', r's/peer_mr.addr=0x\w*/peer_mr.addr=0x5738f0da8630/')
    logs.differ('token identity broken', '0x5738f0da8630 is ADDR')


VOLATILE = [
    ('pid 7 on', 'pid 8 on'), ('id=0x5', 'id=0x6'),
    ('buffer 0x7f0011223344.', 'buffer 0x7f0011223345.'),
    ('rkey=0x100, lkey 0x200', 'rkey=0x101, lkey 0x201'),
    ('qpn=0x11 qp_num=18', 'qpn=0x31 qp_num=38'), ('sq_psn=0x1 PSN: 0x2', 'sq_psn=0x3 PSN: 0x4'),
    ('LID 0x0000', 'LID 0x0007'), ('at 192.0.2.1.', 'at 10.1.2.3.'),
    ('at [2001:db8::1], ', 'at [fe80::1], '),
    ('gid=::ffff:192.0.2.7', 'gid=2001:db8::7'), ('peer port 40000', 'peer port 40001'),
    ('device rxe0', 'device mlx5_1'), ('0.20 s, 35 MB/s, 12.8 us', '0.48 s, 7.25 MB/s, 1 us')]
FIXED = [
    ('wr_id=1', 'wr_id=2'), ('opcode=0', 'opcode=1'), ('device port 1', 'device port 2'),
    ('peer port 1021', 'peer port 1022'), ('within 10 s', 'within 11 s'),
    ('all addresses: 0.0.0.0', 'all addresses: 0.0.0.1'), ('access=0x7', 'access=0x5'),
    ('the pid of 7', 'the pid of 8')]


@pytest.mark.parametrize('expected, run', VOLATILE)
def test_each_kind_of_volatile_token_is_recognised_and_nothing_next_to_it(logs, expected, run):
    logs.write('expected/end.log', expected)
    logs.write('run/end.log', run)
    assert logs.compare()[0] == 0
    logs.write('run/end.log', f'{run} x')
    logs.differ('line 1: expected')


@pytest.mark.parametrize('expected, run', FIXED)
def test_what_is_no_volatile_token_is_compared(logs, expected, run):
    logs.write('expected/end.log', expected)
    logs.write('run/end.log', run)
    logs.differ('line 1: expected')


@pytest.mark.parametrize('text', ['11111111', '        ', '\x1b[31m\x1b]0'], ids=['digits', 'blanks', 'escapes'])
def test_a_megabyte_in_a_line_costs_seconds_and_no_control_character(logs, text):
    # Where nothing like it is expected, and where something like it is.
    for _ in range(2):
        with (logs.run / 'client.log').open('a', encoding='utf-8') as log:
            log.write(text * 125_000 + 'x\n')
        begin = time.monotonic()
        assert not re.search('[\\x00-\\x08\\x0b-\\x1f]', logs.differ())
        # Two seconds on a machine that has nothing else to do.
        assert time.monotonic() - begin < 20
        with (logs.expected / 'client.log').open('a', encoding='utf-8') as log:
            log.write(text * 125_000 + 'xy\n')
