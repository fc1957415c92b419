#!/usr/bin/python3 -B
"""What a fault looks like from each end, and after how long: records it, and makes docs/faults.md's table.

Usage: record_faults.py [FAULT...]     records these (default: all) in the lab, in docs/faults/faults.tsv,
                                       and then does what --write does
       record_faults.py --write        makes the tables of docs/faults.md and the picture from it
       record_faults.py --print FAULT  records one fault, and prints its rows

A FAULT is killed or, over iWARP, siw/killed. Each has a lab of its own, at most two at once. Node b
asks, and node a is its peer. docs/faults/probe.c runs on both, but for the certificate, whose pair is
chapter 05's. Exit status: 0 done, 1 something failed, 2 usage.
"""
import concurrent.futures
import math
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
LAB = str(TOP / 'scripts/lab.sh')
TSV = TOP / 'docs/faults/faults.tsv'
PAGE = TOP / 'docs/faults.md'
PICTURE = TOP / 'docs/faults.svg'
PROBE = TOP / 'build/faults/probe'
CONNECTIONS = [f'hand/{op}/14/6' for op in ('idle', 'send', 'write', 'read')] + \
    [f'cm/{op}/0/6' for op in ('idle', 'send', 'write', 'read', 'connect', 'disconnect')] + ['tcp/connect/0/0']
TIMEOUTS, RETRIES = (10, 14, 18, 20), (0, 3, 6, 7)
MATRIX = [f'hand/write/{timeout}/{retry}' for timeout in TIMEOUTS for retry in RETRIES]
LOSS = 'tc qdisc add dev eth0 root netem loss {}%'
REMOVE = 'rdma link delete $(ls /sys/class/infiniband)'
# A file in memory takes all but 16 MiB of it. (A process of User-Mode Linux has too few mappings for that.)
FILL = """set -e
mount -t tmpfs -o size=100% none /mnt
while free=$(awk '/MemAvailable/ { print $2 }' /proc/meminfo); [[ $free -gt 20480 ]]; do
    head -c $((free - 16384))K /dev/zero >>/mnt/full
done; date +%s%6N"""
# The kernel kills the peer first. (Several take it, for the same reason.)
EXHAUST = """peer=$(pgrep -x probe); echo 1000 >/proc/$peer/oom_score_adj
for i in {1..10}; do tail /dev/zero >/dev/null 2>&1 & done
tail --pid=$peer -f /dev/null; kill $(jobs -p)
killed=$(dmesg | awk -F'[][]' '/Killed process.*probe/ { print $2 }')
echo $(($(date +%s%6N) - $(awk -v at="$killed" '{ printf "%d", ($1 - at) * 1e6 }' /proc/uptime)))"""
# Fault: (what it is, commands by node, seconds to watch, how often each operation is done).
FAULTS = {
    'timers': ('a switch drops all, with each timeout and retry count', {'a': LOSS.format(100), 'b': LOSS.format(100)},
               60, 1),
    'switch': ('a switch drops all', {'a': LOSS.format(100), 'b': LOSS.format(100)}, 110, 1),
    'stopped': ('peer stopped (SIGSTOP)', {'a': 'pkill -STOP -x probe'}, 110, 1),
    'link_there': ("link down, at the peer", {'a': 'ip link set eth0 down'}, 110, 1),
    'requests_lost': ('what we send is lost', {'b': LOSS.format(100)}, 110, 1),
    'answers_lost': ('what the peer sends is lost', {'a': LOSS.format(100)}, 110, 1),
    'link_here': ('link down, here', {'b': 'ip link set eth0 down'}, 20, 1),
    'drop_1': ('a switch drops 1 %', {'a': LOSS.format(1), 'b': LOSS.format(1)}, 30, 100),
    'drop_10': ('a switch drops 10 %', {'a': LOSS.format(10), 'b': LOSS.format(10)}, 40, 100),
    'drop_50': ('a switch drops 50 %', {'a': LOSS.format(50), 'b': LOSS.format(50)}, 40, 100),
    'killed': ('peer killed (SIGKILL)', {'a': 'pkill -KILL -x probe'}, 20, 1),
    'reset': ("peer's machine reset", {}, 40, 1),
    'removed_here': ('device removed, here', {'b': REMOVE}, 20, 1),
    'removed_there': ('device removed, at the peer', {'a': REMOVE}, 20, 1),
    'address': ("peer's address removed", {'a': 'ip addr del 192.0.2.1/24 dev eth0'}, 40, 1),
    'moved': ("peer's address moved",
              {'a': 'ip addr del 192.0.2.1/24 dev eth0',
               'c': 'ip addr add 192.0.2.1/24 dev eth0; ping -c 1 -W 1 -I 192.0.2.1 192.0.2.2 || true'}, 110, 1),
    'gids': ('GID table changed, here',
             {'b': 'ip addr del 192.0.2.2/24 dev eth0; ip addr add 192.0.2.9/24 dev eth0; '
                   'ip addr add 192.0.2.2/24 dev eth0'}, 20, 1),
    'full': ("peer's memory full", {'a': FILL}, 20, 1),
    'oom': ("peer killed for memory",
            {'a': EXHAUST}, 20, 1),
    'certificate': ('a certificate expires', {}, 0, 1),
}
# Over iWARP nothing can be connected by hand, and the timers are TCP's.
NOT_SIW = ('timers', 'certificate')
TLS = [('the client that was connected', 'here', 'tls/held'), ('a client that comes later', 'here', 'tls/new'),
       ('the server, of that one', 'there', 'tls/new')]
