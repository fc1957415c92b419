"""The command line of the Python scripts: argparse, with the text that a script
begins with as its help, which says more than argparse could make up.
"""
import argparse
import pathlib


class Parser(argparse.ArgumentParser):
    """-h prints the whole text; a mistake, its first lines on usage, and ends
    with status 2."""

    def __init__(self, text):
        super().__init__(allow_abbrev=False)
        self.text = text.strip()

    def format_help(self):
        return self.text + '\n'

    def format_usage(self):
        usage = self.text[self.text.index('Usage:'):]
        return usage.split('\n\n')[0] + '\n'

    def add_root(self, default):
        """-r ROOT, the tree to work on."""
        self.add_argument('-r', dest='root', type=folder, default=default)


def folder(name):
    """The absolute path of a folder that exists."""
    path = pathlib.Path(name)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f'{name} is no folder')
    return path.resolve()
