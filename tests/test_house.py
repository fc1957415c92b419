"""The house rules: this repository keeps them. Of the checkers that are scripts, each finds what breaks its rule."""
import os
import re
import shutil
import subprocess

import pytest
import yaml

from chapters import each
from lib.files import files_of
from nodes import TOP
from option_letters import wrong_options

MAINT = TOP / 'scripts/maint'
# What is recorded, or quotes another file, is kept byte for byte.
KEPT = ':!*.log', ':!*.err', ':!*.svg', ':!*.patch', ':!*.wrong', ':!*/patch', ':!tests/fixtures'
SHELL = re.compile(r'#!.*\bbash\b')
CHECKERS = {
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


def files(*patterns):
    """{name: text} of those that git does not ignore; with --chapter, of that chapter."""
    return {name: (TOP / name).read_text('utf-8', 'replace') for name in files_of(TOP, *patterns)
            if name.startswith(os.environ.get('CHECK_CHAPTERS', ''))}


@pytest.mark.parametrize('compiler, level', [('gcc', '-O2'), ('clang', '-O0')])
@each()
def test_a_chapter_copied_alone_builds_without_a_warning(chapter, compiler, level, tmp_path):
    for name in files_of(TOP, f'{chapter}/*'):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / name, tmp_path / name)
    # On the command line, so that no CFLAGS = in a Makefile undoes it.
    said = kept('make', '-C', tmp_path / chapter, '-j2', f'CC={compiler}', f'CFLAGS={level} -Wall -Wextra -Werror')
    # The linker's are no errors.
    assert 'warning:' not in said
    assert (tmp_path / chapter / 'server').exists() and (tmp_path / chapter / 'client').exists()


@pytest.mark.chapters
def test_c_is_as_clang_format_has_it():
    kept('clang-format', '--style=file', '--dry-run', '-Werror', *files('*.[ch]'))


@pytest.mark.chapters
def test_shellcheck_has_nothing_to_say():
    """Files that are only sourced are checked with those that name them in a `shellcheck source=` line, where the
    variables that they share are known; what a test hands to another shell is quoted on purpose."""
    shell = {name: text for name, text in files().items() if name.endswith(('.sh', '.bats')) or SHELL.match(text)}
    sourced = re.findall(r'(?m)^\s*# shellcheck source=(.*)', ''.join(shell.values()))
    for names, options in (([name for name in shell if name.endswith('.bats')], '-S warning'),
                           ([name for name, text in shell.items() if not name.endswith('.bats') and
                             (text.startswith('#!') or name not in sourced)], '-a')):
        said = subprocess.run(f'xargs -r -P 2 -n 8 shellcheck -x {options} -f gcc', shell=True, cwd=TOP, text=True,
                              check=False, input='\n'.join(names), stdout=subprocess.PIPE)
        assert said.returncode == 0, said.stdout


@pytest.mark.parametrize('pattern', [
    pytest.param(r'.[ \t]$|^\t$|\r|^  +\t', id='blanks at the end of a line or before a tab'),
    pytest.param(r'\b(TO[D]O|FIX[M]E|XX[X])\b', id='what is left to do')])
def test_no_line_has(pattern):
    assert ran('git', 'grep', '--untracked', '-nIP', pattern, '--', *KEPT).stdout == ''


@pytest.mark.chapters
def test_no_file_is_too_long():
    """A first.c is long on purpose, and its test says how long it may be."""
    for name, text in files('*.[ch]', '*.sh', '*.bash', '*.bats', '*.py').items():
        assert text.count('\n') <= 450 or name.endswith(('/first.c', '/loopback.c')), f'{name}: cut it in two'
    for name, text in files('[0-9]*_*/README.md').items():
        if name.count('/') == 1:
            assert len(text.split()) <= 2600, f'{name}: what you look up belongs in reference.md'


@pytest.mark.chapters
def test_each_file_says_at_its_top_what_it_is_for():
    for name, text in files('*.[ch]', '*.sh', '*.bash', '*.bats', '*.py').items():
        top = ''.join(text.splitlines(True)[:4])
        if name.endswith(('.c', '.h')):
            assert top.startswith(f"/*\n * {name.rpartition('/')[2]} - "), name
        else:
            assert re.search(r'^(# (?!shellcheck)|""").', top, re.MULTILINE), name


@pytest.mark.chapters
def test_what_a_program_says_is_one_string_so_that_one_can_search_for_it():
    string = r'"((?:[^"\\\n]|\\.)*)"'
    for name, text in files('[0-9]*_*/*.[ch]').items():
        # A text of several lines may have a line of the source for each of its own.
        assert not [found[0] for found in re.finditer(rf'{string}\n\s+{string}', text)
                    if '\\n' not in found[1] + found[2]], name


@pytest.mark.chapters
@pytest.mark.parametrize('checker', CHECKERS.values(), ids=CHECKERS)
def test_as_the_code_is(checker):
    kept(MAINT / checker.split()[0], *checker.split()[1:])


@each()
def test_each_option_that_a_message_names_is_in_that_programs_help(chapter):
    assert not [*wrong_options(TOP / chapter)]


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


def test_an_address_that_is_gone_and_one_that_is_new_are_found(tree):
    error = 'return log_fail("no [docs/troubleshooting.md#one]");\n'
    root = tree(**{'01_one/a.c': error, '01_one/break/late/client.err': 'error: no [docs/troubleshooting.md#one]\n',
                   'docs/troubleshooting.md': '- <a id="one"></a>one\n- <a id="two"></a>two\n'})
    found('docs.py --check', root, 'docs/links.md is not up to date')
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
    wrong, = wrong_options(chapter)
    assert wrong.startswith('crowd.c:') and wrong.endswith(': -k, which ./server -h does not list')
