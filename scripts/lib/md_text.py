"""What scripts need to know of Markdown: code blocks, links, anchors, a chapter's tables.

Only as much of it as this repository writes, by the rules of CommonMark and of
GitHub's anchors.
"""
import re

FENCE = re.compile(r'( *)(`{3,}|~{3,})\s*([^`]*)$')
# What follows the text of a link or picture: ](TARGET) or ](TARGET "title").
INLINE_LINK = re.compile(r'\]\(\s*<?((?:[^()\s<>]|\([^()\s]*\))+)>?'
                         r'(?:\s+"[^"]*")?\s*\)')
DEFINITION = re.compile(r' {0,3}\[([^\]]+)\]:\s*<?([^\s>]+)>?')
REFERENCE = re.compile(r'\]\[([^\]]+)\]')
HTML_LINK = re.compile(r'\b(?:href|src|srcset)="([^"]*)"')
HTML_ANCHOR = re.compile(r'<[^>]*\b(?:id|name)="([^"]*)"')


class Block:
    """A fenced code block: its language, options and lines."""

    def __init__(self, info, line):
        words = info.split()
        self.language = words[0] if words else ''
        self.options = dict(word.split('=', 1) for word in words[1:]
                            if '=' in word)
        self.runnable = 'run' in words[1:]
        self.line = line  # of the first line in it
        self.lines = []
        self.closed = False


class Markdown:
    """A Markdown file, taken apart."""

    def __init__(self, text):
        self.blocks = []
        self.prose = []  # (line number, text), without code blocks
        self._split(text.split('\n'))
        self.anchors = self._anchors()

    def _split(self, lines):
        block, fence, indent = None, '', ''
        for number, line in enumerate(lines, 1):
            match = FENCE.match(line)
            if block is None and match:
                indent, fence, info = match.groups()
                block = Block(info, number + 1)
                self.blocks.append(block)
            elif block is None:
                self.prose.append((number, line))
            elif match and match[2].startswith(fence) and not match[3]:
                block.closed = True
                block = None
            else:
                # In a list, the block is indented as its fence is.
                cut = len(indent)
                block.lines.append(line[cut:] if line.startswith(indent)
                                   else line.lstrip(' '))

    def links(self):
        """(line number, target) of every link; None: no such reference."""
        plain = [(number, re.sub(r'(`+).*?\1', '', text))
                 for number, text in self.prose]
        known = {match[1].lower(): match[2] for _, text in plain
                 if (match := DEFINITION.match(text))}
        for number, text in plain:
            if match := DEFINITION.match(text):
                yield number, match[2]
                continue
            for pattern in (INLINE_LINK, HTML_LINK):
                for match in pattern.finditer(text):
                    yield number, match[1]
            for match in REFERENCE.finditer(text):
                if match[1].lower() not in known:
                    yield number, None

    def _anchors(self):
        found, counts = set(), {}
        before = ''
        for _, text in self.prose:
            found.update(HTML_ANCHOR.findall(text))
            heading = re.match(r' {0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*$', text)
            title = heading[1] if heading else ''
            if before.strip() and re.match(r' {0,3}(=+|-+)\s*$', text):
                title = before
            before = text
            if title:
                name = anchor(title)
                count = counts.get(name, 0)
                counts[name] = count + 1
                found.add(f'{name}-{count}' if count else name)
        return found


def anchor(title):
    """The name that GitHub gives a heading."""
    title = re.sub(r'!?\[([^\]]*)\]\([^)]*\)', r'\1', title)
    title = re.sub(r'<[^>]*>', '', title)
    title = re.sub(r'(?<!\w)_([^_]+)_(?!\w)', r'\1', title)
    title = re.sub(r'[^\w\- ]', '', title.strip().lower())
    return title.replace(' ', '-')


def looked_up(chapter):
    """The text of a chapter in which its tables are: reference.md, and README.md."""
    return '\n'.join(path.read_text('utf-8') for path in
                     (chapter / 'reference.md', chapter / 'README.md')
                     if path.is_file())
