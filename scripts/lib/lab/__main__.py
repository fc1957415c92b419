"""The command line of lab.sh: see usage.py."""
import collections.abc
import importlib
import itertools
import os
import signal
import sys
import types

from lib.lab import commands
from lib.lab.progress import say_failed
from lib.lab.settings import NODES, Failed, Misuse, Settings, is_number
from lib.lab.usage import usage

VERBS = 'up, status, shell, exec, reset, down, fetch or kernel'


def options(settings: Settings, words: list[str]) -> int | None:
    """Those of `up`, into the settings; returns how many nodes are asked for."""
    values = {'--nodes': '', '--engine': settings.engine,
              '--device': settings.asked_device, '--time': settings.time}
    needs = {'--nodes': 'a number: 1 to 4', '--engine': 'a name: kvm, uml or tcg',
             '--device': 'a name: rxe or siw', '--time': 'a word: own'}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition('=')
        if name not in values:
            raise Misuse(f"up: unknown argument '{word}'")
        given = [value] if equals else list(itertools.islice(rest, 1))
        if not given:
            raise Misuse(f'{name} needs {needs[name]}')
        values[name] = given[0]
    nodes, settings.engine, settings.asked_device, settings.time = values.values()
    if nodes not in ('', '1', '2', '3', '4'):
        raise Misuse(f'--nodes {nodes}: the lab has 1 to 4 nodes')
    if settings.engine not in ('', 'kvm', 'uml', 'tcg'):
        raise Misuse(f'--engine {settings.engine}: the lab has kvm, uml and tcg')
    if settings.asked_device not in ('', 'rxe', 'siw'):
        raise Misuse(f'--device {settings.asked_device}: the lab has rxe or siw')
    count = int(nodes) if is_number(nodes) else None
    return own_time(settings, count) if settings.time else count


def own_time(settings: Settings, count: int | None) -> int:
    """A time of its own is for one node, which is a User-Mode Linux kernel."""
    if settings.time != 'own':
        raise Misuse(f'--time {settings.time}: the lab has own, or no --time for '
                     "this machine's time")
    if count not in (None, 1):
        raise Misuse(f'--time own is for one node, and {count} are asked for: '
                     'two would not have the same time')
    if settings.engine not in ('', 'uml'):
        raise Misuse(f'--time own needs the engine uml, and {settings.engine} is '
                     'asked for')
    settings.engine = 'uml'
    return 1


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


def part(name: str) -> types.ModuleType:
    """A module that only few verbs need: a command in a node is to begin at once."""
    return importlib.import_module(f'lib.lab.{name}')


def fetch(settings: Settings) -> None:
    """What `make demo` needs of the network."""
    part('prepare').fetch(settings)


def build_kernel(settings: Settings) -> None:
    """That of User-Mode Linux nodes."""
    part('prepare').build_kernel(settings)


def run(settings: Settings, words: list[str]) -> int:
    """Does what is asked for; returns the exit status."""
    settings.check()
    verb, *rest = words or ['']
    if verb == 'up':
        part('up').up(settings, options(settings, rest))
        return 0
    if verb == 'exec':
        return commands.execute(settings, *command_line(rest))
    if verb == 'shell':
        return commands.shell(settings, one_node(verb, rest or ['a']))
    if verb == 'reset':
        return commands.reset(settings, one_node(verb, rest))
    simple: dict[str, collections.abc.Callable[[Settings], int | None]] = {
        'status': commands.status, 'down': commands.down,
        'fetch': fetch, 'kernel': build_kernel}
    if not verb:
        raise Misuse(f'no command given: {VERBS}')
    if verb not in simple:
        raise Misuse(f"unknown command '{verb}': not {VERBS}")
    if rest:
        raise Misuse(f'{verb} takes no argument')
    return simple[verb](settings) or 0


def main(words: list[str]) -> int:
    """As run(), but says what is wrong."""
    settings = Settings(dict(os.environ))
    # What stands after -- is another command's.
    before = words[:words.index('--')] if '--' in words else words
    if before[:1] == ['help'] or '-h' in before or '--help' in before:
        print(usage(settings), end='')
        return 0
    try:
        return run(settings, words)
    except Failed as error:
        say_failed(error.args)
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
