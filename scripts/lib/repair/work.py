"""All that a learner works on, as it is handed out: work/01_deaf, work/01_fill_say."""
from __future__ import annotations

import dataclasses
import pathlib
import re
import shutil
import subprocess

from lib.repair.fill_in import fill_ins, named
from lib.repair.tasks import Task, tasks

SOURCE = re.compile(r'((carried|plumbing|load)/)?[a-z0-9_]+\.[ch]')


@dataclasses.dataclass(frozen=True)
class Work:
    """One task: its folder's name in work/, and how it is checked."""
    name: str
    chapter: pathlib.Path
    task: str
    script: str
    points: int


def all_work(root: pathlib.Path) -> list[Work]:
    """Everything that there is to do. A repair is worth more than a function."""
    found = []
    for makefile in sorted(root.glob('[0-9][0-9]_*/Makefile')):
        chapter = makefile.parent
        number = chapter.name[:2]
        found += [Work(f'{number}_fill_{one.name}', chapter, one.name, 'fill_in.sh', 1)
                  for one in fill_ins(chapter)]
        found += [Work(f'{number}_{one.path.name}', chapter, one.path.name,
                       'repair.sh', 3) for one in tasks(chapter)]
    return found


def sources(place: pathlib.Path) -> dict[str, str]:
    """{path: text} of the C files of a copy. Links are not followed."""
    found = {}
    for path in sorted(place.rglob('*.[ch]')):
        name = str(path.relative_to(place))
        if SOURCE.fullmatch(name) and path.is_file() and not path.is_symlink():
            found[name] = path.read_text('utf-8', 'replace')
    return found


def hand_out(work: Work, place: pathlib.Path) -> None:
    """Makes place what the learner was given."""
    place.mkdir(parents=True)
    for part in ('.', 'carried', 'plumbing', 'load'):
        for path in sorted((work.chapter / part).glob('*')):
            if path.name == 'Makefile' or path.suffix in ('.c', '.h', '.sh'):
                (place / part).mkdir(exist_ok=True)
                shutil.copy(path, place / part)
    if work.script == 'fill_in.sh':
        one = named(work.chapter, work.task)
        file = place / one.file
        file.write_text(one.without(file.read_text('utf-8')), 'utf-8')
        return
    patch = Task(work.chapter / 'repair' / work.task).patch()
    subprocess.run(('patch', '-s', '-p1', '--no-backup-if-mismatch', '-d', place),
                   input=patch, text=True, check=True)
