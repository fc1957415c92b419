"""A run as one HTML page that goes through it step by step.

Used by ladder.py. The page is replay.html with the run in it, and needs
nothing else: no network, no library.
"""
import html
import json
import pathlib
import re

from lib.wire import sources, states

# More steps than that, and the middle of the run is left out.
MOST = 500
TEMPLATE = pathlib.Path(__file__).with_name('replay.html')

# Who sends what no line of the chapter's code does.
BY_ITSELF = (('ACK|NAK|RNR|RDMA READ response', 'the device, by itself'),
             ('TCP', 'the kernel’s TCP, by itself'),
             ('TLS', 'OpenSSL; what it is, is encrypted'),
             ('', 'the kernel, by itself'))


def fields_of(packet):
    """The numbers of a packet, as pairs of a name and a text."""
    pairs = [('PSN', packet.rel is not None and
              f'0x{packet.psn:06x}, the first plus {packet.rel}'),
             ('destination QPN', packet.destqp is not None and
              f'0x{packet.destqp:06x}'),
             ('starting PSN', packet.start_psn is not None and
              f'0x{packet.start_psn:06x}'),
             ('QPN', packet.start_qpn is not None and
              f'0x{packet.start_qpn:06x}'),
             ('RETH address', packet.va is not None and f'0x{packet.va:x}'),
             ('RETH rkey', packet.rkey is not None and f'0x{packet.rkey:x}'),
             ('RETH length', packet.dmalen is not None and
              f'{packet.dmalen} bytes'),
             ('AETH syndrome', packet.syndrome is not None and
              f'{packet.syndrome}'),
             ('AETH MSN', packet.msn is not None and f'{packet.msn}'),
             ('payload', packet.payload and
              f'{len(packet.payload) // 2} bytes'),
             ('mark', packet.mark == 'again' and
              'this PSN was sent before')]
    return [[name, text] for name, text in pairs if text]


def by_itself(packet):
    """The sender, if no line of the chapter sent it."""
    return next(who for kind, who in BY_ITSELF if re.match(kind, packet.kind))


class Page:
    """The run as what the page's script goes through."""

    def __init__(self, steps, folder):
        self.steps = steps
        said = [step.line.text for step in steps if step.line]
        self.files = any(text.startswith('files by ') for text in said)
        self.code = sources.Sources(folder, self.files)
        by_log = any(states.TRANSITION.match(states.plain(text))
                     for text in said)
        # Of several clients, one state and one buffer a side would be a
        # mixture: then there is none.
        self.several = len({match[0] for match in
                            map(states.CLIENT.match, said) if match}) > 1
        self.queue_pairs = {side: states.QueuePair(by_log) for side in 'ab'}
        self.names = (self.code.states('SS'), self.code.states('RS'))
        self.machines, self.now = {}, {}
        for side in 'ab':
            after = states.machine_steps(
                [step.line.text for step in steps if step.side == side])
            self.machines[side] = iter(after)
            # What begins at 0 is there before the first line.
            self.now[side] = after[0] if after else None
        self.memory = states.Memory()

    def packet(self, step):
        """What there is to say of a packet."""
        packet = step.packet
        sender, receiver = 'ab' if step.right else 'ba'
        self.queue_pairs[sender].sends(packet.kind)
        code = self.code.of_packet(packet)
        entry = {'right': step.right, 'text': packet.text,
                 'mark': packet.mark, 'fields': fields_of(packet),
                 'code': list(code) if code else by_itself(packet)}
        change = self.memory.packet(packet, receiver)
        if change and not self.several:
            entry['change'] = [receiver, *change]
        return entry

    def line(self, step):
        """What there is to say of a line of a log."""
        self.queue_pairs[step.side].line(step.line.text)
        self.now[step.side] = next(self.machines[step.side])
        code = self.code.of_line(step.line.text, step.side)
        entry = {'side': step.side, 'text': step.line.text,
                 'label': step.line.label}
        if step.line.error:
            entry['error'] = True
        if code:
            entry['code'] = list(code)
        return entry

    def machine(self, side):
        """The names of the states of both machines of one end."""
        if self.several or not self.names[0] or self.now[side] is None:
            return []
        return [names[min(state, len(names) - 1)] for names, state in
                zip(self.names, self.now[side])]

    def entries(self):
        """All steps."""
        origin = next(step.time for step in self.steps if step.packet)
        for step in self.steps:
            for pair in self.queue_pairs.values():
                pair.passed = ()
            entry = self.packet(step) if step.packet else self.line(step)
            entry['ms'] = round((step.time - origin) * 1e3, 3)
            pairs = self.queue_pairs.values()
            entry['qp'] = ['one for each client' if self.several else
                           pair.state for pair in pairs]
            entry['passed'] = ['' if self.several else
                               ' → '.join(pair.passed) for pair in pairs]
            entry['machines'] = [self.machine(side) for side in 'ab']
            yield entry


def shorten(entries):
    """A run that is too long without its middle, and how many are missing."""
    missing = len(entries) - MOST
    if missing <= 0:
        return entries, 0
    return entries[:MOST // 2] + entries[-MOST // 2:], missing


def list_item(entry):
    """A step in the page's list of all."""
    if 'right' in entry:
        css, text = 'wire', ('server → client: ' if entry['right'] else
                             'client → server: ') + entry['text']
        css += ' ' + entry['mark'] if entry['mark'] else ''
    else:
        css = 'said ' + entry['side']
        text = f'{entry["label"]}: {entry["text"]}'
    return (f'<li class="{css}"><button type="button">{html.escape(text)}'
            '</button></li>')


def render(steps, title, folder):
    """The whole page."""
    page = Page(steps, folder)
    entries, missing = shorten(list(page.entries()))
    buffers = [] if page.several else states.buffers(steps, page.files)
    run = {'steps': entries, 'buffers': [
        [side, *buffer] for side in 'ab' for buffer in buffers]}
    note = f' {missing} steps in the middle are left out.' if missing else ''
    how = 'its log says them' if page.queue_pairs['a'].by_log else \
        'inferred from the CM’s packets: librdmacm moves it in the calls ' \
        'that send them'
    if page.several:
        how = 'each client has its own states and bytes; this page shows neither'
    replace = {
        '@TITLE@': html.escape(title),
        '@NOTE@': html.escape(f'{len(entries)} steps.{note}'),
        '@HOW@': html.escape(how),
        '@LIST@': '\n'.join(list_item(entry) for entry in entries),
        # No text of a run may end the script.
        '@RUN@': json.dumps(run, separators=(',', ':'),
                            ensure_ascii=False).replace('<', '\\u003c'),
    }
    return re.sub('|'.join(replace), lambda match: replace[match[0]],
                  TEMPLATE.read_text(encoding='utf-8'))
