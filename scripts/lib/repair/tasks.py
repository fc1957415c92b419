"""The repair tasks: what a reader is given, and what is told about it, and when.

Usage: tasks.py list CHAPTER...           the tasks, each with its symptom
       tasks.py names CHAPTER             their names, in the order of their numbers
       tasks.py patch TASK                what is broken, as a patch of the chapter
       tasks.py commands TASK             the file that says how it is run
       tasks.py said TASK                 the folder of what both ends said
       tasks.py letter TASK FOLDER        what the reader finds as TASK.md in FOLDER
       tasks.py hint TASK NUMBER          one of its three hints

CHAPTER and TASK are folders: 01_send_recv, 01_send_recv/repair/deaf. README.md says what is in
the folder of a task.
"""
from __future__ import annotations

import dataclasses
import pathlib
import re
import sys

from lib.arguments import Parser, folder
from lib.terminal import lines_of, width, wrap

TASK = re.compile(r'# (.+)\n\n((?:> .*\n)+)\Z')
HINT = re.compile(r'^(\d)\. ((?:.*\n)(?:   .*\n)*)', re.MULTILINE)
PART = re.compile(r'^--- a/.*\n\+\+\+ b/(\S+).*\n', re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Task:
    """One task, which is the folder path."""
    path: pathlib.Path

    @property
    def chapter(self) -> pathlib.Path:
        """The folder of its chapter."""
        return self.path.parents[1]

    @property
    def case(self) -> tuple[pathlib.Path | None, list[str]]:
        """The case that it is made of, and which files of the case's patch."""
        line = self.path / 'case'
        if not line.is_file():
            return None, []
        name, *files = line.read_text('utf-8').split()
        return self.chapter / 'break' / name, files

    def told(self) -> tuple[str, str]:
        """Its title and its symptom."""
        match = TASK.match((self.path / 'task.md').read_text('utf-8'))
        if not match:
            raise SystemExit(f'{self.path}/task.md: a title and a quotation are due')
        return match[1], ' '.join(re.findall(r'> (.*)', match[2]))

    def hints(self) -> list[str]:
        """Its three hints."""
        text = (self.path / 'hints.md').read_text('utf-8')
        found = [' '.join(hint.split()) for _, hint in HINT.findall(text)]
        if len(found) != 3:
            raise SystemExit(f'{self.path}/hints.md: three hints are due')
        return found

    def patch(self) -> str:
        """What is broken."""
        case, files = self.case
        if not case:
            return (self.path / 'patch').read_text('utf-8')
        text = (case / 'patch').read_text('utf-8')
        starts = [match.start() for match in PART.finditer(text)] + [len(text)]
        parts = [text[start:end] for start, end in zip(starts, starts[1:])]
        return ''.join(part for part in parts
                       if not files or PART.match(part)[1] in files)  # type: ignore

    def commands(self) -> pathlib.Path:
        """The file that says how it is run."""
        own, (case, _) = self.path / 'commands', self.case
        return own if own.is_file() or not case else case / 'commands'

    def said(self) -> pathlib.Path:
        """The folder of the logs: its own, or those of the case."""
        return self.commands().parent


def tasks(chapter: pathlib.Path) -> list[Task]:
    """The chapter's tasks: in the order of the file repair/order, as they get harder."""
    have = {path.parent.name for path in chapter.glob('repair/*/task.md')}
    order = chapter / 'repair/order'
    names = order.read_text('utf-8').split() if order.is_file() else []
    return [Task(chapter / 'repair' / name)
            for name in [name for name in names if name in have] +
            sorted(have - set(names))]


def print_list(chapter: pathlib.Path, columns: int, symptoms: bool) -> None:
    """The commands that hand out its tasks, each with the symptom if that is wanted."""
    for number, task in enumerate(tasks(chapter), 1):
        title, symptom = task.told()
        print(f'make repair CH={chapter.name[:2]} TASK={number}   {title}')
        if symptoms:
            print(*wrap(symptom, columns, '  '), sep='\n')


def letter(task: Task, place: str) -> str:
    """What a reader is given to read."""
    title, symptom = task.told()
    number = task.chapter.name[:2]
    which = f'CH={number} TASK={task.path.name}'
    commands = [line.replace('ORIGINAL', f'../../{task.chapter.name}')
                for line in task.commands().read_text('utf-8').splitlines()
                if not line.startswith('#')]
    parts = [f'# {title}', symptom,
             f'This folder is a copy of {task.chapter.name} in which somebody has broken '
             'something, perhaps in more than one place. Find out what it is, and repair it.'
             + (' `carried/` has the files that an earlier chapter has, too; look there as well.'
                if (task.chapter / 'carried').is_dir() and './first' not in '\n'.join(commands) else ''),
             'The programs were run like this (192.0.2.1 stands for the address of the '
             'server):', '```text\n' + '\n'.join(commands) + '\n```']
    for log in sorted(task.said().glob('*.log')) + sorted(task.said().glob('*.err')):
        end = {'.log': 'said', '.err': 'complained'}[log.suffix]
        who = f'the {log.stem}' if log.stem in ('client', 'server') else log.stem
        title = 'How they ended' if log.stem == 'status' else f'What {who} {end}'
        text = log.read_text('utf-8', 'replace').rstrip('\n')
        parts.append(f'{title}:\n\n```text\n{text}\n```')
    parts += [f'`make repair {which} CHECK=1` builds what is in {place}, runs it and says '
              f'what still differs. `make repair {which} HINT=1` gives you a hint; there '
              'are three.']
    return '\n\n'.join(parts) + '\n'


def main(arguments: list[str]) -> int:
    """Prints what was asked for; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_argument('what', choices=(
        'list', 'names', 'patch', 'commands', 'said', 'letter', 'hint'))
    parser.add_argument('places', nargs='+')
    options = parser.parse_args(arguments)
    what, places = options.what, options.places
    task = Task(folder(places[0]))
    if what == 'list':
        for place in places:
            print_list(folder(place), width(), len(places) == 1)
    elif what == 'names':
        print(*(each.path.name for each in tasks(task.path)), sep='\n')
    elif what == 'letter':
        print(letter(task, places[1]), end='')
    elif what == 'hint':
        print(*lines_of(task.hints()[int(places[1]) - 1], width()), sep='\n')
    else:
        print(getattr(task, what)(), end='' if what == 'patch' else '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
