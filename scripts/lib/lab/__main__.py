"""The command line of lab.sh: see usage.py.

Most of its runs are an `exec`, which is to begin at once. So what only other verbs need
is imported where they need it.
"""
import os
import sys

from lib.lab.light import signal
from lib.lab.settings import NODES, Failed, Misuse, Settings

VERBS = 'up, status, shell, exec, run, reset, down, fetch or kernel'


def command_line(words: list[str]) -> tuple[str, str, list[str]]:
    """Of exec: the node, the user, and the command."""
    node, user = 'a', ''
    rest = iter(words)
    for word in rest:
        if word == '-u':
            user = next(rest, '')
            if not user:
                raise Misuse('-u needs the name of a user')
        elif word == '--':
            break
        elif word in tuple(NODES):
            node = word
        else:
            raise Misuse(f"exec: '{word}' is no node (a to d); the command comes "
                         "after '--'")
    command = list(rest)
    if not command:
        raise Misuse("exec: no command; it comes after '--'")
    return node, user, command


def one_node(verb: str, words: list[str]) -> str:
    """The argument of shell and reset."""
    node = words[0] if words else ''
    if node not in tuple(NODES):
        raise Misuse(f"there are nodes a to d, and no '{node}'" if node
                     else f'{verb}: which node, a or b?')
    if len(words) > 1:
        raise Misuse(f'{verb} takes one argument, the node')
    return node


def run(settings: Settings, words: list[str]) -> int:
    """Does what is asked for; returns the exit status."""
    settings.check()
    verb, *rest = words or ['']
    if verb in ('exec', 'shell', 'reset'):
        from lib.lab import client
        if verb == 'exec':
            return client.execute(settings, *command_line(rest))
        if verb == 'shell':
            return client.shell(settings, one_node(verb, rest or ['a']))
        return client.reset(settings, one_node(verb, rest))
    if verb == 'run':
        from lib.lab import run as one
        return one.run(settings, rest)
    if verb == 'up':
        from lib.lab import up
        up.up(settings, rest)
        return 0
    if not verb:
        raise Misuse(f'no command given: {VERBS}')
    if verb not in ('status', 'down', 'fetch', 'kernel'):
        raise Misuse(f"unknown command '{verb}': not {VERBS}")
    if rest:
        raise Misuse(f'{verb} takes no argument')
    if verb in ('status', 'down'):
        from lib.lab import manage
        return manage.status(settings) if verb == 'status' else manage.down(settings)
    from lib.lab import up
    if verb == 'fetch':
        up.fetch(settings)
    else:
        up.build_kernel(settings)
    return 0


def main(words: list[str]) -> int:
    """As run(), but says what is wrong."""
    settings = Settings(dict(os.environ))
    # What stands after -- is another command's.
    before = words[:words.index('--')] if '--' in words else words
    if before[:1] == ['help'] or '-h' in before or '--help' in before:
        from lib.lab.usage import usage
        print(usage(settings), end='')
        return 0
    try:
        return run(settings, words)
    except Failed as error:
        error.tell()
        return error.status


def prepare_files() -> None:
    """Where one of the three is closed, the next file would take its place."""
    for file in range(3):
        try:
            os.fstat(file)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == '__main__':
    prepare_files()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    code = main(sys.argv[1:])
    if sys.stdout:
        sys.stdout.flush()
    # Nothing is left to be done, and commands are to be quick.
    os._exit(code)
