"""Which line of a chapter's C code wrote a line of its log, or sent a packet.

A log line is found by the format strings of the log_… calls: what stands in
them literally must be in the line. A packet is found by the call that sends
such a packet. What no line of the chapter does, such as an acknowledgement,
which the device sends by itself, has no code.
"""
import collections
import pathlib
import re

from lib.wire import states

# The text is the call as it stands in the file, in one line.
Code = collections.namedtuple('Code', 'file line text')

CALL = re.compile(r'\b(log_line|log_text|log_fail|log_fail_errno|log_fail_wc|'
                  r'explain_call|explain_completion|explain_event|explain_news)\(')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
CONVERSION = re.compile(r'%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?'
                        r'(?:hh|h|ll|l|z|j)?[diouxXscpf]|%$|%%')

# What sends a packet: its kind, and what to look for in which files.
SENDS = (
    (r'ConnectRequest$', 'rdma.c', r'rdma_connect\(conn->id'),
    (r'ConnectReply$', 'rdma.c', r'rdma_accept\(conn->id'),
    # librdmacm answers the REP when the program asks for its next event.
    (r'ReadyToUse$', 'rdma.c', r'rdma_get_cm_event\('),
    (r'Disconnect', 'rdma.c', r'rdma_disconnect\(conn->id'),
    (r'ConnectRequest$', 'conn.c', r'rdma_connect\(conn->id'),
    (r'ConnectReply$', 'conn.c', r'rdma_accept\(conn->id'),
    (r'ReadyToUse$', 'cm.c', r'while \(!?rdma_get_cm_event\('),
    (r'Disconnect', 'conn.c', r'rdma_disconnect\(conn->id'),
    # Chapter 07: what belongs to a file, and not to the agreement before it.
    (r'file SEND', 'request.c', r'\.opcode = IBV_WR_SEND,'),
    (r'file RDMA WRITE', 'request.c', r'\.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,'),
    (r'file RDMA READ Request', 'request.c', r'\.opcode = IBV_WR_RDMA_READ,'),
    (r'SEND', 'message.c', r'\.opcode = IBV_WR_SEND,'),
    (r'SEND', 'transfer.c', r'\.opcode = IBV_WR_SEND,'),
    (r'SEND', 'data.c', r'\.opcode = IBV_WR_SEND,'),
    (r'RDMA (WRITE|READ Request)', 'transfer.c',
     r'IBV_WR_RDMA_WRITE :\s+IBV_WR_RDMA_READ'),
    (r'RDMA (WRITE|READ Request)', 'pump.c', r'\bibv_post_send\('),
    (r'TCP text "HELLO', 'oob.c', r'line_send\(&oob->line, HELLO'),
    (r'TCP text "RDMA', 'oob.c', r'line_send\(&oob->line, wire'),
    (r'TCP text "READY', 'oob.c', r'line_send\(&oob->line, READY'),
    (r'TCP text "BYE', 'oob.c', r'send\(oob->line\.fd, BYE'),
    (r'TCP FIN', 'oob.c', r'\bclose\(oob->(line\.)?fd\)'),
    (r'TLS (Client|Server) Hello', 'tls_io.c', r'\bSSL_do_handshake\('),
    (r'TLS Application Data', 'tls_io.c', r'\bSSL_write(_ex)?\('),
)


# In chapter 07, a message that comes before the files begins so.
BEFORE_FILES = b'RDMA'.hex()


def call_text(text, start):
    """A call from its name to its closing parenthesis."""
    depth, position = 0, text.index('(', start)
    while True:
        string = STRING.match(text, position)
        if string:
            position = string.end()
            continue
        char = text[position]
        depth += (char == '(') - (char == ')')
        position += 1
        if depth == 0:
            return text[start:position]


def arguments(call):
    """The arguments of a call, as they are written."""
    inside, depth, result, begin = call[call.index('(') + 1:-1], 0, [], 0
    position = 0
    while position < len(inside):
        string = STRING.match(inside, position)
        if string:
            position = string.end()
            continue
        depth += inside[position] in '([{'
        depth -= inside[position] in ')]}'
        if inside[position] == ',' and depth == 0:
            result.append(inside[begin:position])
            begin = position + 1
        position += 1
    return [argument.strip() for argument in result + [inside[begin:]]]


