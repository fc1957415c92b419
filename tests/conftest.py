"""What runs the tests: Debian's python3-pytest, with -xdist and -timeout. In the top folder:

    /usr/bin/python3 -m pytest tests -n 4                 all, side by side (make check)
    /usr/bin/python3 -m pytest tests -m 'not device'      what needs no lab
    /usr/bin/python3 -m pytest tests --chapter 04         what chapter 04 needs
    /usr/bin/python3 -m pytest tests --lf                 what failed last time
    /usr/bin/python3 -m pytest tests/long                 what takes long

Files of bats are collected, too (bats.py). Each worker has a lab with two nodes, which boots
for its first test that needs a device; after a test has failed, its nodes are reset. A worker
that is not the first runs these tests in a copy of the tree, so that what two of them build
and record never meets.
"""
import glob
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import warnings

import pytest

# The tools in Python are imported, and what tests assert in pair.py says which values it had.
TOP = pathlib.Path(__file__).resolve().parents[1]
pytest.register_assert_rewrite('first', 'pair')

import builds
from bats import BatsFile, BatsTest
from first import changed
from nodes import Failed, Lab
from pair import Pair

# A test that needs a lab, and one that needs the worker's and not one of its own.
DEVICE = re.compile(r'(?m)^load lab$|^[^#]*(device_open|lab\.sh up)')
OWN = re.compile(r'(?m)^load lab$')
# Virtual machines are costly, so one worker has all tests that need one.
EMULATED = re.compile(r'(?m)^[^#]*EMULATED_LAB')
# RDS keeps its connections until the kernel ends, and they talk. So what looks at the wire
# comes first; and what makes the device anew after a cut: while they try to come back, the
# device cannot be removed. What takes longest is next, so that no worker ends long after the
# others.
FIRST = ('test_wire test_wiretap test_networks test_04_wire test_07_networks test_06_loans test_05_multiclient '
         'test_06_rds test_07_files test_08_event_loop test_04_tls_psn test_tasks test_07_bad_days '
         'test_01_send_recv test_07_slow_disk test_03_pure_verbs lab web_browser').split()


class Workplace:
    """A worker's labs, which boot when they are first needed, and the tree for files of bats."""
    top = TOP
    kinds = {
        'two nodes': ('', ()),
        'siw': ('-siw', ('--device', 'siw')),
        # For what a User-Mode Linux node cannot do.
        'virtual machines': ('-tcg', ('--nodes', '2')),
    }

    def __init__(self, worker):
        self.worker, self.labs = worker, {}
        self.name = f'{os.environ.get("CHECK_LAB")}-{worker}'
        number = int(worker.lstrip('gw') or 0)
        self.tree = TOP / f'build/worker/{number}' if number else TOP

    def lab(self, kind):
        """One of them."""
        if kind not in self.labs:
            suffix, options = self.kinds[kind]
            engine = {'-tcg': {'LAB_ENGINE': 'tcg'}, '-siw': {'LAB_ENGINE': 'uml'}}.get(suffix, {})
            self.labs[kind] = Lab(self.name + suffix, *options, **engine)
        elif not self.labs[kind].is_up():
            warnings.warn(f'the lab {self.name} was gone, and is booted anew')
            self.labs[kind].reset()
        return self.labs[kind]

    def for_file(self, text):
        """Where a file of bats runs, in which environment, and how nice it is."""
        if not DEVICE.search(text) or OWN.search(text):
            return TOP, dict(os.environ), 5 if self.worker else 0
        environment = dict(os.environ)
        if self.worker and os.environ.get('DEVICE') != 'host':
            environment.update(LAB_NAME=self.lab('two nodes').env['LAB_NAME'],
                               EMULATED_LAB=f'{self.name}-tcg')
        return self.tree, environment, 0

    def reset(self):
        """The nodes are as they were when they had booted."""
        for lab in self.labs.values():
            lab.reset()

    def end(self):
        """Nothing is left, labs that files of bats have booted included."""
        for lab in self.labs.values():
            lab.far_ends.terminate(timeout=5)
        for state in glob.glob(f'/tmp/rdma-lab.{os.getuid()}.{self.name}*'):
            subprocess.run((TOP / 'scripts/lab.sh', 'down'), check=False, stderr=subprocess.DEVNULL,
                           env=dict(os.environ, LAB_NAME=state.split('.', 2)[2]))
        self.labs.clear()


