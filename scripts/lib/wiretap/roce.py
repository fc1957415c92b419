"""Packets of RoCE v2: what is in one, and another one that fits.

Only what a reader of docs/psn_security.md must see: there is no key in any of it.
The CM's messages and TCP only in IPv4. The layouts are those of the IBTA
specification, chapter 9, and of its annex A17 (RoCEv2).
"""
import collections
import struct
import zlib

ROCE_PORT = 4791
WRITE_ONLY = 0x0a  # reliable connection: an RDMA WRITE of a single packet
SEND_ONLY = 0x04  # and a SEND
READ_REQUEST, READ_RESPONSE, ACKNOWLEDGE = 0x0c, 0x10, 0x11
UD_SEND_ONLY = 0x64  # an unreliable datagram, as those of the CM are
ETHERNET, IPV4, IPV6, UDP, BTH, DETH, RETH, ICRC = 14, 20, 40, 8, 12, 8, 16, 4
# What an answer says (section 9.7.5.2): all is well, or a remote access error.
ACK, NAK_REMOTE_ACCESS = 0x1f, 0x62

# What the CM's messages are: the attribute in a MAD of class 7 (sections 12.6.8 to
# 12.6.10), whose own part begins behind a header of 24 bytes.
CM_CLASS, CM_REP, CM_RTU, CM_DREQ = 7, 0x13, 0x14, 0x15
MAD = IPV4 + UDP + BTH + DETH
MAD_SIZE, MAD_HEADER = 256, 24

Write = collections.namedtuple('Write', 'qpn psn addr rkey length')
Base = collections.namedtuple('Base', 'opcode qpn psn')


def ethertype(frame):
    """What an Ethernet frame says that it carries."""
    return struct.unpack_from('!H', frame, 12)[0]


def ip_size(frame):
    """The size of the IP header; 0 if there is none, or one of IPv4 with options."""
    if ethertype(frame) == 0x86dd:
        return IPV6
    return IPV4 if ethertype(frame) == 0x0800 and frame[ETHERNET] == 0x45 else 0


def ip_ends(frame):
    """The IP addresses, as they stand in a frame, and the protocol that it carries."""
    if ip_size(frame) == IPV6:
        return frame[ETHERNET + 8:ETHERNET + IPV6], frame[ETHERNET + 6]
    return frame[ETHERNET + 12:ETHERNET + IPV4], frame[ETHERNET + 9]


def is_roce(frame):
    """Whether it is IP without options, with UDP to RoCE's port in it."""
    size = ip_size(frame)
    return size and len(frame) >= ETHERNET + size + UDP + BTH + ICRC \
        and ip_ends(frame)[1] == 17 \
        and struct.unpack_from('!H', frame, ETHERNET + size + 2)[0] == ROCE_PORT


def packet_of(frame):
    """The IP packet of a frame, without what Ethernet may have appended."""
    if ip_size(frame) == IPV6:
        length = IPV6 + struct.unpack_from('!H', frame, ETHERNET + 4)[0]
    else:
        length = struct.unpack_from('!H', frame, ETHERNET + 2)[0]
    return frame[ETHERNET:ETHERNET + length]


def icrc(packet):
    """The invariant checksum of an IP packet, without the one at its end.

    A CRC-32 over the packet in which all that a router may change counts as
    ones (section 7.8.1, and annex A17), after eight bytes of ones for the
    InfiniBand header that RoCE does not have. Whoever has the packet can
    compute it.
    """
    masked = bytearray(packet)
    size = IPV6 if packet[0] >> 4 == 6 else IPV4
    if size == IPV6:
        masked[0:4] = b'\x6f\xff\xff\xff'  # traffic class, flow label
        masked[7] = 0xff  # hop limit
    else:
        masked[1] = 0xff  # type of service
        masked[8] = 0xff  # time to live
        masked[10:12] = b'\xff\xff'  # the IP header's checksum
    masked[size + 6:size + 8] = b'\xff\xff'  # UDP's checksum
    masked[size + UDP + 4] = 0xff  # congestion marks
    return struct.pack('<I', zlib.crc32(b'\xff' * 8 + bytes(masked)))


def parse(frame):
    """What each packet of a reliable connection says; None of anything else."""
    if not is_roce(frame):
        return None
    opcode, _, _, qpn, psn = struct.unpack_from(
        '!BBHII', frame, ETHERNET + ip_size(frame) + UDP)
    return Base(opcode, qpn & 0xffffff, psn & 0xffffff) if opcode < 0x20 else None


def parse_write(frame, opcode=WRITE_ONLY):
    """What an RDMA WRITE says in the clear; None if it is something else.

    With READ_REQUEST, what an RDMA READ says: it is the same.
    """
    base = parse(frame)
    if not base or base.opcode != opcode:
        return None
    addr, rkey, length = struct.unpack_from('!QII', packet_of(frame),
                                            ip_size(frame) + UDP + BTH)
    return Write(base.qpn, base.psn, addr, rkey, length)


def cm_message(frame):
    """Which message of the CM's it is, or None."""
    packet = packet_of(frame) if is_roce(frame) and ip_size(frame) == IPV4 else b''
    if len(packet) < MAD + MAD_SIZE or packet[IPV4 + UDP] != UD_SEND_ONLY \
            or packet[MAD + 1] != CM_CLASS:
        return None
    return struct.unpack_from('!H', packet, MAD + 16)[0]


