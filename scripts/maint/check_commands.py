#!/usr/bin/python3 -B
"""Checks the commands that the Markdown files tell to type.

Usage: check_commands.py [-r ROOT] [--run] [FOLDER...]

Looked at are the lines of `sh` blocks, and what stands in backticks and begins with
`make ` or `scripts/`. Each must name what there is:

- a script, and a file or folder of this repository;
- a target of make; with CH=, CASE=, RUN= and EX= a chapter and what it has;
- with ./server and ./client, options that some chapter's -h explains (of those that are built).

A line with what stands for something else (CAPITALS, …, my_copy) is only checked as
far as that. With --run, blocks marked `sh run` are run as well, from ROOT, and must
end with status 0; their lines that are for two terminals are run as a pair, by
scripts/pair.sh. Where a FOLDER is named, only files in it are looked at.

Prints FILE:LINE: what is wrong. Exit status: 0 nothing, 1 something, 2 usage.
"""
import pathlib
import re
import subprocess
import sys

from lib.arguments import Parser
from lib.files import files_of
from lib.md_text import Markdown
from lib.options import listed

TOP = pathlib.Path(__file__).resolve().parents[2]
SPAN = re.compile(r'`((?:make|scripts/)[^`]*)`')
OPTION = re.compile(r'(?<!\S)(--?[A-Za-z0-9][a-z-]*)')


class Tree:
    """What there is to be named."""

    def __init__(self, root):
        self.root = root
        makefile = (root / 'Makefile').read_text('utf-8')
        self.targets = set(re.findall(r'^([a-z][a-z-]*):', makefile, re.MULTILINE))
        self.targets |= {f'help-{name}' for name in self.targets}
        self.targets |= {p.parent.name for p in root.glob('[0-9]*/Makefile')}
        self.options = set()
        for makefile in root.glob('[0-9]*/Makefile'):
            for options in listed(makefile.parent).values():
                self.options |= options

    def chapter(self, number):
        """The folder of a chapter, or None."""
        found = list(self.root.glob(f'{number}*/Makefile'))
        return found[0].parent if number and found else None


def check_make(tree, words):
    """What is wrong with a call of make, or None."""
    values = dict(word.split('=', 1) for word in words if '=' in word)
    names = [word for word in words[1:] if '=' not in word]
    if '-C' in names:
        folder = names[names.index('-C') + 1]
        makefile = tree.root / folder / 'Makefile'
        if folder.startswith('$'):
            return None
        if not makefile.is_file():
            return f'there is no {folder}/Makefile'
        targets = set(re.findall(r'^([a-z]+):', makefile.read_text('utf-8'),
                                 re.MULTILINE))
        names = names[names.index('-C') + 2:]
    else:
        # In a chapter's folder its own targets are meant.
        targets = tree.targets | {'certs'}
    for name in names:
        if re.fullmatch(r'[a-z][a-z0-9_-]*', name) and name not in targets:
            return f'make has no target {name}'
    if 'CH' not in values or not re.fullmatch(r'\d\d', values['CH']):
        return None
    chapter = tree.chapter(values['CH'])
    if not chapter:
        return f'there is no chapter {values["CH"]}'
    for key, places in (('CASE', 'break'), ('RUN', 'expected')):
        value = values.get(key, 'X')
        if re.fullmatch(r'[a-z0-9_]+', value) and \
                not (chapter / places / value).is_dir():
            return f'{chapter.name} has no {places}/{value}'
    if values.get('EX', 'X').isdigit():
        listed = (chapter / 'exercises/README.md').read_text('utf-8')
        if int(values['EX']) > len(re.findall(r'^\| \d', listed, re.MULTILINE)):
            return f'{chapter.name} has no exercise {values["EX"]}'
    return None


def check_line(tree, line):
    """What is wrong with one line of shell, or None."""
    line = re.sub(r'(?<!\S)#.*', '', line).replace('sudo ', '')
    for part in re.split(r'&&|\|\|?|;', line):
        words = part.split()
        while words and re.match(r'[A-Z_]+=', words[0]):
            words.pop(0)
        if not words:
            continue
        if words[0] == 'make':
            if wrong := check_make(tree, words):
                return wrong
        for word in words:
            path = word.rstrip('.,')
            if re.match(r'(scripts|tests|docs|0\d_\w+)(/|$)', path) and \
                    not re.search(r'[A-Z*<>…$]|my_', path) and \
                    not (tree.root / path).exists():
                return f'there is no {path}'
        if words[0] in ('./server', './client'):
            for option in OPTION.findall(part):
                if option not in tree.options:
                    return f'{words[0]} has no option {option}'
    return None


def check_file(tree, name, run):
    """Checks one Markdown file; returns how many things are wrong."""
    markdown = Markdown((tree.root / name).read_text('utf-8'))
    lines = [(number, span) for number, text in markdown.prose
             for span in SPAN.findall(text)]
    wrong = 0
    for block in markdown.blocks:
        if block.language == 'sh':
            lines += enumerate(block.lines, block.line)
            if run and block.runnable:
                wrong += run_block(tree, name, block)
    for number, line in lines:
        if what := check_line(tree, line):
            print(f'{name}:{number}: {what}: {line.strip()}')
            wrong += 1
    return wrong


def run_block(tree, name, block):
    """Runs one block; returns how much of it failed."""
    chapter = name.split('/')[0]
    script, pair = [], []
    for line in block.lines:
        if '# terminal' not in line and not re.match(r'\./(server|client)', line):
            script.append(line)
            continue
        line = re.sub(r'\s*#.*', '', line)
        if folder := re.match(r'cd (\S+) && ', line):
            chapter, line = folder[1], line[folder.end():]
        label = 'server' if re.match(r'\./server|bench/bench .*lend', line) else 'client'
        # It would wait for the next client otherwise.
        pair.append(f'{label}: ' + line.replace('./server', './server -1'))
    failed = bool(script) and not shell(tree, name, block, '\n'.join(script))
    if pair and not failed:
        out = tree.root / 'build/commands'
        out.mkdir(parents=True, exist_ok=True)
        (out / 'commands').write_text('\n'.join(pair) + '\n', 'utf-8')
        failed = not shell(
            tree, name, block,
            f'scripts/pair.sh -v -d {chapter} build/commands/commands '
            'build/commands/run\n'
            "! grep -v 'exit status 0$' build/commands/run/status.log")
    return int(failed)


def shell(tree, name, block, script):
    """Whether a script runs, from ROOT, and ends with status 0."""
    done = subprocess.run(['bash', '-euc', script], cwd=tree.root, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, timeout=600, check=False)
    if done.returncode:
        print(f'{name}:{block.line}: status {done.returncode}:\n{script}\n'
              f'{done.stdout}')
    return not done.returncode


def main(arguments):
    """Checks all Markdown; returns the exit status."""
    parser = Parser(__doc__)
    parser.add_root(TOP)
    parser.add_argument('--run', action='store_true')
    parser.add_argument('folders', nargs='*')
    options = parser.parse_args(arguments)
    root, run = options.root, options.run
    tree = Tree(root)
    wrong = sum(check_file(tree, name, run) for name in files_of(root, '*.md')
                if not options.folders or name.split('/')[0] in options.folders)
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
