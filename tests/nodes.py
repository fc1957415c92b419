"""A lab for one worker of pytest, and the near end of what runs on its nodes."""
import contextlib
import os
import pathlib
import pickle
import shlex
import signal
import subprocess

import execnet
import in_node
import pytest

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent
SCRIPT = str(TOP / 'scripts/lab.sh')
FAR_END = """
import in_node
in_node.prepare()
in_node.serve(channel)
"""


def serve(pair, *words, limit=None, **more):
    """On a node: a server, until the other end says that it is enough; with a limit, for so many seconds at most, and
    while packets are lost: it may never hear that a client was killed."""
    if limit:
        signal.alarm(limit)
    server = pair.server(*words, **more)
    in_node.tell(server)
    in_node.channel.receive()
    if not limit:
        server.done()
    return server.stop()


class Failed(Exception):
    """A call failed on its node: what pytest says of it there, and what programs said."""


class Lab:
    """Boots when it is made. Its functions are called by node: a, b."""

    def __init__(self, name, *options, **more):
        self.options = options
        self.env = dict(os.environ, LAB_NAME=name, DEVICE='lab', **more)
        self.channels, self.far_ends = {}, execnet.Group()
        self.run('up', *options)

    def run(self, *words):
        """A verb of lab.sh, which must succeed; returns what it says on stdout."""
        ran = subprocess.run([SCRIPT, *words], env=self.env, check=False, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if ran.returncode:
            pytest.fail(f'lab.sh {words[0]}: {ran.stderr.decode()}', pytrace=False)
        return ran.stdout

    def channel(self, node):
        """To Python on the node, which is started when it is first needed."""
        if node not in self.channels:
            self.channels[node] = self.far_ends.makegateway(
                'popen//python=' + shlex.join(['/usr/bin/env', f'LAB_NAME={self.env["LAB_NAME"]}', SCRIPT,
                                               'exec', node, '--', 'env', f'PYTHONPATH={HERE}:{HERE}/long',
                                               '/usr/bin/python3'])).remote_exec(FAR_END)
        return self.channels[node]

    def start(self, node, function, *arguments, **named):
        """Calls a function on the node; hear() what it says, and then its result()."""
        self.channel(node).send(pickle.dumps((function, arguments, named)))

    def result(self, node):
        """What the function returned that was started there."""
        try:
            return self.take(*pickle.loads(self.channels[node].receive()))
        except EOFError:
            lost = subprocess.run([SCRIPT, 'exec', node, '--', 'true'], env=self.env,
                                  stderr=subprocess.PIPE, check=False).stderr.decode()
            raise Failed(f'node {node} is lost\n{lost}', {}) from None

    def call(self, node, function, *arguments, **named):
        """Calls a function on the node; returns what it returns."""
        self.start(node, function, *arguments, **named)
        return self.result(node)

    @contextlib.contextmanager
    def serving(self, programs, *words, node='a', **more):
        """A server on the node as long as the with goes on; then it has what that said."""
        self.start(node, serve, programs, *words, **more)
        server = self.hear(node)
        yield server
        self.channels[node].send(b'')
        vars(server).update(vars(self.result(node)))

    def hear(self, node):
        """What the function that runs there says before its end."""
        text = self.channels[node].receive()
        value = pickle.loads(text)
        return value if not isinstance(value, tuple) else self.take(*value)

    @staticmethod
    def take(what, value, sections):
        """What came of a call."""
        if what == 'failed':
            raise Failed(value, sections)
        if what == 'skipped':
            pytest.skip(value)
        return pickle.loads(value)

    def is_up(self):
        """Whether it still is: a file of bats may have taken it down."""
        return subprocess.run([SCRIPT, 'status'], env=self.env, check=False, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0

    def down(self):
        """Its end."""
        self.far_ends.terminate(timeout=5)
        self.channels.clear()
        self.run('down')

    def reset(self):
        """After a failure nothing of it is left: the nodes, with all that runs, are new."""
        self.down()
        self.run('up', *self.options)
