"""What chapters.tsv says about the chapters."""
import collections
import pathlib

Chapter = collections.namedtuple(
    'Chapter', 'name start devices port shown concept', defaults=[''] * 5)


def chapters(root):
    """{name: Chapter} of those that have a row, in its order."""
    table = pathlib.Path(root) / 'chapters.tsv'
    lines = table.read_text('utf-8').splitlines() if table.is_file() else []
    rows = [line.split('\t') for line in lines if line[:2].isdigit()]
    return {row[0]: Chapter(*row) for row in rows}


def folders(root):
    """The names of all folders of chapters, in order."""
    return sorted(path.parent.name for path in
                  pathlib.Path(root).glob('[0-9][0-9]_*/Makefile'))


def before(root, name):
    """The chapter that this one starts from, or None; without a row, it is the
    folder before it."""
    row, names = chapters(root).get(name), folders(root)
    if row:
        return next((one for one in names if one[:2] == row.start), None)
    return max((one for one in names if one < name), default=None)


def looked_up(chapter):
    """The text of a chapter in which its tables are: reference.md, and README.md."""
    return '\n'.join(path.read_text('utf-8') for path in
                     (chapter / 'reference.md', chapter / 'README.md')
                     if path.is_file())