def literal(argument):
    """The text of a string literal in pieces, PRI… macros among them."""
    if '?' in STRING.sub('', argument):
        return '%s'
    pieces = [match[1] if match[1] is not None else 'd' for match in
              re.finditer(STRING.pattern + r'|\bPRI\w+', argument)]
    return ''.join(pieces).replace('\\"', '"').replace('\\n', '\n') or '%s'


def pattern(text):
    """A format as a regular expression, and how much of it is literal."""
    parts, position = [], 0
    for match in CONVERSION.finditer(text):
        parts += [re.escape(text[position:match.start()]),
                  '%' if match[0] == '%%' else '.*?']
        position = match.end()
    parts.append(re.escape(text[position:]))
    return ''.join(parts), len(CONVERSION.sub('', text))


def expression(name, given):
    """What a log_… call prints, as (regular expression, weight)."""
    if name == 'log_text':
        regex, weight = pattern(literal(given[0]))
        return regex + '.*', weight
    if name in ('log_fail_wc', 'explain_completion'):
        return r'error: .*: status \d+ .*', 16
    if name == 'explain_event':
        return 'error: waited for .*', 16
    if name == 'explain_news':
        return 'error: (the peer left, and|[A-Z_]+ in the middle of) .*', 16
    if name == 'explain_call':
        call, weight = pattern(literal(given[0]))
        return f'error: {call}: .*', weight
    if name == 'log_fail_errno':
        call, weight = pattern(literal(given[0]))
        hint, more = pattern(literal(given[2]))
        return f'error: {call}: .*?; {hint}', weight + more
    regex, weight = pattern(literal(given[0]))
    return ('error: ' if name == 'log_fail' else '') + regex, weight


class Sources:
    """The C files of one chapter; files: whether it sends files in this run."""

    def __init__(self, folder, files=False):
        here = pathlib.Path(folder)
        self.files = files
        self.texts = {path.relative_to(here).as_posix():
                      path.read_text(encoding='utf-8') for path in
                      sorted([*here.glob('*.[ch]'),
                              *here.glob('carried/*.[ch]'),
                              *here.glob('plumbing/*.[ch]'),
                              *here.glob('load/*.[ch]')])}
        self.calls = []  # (regular expression, weight, Code)
        for name, text in self.texts.items():
            if name.endswith('.c') and not name.startswith(('plumbing/log', 'plumbing/explain')):
                self._find_calls(name, text)
        self.calls.sort(key=lambda call: -call[1])

    def _where(self, name):
        """The path of a file, which the chapter may have as the one before."""
        return name if name in self.texts else f'carried/{name}'

    def _find_calls(self, name, text):
        for match in CALL.finditer(text):
            call = call_text(text, match.start())
            regex, weight = expression(match[1], arguments(call))
            self.calls.append((re.compile(regex), weight,
                               self._code(name, match.start(), call)))

    def _code(self, name, position, call):
        line = self.texts[name].count('\n', 0, position) + 1
        # As one line: strings in pieces are one, and gaps are one blank.
        flat = re.sub(r'"\s*\n\s*"', '', call)
        return Code(name, line, re.sub(r'\s+', ' ', flat))

    def of_line(self, text, side):
        """The call that wrote a line of the server's (a) or client's (b)."""
        other = 'client.c' if side == 'a' else 'server.c'
        text = states.plain(text)
        for regex, _, code in self.calls:
            if code.file.removeprefix('carried/') != other and regex.fullmatch(text):
                return code
        return None

    def of_packet(self, packet):
        """The line that sent a packet; None if the device did by itself."""
        what = packet.kind
        if what == 'TCP text':
            what = packet.text.replace('TCP ', 'TCP text ', 1)
        if self.files and what.startswith(('SEND', 'RDMA')) and \
                not packet.payload.startswith(BEFORE_FILES):
            what = f'file {what}'
        for kind, name, regex in SENDS:
            name = self._where(name)
            match = re.match(kind, what) and \
                re.search(regex, self.texts.get(name, ''))
            if match:
                text = self.texts[name]
                begin = text.rfind('\n', 0, match.start()) + 1
                end = text.find('\n', match.start())
                return self._code(name, match.start(),
                                  text[begin:end].strip())
        return None

    def states(self, prefix):
        """The names of an enum's values that begin so, in their order."""
        body = self.texts.get(self._where('state.h'), '')
        return re.findall(rf'^\t({prefix}_\w+)', body, re.MULTILINE)
