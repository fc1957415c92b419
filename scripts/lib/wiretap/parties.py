"""What a third party does with the frames that pass it: one class for each.

Each is told about every frame, by client_says() and server_says(), and returns an Act.
None of them knows more than what was in the frames; only a Forger can be told.
"""
import argparse
import collections
import pathlib
import re
import socket
import struct
import sys

from lib.wiretap import roce

PAYLOAD = b'forged: neither of you wrote this\0'
TCP, TCP_RST = 6, 4

# Whether the frame is passed on, and what is sent behind it.
Act = collections.namedtuple('Act', 'passes to_server to_client',
                             defaults=(True, None, None))


def only_in_lab(name: str) -> None:
    """Ends the program, unless scripts/lab.sh has started this kernel."""
    if 'rdma_lab=1' not in pathlib.Path('/proc/cmdline').read_text().split():
        sys.exit(f'{name}: this machine is not a node of the lab '
                 '(scripts/lab.sh up --nodes 2), and it runs nowhere else')


def node(text: str) -> str:
    """The address of a node of the lab; any other one is refused."""
    if not re.fullmatch(r'(192\.0\.2\.|2001:db8::)[1-4]', text):
        raise argparse.ArgumentTypeError(
            f"'{text}' is no node of the lab; they have 192.0.2.1 to 192.0.2.4, "
            'or 2001:db8::1 to 2001:db8::4')
    return text


def show(write: roce.Write) -> str:
    """What is in a WRITE, in words."""
    return (f'QPN 0x{write.qpn:06x}, PSN 0x{write.psn:06x}, '
            f'address 0x{write.addr:x}, rkey 0x{write.rkey:x}')


def back(frame: bytes) -> tuple[bytes, bytes]:
    """The Ethernet and IP addresses of an answer to frame."""
    macs, packet = frame[6:12] + frame[:6], roce.packet_of(frame)
    return macs, packet[16:20] + packet[12:16]


def told(log: pathlib.Path) -> roce.Write | None:
    """The client's WRITE as its own log has it, or None."""
    text = log.read_text() if log.exists() else ''
    found = [re.search(pattern, text) for pattern in (
        r'dest_qp_num=(\w+)', r'\bsq_psn=(\w+)', r'peer_mr\.addr=(\w+)',
        r'peer_mr\.rkey=(\w+)')]
    if None in found:
        return None
    # It is the client's first packet.
    qpn, psn, addr, rkey = (int(match[1], 16) for match in found)
    return roce.Write(qpn, psn, addr, rkey, 0)


class Party:
    """Passes everything on, and adds nothing."""

    def client_says(self, _frame: bytes) -> Act:
        """Called for each frame of the client's."""
        return Act()

    def server_says(self, _frame: bytes) -> Act:
        """Called for each frame of the server's."""
        return Act()


class Forger(Party):
    """Makes one WRITE from what it has seen go by, or was told."""

    def __init__(self, send: str, log: pathlib.Path | None = None) -> None:
        self.log = log
        self.send = send
        self.frame = None

    def client_says(self, frame: bytes) -> Act:
        first = not self.frame
        if first:
            self.frame = self.from_log(frame) if self.log else \
                self.from_packet(frame)
        # Who cannot read does not know which frame is which, and tries behind each.
        return Act(to_server=self.frame if first or self.log else None)

    def from_packet(self, frame: bytes) -> bytes | None:
        """All that it takes is in one packet."""
        write = roce.parse_write(frame)
        if not write:
            return None
        packet = roce.packet_of(frame)
        same = roce.icrc(packet[:-roce.ICRC]) == packet[-roce.ICRC:]
        print(f'read an RDMA WRITE: {show(write)}')
        print(f'its ICRC is {"" if same else "not "}what anybody would compute')
        return self.forge(frame, roce.ip_ends(frame)[0], write)

    def from_log(self, frame: bytes) -> bytes | None:
        """The same from what the client's program says."""
        write = told(self.log)
        if not write:
            return None
        print(f'was told of an RDMA WRITE: {show(write)}')
        return self.forge(frame, socket.inet_aton('192.0.2.2') +
                          socket.inet_aton('192.0.2.1'), write)

    def forge(self, frame: bytes, addresses: bytes, write: roce.Write) -> bytes:
        """The packet that would be next, as a frame from the same host."""
        write = write._replace(psn=(write.psn + 1) & 0xffffff)
        payload = PAYLOAD
        if self.send == 'nothing':
            write, payload = write._replace(addr=0, rkey=0), b''
        elif self.send == 'badkey':
            write = write._replace(rkey=write.rkey ^ 0x80)
        print(f'sends one of its own: {show(write)}', flush=True)
        return roce.forge(frame[:12], addresses, roce.write_body(write, payload))


