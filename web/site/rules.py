#!/usr/bin/python3 -B
"""What the page knows of logs, from where the shell has it: JSON.

Usage: rules.py

The tokens of log_tokens.py, for the comparison.
"""
import json

from lib.arguments import Parser
from lib import log_tokens

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
        'ports': sorted(log_tokens.DOCUMENTED_PORTS),
    }, indent=1, ensure_ascii=False))


if __name__ == '__main__':
    main()
