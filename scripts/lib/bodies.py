"""Exercises that ask for the body of one function: the chapter without it.

Usage: bodies.py list CHAPTER            each with what it is about
       bodies.py names CHAPTER           their names
       bodies.py take CHAPTER NAME COPY  takes the body out of a copy of the chapter
       bodies.py told CHAPTER NAME       what the reader is told

CHAPTER is a folder. Its table is CHAPTER/exercises/bodies.tsv: name, file, function, how
many minutes it may take, and what it is about. What stands before the function, and
in the header, says what it must do. CHAPTER/exercises/NAME.sh, if there is one, checks
what the logged runs do not show.
"""
import collections
import pathlib
import re
import sys

from lib.arguments import Parser, folder

Body = collections.namedtuple('Body', 'name file function minutes about')


def bodies(chapter):
    """The rows of a chapter's table."""
    table = chapter / 'exercises/bodies.tsv'
    rows = table.read_text('utf-8').splitlines() if table.is_file() else []
    return [Body(*row.split('\t')) for row in rows if not row.startswith('#')]


def without(text, function):
    """The text of a file without the body of a function."""
    match = re.search(rf'^([a-z].*?\b\**){function}\([^;{{}}]*\)\n{{\n', text, re.MULTILINE)
    failed = {'void': '', 'int': '\treturn -1;\n'}.get(match[1].replace('static', '').strip(), '\treturn 0;\n')
    return text[:match.end()] + '\t/* Yours. */\n' + failed + text[text.index('\n}\n', match.end() - 1) + 1:]


def main(arguments):
    """Prints or does what was asked for; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_argument('what', choices=('list', 'names', 'take', 'told'))
    parser.add_argument('chapter', type=folder)
    parser.add_argument('name', nargs='?')
    parser.add_argument('copy', type=pathlib.Path, nargs='?')
    options = parser.parse_args(arguments)
    for body in bodies(options.chapter):
        if options.what == 'list':
            print(f'  make exercise CH={options.chapter.name[:2]} EX={body.name:<10} Write the body of '
                  f'{body.function}: {body.minutes} minutes')
        elif options.what == 'names':
            print(body.name)
        elif options.what == 'told' and body.name == options.name:
            print(f'{body.about} Write {body.function}() in {body.file}; it should take '
                  f'{body.minutes} minutes.')
        elif body.name == options.name:
            file = options.copy / body.file
            file.write_text(without(file.read_text('utf-8'), body.function), 'utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
