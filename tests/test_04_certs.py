"""The certificates of chapters 04 and 05: who may read them, whom they are for, how long they last, and what certs.sh
leaves alone."""
import os
import pathlib
import re
import shlex
import socket
import subprocess
import time

import pytest

from nodes import TOP

SCRIPT = TOP / '04_tls_psn/certs.sh'
DAY, HOUR = 86400, 3600


def ran(*words, status=0):
    """It ends so; returns what it says on both streams. What it makes must not depend on the umask."""
    done = subprocess.run([str(word) for word in words], check=False, text=True, umask=0, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert (done.returncode == status) if status is not None else done.returncode, done.stdout
    return done.stdout


class Certs:
    """A folder of certificates."""

    def __init__(self, folder):
        self.folder = folder

    def make(self, *words, status=0):
        return ran(SCRIPT, *words, self.folder, status=status)

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def bytes(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def field(self, role, *options, status=0):
        """What openssl says of a certificate."""
        return ran('openssl', 'x509', '-in', self.folder / f'{role}.pem', '-noout', *options, status=status)

    def verified(self, *roles, purpose=(), ca='ca', status=0):
        """The CA has signed them; or, with None for the status, not."""
        ran('openssl', 'verify', '-x509_strict', '-partial_chain', '-CAfile', self.folder / f'{ca}.pem', *purpose,
            *(self.folder / f'{role}.pem' for role in roles), status=status)

    def has_its_key(self, role):
        key = self.folder / f'{role}.key'
        assert ran('openssl', 'pkey', '-in', key, '-pubout') == self.field(role, '-pubkey')
        assert 'NIST CURVE: P-256' in ran('openssl', 'pkey', '-in', key, '-noout', '-text')


@pytest.fixture
def certs(tmp_path):
    return Certs(tmp_path / 'certs')


def test_certs_sh_makes_five_files_which_only_their_owner_can_read(certs):
    assert re.fullmatch(f'certs.sh: made {certs.folder}/.*, for 30 days\n', certs.make())
    assert certs.names() == ['ca.pem', 'client.key', 'client.pem', 'server.key', 'server.pem']
    assert certs.folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in certs.folder.iterdir()} == {0o600}
    # Nothing half made is left beside it either, the CA's key least of all.
    assert os.listdir(certs.folder.parent) == ['certs']
    # Each key is its certificate's, which the CA has signed for its own role and no other.
    for role, other in ('server', 'client'), ('client', 'server'):
        certs.has_its_key(role)
        certs.verified(role, purpose=('-purpose', f'ssl{role}'))
        certs.verified(role, purpose=('-purpose', f'ssl{other}'), status=None)
        assert 'CA:FALSE' in certs.field(role, '-ext', 'basicConstraints')
        # Nor can it sign another one.
        certs.verified(other, ca=role, status=None)
    assert certs.field('server', '-pubkey') != certs.field('client', '-pubkey')


def test_they_are_for_the_labs_and_this_machines_names_and_addresses_or_those_that_were_asked_for(certs):
    certs.make()
    own = ran('hostname', '-I').split()
    for role in 'server', 'client':
        for address in '192.0.2.1', '192.0.2.2', '127.0.0.1', '2001:db8::1', '::1', *own:
            assert 'does match' in certs.field(role, '-checkip', address)
        for name in socket.gethostname(), 'node-b':
            assert 'does match' in certs.field(role, '-checkhost', name)
        assert 'does NOT match' in certs.field(role, '-checkip', '192.0.2.3')
        assert 'does NOT match' in certs.field(role, '-checkhost', 'elsewhere')
    certs.make('--names', 'IP:192.0.2.9')
    assert 'does match' in certs.field('client', '-checkip', '192.0.2.9')
    assert 'does NOT match' in certs.field('client', '-checkip', '192.0.2.1')


@pytest.mark.parametrize('days', [30, 2, 60, -1])
def test_they_last_as_many_days_as_were_asked_for_and_no_ca_cuts_that(certs, days):
    certs.make(*(() if days == 30 else ('--days', days)))
    for role in 'server', 'client':
        if days > 0:
            certs.field(role, '-checkend', days * DAY - HOUR)
        certs.field(role, '-checkend', max(0, days * DAY + HOUR), status=1)
    certs.field('ca', '-checkend', max(0, days * DAY - HOUR))
    certs.field('ca', '-checkend', 60 * DAY + HOUR, status=1)


def test_if_needed_misses_each_file_and_sees_one_that_is_anothers(certs, tmp_path):
    certs.make()
    ran(SCRIPT, tmp_path / 'other')
    for file in certs.names():
        for text in None, (tmp_path / 'other' / file).read_bytes(), b'rubbish\n':
            (certs.folder / file).unlink()
            if text:
                (certs.folder / file).write_bytes(text)
            assert 'replaced' in certs.make('--if-needed'), (file, text)
    before = certs.bytes()
    assert certs.make('--if-needed') == '' and certs.bytes() == before


def test_if_needed_looks_at_now_and_an_hour_ahead(certs):
    certs.make('--days', 2)
    for seconds, needed in (0, False), (2 * DAY - 62 * 60, False), (2 * DAY - 58 * 60, True), (-30 * 60, True):
        # As if it were then: bash forgets what that variable means when it is unset.
        said = ran('bash', '-c', f'unset EPOCHSECONDS; EPOCHSECONDS={int(time.time()) + seconds}; . "$@"', 'certs.sh', SCRIPT,
                   '--if-needed', '--days', 2, certs.folder)
        assert ('replaced' in said) == needed, (seconds, said)


def test_a_client_of_its_own_name_has_a_key_of_its_own(certs):
    certs.make('--client', 'alice', '--client', 'host-2')
    assert [name for name in certs.names() if name.startswith('client')] == [
        'client-alice.key', 'client-alice.pem', 'client-host-2.key', 'client-host-2.pem', 'client.key', 'client.pem']
    assert re.search('CN ?= ?alice$', certs.field('client-alice', '-subject').strip())
    assert 'URI:spiffe://rdma.example/client/alice\n' in certs.field('client-alice', '-ext', 'subjectAltName')
    certs.verified('client-alice', 'client-host-2', 'client', purpose=('-purpose', 'sslclient'))
    certs.has_its_key('client-alice')
    assert certs.field('client-alice', '-pubkey') != certs.field('client', '-pubkey')
    # One that is not there yet is needed; those who are, are not.
    assert certs.make('--if-needed', '--client', 'alice') == ''
    assert 'replaced' in certs.make('--if-needed', '--client', 'carol') and 'client-carol.key' in certs.names()
    for name in '../x', '':
        certs.make('--client', name, status=2)
        certs.make('client', name, status=2)
    ran(SCRIPT, 'client', status=None)


def test_one_client_more_is_never_in_the_place_of_the_others(certs):
    certs.make('client', 'alice', 'client', 'host-2')
    certs.verified('client-alice', 'client-host-2', 'client')
    before = certs.bytes()
    said = certs.make('client', 'carol', status=1)
    assert certs.bytes() == before and 'CA was deleted' in said
    # What it says to try makes all of them.
    again = f': ./certs.sh --client alice --client carol --client host-2 {certs.folder}\n'
    assert said.endswith(again)
    ran(SCRIPT, *shlex.split(again)[2:])
    certs.verified('client-alice', 'client-carol', 'client-host-2')
    certs.make('--if-needed', 'client', 'carol')


def test_a_folder_with_anything_else_in_it_is_left_as_it_is(certs, tmp_path):
    certs.folder.mkdir()
    (certs.folder / 'notes').write_text('mine')
    assert 'not from here' in certs.make(status=1) and certs.bytes() == {'notes': b'mine'}
    (tmp_path / 'file').write_text('mine')
    ran(SCRIPT, tmp_path / 'file', status=1)
    assert (tmp_path / 'file').read_text() == 'mine'
    certs.make('--verify=no', status=2)


def test_05_has_the_same_script_and_git_ignores_what_it_makes():
    assert (TOP / '05_multiclient/certs.sh').read_bytes() == SCRIPT.read_bytes()
    for file in 'certs/server.key', 'certs/ca.pem', 'other/client.key':
        ran('git', '-C', TOP, 'check-ignore', '-q', pathlib.Path('04_tls_psn') / file)