class Goodbye(Party):
    """Makes one packet from what the CM says in the clear."""

    def __init__(self) -> None:
        self.qpn = self.frame = None

    def server_says(self, frame: bytes) -> Act:
        if roce.cm_message(frame) == roce.CM_REP:
            self.qpn = roce.cm_qpn(frame)
        return Act()

    def client_says(self, frame: bytes) -> Act:
        if self.frame or not self.qpn or roce.cm_message(frame) != roce.CM_RTU:
            return Act()
        mine, yours = roce.cm_ids(frame)
        print(f'read REP and RTU: communication IDs 0x{mine:08x} and '
              f'0x{yours:08x}, QPN 0x{self.qpn:06x}')
        print('sends one of its own: a DREQ', flush=True)
        self.frame = roce.forge_dreq(frame, self.qpn)
        return Act(to_server=self.frame)


class Answerer(Party):
    """Answers a request of the client's before the server can.

    It needs the client's QPN, which is in what the server sends; until it has seen
    that, it keeps the request, which the client repeats.
    """

    def __init__(self, send: str) -> None:
        self.send = send
        self.asks = roce.READ_REQUEST if send == 'data' else roce.SEND_ONLY
        self.qpn = None
        self.done = False

    def server_says(self, frame: bytes) -> Act:
        base = roce.parse(frame)
        if base:
            self.qpn = base.qpn
        return Act()

    def client_says(self, frame: bytes) -> Act:
        base = roce.parse(frame)
        if not base or base.opcode != self.asks:
            return Act()
        if self.done or not self.qpn:
            # What has an answer already is repeated only if that was lost.
            return Act(passes=self.done and self.send != 'ack')
        self.done = True
        body, what = self.answer(frame, base.psn)
        print(f'sends one of its own: {what}: QPN 0x{self.qpn:06x}, '
              f'PSN 0x{base.psn:06x}', flush=True)
        return Act(passes=self.send != 'ack',
                   to_client=roce.forge(*back(frame), body))

    def answer(self, frame: bytes, psn: int) -> tuple[bytes, str]:
        """The answer, and what it is in words."""
        if self.send == 'data':
            length = roce.parse_write(frame, roce.READ_REQUEST).length
            return roce.answer_body(roce.READ_RESPONSE, self.qpn, psn, roce.ACK,
                                    likely(length)), 'a READ response'
        says = roce.ACK if self.send == 'ack' else roce.NAK_REMOTE_ACCESS
        return roce.answer_body(roce.ACKNOWLEDGE, self.qpn, psn, says), \
            'an ACK' if self.send == 'ack' else 'a NAK (remote access error)'


def likely(length: int) -> bytes:
    """So many bytes as the peer might have had: pattern.c shows what is behind a text."""
    text = PAYLOAD[:-1]
    seed = 0
    for byte in text:
        seed = (seed * 3 + byte) & 0xff
    rest = bytes(((i ^ (i >> 8) * 31 ^ (i >> 16) * 17) + seed) & 0xff
                 for i in range(len(text) + 1, length))
    return text + b'\0' + rest


class Resetter(Party):
    """Resets the client's TCP connection, at the server's side.

    The number that a RST must have is that of the next byte, which the last segment
    tells. It is sent when the server's first RDMA request goes by: the exchange is
    over then.
    """

    def __init__(self) -> None:
        self.frame = self.rst = None

    def client_says(self, frame: bytes) -> Act:
        if roce.is_tcp(frame):
            self.frame = frame
        return Act()

    def server_says(self, frame: bytes) -> Act:
        base = roce.parse(frame)
        if self.rst or not self.frame or not base or base.opcode != roce.WRITE_ONLY:
            return Act()
        self.rst, number = roce.forge_rst(self.frame)
        print(f'sends one of its own: a TCP RST, sequence number {number}',
              flush=True)
        return Act(to_server=self.rst)


SENDS = {'bytes': Forger, 'nothing': Forger, 'badkey': Forger, 'dreq': Goodbye,
         'ack': Answerer, 'nak': Answerer, 'data': Answerer, 'rst': Resetter}


def make(send: str, log: pathlib.Path | None = None) -> Party:
    """The third party that sends that."""
    kind = SENDS[send]
    if kind is Forger:
        return Forger(send, log)
    return kind(send) if kind is Answerer else kind()