def cm_qpn(rep):
    """The sender's QPN, of a REP."""
    return struct.unpack_from('!I', packet_of(rep), MAD + MAD_HEADER + 12)[0] >> 8


def cm_ids(message):
    """The communication IDs of an RTU or a DREQ: the sender's, the receiver's."""
    return struct.unpack_from('!II', packet_of(message), MAD + MAD_HEADER)


def forge_dreq(rtu, qpn):
    """The goodbye of whoever has sent this RTU, to the peer's queue pair qpn."""
    packet = bytearray(packet_of(rtu)[:-ICRC])
    struct.pack_into('!H', packet, MAD + 16, CM_DREQ)
    struct.pack_into('!I', packet, MAD + MAD_HEADER + 8, qpn << 8)
    return rtu[:ETHERNET] + bytes(packet) + icrc(packet)


def is_tcp(frame):
    """Whether it is IPv4 without options, with TCP in it."""
    return len(frame) >= ETHERNET + IPV4 + 20 and ethertype(frame) == 0x0800 \
        and frame[ETHERNET] == 0x45 and frame[ETHERNET + 9] == 6


def forge_rst(frame):
    """What ends the TCP connection of whoever has sent this, and its sequence number.

    TCP's checksum covers the IP addresses, too, and has no key either (RFC 9293).
    """
    packet = packet_of(frame)
    ports, seq, ack, offset, flags = struct.unpack_from('!IIIBB', packet, IPV4)
    # SYN and FIN each count as a byte.
    seq += len(packet) - IPV4 - (offset >> 4) * 4 + (flags & 1) + (flags >> 1 & 1)
    seq &= 0xffffffff
    ip = struct.pack('!BBHHHBBH8s', 0x45, 0, IPV4 + 20, 0, 0x4000, 64, 6, 0,
                     packet[12:20])
    ip = ip[:10] + struct.pack('!H', checksum(ip)) + ip[12:]
    # RST and ACK.
    tcp = struct.pack('!IIIBBHHH', ports, seq, ack, 5 << 4, 0x14, 0, 0, 0)
    total = checksum(packet[12:20] + struct.pack('!HH', 6, 20) + tcp)
    tcp = tcp[:16] + struct.pack('!H', total) + tcp[18:]
    return frame[:12] + b'\x08\x00' + ip + tcp, seq


def checksum(header):
    """Of headers whose own checksum is 0 (RFC 1071)."""
    total = sum(struct.unpack(f'!{len(header) // 2}H', header))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def headers(source_port, addresses, payload):
    """Those of IP and UDP for a payload, which the ICRC covers with the rest.

    The identification is 0, and the kernel leaves it so where a packet may not be cut.
    """
    length = UDP + payload + ICRC
    if len(addresses) == 32:
        ip = struct.pack('!IHBB32s', 6 << 28, length, 17, 64, addresses)
    else:
        ip = struct.pack('!BBHHHBBH8s', 0x45, 0, IPV4 + length, 0, 0x4000, 64, 17,
                         0, addresses)
        ip = ip[:10] + struct.pack('!H', checksum(ip)) + ip[12:]
    return ip + struct.pack('!HHHH', source_port, ROCE_PORT, length, 0)


def base_header(opcode, pad, qpn, psn):
    """The BTH. No acknowledgement is asked for: it would go to another."""
    # 0xffff is the default partition.
    return struct.pack('!BBHII', opcode, pad << 4, 0xffff, qpn, psn)


def write_body(write, payload):
    """The RoCE part of an RDMA WRITE, without the ICRC."""
    pad = -len(payload) % 4
    return base_header(WRITE_ONLY, pad, write.qpn, write.psn) \
        + struct.pack('!QII', write.addr, write.rkey, len(payload)) \
        + payload + b'\0' * pad


def send_body(qpn, psn, message):
    """That of a SEND of message, a multiple of four bytes."""
    return base_header(SEND_ONLY, 0, qpn, psn) + message


def answer_body(opcode, qpn, psn, says, payload=b''):
    """That of an ACK or NAK, or of a READ response with a multiple of four bytes.

    The number of messages, in the last 24 bits before the payload, is not looked at.
    """
    return base_header(opcode, 0, qpn, psn) + struct.pack('!I', says << 24) + payload


def forge(macs, addresses, body):
    """A frame with that body, from and to whom one likes.

    macs and addresses are 12 and 8 bytes (32 of IPv6), as they stand in a frame:
    the Ethernet addresses of receiver and sender, the IP addresses of sender and
    receiver. The UDP source port may be any: nobody looks at it.
    """
    packet = headers(49152, addresses, len(body)) + body
    kind = b'\x86\xdd' if len(addresses) == 32 else b'\x08\x00'
    return macs + kind + packet + icrc(packet)


def for_socket(source_port, addresses, body):
    """What to give a UDP socket for that body.

    The kernel writes the headers before it, and they must be those that the
    ICRC is computed of: without a fragment's number, which it leaves out where
    a packet may not be cut (IP_PMTUDISC_DO).
    """
    return body + icrc(headers(source_port, addresses, len(body)) + body)
