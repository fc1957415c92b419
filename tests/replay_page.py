#!/usr/bin/python3 -B
"""Goes through a page of `make wire` in a headless browser, step by step.

Usage: replay_page.py PAGE CAPTURE LADDER [LOGS]
       replay_page.py FOLDER...

Checks that the page loads without an error and that each step shows what the
capture, the ladder (wire.txt) and, if given, the logs of the run say; with the
keyboard alone, on a phone's screen, in the light and in the dark. A FOLDER has them
as wire.html, wire.pcapng and wire.txt. Prints what is wrong; exit status 0 nothing,
1 something.
"""
import pathlib
import re
import sys

from lib.arguments import Parser
import browser
from lib.wire import packets

LIMIT = 300000

# What each step shows, from the one that is shown to the last: all at once, since a
# picture of each takes longer than all else.
STEPS = '''
const text = q => document.querySelector(q).textContent;
const list = q => [...document.querySelectorAll(q + ' dt')].map(dt =>
  [dt.textContent, dt.nextSibling.textContent]);
const end = q => ({said: text(q + ' .said'), code: text(q + ' .code'),
  now: document.querySelector(q).classList.contains('now'),
  states: Object.fromEntries(list(q + ' .states')),
  buffers: [...document.querySelectorAll(q + ' pre')].map(p => p.textContent)});
const total = text('#where').match(/of (\\d+)/)[1], views = [];
while (views.length < total) {
  views.push({where: text('#where'), packet: text('#packet'), sent: text('#sent'),
    now: document.querySelector('#wire').classList.contains('now'),
    fields: Object.fromEntries(list('#fields')), a: end('#a'), b: end('#b')});
  document.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}));
}
return views;
'''

# The contrast of a text with what is behind it: WCAG 2, 1.4.3.
CONTRAST = '''
const level = c => { c /= 255;
  return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
const light = rgb => { const [r, g, b] = rgb.match(/[\\d.]+/g).map(Number);
  return 0.2126 * level(r) + 0.7152 * level(g) + 0.0722 * level(b); };
const behind = e => { for (; e; e = e.parentElement) {
  const c = getComputedStyle(e).backgroundColor;
  if (!c.startsWith('rgba(0, 0, 0, 0')) return c; } return 'rgb(255,255,255)';
};
return Math.min(...[...document.querySelectorAll(
  'h1, h2, h3, p, dt, dd, pre, mark, li button, nav button:enabled')].map(e => {
  const [x, y] = [getComputedStyle(e).color, behind(e)].map(light);
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); }));
'''

COMPLETION = re.compile(r'(?:Client \d+: )?\[on_completion\] .*send_state=(\d), '
                        r'recv_state=(\d)')
SEND = ['SS_INIT', 'SS_MR_SENT', 'SS_RDMA_SENT', 'SS_DONE_SENT']
RECEIVE = ['RS_INIT', 'RS_MR_RECV', 'RS_DONE_RECV']
# Chapters 03 and 04 exchange the regions before the machines begin, and say so.
EXCHANGED = 'memory regions exchanged.'

wrong = []


def check(holds, what):
    """Notes what does not hold."""
    if not holds:
        wrong.append(what)


def buffer_bytes(dump):
    """The bytes of a buffer as it is shown."""
    return bytes.fromhex(''.join(row[6:29] for row in dump.splitlines()))


def check_several(view):
    """Of several queue pairs a side, no state and no bytes are shown."""
    for side in 'ab':
        check(view[side]['states'] == {'queue pair': 'one for each client'},
              f'{view["where"]}: one state for several queue pairs')
        check(not view[side]['buffers'], f'{view["where"]}: a buffer')


