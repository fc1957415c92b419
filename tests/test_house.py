"""The house rules: this repository keeps them, and each checker finds what breaks its rule."""
import os
import re
import shutil
import subprocess

import pytest
import yaml

from nodes import TOP

MAINT = TOP / 'scripts/maint'
LETTERS = '/usr/bin/python3', '-B', TOP / 'tests/option_letters.py'
RULES = 'build length format shell whitespace headers messages words'.split()
CHECKERS = {
    'what Markdown shows and points at': 'check_readme.py',
    'spelling and phrases': 'check_spelling.py',
    'commands in Markdown': 'check_commands.py',
    'what Markdown says of the code': 'docs.py --check',
    'copies': 'same.sh',
}


def ran(*words, cwd=TOP):
    """How a checker ended, and what it said."""
    return subprocess.run([str(word) for word in words], cwd=cwd, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def kept(*words):
    """It finds nothing."""
    said = ran(*words)
    assert said.returncode == 0, said.stdout
    return said.stdout


@pytest.mark.chapters
@pytest.mark.parametrize('rule', RULES)
def test_chapters_and_scripts_keep(rule):
    assert kept(MAINT / 'check_chapters.py', '-c', os.environ.get('CHECK_CHAPTERS', ''), rule) == ''


@pytest.mark.chapters
@pytest.mark.parametrize('checker', CHECKERS.values(), ids=CHECKERS)
def test_as_the_code_is(checker):
    kept(MAINT / checker.split()[0], *checker.split()[1:])


@pytest.mark.chapters
def test_each_option_that_a_message_names_is_in_that_programs_help():
    kept(*LETTERS, *TOP.glob('0*_*'))


def test_each_patch_of_a_break_fits_to_the_line():
    """patch(1) would put it somewhere else, and not say so."""
    for patch in sorted(TOP.glob('0*/break/*/patch')):
        ran = subprocess.run(('patch', '-f', '-s', '-F0', '--dry-run', '-p1', '-d', patch.parents[2], '-i', patch),
                             check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert ran.returncode == 0, f'{patch}: {ran.stdout}'


def wrong_with(text):
    """What a workflow has and should not: rights, tags that can be moved, text of anybody's in a command."""
    flow = yaml.safe_load(text)
    # YAML takes the word on for yes.
    yield from (f'runs on {trigger}' for trigger in ('pull_request_target', 'workflow_run') if trigger in flow[True])
    if flow.get('permissions') != {}:
        yield 'all jobs have rights that they do not say themselves'
    for name in re.findall(r'(?m)(?:uses|image): (.*)', text):
        if not re.fullmatch(r'\S+@(?:sha256:[0-9a-f]{64}|[0-9a-f]{40}) # \S+\d', name):
            yield f'{name}: not named by its hash, with its version beside it'
    for job in flow['jobs'].values():
        runs = [step['run'] for step in job['steps'] if 'run' in step]
        checkouts = [step for step in job['steps'] if 'actions/checkout@' in step.get('uses', '')]
        if set(job.get('permissions', {'': ''}).values()) - {'read'} and (runs or checkouts):
            yield 'may write, and runs more than actions'
        if any(step.get('with', {}).get('persist-credentials') is not False for step in checkouts):
            yield 'leaves the token of the checkout where all that runs can read it'
        if any('${{' in run for run in runs):
            yield "makes a command of what may be anybody's text"


@pytest.mark.parametrize('name', ('check', 'pages', 'release'))
def test_workflows_have_few_rights_and_everything_by_its_hash(name):
    text = (TOP / f'.github/workflows/{name}.yml').read_text('utf-8')
    assert not list(wrong_with(text))
    for before, after in (('permissions: {}', 'permissions: write-all'), ('contents: read', 'contents: write'),
                          ('persist-credentials: false', 'fetch-depth: 1'), ('checkout@', 'checkout@v5 #'), ('- run: ', '- run: ${{ x }}')):
        assert before not in text or list(wrong_with(text.replace(before, after))), before


@pytest.mark.chapters
def test_no_modules_of_a_chapter_include_each_other_in_a_circle():
    for chapter in TOP.glob('[0-9][0-9]_*'):
        pairs = [f'{path.stem} {other}' for part in ('.', 'carried', 'plumbing')
                 for path in (chapter / part).glob('*.[ch]')
                 for other in re.findall(r'(?m)^#include "(?:.*/)?(.*)\.h"', path.read_text('utf-8'))
                 if other != path.stem]
        said = subprocess.run(['tsort'], input='\n'.join(pairs), text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert said.returncode == 0 and len(pairs) > 5, said.stderr


def test_each_chapter_has_the_licence():
    for chapter in TOP.glob('[0-9][0-9]_*'):
        assert (chapter / 'LICENSE').read_bytes() == (TOP / 'LICENSE').read_bytes()
        assert '# SPDX-License-Identifier: MIT\n' in (chapter / 'Makefile').read_text('utf-8')


def test_every_script_asks_for_english_and_decimal_points():
    """Scripts read what other programs say: in German, "Depends:" is "Hängt ab von:", and 0.5 is 0,5."""
    for path in TOP.glob('scripts/**/*.sh'):
        text = path.read_text('utf-8')
        # Those of the guest have busybox only, which speaks English.
        if not re.match('#!.*sh\n', text) or path.name.startswith('guest-'):
            continue
        assert re.search(r'(?m)^export LC_ALL=C$|^(source|\.) .*/((?:cli|task)\.sh|lib\.bash)"?$', text), path


def test_no_program_changes_where_python_looks_for_modules():
    said = ran('grep', '-rnE', r'sys[.]path\b', *(f'--include=*.{end}' for end in ('py', 'sh', 'bash', 'bats', 'mjs')),
               '--exclude-dir=node_modules', 'scripts', 'tests', 'web')
    assert said.stdout == ''


# What breaks a rule is found

@pytest.fixture
def tree(tmp_path):
    """Writes files of a small tree with one chapter; returns its folder."""
    def tree(**files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, 'utf-8')
        return tmp_path
    tree(**{'01_one/Makefile': 'all: server client\n', 'README.md': '# Title\n', '01_one/README.md': '# One\n',
            'chapters.tsv': '01_one\t-\trxe\t1\trun\tone concept\n'})
    (tmp_path / 'docs').mkdir()
    subprocess.run(('git', 'init', '-q', tmp_path), check=True)
    return tree


def found(checker, root, *texts, status=1):
    """It says each of these."""
    said = ran(MAINT / checker.split()[0], '-r', root, *checker.split()[1:])
    assert said.returncode == status, said.stdout
    for text in texts:
        assert text in said.stdout, said.stdout


def test_what_breaks_a_rule_of_style_is_found(tree):
    shutil.copy(TOP / '.clang-format', tree())
    program = '/*\n * {0} - nothing\n */\nint main(void)\n{{\n\treturn 0;\n}}\n'
    root = tree(**{'01_one/server.c': program.format('server.c'), '01_one/client.c': program.format('client.c'),
                   'scripts/a.sh': '#!/bin/bash\n# a.sh - says a\necho a\n'})
    found('check_chapters.py', root, status=0)
    tree(**{'01_one/client.c': '#include "../log.h"\n    int unused(void) { int x; return 0; }\n' +
            '\nconst char *s =\n\t"zero, "\n\t"one";\n/* TO' 'DO */\n' + '/* */\n' * 450,
            '01_one/README.md': 'word ' * 2801, 'scripts/a.sh': '#!/bin/bash\necho $1\n',
            'README.md': 'It works!\nIt is production-' 'ready. \n'})
    found('check_chapters.py', root, "01_one: does not build alone with gcc", "does not build alone with clang",
          'run clang-format -i 01_one/client.c',
          'does not start with', 'goes on in the next line: "zero, "', 'left to do', ' lines',
          '01_one/README.md', '2801 words', 'SC2086', 'scripts/a.sh:1: does not say', 'exclamation mark',
          'whose word is that?', 'README.md:2: blanks at the end of a line')


def test_what_markdown_shows_and_is_not_so_is_found(tree):
    shown = ('```c\nint one(void)\n...\n\treturn 1;\n```\n[a](one.c) [b](#one) [c](one.c#L2)\n',
             '```text log=expected/server.log\nconnected.\n```\n')
    root = tree(**{'01_one/one.c': 'int one(void)\n{\n\treturn 1;\n}\n', '01_one/README.md': '# One\n' + ''.join(shown),
                   '01_one/expected/server.log': 'listening.\nconnected.\n'})
    found('check_readme.py', root, '2 blocks and 3 links', status=0)
    tree(**{'01_one/README.md': '# One\n' + ''.join(shown).replace('return 1', 'return 2').replace('connected', 'gone')
            .replace('one.c)', 'two.c)').replace('#one', '#two').replace('L2', 'L99') +
            '```c file=one.c\nint two;\n```\n', '01_one/expected/races': 'server.log: a <> b\n'})
    found('check_readme.py', root, 'README.md:5: not in any one C file of 01_one: \treturn 2;',
          'not in expected/server.log: gone', 'link to nothing: two.c', 'no heading of 01_one/README.md is #two',
          'L99', 'not in one.c', 'tells of this race')


def test_words_phrases_and_commands_that_are_wrong_are_found(tree):
    root = tree(**{'README.md': 'The owner of a queue.\n```sh\nmake -C 01_one\n./server -a x\n```\n', 'Makefile': 'all:\n',
                   'tests/words.txt': 'rkey\n', 'tests/phrases.tsv': (TOP / 'tests/phrases.tsv').read_text('utf-8'),
                   '01_one/server': '#!/bin/sh\necho "  -a, --address ADDRESS"\n'})
    (root / '01_one/server').chmod(0o755)
    for checker in 'check_spelling.py', 'check_commands.py':
        found(checker, root, status=0)
    tree(**{'README.md': 'A recieve of a color: `recieve`, an rkey.\nIt is on\nus to begin.\n```sh\nmake nothing\n'
            'make -C 02_two\nscripts/b.sh\n./server -x\n```\n', '01_one/one.c': '/* It was flushed long\n * since. */\n'})
    found('check_spelling.py', root, 'README.md:1: recieve', 'README.md:1: color', 'README.md:2: "is on us to": we must',
          '01_one/one.c:1: "long since": earlier')
    found('check_commands.py', root, 'make has no target nothing', 'there is no 02_two/Makefile',
          'there is no scripts/b.sh', './server has no option -x')


def test_a_command_that_is_marked_as_runnable_and_fails_is_found(tree):
    root = tree(**{'Makefile': 'all:\n', '01_one/a.md': '```sh run\ntrue\nfalse # here\n```\n'})
    found('check_commands.py --run', root, '01_one/a.md:2: status 1')
    # Where a folder is named, only what is in it runs.
    found('check_commands.py --run docs', root, status=0)
    found('check_commands.py --run 01_one', root, '01_one/a.md:2: status 1')


def test_a_map_links_and_tables_that_are_old_are_found_and_written_anew(tree):
    case = '# late\n\n> Who is late?\n\nIt fails.\n\n**Remember:** it does.\n'
    root = tree(**{'01_one/a.c': 'int i = ibv_one();\n', 'docs/x.md': '[a.c:2](../01_one/a.c#L2 "ibv_one()")\n',
                   '01_one/break/late/commands': '', '01_one/break/late/README.md': case,
                   'README.md': '| chapter | x |\n|---|---|\n| old |\n',
                   '01_one/README.md': '# One\n\n| case | what it asks | the command |\n|---|---|---|\n'})
    found('docs.py --check', root, '- `ibv_one`: [01_one/a.c:1]', 'a.c#L1 "ibv_one()"', '[01_one](01_one/README.md)',
          '| Who is late? |', '`make lesson CH=01` prints')
    found('docs.py', root, status=0)
    found('docs.py --check', root, status=0)
    assert '#L1 "ibv_one()"' in (root / 'docs/x.md').read_text('utf-8')
    tree(**{'01_one/break/late/README.md': case.replace('late?', 'late').replace('Remember', 'Forget')})
    found('docs.py --check', root, 'what it asks is no question', 'no paragraph begins with **Remember:**')


def test_an_address_that_is_gone_and_one_that_is_new_are_found(tree):
    error = 'return log_fail("no [docs/troubleshooting.md#one]");\n'
    root = tree(**{'01_one/a.c': error, '01_one/break/late/client.err': 'error: no [docs/troubleshooting.md#one]\n',
                   'docs/troubleshooting.md': '- <a id="one"></a>one\n- <a id="two"></a>two\n'})
    found('docs.py --check', root, 'docs/links.md is not up to date', 'break/late has no README.md')
    found('docs.py', root)
    assert '#one): `01_one/index.html?lab&case=late`' in (root / 'docs/links.md').read_text('utf-8')
    # A program that names it no more does not make the address go.
    tree(**{'01_one/a.c': error.replace('#one', '#two'), 'docs/troubleshooting.md': '- <a id="two"></a>two\n'})
    found('docs.py', root, 'docs/troubleshooting.md#one, which is gone')
    assert '#one)' in (root / 'docs/links.md').read_text('utf-8')


def test_a_copy_that_differs_and_one_too_many_are_found(tmp_path):
    for name in 'scripts', '01_send_recv', '02_write_read':
        shutil.copytree(TOP / name, tmp_path / name, symlinks=True)
    shutil.copy(TOP / 'chapters.tsv', tmp_path)
    same = tmp_path / 'scripts/maint/same.sh'
    kept(same)
    plumbing, carried = (sorted((tmp_path / '02_write_read' / part).glob('*.h'))[0] for part in ('plumbing', 'carried'))
    for path in plumbing, carried:
        path.write_text('int x;\n', 'utf-8')
    shutil.copy(tmp_path / '01_send_recv/server.c', tmp_path / '02_write_read/server.c')
    said = ran(same)
    assert said.returncode == 1 and len(said.stdout.splitlines()) == 3, said.stdout
    assert f'{plumbing.name} is not as 01_send_recv/plumbing/' in said.stdout
    assert '02_write_read/server.c is as in 01_send_recv' in said.stdout
    ran(same, '--write')
    assert ran(same).stdout.count('\n') == 1 and plumbing.read_text('utf-8') != 'int x;\n'


def test_an_option_that_a_message_names_and_is_none_is_found(tmp_path):
    chapter = tmp_path / '05_multiclient'
    shutil.copytree(TOP / chapter.name, chapter)
    with open(chapter / 'crowd.c', 'a', encoding='utf-8') as file:
        file.write('int f(void)\n{\n\treturn log_fail("n %d" PRIu32 "and %s; see -k", 1);\n}\n')
    said = ran(*LETTERS, chapter)
    assert said.returncode == 1 and ': -k, which ./server -h does not list' in said.stdout
