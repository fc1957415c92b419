"""One node of a lab of User-Mode Linux, and those who run commands in it.

keeper.py has the nodes; client.py and agent.py are the two ends of a command.
"""
import os
import selectors
import socket
import time

from lab import frames, uml
from lab.loop import Output

# The lines of a console that are shown: reasons, and the end.
REASONS = ('lab: failed', 'Kernel panic', 'BUG:', 'Oops', 'Out of memory',
           'sysrq triggered')
END_LINES = 12
# A node with a time of its own whose command does not end is reset after so long.
STUCK_SECONDS = 10


def console_end(path):
    """The lines of a console that tell most."""
    text = path.read_text(errors='replace')
    lines = [''.join(c for c in line if c.isprintable())
             for line in text.splitlines()]
    end = lines[-END_LINES:]
    reasons = [line for line in lines[:-END_LINES]
               if any(reason in line for reason in REASONS)]
    return reasons[:3] + end


class Client:
    """A `lab.sh exec`, `shell` or `reset` that is connected to a node."""

    def __init__(self, keeper, node, connection):
        self.keeper, self.node, self.connection = keeper, node, connection
        self.reader = frames.Reader()
        self.output = Output(keeper.loop, connection.fileno())
        self.channel = None
        self.closed = False
        self.left = None
        keeper.loop.want(connection.fileno(), selectors.EVENT_READ, self.hear)

    def hear(self):
        """Passes on what the client says; its end is the command's."""
        if self.closed:
            return
        try:
            data = self.connection.recv(65536)
            for kind, _, body in self.reader.feed(data):
                self.take(kind, body)
        except (OSError, frames.Broken):
            data = b''
        if not data:
            self.leave()

    def take(self, kind, body):
        """One frame of the client's."""
        if kind == frames.RESET:
            self.node.reset(self)
            return
        if kind == frames.OPEN:
            self.channel = self.node.add(self)
        self.node.say(kind, self.channel, body)

    def leave(self):
        """The client is gone."""
        if self.channel in self.node.clients:
            # The node has it until its command has ended.
            self.node.say(frames.GONE, self.channel, b'')
            self.left = time.monotonic()
        self.close()

    def say(self, kind, body=b''):
        """Sends the client a frame. After EXIT or FAILED nothing follows."""
        if self.closed:
            return
        try:
            self.output.write(frames.pack(kind, 0, body))
        except OSError:
            pass

    def close(self):
        """Ends the connection, after what is still to be sent."""
        if self.closed:
            return
        self.closed = True
        self.keeper.loop.forget(self.connection.fileno())
        try:
            self.connection.settimeout(5)
            self.connection.sendall(self.output.data)
        except OSError:
            pass
        self.connection.close()


