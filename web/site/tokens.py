#!/usr/bin/python3
"""The rules of log_tokens.py as JSON, for the comparison in the page.

Usage: tokens.py
"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] /
                       'scripts/lib'))
# pylint: disable=wrong-import-position
from arguments import Parser  # noqa: E402
import log_tokens  # noqa: E402


def javascript(regex):
    """A pattern of Python's as one of JavaScript's."""
    return regex.replace('(?P<', '(?<')


def main():
    """Prints the table."""
    Parser(__doc__).parse_args()
    print(json.dumps({
        'tokens': [[cls, scope, javascript(regex.pattern)]
                   for cls, scope, regex in log_tokens.TOKENS],
        'owners': [[who, javascript(regex.pattern)]
                   for who, regex in log_tokens.OWNER_WORDS],
        'exact': javascript(log_tokens.EXACT_LINES.pattern),
        'unit': javascript(log_tokens.UNIT),
        'heading': javascript(log_tokens.HEADING.pattern),
        'ports': sorted(log_tokens.DOCUMENTED_PORTS),
    }, indent=1, ensure_ascii=False))


if __name__ == '__main__':
    main()
