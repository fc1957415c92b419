"""Packets of RoCE v2 in IPv4: an RDMA WRITE that is read, and another one that fits.

There is no key in any of it. The layouts are those of the IBTA specification, chapter 9, and of
its annex A17 (RoCEv2).
"""
import collections
import struct
import zlib

ROCE_PORT = 4791
WRITE_ONLY = 0x0a  # reliable connection: an RDMA WRITE of a single packet
ETHERNET, IPV4, UDP, BTH, ICRC = 14, 20, 8, 12, 4

Write = collections.namedtuple('Write', 'qpn psn addr rkey length')


def ethertype(frame):
    """What an Ethernet frame says that it carries."""
    return struct.unpack_from('!H', frame, 12)[0]


def packet_of(frame):
    """The IP packet of a frame, without what Ethernet may have appended."""
    return frame[ETHERNET:ETHERNET + struct.unpack_from('!H', frame, ETHERNET + 2)[0]]


def is_roce(frame):
    """Whether it is IP without options, with UDP to RoCE's port in it."""
    return len(frame) >= ETHERNET + IPV4 + UDP + BTH + ICRC and ethertype(frame) == 0x0800 \
        and frame[ETHERNET] == 0x45 and frame[ETHERNET + 9] == 17 \
        and struct.unpack_from('!H', frame, ETHERNET + IPV4 + 2)[0] == ROCE_PORT


def parse_write(frame):
    """What an RDMA WRITE says in the clear; None if it is something else."""
    if not is_roce(frame):
        return None
    opcode, _, _, qpn, psn, addr, rkey, length = struct.unpack(
        '!BBHIIQII', packet_of(frame)[IPV4 + UDP:][:28].ljust(28))
    return Write(qpn & 0xffffff, psn & 0xffffff, addr, rkey, length) if opcode == WRITE_ONLY else None


def icrc(packet):
    """The invariant checksum of an IP packet, without the one at its end.

    A CRC-32 over the packet in which all that a router may change counts as ones (section
    7.8.1, and annex A17), after eight bytes of ones for the InfiniBand header that RoCE does
    not have. Whoever has the packet can compute it.
    """
    masked = bytearray(packet)
    masked[1] = 0xff  # type of service
    masked[8] = 0xff  # time to live
    masked[10:12] = b'\xff\xff'  # the IP header's checksum
    masked[IPV4 + 6:IPV4 + 8] = b'\xff\xff'  # UDP's checksum
    masked[IPV4 + UDP + 4] = 0xff  # congestion marks
    return struct.pack('<I', zlib.crc32(b'\xff' * 8 + bytes(masked)))


def checksum(header):
    """Of a header whose own checksum is 0 (RFC 1071)."""
    total = sum(struct.unpack(f'!{len(header) // 2}H', header))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def write_body(write, payload):
    """The RoCE part of an RDMA WRITE, without the ICRC.

    No acknowledgement is asked for: it would go to another. 0xffff is the default partition.
    """
    pad = -len(payload) % 4
    return struct.pack('!BBHIIQII', WRITE_ONLY, pad << 4, 0xffff, write.qpn, write.psn, write.addr,
                       write.rkey, len(payload)) + payload + b'\0' * pad


def forge(macs, addresses, body):
    """A frame with that body, from and to whom one likes.

    macs and addresses are 12 and 8 bytes, as they stand in a frame: the Ethernet addresses of
    receiver and sender, the IP addresses of sender and receiver. The UDP source port may be
    any: nobody looks at it.
    """
    length = UDP + len(body) + ICRC
    ip = struct.pack('!BBHHHBBH8s', 0x45, 0, IPV4 + length, 0, 0x4000, 64, 17, 0, addresses)
    packet = ip[:10] + struct.pack('!H', checksum(ip)) + ip[12:] + \
        struct.pack('!HHHH', 49152, ROCE_PORT, length, 0) + body
    return macs + b'\x08\x00' + packet + icrc(packet)
