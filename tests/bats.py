"""Files of bats, collected by pytest: each @test is an item, and its tags are marks.

A file's tests run in one process of bats, since its setup_file may be costly; as each result
comes, so does the end of its item.
"""
import os
import re
import signal
import subprocess

import pytest

TEST = re.compile(r'(?m)^(?:# bats test_tags=(.*)\n)?@test "(.*)" \{$')
FILE_TAGS = re.compile(r'(?m)^# bats file_tags=(.*)$')


class Failed(Exception):
    """What bats said of a test that failed."""


class BatsFile(pytest.File):
    """tests/NAME.bats"""
    process, said = None, ()

    def collect(self):
        """Its tests, in their order."""
        text = self.path.read_text('utf-8')
        for tags in FILE_TAGS.findall(text):
            self.add_marks(self, tags)
        for tags, name in TEST.findall(text):
            # As bash reads it between quotes.
            item = BatsTest.from_parent(self, name=re.sub(r'\\(["$`\\])', r'\1', name))
            self.add_marks(item, tags)
            yield item

    @staticmethod
    def add_marks(node, tags):
        """The tags of bats as marks."""
        for tag in filter(None, re.split(r'[ ,]+', tags)):
            node.add_marker(tag)

    def begin(self):
        """Starts bats, with those of its tests that were asked for."""
        asked = [item for item in self.session.items if item.parent is self]
        text = self.path.read_text('utf-8')
        tree, environment, nice = self.config.workplace.for_file(text)
        some = ()
        if len(asked) < len(TEST.findall(text)):
            some = ('--filter', '^(' + '|'.join(re.sub(r'[][.^$*+?(){}|\\]', r'\\\g<0>', item.name)
                                                for item in asked) + ')$')
        self.process = subprocess.Popen(
            # It does not outlive us, whatever ends us.
            ('setpriv', '--pdeathsig', 'TERM', 'nice', '-n', str(nice), 'bats', '--tap', '--print-output-on-failure', *some,
             tree / self.path.relative_to(self.config.workplace.top)),
            cwd=tree, env=environment, text=True, errors='replace', start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.ahead, self.last = None, asked[-1]

    def line(self):
        """The next line that it says, or ''."""
        line, self.ahead = self.ahead, None
        return line if line is not None else self.process.stdout.readline()

    def result(self):
        """The next result: the line, and what was said before and, if it failed, after it."""
        self.said = said = []
        while (line := self.line()) and not re.match(r'(not )?ok ', line):
            said.append(line)
        if not line.startswith('ok '):
            while (more := self.line()) and not re.match(r'(not )?ok ', more):
                said.append(more)
            self.ahead = more
        return line.rstrip('\n'), ''.join(said)

    def end(self):
        """All that it has started ends, too."""
        if self.process:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGTERM)
                try:
                    self.process.wait(60)
                except subprocess.TimeoutExpired:
                    os.killpg(self.process.pid, signal.SIGKILL)
                    self.process.wait()
            self.process.stdout.close()
        self.process = None


class BatsTest(pytest.Item):
    """A test of such a file."""

    def runtest(self):
        """Waits for its result."""
        file = self.parent
        well = False
        try:
            if not file.process:
                file.begin()
            line, said = file.result()
            if not line.startswith('ok '):
                raise Failed(f'{line}\n{said}')
            well = True
            # What it could not look at here, it says itself.
            self.user_properties += [('not tested', text) for text in
                                     re.findall(r'(?m)^# NOT TESTED: (.*)$', said)]
            if skipped := re.search(r' # skip ?(.*)', line):
                pytest.skip(skipped[1] or 'bats says no reason')
        finally:
            if self is file.last and well:
                # What is still said is of teardown_file.
                rest = file.process.stdout.read()
                status = file.process.wait()
            if self is file.last or not well and not file.ahead:
                file.end()
        if self is file.last and status and not self.session.testsfailed:
            raise Failed(f'bats ended with {status}\n{rest}')

    def repr_failure(self, excinfo, style=None):
        """What bats said."""
        text = str(excinfo.value)
        if not excinfo.errisinstance(Failed):
            text += '; until then bats said:\n' + ''.join(self.parent.said)
        return text

    def reportinfo(self):
        """Where it is."""
        return self.path, None, self.name
