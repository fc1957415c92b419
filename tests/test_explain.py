"""What scripts/explain.py makes of error lines: those that people got from RDMA programs of all kinds, those of the
chapters, and what only looks like one."""
import collections
import re
import runpy
import subprocess
import types

import pytest

from nodes import TOP

SCRIPT = TOP / 'scripts/explain.py'
EXPLAIN = types.SimpleNamespace(**runpy.run_path(str(SCRIPT)))
TABLE = EXPLAIN.Table()
TROUBLES = 'docs/troubleshooting/*.md'
ENTRY = re.compile(r'\[docs/troubleshooting\.md#([a-z0-9-]+)\]')


def text(*names):
    """Of files, by patterns below the top folder."""
    return ''.join(path.read_text('utf-8') for name in names for path in sorted(TOP.glob(name)))


def explained(*words, given=None, status=0):
    """What it says."""
    ran = subprocess.run([SCRIPT, *words], input=given, text=True, check=False, timeout=20, errors='surrogateescape',
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert ran.returncode == status, ran.stderr
    return ran.stdout or ran.stderr


def says(said, *texts):
    """These, in this order."""
    at = 0
    for one in texts:
        assert one in said[at:], f'not said (in this order): {one}\n{said}'
        at = said.index(one, at) + len(one)


def fits(name, want):
    """Is this entry one of those? rtr* is any whose name begins so, and a|b is either."""
    return any(name.startswith(one[:-1]) if one.endswith('*') else name == one for one in want.split('|'))


def led(rows):
    """Where each line leads, of rows (entry, - for none, or ? before one that is not found yet; how sure that should be;
    line). Returns which lines lead elsewhere, or need no ?, and how many there are, have it first, or among three, and are
    wrong and called sure."""
    elsewhere, count = [], collections.Counter()
    for want, sure, line in rows:
        want, missed = want.removeprefix('?'), want.startswith('?')
        hit = TABLE.look_up(line)
        named = [entry.anchor for entry, _ in TABLE.three(hit, [line])]
        got = named[0] if hit else '-'
        if missed == (fits(got, want) and not (hit and sure in EXPLAIN.SURE and hit.sure != sure)):
            elsewhere.append(f'{got} ({hit and hit.sure}; {", ".join(named)}), should {"not yet " * missed}be {want}: {line}')
        if want != '-':
            count.update(lines=1, first=bool(named) and fits(named[0], want), three=any(fits(name, want) for name in named))
        count['sure'] += bool(hit) and hit.sure == 'sure' and not fits(got, want)
    return elsewhere, count


def test_lines_of_all_kinds_of_programs_lead_to_their_entries_or_to_none_and_no_entry_is_wrong_and_sure():
    rows = [row.split('\t') for row in text('tests/fixtures/explain.tsv').splitlines() if row[0] != '#']
    elsewhere, count = led(rows)
    assert not elsewhere and count['sure'] == 0
    assert count['lines'] >= 700 and len(rows) - count['lines'] >= 200
    assert count['first'] >= 0.9 * count['lines'] and count['three'] >= 0.95 * count['lines']
    # What is likely has others beside it, with the reason for each.
    says(explained('UCX ERROR ibv_reg_mr failed: Cannot allocate memory'),
         '#memlock (likely: reg, mr, cannot allocate memory)', '#kho (reg, mr, cannot allocate memory)')
    says(explained('fi_mr_reg: Cannot allocate memory'), '#efa (mr, cannot allocate memory, fi)')


def test_what_the_programs_here_print_when_all_is_well_leads_nowhere():
    logs = text('[0-9][0-9]_*/expected/*/*.log')
    assert logs.count('\n') > 1000
    explained(given=logs, status=1)


@pytest.mark.chapters
def test_every_error_that_a_chapter_shows_has_an_entry_and_it_is_the_one_named():
    lines = set(text('[0-9]*_*/break/*/*.err').splitlines())
    assert len(lines) > 20 and not led(('*', '-', line) for line in lines)[0]
    anchors = re.findall(r'<a id="(.*)"></a>', text(TROUBLES))
    named = set(ENTRY.findall(text('[0-9]*_*/*.c', '[0-9]*_*/*/*.c')))
    assert len(named) > 20 and named <= set(anchors)
    # Each entry for a message of the programs is named by one.
    assert set(re.findall(r'<a id="(.*)"></a>\n## (?:error:|status )', text(TROUBLES))) <= named
    # By its words alone a line leads to the same entry, or to one that is more exact.
    for line in lines:
        if name := ENTRY.search(line):
            assert not led([(f'{name[1]}*', '-', line.split(' [docs/')[0]), (name[1], 'certain', f'error: x {name[0]}')])[0]


def test_what_each_first_c_says_when_nothing_comes_leads_to_an_entry():
    waits = set(re.findall(r'readable\([^ ]*, TIMEOUT_MS\)', text('[0-9][0-9]_*/first.c')))
    assert len(waits) >= 2
    for wait in *waits, 'Client 2: done == 1', 'n == len':
        says(explained(f'error: {wait}: Connection timed out'), 'docs/troubleshooting/waiting.md#silent (')


def test_it_says_how_sure_it_is_and_names_the_two_next_best():
    said = explained('Failed status 12: wr_id 0 syndrom 0x81')
    says(said, 'docs/troubleshooting/requests.md#status-12 (sure: ', '\nNext best:')
    assert len(re.findall('docs/.*#', said.split('\nNext best:')[1])) == 2
    says(explained('status 12'), 'docs/troubleshooting/requests.md#status-12 (likely: status 12)')
    says(explained('a deadline would have given RDMA_CM_EVENT_ROUTE_ERROR'),
         'docs/troubleshooting/connecting.md#route-error (likely: ')
    said = explained('error: x [docs/troubleshooting.md#rtr]')
    says(said, 'docs/troubleshooting/queue_pairs.md#rtr (certain: the line names it)')
    assert 'Next best' not in said
    explained('one', 'two', status=2)


def test_where_nothing_is_found_it_names_what_has_the_same_words_in_the_questions_too():
    says(explained('why is soft-roce so slow compared with tcp?', status=1),
         'Why is Soft-RoCE slower than TCP?', 'docs/faq.md#why-is-soft-roce-slower-than-tcp')
    # A rule that nearly fits counts as well. So does a hint, which leads nowhere by itself.
    says(explained('Everything seems ok but no vhca device in test Pod.', status=1), '#k8s (in common: ')
    says(explained('the receiver deadlocks, and its collectives stop completing', status=1), '#retry-hang (in common: ')
    # What has nothing in common with it is not named, nor what a log without trouble says.
    said = explained('segmentation fault', status=1)
    assert '#' not in said and 'Look for a line' in said
    assert '#' not in explained(given=text('01_send_recv/expected/default/client.log'), status=1)
    says(explained(given='all is well\nit failed to poll on the last byte of a write\n', status=1),
         'docs/troubleshooting/waiting.md#last-byte')


def test_of_a_log_it_explains_the_first_cause_and_names_the_others_and_a_flush_only_if_it_is_alone():
    flush = 'wc->status = 5 (Work Request Flushed Error)\n'
    said = explained(given="libibverbs: Warning: couldn't load driver 'libnes-rdmav34.so': no such file\n"
                           f'mlx5: host: got completion with error:\n{flush}wc->status = 10 (remote access error)\n'
                           'wc->status = 13 (RNR retry counter exceeded)\n')
    says(said, 'docs/troubleshooting/requests.md#status-10 (sure: ', 'line 4: wc->status = 10 (remote access error)',
         'Line 5 has one, too: #status-13')
    assert '#status-5' not in said
    says(explained(given=f'all is well\n{flush}'), 'docs/troubleshooting/requests.md#status-5 (sure: ')


def test_each_rule_is_for_an_entry_that_there_is_and_no_token_is_misspelt():
    capitals = {token for *_, words, none in TABLE.rules for token in sum(words, none) if token.isupper()}
    assert len(TABLE.rules) > 200 and {rule[0] for rule in TABLE.rules} <= set(TABLE.entries)
    assert capitals <= {token for some in TABLE.phrases.values() for _, token in some}


def test_each_question_has_the_anchor_that_its_heading_has():
    names = {name[4:] for name in TABLE.entries if name.startswith('faq:')}
    assert len(names) >= 50 and len(names) == text('docs/faq.md').count('\n### ')
    assert set(re.findall(r'faq\.md#([\w-]+)', text(TROUBLES))) <= names | {'networks'}


def test_each_entry_says_its_cause_how_to_be_sure_its_fix_and_how_we_know_and_the_index_leads_to_it():
    index, count = text('docs/troubleshooting.md'), 0
    for path in TOP.glob(TROUBLES):
        _, *entries = re.split(r'<a id="([\w-]+)"></a>\n', path.read_text('utf-8'))
        for name, body in zip(entries[::2], entries[1::2]):
            for part in r'\*\*Cause\.\*\*', r'\*\*How to be sure\.\*\*', r'\*\*Fix\.\*\*', r'\*(Seen|Read)':
                assert re.search(part, body), (name, part)
            assert re.search(rf'<a id="{name}"></a>\[[^]]*\]\(troubleshooting/{path.name}#{name}\)', index), name
            count += 1
    assert count >= 90


@pytest.mark.parametrize('one', ['11111111', '        ', '\x1b[31m\x1b]0'], ids=['digits', 'blanks', 'escapes'])
def test_a_megabyte_in_a_line_costs_seconds_and_no_control_character(one):
    # Two seconds on a machine that has nothing else to do, and twenty at most.
    assert not re.search('[\x00-\x08\x0b-\x1f]', explained(given=f'error: {one * 125_000}x\n', status=1))
    said = explained(given='Failed status 12: \x1b]0;title\x07\udcff\n')
    assert r'Failed status 12: \x1b]0;title\x07\xff' in said and not re.search('[\x00-\x08\x0b-\x1f]', said)