class Node:
    """One node, on or off."""

    def __init__(self, keeper, name, cable):
        self.keeper, self.name, self.cable = keeper, name, cable
        self.settings = keeper.settings
        self.process = self.line = self.output = self.listener = None
        self.files = []
        self.clients, self.channels = {}, 0
        self.waits_for_boot = []
        self.console = self.settings.state / f'console-{name}'

    def start(self):
        """Switches it on."""
        self.ready, self.text, self.reader = False, b'', frames.Reader()
        ours, theirs = socket.socketpair()
        from_console, console = os.pipe()
        self.process = uml.start(self.keeper.kernel, self.settings, self.name,
                                 self.cable.fileno(), theirs.fileno(), console)
        theirs.close()
        os.close(console)
        os.set_blocking(from_console, False)
        self.line, self.files = ours, [from_console]
        self.output = Output(self.keeper.loop, ours.fileno(), room=frames.LINE)
        self.greeting, self.early = b'', b''
        self.keeper.loop.want(ours.fileno(), selectors.EVENT_READ, self.hear)
        self.keeper.loop.want(from_console, selectors.EVENT_READ, self.read)

    def read(self):
        """Keeps what the console says, and looks at each line."""
        try:
            data = os.read(self.files[0], 65536)
        except BlockingIOError:
            return
        if not data:
            self.keeper.loop.forget(self.files[0])
            return
        with open(self.console, 'ab') as file:
            file.write(data)
        *lines, self.text = (self.text + data).split(b'\n')
        for line in lines:
            line = line.decode(errors='replace').strip()
            if line.startswith('lab: step '):
                self.keeper.tell('detail', f'node {self.name}: {line[10:]}')
            elif line.startswith('lab: failed'):
                self.process.kill()

    def hear(self):
        """Passes on what the agent says."""
        try:
            data = self.line.recv(1 << 17)
        except OSError:
            data = b''
        if not data:
            self.keeper.loop.forget(self.line.fileno())
            return
        if not self.ready:
            self.greeting += data
            _, hello, data = self.greeting.partition(frames.HELLO)
            if not hello:
                return
            self.ready = True
            self.output.write(self.early)
            if not self.clients:
                self.halt(True)
            self.listen()
            for client in self.waits_for_boot:
                client.say(frames.EXIT, b'\0')
                client.close()
            self.waits_for_boot = []
        for kind, channel, body in self.reader.feed(data):
            if kind == frames.TAKEN:
                self.output.more(frames.COUNT.unpack(body)[0])
                continue
            client = self.clients.get(channel)
            if not client:
                continue
            client.say(kind, body)
            if kind == frames.EXIT:
                self.remove(channel)
                client.close()

    def listen(self):
        """Lets clients connect."""
        if self.listener:
            return
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.settings.state / f'socket-{self.name}'))
        self.listener.listen(100)
        self.keeper.loop.want(self.listener.fileno(), selectors.EVENT_READ,
                              self.accept)

    def accept(self):
        """A new client."""
        connection, _ = self.listener.accept()
        client = Client(self.keeper, self, connection)
        if self.process is None:
            self.refuse(client)

    def refuse(self, client):
        """Says that the node has died."""
        client.say(frames.FAILED, '\n'.join(self.obituary()).encode())
        client.close()

    def obituary(self):
        """What is to be said of a node that has died."""
        return [f'node {self.name} has died (its kernel ended with status '
                f'{self.status})',
                'Start the lab anew: scripts/lab.sh down, then up.',
                'From its console:'] + [
                    f'| {line}' for line in console_end(self.console)]

    def add(self, client):
        """A number for a client's command."""
        if not self.clients:
            self.halt(False)
        self.channels += 1
        self.clients[self.channels] = client
        return self.channels

    def remove(self, channel):
        """Its command has ended."""
        self.clients.pop(channel, None)
        if not self.clients:
            self.halt(True)

    def halt(self, yes):
        """A node that has a time of its own stands still while nobody uses it."""
        if self.settings.time and self.process:
            try:
                uml.stand_still(self.process, yes)
            except OSError:
                # It has just ended.
                pass

    def say(self, kind, channel, body):
        """Tells the agent."""
        if not self.process:
            return
        frame = frames.pack(kind, channel, body)
        if self.ready:
            self.output.write(frame)
        else:
            # Nobody reads the line yet, and what is on it would be thrown away.
            self.early += frame

    def stop(self):
        """Switches it off; it knows nothing of it."""
        if self.process:
            self.process.kill()
            self.process.wait()
        self.ended()

    def ended(self):
        """Its process is no more: takes away what belonged to it."""
        self.status, self.process = self.process.returncode, None
        self.read()
        self.keeper.loop.forget(self.line.fileno())
        self.keeper.loop.forget(self.files[0])
        self.line.close()
        os.close(self.files[0])

    def is_stuck(self):
        """Whether a command is still there long after its client has left.

        In a time of its own, a loop that makes no call keeps all else from
        running, and so the agent from ending it.
        """
        return self.settings.time and any(
            client.left and time.monotonic() > client.left + STUCK_SECONDS
            for client in self.clients.values())

    def reset(self, client=None):
        """The button."""
        if not self.process:
            self.refuse(client)
            return
        self.stop()
        for other in list(self.clients.values()):
            other.say(frames.FAILED, (
                f'node {self.name} was reset, and this command was on it\n'
                f'Open another one: scripts/lab.sh shell {self.name}'
                ).encode())
            other.close()
        self.clients = {}
        if client:
            self.waits_for_boot.append(client)
        self.start()
        self.keeper.note(f'pid_{self.name}={self.process.pid}')

    def died(self):
        """It has ended by itself."""
        self.ended()
        (self.settings.state / f'dead-{self.name}').write_text(
            f'{self.status}\n')
        for client in list(self.clients.values()) + self.waits_for_boot:
            self.refuse(client)
        self.clients, self.waits_for_boot = {}, []