def check_packet(view, packet, several):
    """A step that is a packet shows this one of the capture."""
    where = f'{view["where"]}: {packet.text}: '
    check(packet.text in view['packet'], where + view['packet'])
    check(('[retransmission]' in view['packet']) == (packet.mark == 'again'),
          where + 'mark')
    if packet.rel is not None:
        check(view['fields'].get('PSN', '').startswith(
            f'0x{packet.psn:06x}'), where + 'PSN')
    for name, number in (('RETH address', packet.va),
                         ('RETH rkey', packet.rkey)):
        check(view['fields'].get(name) ==
              (None if number is None else f'0x{number:x}'), where + name)
    sender, receiver = ('a', 'b') if '──▶' in view['packet'] else ('b', 'a')
    if several:
        return
    if packet.kind.startswith(('SEND', 'RDMA WRITE')):
        check(view[sender]['states']['queue pair'] == 'RTS', where + 'not RTS')
    if not packet.payload or not packet.kind.endswith(('Only', 'First')):
        return
    carried = bytes.fromhex(packet.payload)
    dump = view[receiver]['buffers'][0 if packet.kind.startswith('SEND')
                                     else 1]
    shown = buffer_bytes(dump)
    check(shown[:len(carried)] == carried[:len(shown)], where + 'bytes')


def check_line(view, side, before, several, machines):
    """A step that is a log line: the states that it meets, those of the machines for
    sending and receiving, were shown."""
    end = view[side]
    where = f'{view["where"]}: {end["said"]}: '
    match = COMPLETION.match(end['said'])
    if match and not several:
        check(before[side]['states'].get('send machine') ==
              machines[0][int(match[1])], where + 'send state')
        check(before[side]['states'].get('receive machine') ==
              machines[1][int(match[2])], where + 'receive state')
    match = re.match(r'(?:Client \d+: )?(?:received message|remote buffer): '
                     r'(.*)', end['said'])
    if match and not several:
        shown = buffer_bytes(end['buffers'][-1])
        check(shown.startswith(match[1].encode()[:len(shown)]),
              where + 'is not in the buffer')
    # A benchmark's table and the like have no log_… call.
    if not re.match(r'(op|write|read) +', end['said']):
        check(re.match(r'(?:\w+/)?\w+\.c:\d+: log_', end['code']), where + end['code'])


def ladder_rows(path):
    """The texts of wire.txt's rows, without times and arrows."""
    rows = pathlib.Path(path).read_text(encoding='utf-8').splitlines()
    head = next(i for i, row in enumerate(rows) if '(on the wire' in row or
                re.match(r' +ms server', row))
    for row in rows[head + 1:]:
        if not row.strip():
            return
        row = re.sub(r'^ *-?\d+\.\d{3} ', '', row)
        yield row.replace('◀──', '').replace('──▶', '').strip(' !')


def walk(page, capture, ladder):
    """All steps, forward; returns what each end has said."""
    seen = [packet for packet in packets.read(capture)
            if packet.kind != 'TCP ACK']
    # To how many queue pairs a side has sent; 1 is the CM's.
    to = {(packet.src, packet.destqp) for packet in seen
          if packet.destqp and packet.destqp > 1}
    several = len(to) > len({src for src, _ in to})
    exchanged = EXCHANGED in pathlib.Path(ladder).read_text(encoding='utf-8')
    machines = [[state for state in states if not exchanged or '_MR_' not in state]
                for states in (SEND, RECEIVE)]
    said = {'a': [], 'b': []}
    view = None
    rows = list(ladder_rows(ladder))
    views = page.run(STEPS)
    check(len(views) == len(rows), f'{len(views)} steps, {len(rows)} rows in the ladder')
    for number, (row, next_view) in enumerate(zip(rows, views), 1):
        before, view = view, next_view
        check(view['where'].startswith(f'step {number} of'), view['where'])
        row = row.rstrip('…')
        if view['now']:
            if not seen:
                check(False, f'{view["where"]}: not in the capture')
                break
            check_packet(view, seen.pop(0), several)
            text = view['packet'].split(': ', 1)[1]
            text = text.replace(' [retransmission]', '').replace(
                ' bytes', ' B').replace(',', '')
            row = row.replace(',', '')
            check(row.startswith(text) or text.startswith(row[:40]),
                  f'{view["where"]}: the ladder has {row}')
        for side in 'ab':
            if view[side]['now']:
                said[side].append(view[side]['said'])
                check(re.match(re.escape(row).replace('…', '.*'),
                               view[side]['said']),
                      f'{view["where"]}: the ladder has {row}')
                check_line(view, side, before or view, several, machines)
        if several:
            check_several(view)
    check(not seen, 'the capture has more packets')
    # Only the kernel's connection, that of RDS, outlives the programs.
    title = page.run('return document.title')
    end = 'RTS' if title.startswith('06_rds/') else 'ERR'
    for side in '' if several else 'ab':
        check(view[side]['states']['queue pair'] == end, f'ends in {end}')
    return said


