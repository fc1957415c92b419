"""What a chapter breaks on purpose, as the README.md of each case says it.

Usage: cases.py list CHAPTER      each case with its question
       cases.py question CASE     what the case asks
       cases.py story CASE        what happens and why, for a terminal, which already
                                  has what each end said
       cases.py ends CASE OUT     what each end said in the run that `pair.sh -t`
                                  left in OUT, with the time of each line

CHAPTER and CASE are folders: 01_send_recv, 01_send_recv/break/no_recv. A case's
README.md begins with a heading, which is its name, and a quotation, which is
the question; the rest is the story.
"""
import re
import sys

from lib.arguments import Parser, folder
from lib.chapters import looked_up
from lib.terminal import lines_of, width, wrap
from lib.wire.lines import read

BEGINNING = re.compile(r'# (\w+)\n\n((?:> .*\n)+)\n')
# Logs of the case itself, one after another.
LOGS = re.compile(r'(?:^```text log=\w+\.(?:log|err)\n.*?^```\n\n?)+', re.MULTILINE | re.DOTALL)
ROW = re.compile(r'^\| .*\bCASE=(\w+)` \|$', re.MULTILINE)


def parts(case):
    """(question, story) of a case; both empty if its README has no such form."""
    text = (case / 'README.md').read_text('utf-8')
    match = BEGINNING.match(text)
    if not match or match[1] != case.name:
        return '', ''
    question = ' '.join(re.findall(r'> (.*)', match[2]))
    return question, text[match.end():]


def cases(chapter):
    """The folders of a chapter's cases, in the order of its table of them."""
    have = {path.parent.name for path in chapter.glob('break/*/commands')}
    told = dict.fromkeys(ROW.findall(looked_up(chapter)))
    order = [name for name in told if name in have]
    return [chapter / 'break' / name
            for name in order + sorted(have - set(order))]


def without_logs(story):
    """A story which names the case's logs and does not show them."""
    def names(logs):
        found = re.findall(r'^```text log=(\S+)', logs[0], re.MULTILINE)
        return f'({" and ".join(found)}: see above.)\n\n'
    return LOGS.sub(names, story)


def print_ends(case, out, columns):
    """A block for each end, its lines in the order in which it wrote them."""
    commands = (case / 'commands').read_text('utf-8')
    statuses = (out / 'status.log').read_text('utf-8').splitlines()
    ends = {line.split(':')[0]: list(read(out / f'{line.split(":")[0]}.times')) for line in statuses}
    starts = {end: lines[0].time for end, lines in ends.items() if lines}
    if not re.search(r'^nodes: 2', commands, re.MULTILINE):
        # All have the same clock.
        starts = dict.fromkeys(starts, min(starts.values(), default=0))
    for status in statuses:
        print(status)
        for line in ends[status.split(':')[0]]:
            mark = '!' if line.error else '|'
            first = f'{line.time - starts[status.split(":")[0]]:8.3f} {mark} '
            print(*wrap(line.text, columns, first, f'{"":8} {mark}   '), sep='\n')
        print()


def main(arguments):
    """Prints what was asked for; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_argument('what', choices=('list', 'question', 'story', 'ends'))
    parser.add_argument('place', type=folder)
    parser.add_argument('out', type=folder, nargs='?')
    options = parser.parse_args(arguments)
    what, place, columns = options.what, options.place, width()
    if (what == 'ends') != (options.out is not None):
        parser.error('OUT belongs to ends')
    if what == 'list':
        for case in cases(place):
            print(case.name, *wrap(parts(case)[0], columns, '  '), sep='\n')
    elif what == 'question':
        print(*wrap(parts(place)[0], columns), sep='\n')
    elif what == 'ends':
        print_ends(place, options.out, columns)
    else:
        print(*lines_of(without_logs(parts(place)[1]), columns), sep='\n')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
