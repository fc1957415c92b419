"""Makes a network device send and deliver frames as they are on the wire.

Usage: offload.py DEVICE

A kernel leaves checksums to the device where it can, and joins what it has
received to larger pieces. switch.py passes frames on, so they must be whole.
(What `ethtool -K DEVICE tx off gro off` does, without ethtool.)
"""
import array
import errno
import fcntl
import socket
import struct
import sys

from lib.arguments import Parser

SIOCETHTOOL = 0x8946
ETHTOOL_STXCSUM = 0x17  # checksums on sending
ETHTOOL_SGRO = 0x2c  # joining on receiving


def switch_off(device, command):
    """Sets one of the device's features to 0."""
    value = array.array('I', [command, 0])
    request = struct.pack('16sP', device.encode(), value.buffer_info()[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            fcntl.ioctl(sock, SIOCETHTOOL, request)
        except OSError as error:
            # What a device cannot do, it does not do.
            if error.errno != errno.EOPNOTSUPP:
                raise


parser = Parser(__doc__)
parser.add_argument('device')
netdev = parser.parse_args().device
try:
    switch_off(netdev, ETHTOOL_STXCSUM)
    switch_off(netdev, ETHTOOL_SGRO)
except OSError as error:
    sys.exit(f'offload: {netdev}: {error.strerror}; is there such a '
             'device, and are we root')
