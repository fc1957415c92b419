"""A ladder as a picture that is readable on light and on dark ground.

Used by ladder.py.
"""
import html

from lib.wire import lines

# The columns, in pixels: server's lines, its line of life, the client's.
WIDTH, SERVER, CLIENT = 1350, 415, 935
# How many characters fit beside them, and between them.
SIDE, MIDDLE = 56, 79
ROW, TOP = 19, 64

STYLE = '''
text { font: 12px ui-monospace, "DejaVu Sans Mono", monospace; fill: #1f2328; }
.small { font-size: 11px; fill: #59636e; }
.head { font-weight: bold; font-size: 13px; }
.error { fill: #b3261e; }
line, path { stroke: #59636e; stroke-width: 1; fill: none; }
.arrow { stroke: #0b57d0; stroke-width: 1.4; }
.again { stroke: #9a6700; stroke-dasharray: 5 3; }
.nak { stroke: #b3261e; }
.paper { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .small { fill: #9da7b3; }
  .error { fill: #ff8a80; }
  line, path { stroke: #9da7b3; }
  .arrow { stroke: #7cacf8; }
  .again { stroke: #e3b341; }
  .nak { stroke: #ff8a80; }
  .paper { fill: #0d1117; }
}
'''


def text_at(x, y, text, css='', anchor='start'):
    """One line of text."""
    return (f'<text x="{x}" y="{y}" class="{css}" text-anchor="{anchor}">'
            f'{html.escape(text)}</text>')


def arrow(y, packet, right):
    """A packet: an arrow from one line of life to the other."""
    one, other = (SERVER, CLIENT) if right else (CLIENT, SERVER)
    tip = -6 if right else 6
    css = f'arrow {packet.mark}'.strip()
    return (f'<path class="{css}" d="M{one} {y}H{other}m{tip} -4l{-tip} 4'
            f'l{tip} 4"/>' +
            text_at((SERVER + CLIENT) // 2, y - 4,
                    lines.shorten(packet.label, MIDDLE), 'small', 'middle'))


def rows_of(steps, origin):
    """The drawing of each step and the height of all."""
    y, parts = TOP, []
    for step in steps:
        y += ROW
        if step.packet:
            y += 6
            parts.append(text_at(SERVER - 8, y + 4,
                                 f'{(step.time - origin) * 1e3:.1f} ms',
                                 'small', 'end'))
            parts.append(arrow(y, step.packet, step.right))
        elif step.side == 'a':
            parts.append(text_at(8, y + 4, lines.shorten(step.line.text, SIDE),
                                 'error' if step.line.error else ''))
        else:
            parts.append(text_at(CLIENT + 10, y + 4, lines.shorten(step.line.text, SIDE),
                                 'error' if step.line.error else ''))
    return parts, y + ROW


def render(steps, title):
    """The whole picture."""
    origin = next(step.time for step in steps if step.packet)
    parts, height = rows_of(steps, origin)
    lives = ''.join(f'<line x1="{x}" y1="{TOP - 10}" x2="{x}" y2="{height}"/>'
                    for x in (SERVER, CLIENT))
    return '\n'.join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} '
        f'{height + 10}" role="img">',
        f'<title>{html.escape(title)}</title>',
        f'<style>{STYLE}</style>',
        f'<rect class="paper" width="{WIDTH}" height="{height + 10}"/>',
        text_at(8, 20, title, 'head'),
        text_at(SERVER, TOP - 18, 'server (node a)', 'head', 'middle'),
        text_at(CLIENT, TOP - 18, 'client (node b)', 'head', 'middle'),
        lives, *parts, '</svg>', ''])
