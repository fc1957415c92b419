"""The options of a chapter's programs, as the tables in its sources have them: that of options.c, or those of
server.c and client.c."""
import re

ROW = re.compile(r"""\{ \s* '(?P<letter>.)' , \s* OPTION_\w+ , \s*
                     "(?P<name>[\w-]+)" , [^;]*? \b FOR_(?P<who>\w+) ,""",
                 re.VERBOSE | re.DOTALL)
# Where each program has a table of its own.
OWN = re.compile(r"""\{ \s* '(?P<letter>.)' , \s* "(?P<name>[\w-]+)" ,""", re.VERBOSE)
ROLES = {'SERVER': {'server'}, 'CLIENT': {'client'}, 'BOTH': {'server', 'client'}}


def rows(chapter):
    """(letter, long name, the programs that have it), in the table's order."""
    if (chapter / 'options.c').exists():
        source = (chapter / 'options.c').read_text('utf-8')
        return [(match['letter'], match['name'], ROLES[match['who']])
                for match in ROW.finditer(source)]
    return [(match['letter'], match['name'], {role}) for role in ('server', 'client')
            for match in OWN.finditer(table(chapter, role))]


def table(chapter, role):
    """The source of a program's table, with the rows that both have in plumbing/network.h; it may be as in
    the chapter before."""
    source = ''.join(path.read_text('utf-8') for path in (chapter / f'{role}.c', chapter / f'carried/{role}.c')
                     if path.exists())
    if 'NETWORK_OPTIONS(' in source:
        source += (chapter / 'plumbing/network.h').read_text('utf-8')
    return source


def listed(chapter):
    """{program: its options, as -x and --word}; -h is an option of both."""
    found = {role: {'-h', '--help'} for role in ROLES['BOTH']}
    for letter, name, roles in rows(chapter):
        for role in roles:
            found[role] |= {f'-{letter}', f'--{name}'}
    return found
