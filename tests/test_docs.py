"""What the pages promise: pictures, concepts, the glossary; and what the logged runs must show."""
import glob
import os
import re
import subprocess
import xml.dom.minidom

import pytest

from lib.cases import parts
from nodes import TOP

TROUBLES = 'docs/troubleshooting/*.md'


def text(*names):
    """Of files, by patterns below the top folder."""
    return ''.join(path.read_text('utf-8') for name in names for path in sorted(TOP.glob(name)))


def test_every_picture_is_shown_says_in_words_what_it_shows_and_fits_a_phone():
    pages = text('README.md', 'docs/*.md', '[0-9]*_*/README.md')
    for path in [*TOP.glob('docs/*.svg'), *TOP.glob('docs/pictures/*.svg')]:
        root = xml.dom.minidom.parse(str(path)).documentElement
        assert root.tagName == 'svg' and root.getAttribute('aria-label'), path
        assert re.search(rf'\]\(((\.\./)?docs/)?{path.relative_to(TOP / "docs")}', pages), path
        assert 'prefers-color-scheme: dark' in path.read_text('utf-8'), path
        # The packet's fields are a table, and as wide as that; so are the states, with what each
        # step between them must be given.
        if path.name not in ('wire_frame.svg', 'qp_state_machine.svg'):
            assert int(root.getAttribute('viewBox').split()[2]) <= 820, path


def test_each_concept_has_a_sentence_a_picture_above_it_and_a_line_of_code():
    parts = re.split(r'(?m)^(?=\*\*|!\[|#)', text('docs/concepts.md'))
    for concept in ('Device', 'Context', 'Port', 'GID', 'Protection domain', 'Memory region', 'Queue pair',
                    'Completion queue', 'Completion channel', 'Work request', 'Work completion',
                    'Scatter/gather element', 'lkey', 'rkey', 'Two-sided', 'One-sided', 'RC',
                    'Packet sequence number', 'Path MTU', 'Zero-copy', 'UC', 'UD', 'Kernel bypass'):
        place = next(at for at, part in enumerate(parts) if f'**{concept}' in part)
        assert any(part.startswith('![') for part in parts[:place]), concept
        assert '.c#L' in parts[place] or concept in ('UC', 'UD', 'Kernel bypass'), concept


def test_the_glossary_is_in_alphabetical_order_each_word_once():
    words = re.findall(r'(?m)^- \*\*(.*?)\*\*:', text('docs/glossary.md'))
    words = [word.replace('`', '').lower() for word in words]
    assert len(words) > 100 and words == sorted(set(words))


def test_each_man_page_in_the_map_exists():
    if not glob.glob('/usr/share/man/man3/ibv_post_send.3*'):
        pytest.skip("the packages' man pages are not installed")
    calls = re.findall(r'(?m)^- `((?:ibv|rdma)_[a-z0-9_]+)`', text('docs/api_map.md'))
    calls.remove('ibv_wc_status_str')
    assert len(calls) > 40
    for call in calls:
        assert glob.glob(f'/usr/share/man/man3/{call}.3*'), call


@pytest.mark.chapters
@pytest.mark.parametrize('chapter', [path.name for path in sorted(TOP.glob('0[1-5]_*'))])
def test_a_chapter_is_run_first(chapter):
    first = '\n'.join(text(f'{chapter}/README.md').splitlines()[:60])
    # A program that is both ends by itself needs no second node.
    client = 'a' if (TOP / chapter / 'loopback.c').exists() else 'b'
    for words in (r'minutes to read', r'(?m)^make -C .* && scripts/lab.sh up',
                  r'scripts/lab.sh exec a -- ', rf'scripts/lab.sh exec {client} -- .* 192\.0\.2\.1'):
        assert re.search(words, first), words
    logs = re.findall(r'(?ms)^```text log=.*?\n(.*?)^```$', first)
    assert sum(log.count('\n') for log in logs) >= 10