def check_keys(page):
    """The other keys, and the buttons without a mouse."""
    def where():
        return page.run('return document.querySelector("#where").textContent').split(',')[0]

    page.press(browser.END)
    last = where()
    page.press(browser.ARROW_LEFT)
    check(where() != last, 'the left arrow does nothing')
    page.press(browser.HOME)
    check(where().startswith('step 1 of'), 'Home does not go to the first')
    page.press(browser.ARROW_RIGHT)
    check(where().startswith('step 2 of'), 'the right arrow does nothing')
    page.press(browser.HOME)
    # Of the buttons two are disabled now: the next one is the first of all.
    page.press(browser.TAB)
    page.press(browser.ENTER)
    check(where().startswith('step 2 of'), 'Tab and Enter do not press Next')
    names = page.run('''return [...document.querySelectorAll('button')].filter(
        b => !(b.ariaLabel || b.textContent).trim()).length''')
    check(names == 0, 'there is a button without a name')
    check(page.run('return document.querySelectorAll("[aria-live]").length')
          >= 3, 'what changes is not read aloud')


def check_looks(page):
    """On a phone, light and dark."""
    check(page.run('''const e = document.documentElement;
        return e.scrollWidth <= e.clientWidth'''), 'wider than a phone')
    papers = set()
    for scheme in ('light', 'dark'):
        page.cdp('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme', 'value': scheme}])
        contrast = page.run(CONTRAST)
        check(contrast >= 4.5, f'{scheme}: contrast {contrast:.2f}')
        papers.add(page.run(
            'return getComputedStyle(document.body).backgroundColor'))
    check(len(papers) == 2, 'it is the same in the dark')


def check_page(page, path, capture, ladder, logs=None):
    """Checks one page, and prints what is wrong."""
    text = path.read_text(encoding='utf-8')
    check(len(text.encode()) < LIMIT, f'{len(text.encode())} bytes')
    check(not re.search(r'(src|href)="(?!data:)|https?://|@import|url\(',
                        text), 'it loads something else')
    page.open(path.resolve().as_uri())
    said = walk(page, capture, ladder)
    check_keys(page)
    check_looks(page)
    # Reading them takes them away.
    messages = page.messages()
    check(not messages, f'the console says {messages}')
    if logs:
        for side, name in (('a', 'server.log'), ('b', 'client.log')):
            log = (logs / name).read_text(encoding='utf-8')
            check(said[side] == log.splitlines(), f'not what {name} says')
    for what in wrong:
        print(f'{path}: {what}')


def main(paths):
    """Checks the pages in one browser; returns the exit status."""
    bad, pages = False, [paths]
    if paths[0].is_dir():
        pages = [[path / f'wire.{kind}' for kind in ('html', 'pcapng', 'txt')]
                 for path in paths]
    with browser.Browser() as page:
        for files in pages:
            wrong.clear()
            check_page(page, *files)
            bad = bad or bool(wrong)
    return int(bad)


if __name__ == '__main__':
    parser = Parser(__doc__)
    parser.add_argument('paths', nargs='+', type=pathlib.Path)
    given = parser.parse_args().paths
    if len(given) not in (3, 4) and not given[0].is_dir():
        parser.error('PAGE, CAPTURE and LADDER are needed, or folders')
    sys.exit(main(given))
