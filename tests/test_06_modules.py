"""Chapter 06 with a kernel whose RDS is in modules, which is Debian's: how they are loaded, the first
messages after that, and sanitizers."""
import re
from shlex import quote

import pytest

import builds
from nodes import TOP

CHAPTER = '06_rds'
pytestmark = pytest.mark.virtual
NOBODY = 'setpriv --reuid=65534 --regid=65534 --clear-groups'


@pytest.fixture
def guest(run):
    """Runs a script on a node, in the repository; it must succeed, or fail, and say this."""
    def guest(script, regex='', status=0, node='a'):
        ran = run('scripts/lab.sh', 'exec', node, '--', 'bash', '-c', f'cd "$0" && rds=scripts/setup_rds.sh; {script}', TOP)
        assert bool(ran.returncode) == bool(status) and re.search(f'(?s){regex}', ran.stdout), ran.stdout
        return ran.stdout
    return guest


@pytest.fixture
def fresh(run):
    """For a kernel whose RDS nobody has used yet: later, connections hold the modules."""
    for node in 'a', 'b':
        if run('scripts/lab.sh', 'exec', node, '--', TOP / 'scripts/setup_rds.sh', '--remove').returncode:
            pytest.skip("this lab's RDS has been in use")


def test_the_modules_are_there_are_not_loaded_silently_and_can_be_removed(fresh, guest, programs):
    guest('$rds --check', r'todo     rds .*todo     rds_tcp .*todo     rds_rdma .*'
          'can be set up: sudo scripts/setup_rds.sh tcp ib', 1)
    folder = quote(str(programs.folder))
    guest(f'{folder}/server -a 192.0.2.1', '^error: socket: Address family not supported by protocol; this kernel has no RDS, or has not loaded it; see '
          r'scripts/setup_rds.sh --check \[docs/troubleshooting.md#rds\]$', 1)
    guest('ls -d /sys/module/rds*; $rds --status', 'cannot access.*no RDS loaded', 1)
    # The repository may be closed to a user without rights.
    guest(f'cp --parents -t /tmp scripts/setup_rds.sh scripts/lib/machine.sh && cp {folder}/client /tmp &&'
          'chmod -R a+rX /tmp/{scripts,client}')
    guest(f'{NOBODY} /tmp/scripts/setup_rds.sh tcp', 'only root can do this. Try: sudo scripts/setup_rds.sh tcp$', 1)
    guest('$rds tcp', 'loaded rds\n.*loaded rds_tcp')
    guest('$rds tcp && $rds --check tcp && ! test -d /sys/module/rds_rdma', 'ok       rds .*ok       rds_tcp .*usable now')
    guest('$rds --status', '192.0.2.1 on eth0.*TCP port 16385.*ib .*not loaded')
    # Once rds is there, any user can have the kernel load a transport.
    guest(f'{NOBODY} /tmp/client -a 192.0.2.1 -b 192.0.2.99 -T ib talk', '^error: bind: Protocol not available', 1)
    # With the last transport, modprobe removes rds as well.
    guest('test -d /sys/module/rds_rdma; $rds --remove; ! ls -d /sys/module/rds*',
          'removed rds_rdma.*removed rds_tcp.*no RDS in this kernel')


def test_what_modprobe_is_told_not_to_load_is_named_and_not_loaded(fresh, guest):
    guest('mkdir -p /etc/modprobe.d; echo "install rds-tcp /bin/false" >/etc/modprobe.d/no-rds.conf; '
          '$rds tcp; status=$?; rm /etc/modprobe.d/no-rds.conf; exit $status',
          'todo     rds .*MISSING  rds_tcp .*/etc/modprobe.d/no-rds.conf:install rds-tcp /bin/false.*RDS with tcp cannot be had yet', 1)


def matches(run, name, folder, out):
    """A logged run can be had again."""
    expected = TOP / CHAPTER / 'expected' / name
    # A sanitized program takes minutes, in emulation on a busy machine.
    commands = out / 'commands'
    commands.write_text((expected / 'commands').read_text('utf-8').replace('-t 60', '-t 300'), 'utf-8')
    ran = run('scripts/pair.sh', '-d', folder, commands, out / 'run')
    assert ran.returncode == 0, ran.stdout
    assert 'matches' in run('scripts/compare_logs.sh', out / 'run', expected).stdout


def test_the_first_messages_of_all_arrive_in_order_over_several_paths(fresh, guest, run, programs, tmp_path):
    """With modules that have just been loaded, no two kernels know each other yet."""
    matches(run, 'congest', programs.folder, tmp_path)
    assert len(guest('ss -Htn sport = :16385 or dport = :16385', node='b').splitlines()) >= 2


@pytest.mark.parametrize('name', ['congest', 'write'])
def test_some_of_the_logged_runs_under_sanitizers(run, tmp_path, name):
    matches(run, name, builds.build(CHAPTER, 'sanitized'), tmp_path)
