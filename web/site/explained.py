#!/usr/bin/python3 -B
"""What docs/troubleshooting/ knows of error lines, for the page: JSON.

Usage: explained.py

For each entry and question: its anchor, its page, its title, the first sentences of its cause, whether it
only follows from something else, and its words; how rare each word is; and
scripts/explain.py's table. By all that they are found.
"""
import importlib.util
import json
import pathlib
import re
import sys

from lib.arguments import Parser

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
CAUSE = re.compile(r'\*\*Cause\.\*\* (.*?)(?:\n\n|\Z)', re.DOTALL)
# So much of a cause stands beside a terminal.
LENGTH = 240


def load(path):
    """The Python file at this path, as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def plain(text):
    """Markdown without its marks, in one line."""
    text = re.sub(r'!?\[([^]]*)\]\([^)]*\)', r'\1', text)
    return re.sub(r'[`*]', '', ' '.join(text.split()))


def cause(body):
    """Its first sentences, as many as there is room for; at least one."""
    found = CAUSE.search(body)
    sentences = re.split(r'(?<=[.?]) (?=[A-Z])', plain(found[1])) if found else []
    text = ''
    for sentence in sentences:
        if text and len(text) + len(sentence) > LENGTH:
            break
        text = f'{text} {sentence}'.strip()
    return text


def main():
    """Prints the entries."""
    Parser(__doc__).parse_args()
    explain = load(TOP / 'scripts/explain.py')
    table = explain.Table()
    texts, rare = table.words
    print(json.dumps({
        'entries': {name: {'anchor': entry.anchor, 'page': entry.page.replace('.md', '.html'), 'title': plain(entry.title),
                           'cause': cause(entry.body), 'follows': entry.follows,
                           'words': sorted(texts[name])} for name, entry in table.entries.items()},
        'rare': dict(sorted(rare.items())), 'worth': explain.WORTH, 'ahead': explain.AHEAD,
        'phrases': table.phrases, 'errno': explain.errno.errorcode, 'rules': table.rules, 'objects': sorted(table.objects), 'doubts': sorted(table.doubts), 'before': sorted(explain.BEFORE),
        'statusOf': sorted(explain.STATUS_OF), 'wc': sorted(explain.WC), 'errnoOf': sorted(explain.ERRNO_OF)}, ensure_ascii=False))


if __name__ == '__main__':
    main()
