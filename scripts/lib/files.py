"""The files of a tree that belong to it."""
import subprocess


def files_of(root, *patterns):
    """Their names, in order: those of git's patterns (default: all), also what is not yet committed, but nothing that
    is ignored, and no test data."""
    said = subprocess.run(['git', '-C', root, 'ls-files', '-coz', '--exclude-standard', '--', *patterns],
                          check=True, text=True, stdout=subprocess.PIPE).stdout
    return sorted({name for name in said.split('\0') if (root / name).is_file() and not name.startswith('tests/fixtures/')})
