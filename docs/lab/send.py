#!/usr/bin/python3
"""send.py - a message over a queue pair, with Python's pyverbs

usage: send.py            waits for one
       send.py ADDRESS    sends one there

For docs/lab.md: librdmacm's synchronous calls, which connect and wait by themselves.
"""
import argparse
import time

from pyverbs.cmid import CMID, AddrInfo
from pyverbs.cm_enums import RAI_PASSIVE, RDMA_PS_TCP
from pyverbs.pyverbs_error import PyverbsError
from pyverbs.qp import QPCap, QPInitAttr

PORT, SIZE = '7471', 64


def end(address, flags=0):
    """One of a connection that is still to be made."""
    side = 'src' if flags & RAI_PASSIVE else 'dst'
    info = AddrInfo(**{side: address, f'{side}_service': PORT}, port_space=RDMA_PS_TCP, flags=flags)
    return CMID(creator=info, qp_init_attr=QPInitAttr(cap=QPCap(max_recv_wr=1)))


def serve():
    """Receives one message."""
    listener = end('0.0.0.0', RAI_PASSIVE)
    listener.listen()
    client = listener.get_request()
    region = client.reg_msgs(SIZE)
    # Before the client may send.
    client.post_recv(region)
    client.accept()
    completion = client.get_recv_comp()
    print('received:', region.read(completion.byte_len, 0).decode(), flush=True)


def send(address):
    """Sends one, as soon as somebody listens."""
    last = time.monotonic() + 20
    while True:
        client = end(address)
        try:
            client.connect()
            break
        except PyverbsError:
            client.close()
            if time.monotonic() > last:
                raise
    region = client.reg_msgs(SIZE)
    text = b'hello from pyverbs'
    region.write(text, len(text))
    client.post_send(region, length=len(text))
    print('sent, status', client.get_send_comp().status)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('address', nargs='?')
    to = parser.parse_args().address
    if to:
        send(to)
    else:
        serve()