ALL = list(FAULTS) + [f'siw/{fault}' for fault in FAULTS if fault not in NOT_SIW]


class Probe:
    """One end, and what it says: (us since 1970, connection, event)."""

    def __init__(self, env, node, role, connections):
        self.said, self.news = [], threading.Condition()
        self.process = subprocess.Popen([LAB, 'exec', node, '--', PROBE, '192.0.2.1', role, *connections],
                                        env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        """Until it ends."""
        for line in self.process.stdout:
            at, who, event = line.rstrip('\n').split('\t', 2)
            with self.news:
                self.said.append((int(at), who, event))
                self.news.notify_all()

    def waits_for(self, event, seconds=30):
        """When it has said this; returns the time."""
        with self.news:
            if not self.news.wait_for(lambda: any(event == said[2] for said in self.said), seconds):
                raise SystemExit(f'record_faults: the probe never said {event}: {self.said}')
            return next(said[0] for said in self.said if said[2] == event)

    def watch(self, seconds):
        """All that it says."""
        with self.news:
            self.news.wait_for(lambda: False, seconds)


def strike(env, fault):
    """The fault happens; returns when its commands began, and when it was there, in us."""
    began = []
    if fault == 'reset':
        began.append(int(subprocess.check_output(['date', '+%s%6N'])))
        subprocess.run([LAB, 'reset', 'a'], env=env, check=True, stderr=subprocess.DEVNULL)
    for node, command in FAULTS[fault][1].items():
        # A device's removal waits for the programs that have it open, so nobody waits for that here.
        order = subprocess.Popen([LAB, 'exec', node, '--', 'bash', '-c', f'date +%s%6N; {command}'],
                                 env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        began.append(int(order.stdout.readline()))
        if not fault.startswith('removed'):
            began += [int(line) for line in order.stdout if line[:-1].isdigit()]
            if order.wait():
                raise SystemExit(f'record_faults: failed on node {node}: {command}')
    return min(began), max(began)


def record(name):
    """The rows of a fault: (fault, end, connection, event, seconds, times done, watched seconds)."""
    print(f'recording {name}', file=sys.stderr)
    device, fault = name.split('/') if '/' in name else ('rxe', name)
    env = dict(os.environ, LAB_NAME=f'faults-{name.replace("/", "-")}')
    subprocess.run([LAB, 'up', '--device', device, '--nodes', '3' if 'c' in FAULTS[fault][1] else '2'], env=env,
                   check=True, stderr=subprocess.DEVNULL)
    try:
        if fault == 'certificate':
            return list(record_certificate(env))
        return list(record_probes(env, name, fault))
    finally:
        subprocess.run([LAB, 'down'], env=env, check=False, stderr=subprocess.DEVNULL)


def record_probes(env, name, fault):
    """What two probes see of a fault."""
    connections = MATRIX if fault == 'timers' else CONNECTIONS
    if name != fault:
        connections = [one for one in connections if not one.startswith('hand')]
    here = there = None
    try:
        there = Probe(env, 'a', 'serve', connections)
        there.waits_for('listens')
        here = Probe(env, 'b', 'ask', connections)
        here.waits_for('ready')
        began = strike(env, fault)
        here.process.stdin.write(f'{FAULTS[fault][3]}\n')
        here.process.stdin.flush()
        asked = here.waits_for('begins')
        here.watch(FAULTS[fault][2])
        return list(rows_of(name, here.said, there.said, *began, asked))
    finally:
        for probe in filter(None, (here, there)):
            probe.process.kill()


def record_certificate(env):
    """What chapter 05's pair says: a client that stays connected, and one that comes later."""
    def run(node, *words):
        return subprocess.Popen([LAB, 'exec', node, '--', *words], env=env, text=True, cwd=TOP / '05_multiclient',
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def wait_for(process, text):
        for line in process.stdout:
            if text in line:
                return
        raise SystemExit(f'record_faults: nothing said {text}')

    subprocess.run(['make', '-s', '-C', TOP / '05_multiclient'], check=True)
    certs = PROBE.parent / 'certs'
    subprocess.run([TOP / '05_multiclient/certs.sh', certs], check=True, stdout=subprocess.DEVNULL)
    files = {who: ['-A', certs / 'ca.pem', '-C', certs / f'{who}.pem', '-K', certs / f'{who}.key', '-a', '192.0.2.1']
             for who in ('server', 'client')}
    server = run('a', './server', *files['server'], '-e', '2', 'write')
    wait_for(server, 'istening')
    held = run('b', './client', *files['client'], '-w', '20', 'write')
    wait_for(server, 'Both DONE')
    for node in 'ab':
        run(node, 'date', '-s', '+1 year').wait()
    began = time.monotonic()
    late = run('b', './client', *files['client'], 'write')
    for end, who, process in ('here', 'tls/new', late), ('here', 'tls/held', held), ('there', 'tls/new', server):
        said = process.communicate()[0].splitlines()
        line = next((line for line in said if line.startswith('error: ')), f'{said[-2]} (status {process.returncode})')
        yield 'certificate', end, who, line, f'{time.monotonic() - began:.3f}', '', '0'


def rows_of(fault, here, there, start, began, asked):
    """Of what both ends said since the fault began; a repeated line is one row."""
    for end, said in ('here', here), ('there', there):
        seen = set()
        for at, who, text in list(said):
            event, done, worst = (text.split('\t') + ['', ''])[:3]
            if at < start or event in ('begins', 'ready', 'listens') or (who, event) in seen:
                continue
            seen.add((who, event))
            since = asked if end == 'here' and '/' in who and '/idle' not in who and at >= asked else began
            took = int(worst) if worst else max(at - since, 0)
            yield fault, end, who, event, f'{took / 1e6:.3f}', done, str(watched(fault))


def watched(name):
    """Seconds."""
    return FAULTS[name.split('/')[-1]][2]


def read_rows():
    """What is recorded."""
    return [line.split('\t') for line in TSV.read_text('utf-8').splitlines()[1:]]


def write_rows(rows):
    """In the order of the faults."""
    rows.sort(key=lambda row: ALL.index(row[0]))
    TSV.write_text('\n'.join('\t'.join(row) for row in [
        ('fault', 'end', 'connection', 'event', 'seconds', 'done', 'watched'), *rows]) + '\n', 'utf-8')


def short(event):
    """As in a cell."""
    event = re.sub(r'^status 0 .*', 'success', event)
    event = re.sub(r'^status (\d+) .*', r'**status \1**', event)
    event = re.sub(r'^receive: status 5 .*', 'receives flushed', event)
    event = re.sub(r'^RDMA_CM_EVENT_(\w+), status (-?\d+)', r'**\1** (\2)', event)
    return event.replace(' (0)', '')


def cell(rows, fault, end, *connections):
    """What one end noticed of these connections."""
    mine = [row for row in rows if row[:2] == [fault, end] and 'TIMEWAIT' not in row[3] and
            any(row[2].startswith(connection) for connection in connections)]
    said, lines, (_, _, watch, times) = set(), [], FAULTS[fault.split('/')[-1]]
    if any('receive:' not in row[3] for row in mine):
        # That the receives are flushed then is what the text says.
        mine = [row for row in mine if 'receive:' not in row[3]]
    for _, _, connection, event, seconds, done, _ in sorted(mine, key=lambda row: float(row[4])):
        if event in said:
            continue
        said.add(event)
        where = f'{connection.split("/")[1]}: ' if end == 'there' and '/' in connection else ''
        often = ''
        if times > 1 and done:
            often = f', {done} of {times}, at most' if 'status 0' in event else f' after {done} of {times};'
        lines.append(f'{where}{short(event)}{often} {float(seconds):.2f}')
    if not any('status' in line or 'success' in line for line in lines) and times > 1 and \
            re.search('send|write|read', connections[0]):
        lines.append(f'fewer than {times} in {watch} s')
    return '; '.join(lines) or '-'


def tables(rows):
    """The page's tables, by name."""
    made_of = {
        'hand': ['| fault | watched | SEND | WRITE | READ |', '|---|---|---|---|---|'],
        'cm': ['| fault | idle | SEND | WRITE | READ | connect | disconnect | at the peer |', '|---|---|---|---|---|---|---|---|'],
        'siw': ['| fault | idle | SEND | WRITE | READ | connect |', '|---|---|---|---|---|---|'],
        'tls': ['| at | what it prints |', '|---|---|']}
    recorded = {row[0] for row in rows}
    for fault in [fault for fault in ALL if fault in recorded and fault not in NOT_SIW]:
        line = [FAULTS[fault.split('/')[-1]][0]]
        cm = line + [cell(rows, fault, 'here', f'cm/{op}/') for op in (
            'idle', 'send', 'write', 'read', 'connect', 'disconnect')] + [cell(rows, fault, 'there', 'cm/')]
        if '/' in fault:
            made_of['siw'].append(row_of(cm[:6]))
            continue
        made_of['cm'].append(row_of(cm))
        made_of['hand'].append(row_of(line + [f'{watched(fault)} s'] + [cell(rows, fault, 'here', f'hand/{op}') for op in (
            'send', 'write', 'read')]))
    for who, end, connection in TLS:
        made_of['tls'] += [row_of([who, f'`{row[3].replace(chr(96), "")}`']) for row in rows
                           if row[:3] == ['certificate', end, connection]]
    return made_of


def row_of(cells):
    """A table's row."""
    return f'| {" | ".join(cells)} |'


def measured(rows):
    """(timeout, retry count, seconds by the formula, seconds that a WRITE took or None)."""
    found = {row[2]: float(row[4]) for row in rows if row[0] == 'timers' and row[3].startswith('status 12')}
    for timeout in TIMEOUTS:
        for retry in RETRIES:
            yield timeout, retry, 4.096e-6 * 2 ** timeout * (retry + 1), found.get(f'hand/write/{timeout}/{retry}')


def picture(rows):
    """Time to notice: lines are the formula, and points what was measured."""
    def x(timeout):
        return 90 + (timeout - 10) * 50

    def y(seconds):
        return 330 - 75 * (math.log10(seconds) + 2.5)

    style = ('rect{fill:#fff}text{font:14px sans-serif;fill:#222}line,polyline{fill:none;stroke:#888}'
             'circle{fill:#0b63b0}@media(prefers-color-scheme: dark){rect{fill:#0d1117}text{fill:#eee}line,polyline{stroke:#999}'
             'circle{fill:#7cc0ff}}')
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 390" role="img" aria-label="Seconds until status '
           '12, on a logarithmic scale, against the timeout, a line for each retry count; measured points lie on the '
           'lines except at timeout 10, where they lie above">', f'<style>{style}</style>',
           '<rect width="780" height="390" rx="8"/>']
    for exponent in range(-2, 2):
        at = y(10 ** exponent)
        out += [f'<line x1="80" y1="{at:.0f}" x2="620" y2="{at:.0f}" stroke-dasharray="2 5"/>',
                f'<text x="72" y="{at + 5:.0f}" text-anchor="end">{10 ** exponent:g} s</text>']
    for timeout in TIMEOUTS:
        out.append(f'<text x="{x(timeout)}" y="356" text-anchor="middle">{timeout}</text>')
    out.append('<text x="370" y="380" text-anchor="middle">timeout; lines: the formula, points: measured</text>')
    for retry in RETRIES:
        line = [(x(t), y(formula)) for t, r, formula, _ in measured(rows) if r == retry]
        out.append('<polyline points="' + ' '.join(f'{left},{top:.1f}' for left, top in line) + '"'
                   + (' stroke-dasharray="6 4"' if retry == 7 else '') + '/>')
        note = ' (rxe: never)' if retry == 7 else ''
        out.append(f'<text x="602" y="{line[-1][1] + {7: -6, 6: 6, 3: 10}.get(retry, 5):.0f}">retry {retry}{note}</text>')
    out += [f'<circle cx="{x(timeout)}" cy="{y(seconds):.1f}" r="5"/>'
            for timeout, _, _, seconds in measured(rows) if seconds]
    return '\n'.join(out + ['</svg>']) + '\n'


def made(page, rows):
    """The page with its tables as they should be."""
    for name, lines in tables(rows).items():
        page = re.sub(rf'(<!-- recorded: {name} -->\n)(?:\|.*\n)*(<!-- end -->)',
                      lambda mark, lines=lines: mark[1] + '\n'.join(lines) + '\n' + mark[2], page)
    return page


def main(words):
    """As the usage says."""
    if {'-h', '--help'} & set(words):
        print(__doc__)
        return
    if words[:1] != ['--write']:
        only_print = words[:1] == ['--print']
        faults = words[only_print:] or ALL
        if set(faults) - set(ALL):
            print(f'record_faults: faults are {", ".join(ALL)}', file=sys.stderr)
            sys.exit(2)
        PROBE.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(['cc', '-std=gnu11', '-Wall', '-Wextra', '-Werror', '-O2', '-o', PROBE,
                        TOP / 'docs/faults/probe.c', '-lrdmacm', '-libverbs'], check=True)
        rows = [row for row in (read_rows() if TSV.exists() else []) if row[0] not in faults]
        with concurrent.futures.ThreadPoolExecutor(2) as two:
            for done in concurrent.futures.as_completed([two.submit(record, fault) for fault in faults]):
                new = done.result()
                if only_print:
                    print('\n'.join('\t'.join(row) for row in new))
                    continue
                rows += new
                write_rows(rows)
        if only_print:
            return
    PAGE.write_text(made(PAGE.read_text('utf-8'), read_rows()), 'utf-8')
    PICTURE.write_text(picture(read_rows()), 'utf-8')


if __name__ == '__main__':
    main(sys.argv[1:])
