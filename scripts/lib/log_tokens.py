"""What changes in a log from one run to the next, and how to recognise it.

A log line is cut into text, which must be the same in every run, and tokens,
which are volatile: a pid, a pointer, a queue pair number. This file is the one
place that knows which is which. Used by compare_logs.py.
"""
import ipaddress
import pathlib
import re

from lib.chapters import chapters

# The ports that the chapters use by default. They are documented, so a log
# that shows another one instead differs; every other port from 1024 up is
# taken for one that the system chose.
DOCUMENTED_PORTS = {int(chapter.port) for chapter in
                    chapters(pathlib.Path(__file__).resolve().parents[2]).values()}

# In what follows the first so many characters of a line, nothing is volatile: it is
# compared as it stands. No line of ours is longer, and a program gone mad prints
# megabytes, in which looking for tokens would take for ever.
LONGEST = 2000

# One row a kind: class, whose numbering it belongs to, how it looks. The
# group (?P<v>...) is the volatile value; what surrounds it is plain text.
# Earlier rows win. Numberings:
#   run  one for all logs. A PSN is 24 random bits, so if both ends say the same
#        number they mean the same PSN (or the random source is broken, which
#        is worth a mismatch).
#   end  one for each end. Two hosts count their pids, and their devices count
#        queue pairs and keys, from the same start: server and client on two
#        freshly booted machines both have QPN 0x11 and mean two queue pairs.
#        The words before the value say whose it is: see OWNER_WORDS.
#   pair one for each end of each pair, where server1 talks with client1, and
#        server2 with client2; otherwise one for each end. Some hosts give each
#        process the same addresses, others do not.
#   none numbers that were measured. They are not compared at all.
TOKENS = [
    # The process: `pid 873`, `pid=873`.
    ('PID', 'end', r'\bpid[ =:]\s*(?P<v>\d+)\b'),
    # A queue pair's starting packet sequence number. rq_psn is where the
    # receive queue starts, so it is the peer's; sq_psn is one's own.
    ('PSN', 'run', r'\b(?:[rs]q_)?psn(?:: |[ =])(?P<v>0x[0-9a-f]+|\d+)\b'),
    # A queue pair number. 0 is nobody's and is compared as it is.
    ('QPN', 'end', r'\b(?:\w+_)?(?:qpn|qp_num)(?:: |[ =])'
                   r'(?P<v>0x[0-9a-f]+|\d+)\b'),
    # lkey and rkey are one class: an lkey that was sent as an rkey then
    # carries the name of the lkey, and shows.
    ('KEY', 'end', r'(?<![a-z])[lr]key(?:: |[ =])(?P<v>0x[0-9a-f]+|\d+)\b'),
    # Pointers, by the name in front or by their length on 64-bit machines.
    ('ADDR', 'pair', r'\b(?:wr_id|\w*addr|conn|id|\w+_region)='
                     r'(?P<v>0x[0-9a-f]+)\b'),
    ('ADDR', 'pair', r'\b(?P<v>0x[0-9a-f]{10,12})\b'),
    # The number of a certificate, drawn by its CA.
    ('SERIAL', 'run', r'\bserial (?P<v>[0-9a-f]{30,40})\b'),
    # A LID is 0 on every RoCE device, and a subnet's number on InfiniBand.
    ('LID', 'end', r'\blid(?:: |[ =])(?P<v>0x[0-9a-f]+|\d+)\b'),
    # A place in a port's table of GIDs: another one on each machine.
    ('GIDX', 'end', r'\b[sd]gid_index=(?P<v>\d+)\b'),
    # IPv4 and IPv6 addresses. A GID on RoCE v2 is an address of the netdev, so
    # it is one class with them and ::ffff:192.0.2.1 is 192.0.2.1. Unspecified
    # addresses (0.0.0.0, ::) are nobody's and compared as they are.
    ('IP', 'end', r'(?<![\w:.])(?P<v>(?:[0-9a-f]{0,4}:){2,7}'
                  r'(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]{1,4})(?:%[\w-]+)?'
                  r'|[0-9a-f:]*[0-9a-f]::)(?!\w|[.:]\w)'),
    ('IP', 'end', r'(?<![\w:.])(?P<v>(?:\d{1,3}\.){3}\d{1,3})(?!\w|\.\w)'),
    # The port of a socket.
    ('PORT', 'end', r'\bport[ =](?P<v>\d{4,5})\b'),
    # An RDMA device.
    ('DEV', 'end', r'\bdevice:? (?P<v>[a-z]+[\w-]*\d\w*)\b'),
    # What OpenSSL calls the alerts that SSL 3 had: the second since 3.4.
    ('ssl', 'none', r'\b(?P<v>sslv3|ssl/tls)(?= alert )'),
    # Measurements, known by their unit. A whole number of seconds is a limit
    # that somebody set (`within 10 s`) and is compared.
    ('n', 'none', r'(?: +|\b)(?P<v>\d+(?:\.\d+)?)(?= ?(?:[nmuµ]s|[KMG]i?B/s|'
                  r'[MG]b(?:it)?/s|[a-z]+/s)(?![\w/]))'),
    ('n', 'none', r'(?: +|\b)(?P<v>\d+\.\d+)(?= ?(?:s|seconds)\b)'),
]
TOKENS = [(cls, scope, re.compile(regex, re.IGNORECASE))
          for cls, scope, regex in TOKENS]

