"""The options of a chapter's programs, as the table in its options.c has them."""
import re

ROW = re.compile(r"""\{ \s* '(?P<letter>.)' , \s* OPTION_\w+ , \s*
                     "(?P<name>[\w-]+)" , [^;]*? \b FOR_(?P<who>\w+) ,""",
                 re.VERBOSE | re.DOTALL)
# Chapter 08 has load in its table, which is a client and more.
ROLES = {'SERVER': {'server'}, 'CLIENT': {'client'}, 'BOTH': {'server', 'client'},
         'LOAD': set(), 'ASKING': {'client'}, 'ALL': {'server', 'client'}}


def rows(chapter):
    """(letter, long name, the programs that have it), in the table's order."""
    source = (chapter / 'options.c').read_text('utf-8')
    return [(match['letter'], match['name'], ROLES[match['who']])
            for match in ROW.finditer(source)]


def listed(chapter):
    """{program: its options, as -x and --word}; -h is an option of both."""
    found = {role: {'-h', '--help'} for role in ROLES['BOTH']}
    for letter, name, roles in rows(chapter):
        for role in roles:
            found[role] |= {f'-{letter}', f'--{name}'}
    return found
