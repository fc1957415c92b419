"""Peers of the first.c of chapters 03 to 05: they may lie, and from 04 on have certificates of several kinds."""
import shutil
import socket
import ssl
import subprocess

PORT, LINE = 4433, 128


def certificates(pair, name, *options):
    """A folder with others, of a CA of their own."""
    folder = pair.scratch / name
    folder.mkdir()
    subprocess.run([pair.folder / 'certs.sh', *options, folder / 'certs'], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder


def as_client(pair, cert, key):
    """A folder in which the client has this certificate."""
    folder = pair.scratch / f'client_{len(list(pair.scratch.iterdir()))}'
    shutil.copytree(pair.folder / 'certs', folder / 'certs')
    shutil.copy(cert, folder / 'certs/client.pem')
    shutil.copy(key, folder / 'certs/client.key')
    return folder


def connect(pair, certs, version=ssl.TLSVersion.TLSv1_3):
    """Its connection: that of a client that does not look whom it talks to."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = version
    if certs:
        context.load_cert_chain(certs / 'client.pem', certs / 'client.key')
    return context.wrap_socket(socket.create_connection((pair.address, PORT), 20))


def line(pair, **new):
    """A line as the server would take it, but for one value."""
    fields = {'QPN': '0x000011', 'PSN': '0x000001', 'GID': f'::ffff:{pair.address}',
              'ADDR': '0x000000001000', 'RKEY': '0x00000001', **new}
    text = ', '.join(f'{name} {value}' for name, value in fields.items()) + '\n'
    return text.encode().ljust(LINE, b'\0')
