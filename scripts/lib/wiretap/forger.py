"""The third party at the switch: it makes one RDMA WRITE from what it has seen go by, or was told."""
import re
import socket

from lib.wiretap import roce

PAYLOAD = b'forged: neither of you wrote this\0'
SENDS = 'bytes', 'nothing', 'badkey'


def show(write):
    """What is in a WRITE, in words."""
    return (f'QPN 0x{write.qpn:06x}, PSN 0x{write.psn:06x}, '
            f'address 0x{write.addr:x}, rkey 0x{write.rkey:x}')


def told(log):
    """The client's WRITE as its own log has it, or None."""
    text = log.read_text() if log.exists() else ''
    found = [re.search(pattern, text) for pattern in (
        r'dest_qp_num=(\w+)', r'\bsq_psn=(\w+)', r'peer_mr\.addr=(\w+)', r'peer_mr\.rkey=(\w+)')]
    # It is the client's first packet.
    return None if None in found else roce.Write(*(int(match[1], 16) for match in found), 0)


class Forger:
    """What it sends, once or, if it cannot read, behind each frame of the client's."""

    def __init__(self, send, log=None):
        self.send, self.log, self.frame = send, log, None

    def behind(self, frame):
        """What it sends the server behind this frame of the client's, or None."""
        first = not self.frame
        if first:
            self.frame = self.from_log(frame) if self.log else self.from_packet(frame)
        # Who cannot read does not know which frame is which, and tries behind each.
        return self.frame if first or self.log else None

    def from_packet(self, frame):
        """All that it takes is in one packet."""
        write = roce.parse_write(frame)
        if not write:
            return None
        packet = roce.packet_of(frame)
        same = roce.icrc(packet[:-roce.ICRC]) == packet[-roce.ICRC:]
        print(f'read an RDMA WRITE: {show(write)}')
        print(f'its ICRC is {"" if same else "not "}what anybody would compute')
        return self.forge(frame, packet[12:20], write)

    def from_log(self, frame):
        """The same from what the client's program says."""
        write = told(self.log)
        if not write:
            return None
        print(f'was told of an RDMA WRITE: {show(write)}')
        return self.forge(frame, socket.inet_aton('192.0.2.2') + socket.inet_aton('192.0.2.1'), write)

    def forge(self, frame, addresses, write):
        """The packet that would be next, as a frame from the same host."""
        write = write._replace(psn=(write.psn + 1) & 0xffffff)
        payload = PAYLOAD
        if self.send == 'nothing':
            write, payload = write._replace(addr=0, rkey=0), b''
        elif self.send == 'badkey':
            write = write._replace(rkey=write.rkey ^ 0x80)
        print(f'sends one of its own: {show(write)}', flush=True)
        return roce.forge(frame[:12], addresses, roce.write_body(write, payload))