# Whose a value is: the nearest of these words before it decides, and without
# one it is the log's own. `peer_mr.addr=` in the client's log and `addr=` in
# the server's are one address.
OWNER_WORDS = [
    ('peer', r'(?<![a-z])(?:peer|remote)|\bdest(?:ination)?(?:\b|_)|\brq_psn'
             r'|\bdgid|\b(?:received|from)\b|\bconnect(?:ed|ing) to\b'),
    ('own', r'(?<![a-z])local|\bown\b|\bsq_psn|\bsgid|\b(?:sent|sending)\b'),
    ('server', r'\bserver(?: side|\'s)'),
    ('client', r'\bclient(?: side|\'s)'),
]
OWNER_WORDS = [(who, re.compile(regex, re.IGNORECASE))
               for who, regex in OWNER_WORDS]

# A line that is compared as it stands, tokens or not: where a server listens is
# part of what a chapter says.
EXACT_LINES = re.compile(r'listening on port ')


class Token:
    """One volatile value: its class, whose it is, where it stands. Its key is the
    same for all tokens that mean the same."""

    identity = True

    def __init__(self, cls, scope, owner, raw, start):
        self.cls, self.raw, self.start, self.end = cls, raw, start, start + len(raw)
        self.key = (cls, None if scope == 'run' else owner, normal(cls, raw))
        # 0x11 and 17 are one value, but not one way to print it.
        base = cls in ('PSN', 'QPN', 'KEY', 'LID')
        self.form = '/decimal' if base and not raw.startswith('0x') else ''
        self.label = cls


class Measured:
    """A value that is not compared: only its label is."""

    identity = False
    key, form = (None, None), ''

    def __init__(self, text, start, end, label=None):
        # The blanks before a measurement belong to it, but there are some.
        blank = ' ' if text[start:end].startswith(' ') else ''
        self.label = label or f'{blank}<n>'
        self.start, self.end = start, end


class Line:
    """One line of a log, cut up. Lines of one shape may be the same line."""

    def __init__(self, text, log, number, tokens):
        self.text, self.log, self.number = text, log, number
        self.tokens = sorted(tokens, key=lambda token: token.start)
        self.shape = self.render(lambda token: '\0' + token.label)
        self.lines = [self]

    def render(self, name):
        """The line with each token replaced by what name(token) gives."""
        out, at = [], 0
        for token in self.tokens:
            out += [self.text[at:token.start], name(token), token.form]
            at = token.end
        return ''.join(out) + self.text[at:]


def normal(cls, raw):
    """The value without the ways to write it; None if it is no token."""
    if cls in ('DEV', 'SERIAL', 'ssl', 'n'):
        return raw
    if cls == 'IP':
        try:
            ip = ipaddress.ip_address(raw)
        except ValueError:
            return None
        ip = getattr(ip, 'ipv4_mapped', None) or ip
        return None if ip.is_unspecified else ip
    value = int(raw, 16 if raw.startswith('0x') else 10)
    if cls in ('ADDR', 'KEY', 'QPN', 'PID') and value == 0:
        return None
    if cls == 'PORT' and (value in DOCUMENTED_PORTS or value < 1024):
        return None
    return value


def end_of(log):
    """The end that wrote a log: client-2.log and client.err: client."""
    return re.split(r'[-.\d]', log)[0]


def owner_of(before, end):
    """Who a value belongs to, by the nearest word in the text before it."""
    nearest, who = -1, 'own'
    for whose, regex in OWNER_WORDS:
        for match in regex.finditer(before):
            if match.end() > nearest:
                nearest, who = match.end(), whose
    if who == 'own':
        return end
    if who == 'peer':
        return {'server': 'client', 'client': 'server'}.get(end, 'peer')
    return who


def pair_of(log, logs):
    """The number of the pair whose end wrote a log of these; '' if it is of none."""
    number = re.match(r'[a-z]*(\d*)', log)[1]
    both = {f'server{number}.log', f'client{number}.log'} <= set(logs)
    return number if both else ''


def line_tokens(text, end, pair):
    """The tokens of one line, none overlapping."""
    found = []
    for cls, scope, regex in TOKENS:
        for match in regex.finditer(text):
            if normal(cls, match['v']) is None or \
                    any(match.start('v') < t.end and t.start < match.end('v') for t in found):
                continue
            if scope == 'none':
                found.append(Measured(text, match.start(), match.end('v')))
                continue
            owner = owner_of(text[:match.start('v')], end) + (pair if scope == 'pair' else '')
            found.append(Token(cls, scope, owner, match['v'], match.start('v')))
    return found


def read_log(path, logs):
    """The lines of a log file, one of the logs of a run, cut up."""
    # Bytes that are no UTF-8 survive, so that they are compared as well.
    with open(path, encoding='utf-8', errors='surrogateescape', newline='\n') as file:
        texts = file.readlines()
    lines, name = [], path.name
    end, pair = end_of(name), pair_of(name, logs)
    for number, text in enumerate(texts, 1):
        text = text.removesuffix('\n') if text.endswith('\n') else f'{text} (and no newline)'
        tokens = [] if EXACT_LINES.match(text) else line_tokens(text[:LONGEST], end, pair)
        lines.append(Line(text, name, number, tokens))
    return lines
