"""The options of lab.sh up."""
import itertools

from lib.lab.settings import Misuse, Settings, is_number


def options(settings: Settings, words: list[str]) -> int | None:
    """Puts them into the settings; returns how many nodes are asked for."""
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
