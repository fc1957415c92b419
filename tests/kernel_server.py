#!/usr/bin/python3 -B
"""Serves the files of a folder on 127.0.0.1, and prints the port.

Usage: kernel_server.py FOLDER

A file that is asked for under /cut/ is cut off in the middle.
"""
import functools
import http.server
import os

from lib.arguments import Parser, folder


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves whole files, and halves."""

    def do_GET(self):
        if not self.path.startswith('/cut/'):
            super().do_GET()
            return
        with open(os.path.join(self.directory, self.path[5:]), 'rb') as file:
            whole = file.read()
        self.send_response(200)
        self.send_header('Content-Length', str(len(whole)))
        self.end_headers()
        self.wfile.write(whole[:len(whole) // 2])
        self.close_connection = True


parser = Parser(__doc__)
parser.add_argument('folder', type=folder)
server = http.server.HTTPServer(
    ('127.0.0.1', 0),
    functools.partial(Handler, directory=parser.parse_args().folder))
print(server.server_port, flush=True)
server.serve_forever()