@pytest.mark.chapters
def test_each_case_asks_a_question_and_says_what_to_remember():
    for folder in TOP.glob('[0-9]*_*/break/*/'):
        question, story = parts(folder)
        assert question.endswith('?') and '\n**Remember:** ' in story and (folder / 'commands').exists(), folder


def test_what_setup_rxe_points_at_is_there():
    names = re.findall(r'=([a-z0-9-]+)', re.search(r'(?ms)^declare -A entry.*?^\)', text('scripts/lib/machine.sh'))[0])
    assert len(names) >= 4
    for name in names:
        assert f'<a id="{name}"></a>' in text(TROUBLES), name


# What crossed the wire in a logged run

CAPTURES = sorted(TOP.glob('[0-9]*_*/expected/wire.pcapng'))


@pytest.mark.chapters
def test_what_is_recorded_of_the_wire_is_small_and_linked_from_the_chapters_text():
    assert len(CAPTURES) >= 7
    for capture in CAPTURES:
        picture, pages = capture.with_suffix('.svg'), text(f'{capture.parts[-3]}/*.md')
        assert capture.stat().st_size < 50_000 and picture.stat().st_size < 200_000
        assert 'prefers-color-scheme: dark' in picture.read_text('utf-8')
        assert '](expected/wire.svg)' in pages and '](expected/wire.pcapng)' in pages


def filtered(capture, wanted):
    """What a filter leaves of it."""
    return subprocess.run(['tshark', '-n', '-r', capture, '-Y', wanted], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE).stdout


@pytest.mark.chapters
def test_each_filter_that_a_chapter_names_is_one_and_its_numbers_are_found():
    """A number in hexadecimal is one that the picture shows, so the reader finds it."""
    checked = 0
    for capture in CAPTURES:
        tables = re.findall(r'(?m)^\| filter \| shows \|\n((?:\|.*\n)*)', text(f'{capture.parts[-3]}/*.md'))
        filters = re.findall(r'(?m)^\|[^`\n]*`([^`\n]*)`', ''.join(tables))
        # Once for all of them: one that is none spoils it.
        filtered(capture, ' || '.join(f'({one})' for one in filters))
        for one in filters:
            assert '0x' not in one or filtered(capture, one), f'{capture} has nothing for {one}'
        checked += len(filters)
    assert checked >= 15


# What the logged runs must show

def rules():
    """Of logged_lines.txt: what, and of which logs; and the lines, as expressions."""
    for rule in re.split(r'(?m)^(?=[a-z])', text('tests/logged_lines.txt')):
        head, *lines = [line for line in rule.splitlines() if not line.startswith('#')] or ['']
        if head:
            *what, pattern = head.split(' ')
            paths = subprocess.run(['bash', '-c', f'ls {pattern}'], cwd=TOP, text=True, check=True,
                                   stdout=subprocess.PIPE).stdout.split()
            yield what, paths, [re.escape(line[1:]).replace(r'\{hex\}', '0x[0-9a-f]+').replace(
                r'\{24\}', '0x[0-9a-f]{6}').replace(r'\{n\}', '[0-9]+').replace(r'\{any\}', '.*') for line in lines]


@pytest.mark.chapters
@pytest.mark.parametrize('what, path, lines', [
    pytest.param(what, path, lines, id=f'{path}-{number}') for number, (what, paths, lines) in enumerate(rules())
    for path in paths if path.startswith(os.environ.get('CHECK_CHAPTERS', ''))])
def test_a_logged_run_shows(what, path, lines):
    log = text(path).splitlines()
    if what[0] == 'forwards':
        states = [int(state) for state in re.findall(rf'{what[1]}=(\d+)', text(path))]
        assert states == sorted(states) and states[0] == 0 and states[-1] >= int(what[2])
    below = 0
    for line in lines:
        at = [number for number, one in enumerate(log, 1) if re.fullmatch(line, one)]
        if what[0] == 'times':
            assert len(at) == int(what[1]), line
        else:
            at = [number for number in at if what[0] == 'has' or number > below]
            assert at, f'no line: {line}'
            below = at[0]
