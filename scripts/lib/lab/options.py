"""The options of lab.sh up."""
import itertools

from lib.lab.settings import Misuse, Settings, is_number


def options(settings: Settings, words: list[str]) -> int | None:
    """Puts them into the settings; returns how many nodes are asked for."""
    values = {'--nodes': '', '--engine': settings.engine,
              '--device': settings.asked_device}
    needs = {'--nodes': 'a number: 1 to 4', '--engine': 'a name: kvm, uml or tcg',
             '--device': 'a name: rxe or siw'}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition('=')
        if name not in values:
            raise Misuse(f"up: unknown argument '{word}'")
        given = [value] if equals else list(itertools.islice(rest, 1))
        if not given:
            raise Misuse(f'{name} needs {needs[name]}')
        values[name] = given[0]
    nodes, settings.engine, settings.asked_device = values.values()
    if nodes not in ('', '1', '2', '3', '4'):
        raise Misuse(f'--nodes {nodes}: the lab has 1 to 4 nodes')
    if settings.engine not in ('', 'kvm', 'uml', 'tcg'):
        raise Misuse(f'--engine {settings.engine}: the lab has kvm, uml and tcg')
    if settings.asked_device not in ('', 'rxe', 'siw'):
        raise Misuse(f'--device {settings.asked_device}: the lab has rxe or siw')
    return int(nodes) if is_number(nodes) else None
