"""The states of both ends at each step of a run, and their memory.

Queue pairs: where the log says the transitions (chapters without the CM), it
is believed. Otherwise librdmacm makes them inside calls whose packets are in
the capture: INIT when the queue pair is created, between the request's arrival
(or the route's) and REQ or REP; the server's RTR and RTS in rdma_accept(),
before REP leaves; the client's when it takes the event that REP brought,
before RTU leaves; ERR in rdma_disconnect(), before DREQ or DREP leaves.

State machines: each completion prints the two states that it meets, so those
that it leads to are the ones that the next completion prints.

Memory: what a packet carries lands where the packet says.
"""
import re

# The first bytes of a buffer that are shown: for long ones, and for messages
# of a fixed layout.
SHOWN, SHOWN_MESSAGE = 64, 24

# CM message: the states that its sender's queue pair has just passed through.
BY_CM = {'ConnectReply': ('INIT', 'RTR', 'RTS'), 'ConnectRequest': ('INIT',),
         'ReadyToUse': ('RTR', 'RTS'), 'DisconnectRequest': ('ERR',),
         'DisconnectReply': ('ERR',)}
TRANSITION = re.compile(r'(RESET|INIT|RTR) -> (INIT|RTR|RTS): ')
EXCHANGED = 'memory regions exchanged.'
LEAVING = re.compile(r'(peer )?disconnected\.$|drained: ')
COMPLETION = re.compile(r'\[on_completion\] .*status=(\d+) \([^)]*\), '
                        r'(?:opcode=(\d+), )?send_state=(\d), recv_state=(\d)')


# What chapter 05 puts before a line, for each of several clients.
CLIENT = re.compile(r'Client \d+: ')


def plain(text):
    """A line without the client that it is about."""
    return CLIENT.sub('', text, count=1)


class QueuePair:
    """The state of one end's queue pair; passed: through which, just now."""

    def __init__(self, by_log):
        self.by_log, self.state, self.passed = by_log, '', ()

    def _move(self, states):
        if self.state != states[-1]:
            self.passed = (self.state or 'RESET',) + tuple(states)
            self.state = states[-1]

    def line(self, text):
        """The end has said this."""
        text = plain(text)
        match = TRANSITION.match(text)
        if match:
            self._move([match[2]])
        elif self.by_log and LEAVING.match(text):
            self._move(['ERR'])
        match = COMPLETION.match(text)
        if match and match[1] != '0':
            self._move(['ERR'])

    def sends(self, kind):
        """The end has sent such a packet."""
        if not self.by_log and kind in BY_CM:
            self._move(BY_CM[kind])


def machine_steps(texts):
    """For each line of one end's log the pair of states after it; None where
    they have not begun, and for all lines where there are none."""
    texts = [plain(text) for text in texts]
    met = [(i, COMPLETION.match(text)) for i, text in enumerate(texts)]
    met = [(i, match[2], int(match[3]), int(match[4]))
           for i, match in met if match]
    if not met:
        return [None] * len(texts)
    done = any('Both DONE' in text for text in texts)
    # Where the regions are exchanged otherwise, they begin when that is done.
    late = any(text.startswith(EXCHANGED) for text in texts)
    now = None if late else (0, 0)
    after = {}
    for (index, opcode, send, recv), following in zip(met, met[1:] + [None]):
        if following:
            after[index] = following[2:]
        elif done and opcode == '128':
            after[index] = (send, recv + 1)
        elif done:
            after[index] = (send + 1, recv)
    result = []
    for index, text in enumerate(texts):
        if text.startswith(EXCHANGED):
            now = (0, 0)
        now = after.get(index, now)
        result.append(now)
    return result


class Memory:
    """Where the peer's bytes land at each end."""

    def __init__(self):
        self.base = {}  # the receiver's first address that a write named
        self.cursor = {}

    def packet(self, packet, receiver):
        """What a packet changes: (buffer, offset, hexadecimal digits)."""
        if not packet.payload or packet.kind.startswith(('TCP', 'TLS')):
            return None
        place = 'messages' if packet.kind.startswith('SEND') else 'data'
        key = receiver, place
        if packet.kind.endswith(('First', 'Only')):
            self.cursor[key] = 0
            if packet.va is not None:
                base = self.base.setdefault(receiver, packet.va)
                self.cursor[key] = packet.va - base
        offset = self.cursor.get(key, 0)
        self.cursor[key] = offset + len(packet.payload) // 2
        if offset < 0 or offset >= SHOWN:
            return None
        return place, offset, packet.payload[:2 * (SHOWN - offset)]


def buffers(steps, files):
    """The buffers of each end: place, bytes shown, name in the code. files:
    whether chapter 07 sends files."""
    kinds = {step.packet.kind for step in steps if step.packet}
    rdma = any(kind.startswith('RDMA') for kind in kinds)
    if files:
        message = ('messages', SHOWN,
                   'the message that came last: its header, and what is behind')
        part = ('data', SHOWN, 'channel.parts: the parts in their places')
        return [message, part] if rdma else [message]
    if not rdma:
        return [('messages', SHOWN, 'message.recv: what the peer has sent')]
    name = 'data.local: what our read brings'
    if any(kind.startswith('RDMA WRITE') for kind in kinds):
        name = 'data.exposed: what the peer writes'
    return [('messages', SHOWN_MESSAGE,
             'data.messages: the message that came last'),
            ('data', SHOWN, name)]
