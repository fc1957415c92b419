#!/usr/bin/python3 -B
"""What the page knows of logs and packets, from where the shell has it: JSON.

Usage: rules.py

The tokens of log_tokens.py, for the comparison, and what sends which packet, from
wire/sources.py.
"""
import json

from lib.arguments import Parser
from lib import log_tokens
from lib.wire import sources

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
        'senders': sources.SENDS,
        'ports': sorted(log_tokens.DOCUMENTED_PORTS),
    }, indent=1, ensure_ascii=False))


if __name__ == '__main__':
    main()