def pytest_addoption(parser):
    """Our own."""
    parser.addoption('--chapter', metavar='NN', help='only what chapter NN needs, such as 04')


def pytest_configure(config):
    """Before any worker begins, and in each of them."""
    if not hasattr(config, 'workerinput'):
        prepare(config)
    config.workplace = Workplace(os.environ.get('PYTEST_XDIST_WORKER', ''))


def pytest_unconfigure(config):
    """In each of them, too; and for workers that have been killed."""
    config.workplace.end()
    for number in range(getattr(config.option, 'numprocesses', 0) or 0):
        Workplace(f'gw{number}').end()
    # After all else, where nobody overlooks it.
    for text in getattr(config, 'not_tested', []):
        print(f'NOT TESTED: {text}')


def prepare(config):
    """What all workers have in common."""
    if chapter := config.getoption('chapter'):
        found = [path.name for path in TOP.glob(f'{chapter[:2]}_*')]
        if not found:
            raise pytest.UsageError(f'--chapter {chapter}: there is no such chapter')
        os.environ['CHECK_CHAPTERS'] = found[0]
    # One of its own for each pytest: a test may start another, whose end() ends what is its.
    os.environ['CHECK_LAB'] = f'{os.environ.get("LAB_NAME", "check")}-{os.getpid()}'
    if config.option.collectonly:
        return
    cache = pathlib.Path(os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache')
    # The tests compile the same files in many folders, and in each run again; and they link
    # some 700 programs, for which gold needs half of the time.
    for compilers in '/usr/lib64/ccache', '/usr/lib/ccache':
        if os.path.isdir(compilers):
            os.environ['PATH'] = f'{compilers}:{os.environ["PATH"]}'
    if gold := shutil.which('ld.gold'):
        link = cache / 'rdma-lab/gold/ld'
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(gold)
        os.environ['COMPILER_PATH'] = str(link.parent)
    commit = subprocess.run(('git', 'rev-parse', 'HEAD'), cwd=TOP, text=True, check=False,
                            capture_output=True)
    os.environ.update(
        CCACHE_DIR=str(cache / 'rdma-lab/compiled'), CCACHE_NOHASHDIR='1', CCACHE_MAXSIZE='1G',
        # What one worker's Python has compiled is good for the others.
        PYTHONPYCACHEPREFIX=str(TOP / 'build/python'),
        # On a slow machine, a logged run takes longer than pair.sh allows a reader's.
        PAIR_LIMIT='400',
        # It chooses samples, and a copy of the tree has none.
        CHECK_COMMIT=commit.stdout.strip())
    subprocess.run(('make', '-s', 'all'), cwd=TOP, check=True, stdin=subprocess.DEVNULL)
    for number in range(1, config.option.numprocesses or 0):
        copy_tree(TOP / f'build/worker/{number}')


def copy_tree(copy):
    """With what is built, and with git's list of files, from which some tests take theirs."""
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    subprocess.run(('bash', '-euo', 'pipefail', '-c', '''
        tar -C "$0" -c --exclude=./build --exclude=./.git . | tar -x
        mkdir build && git init -q && git add -A''', TOP), cwd=copy, check=True)


def pytest_collect_file(parent, file_path):
    """A file of bats is one of tests."""
    if file_path.suffix == '.bats':
        return BatsFile.from_parent(parent, path=file_path)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """The marks that no test needs to say, the order, and which worker has what."""
    groups = {}
    for item in items:
        name = item.path.stem
        if isinstance(item, BatsTest):
            text = item.path.read_text('utf-8')
            if DEVICE.search(text):
                item.add_marker('device')
            if EMULATED.search(text) and not OWN.search(text):
                name = 'virtual machines'
        elif mark := item.get_closest_marker('xdist_group'):
            name = mark.args[0]
        elif {'pair', 'lab'} & set(item.fixturenames):
            item.add_marker('device')
            if item.get_closest_marker('virtual'):
                name = 'virtual machines'
            else:
                # Of each chapter, since this is long enough for several workers.
                name += ''.join(re.findall(r' \d\d_', f' {item.callspec.id}')[:1]) \
                    if hasattr(item, 'callspec') else ''
        item.add_marker(pytest.mark.xdist_group(name))
        groups.setdefault(name, []).append(item)
    names = ['virtual machines', *FIRST]
    ordered = sorted(groups, key=lambda name: (
        names.index(name) if name in names else len(names), name))
    # What only computes stands between what mostly waits.
    place = {}
    for waits in True, False:
        lane = [name for name in ordered
                if bool(groups[name][0].get_closest_marker('device')) == waits]
        place.update({name: index / len(lane) for index, name in enumerate(lane)})
    items[:] = [item for name in sorted(ordered, key=place.get) for item in groups[name]]
    if chapter := config.getoption('chapter'):
        left = [item for item in items if not concerns(chapter[:2], item)]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def concerns(chapter, item):
    """Whether a chapter needs this test: its name has the number, or it goes through all."""
    return item.get_closest_marker('chapters') or \
        re.search(rf'(?<!\d){chapter}(?!\d)', item.nodeid) or \
        any(first <= chapter <= last for first, last in re.findall(r'(\d\d) to (\d\d)', item.name))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """A test that takes `pair` is called on node a."""
    if 'pair' not in pyfuncitem.fixturenames:
        return None
    pyfuncitem.funcargs['lab'].call('a', pyfuncitem.function, **{
        name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames})
    return True


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failure on a node is shown as pytest has shown it there; it leaves nothing to the next."""
    report = (yield).get_result()
    if call.excinfo and call.excinfo.errisinstance(Failed):
        report.longrepr, sections = call.excinfo.value.args
        report.sections += [(title, text) for title, text in sections.items() if text]
    if report.failed:
        again = shlex.quote(f'tests/{item.nodeid}'.split('@')[0])
        report.sections.append(('again', f'/usr/bin/python3 -m pytest {again}'))
        item.config.workplace.reset()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    """In CI, a test that was skipped did not pass."""
    reporter = session.config.pluginmanager.get_plugin('terminalreporter')
    stats = reporter.stats if reporter else {}
    session.config.not_tested = [report.longrepr[2] for report in stats.get('skipped', [])]
    if os.environ.get('CI') == 'true' and exitstatus == 0 and session.config.not_tested:
        session.exitstatus = 1
    session.config.not_tested += [text for report in stats.get('passed', [])
                                  for what, text in report.user_properties if what == 'not tested']


# What tests take

@pytest.fixture
def lab(request):
    """The lab that the test is for: with marks, one of another kind."""
    for kind in 'siw', 'virtual machines':
        if request.node.get_closest_marker(kind.split()[0]):
            return request.config.workplace.lab(kind)
    return request.config.workplace.lab('two nodes')


@pytest.fixture
def chapter(request):
    """Where a test is not parametrized with it: the one that its file is about."""
    return getattr(request.module, 'CHAPTER', None) or pytest.fail(
        f"{request.path.name} says nowhere which chapter it is about: CHAPTER = '01_send_recv'")


@pytest.fixture
def variant():
    """Of the build: plain or sanitized."""
    return 'plain'


@pytest.fixture
def programs(chapter, variant):
    """The chapter's server and client, built."""
    return Pair(chapter, builds.build(chapter, variant), variant == 'plain' and builds.shim())


@pytest.fixture
def peer(request):
    """The path of a first.c that is not as it should be, with the changes that the module's PEERS has."""
    return changed(request.module.CHAPTER, request.param, *request.module.PEERS[request.param])


@pytest.fixture
def pair(lab, programs):
    """The same, for a test that runs on node a."""
    return programs


@pytest.fixture
def run(lab):
    """Runs one of the scripts with the lab; returns how it ended, and what it said."""
    def run(*words):
        return subprocess.run([str(word) for word in words], cwd=TOP, env=lab.env, text=True, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return run
