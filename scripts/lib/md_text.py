"""What scripts need to know of Markdown: code blocks, links, anchors, a chapter's tables.

Only as much of it as this repository writes, by the rules of GitHub's anchors.
"""
import re

FENCE = re.compile(r'```([^`]*)$')
# What follows the text of a link or picture: ](TARGET) or ](TARGET "title").
LINK = re.compile(r'\]\(\s*((?:[^()\s<>]|\([^()\s]*\))+)(?:\s+"[^"]*")?\s*\)')
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
        block = None
        for number, line in enumerate(text.split('\n'), 1):
            match = FENCE.match(line)
            if match and block is None:
                block = Block(match[1], number + 1)
                self.blocks.append(block)
            elif match and not match[1]:
                block.closed, block = True, None
            elif block is None:
                self.prose.append((number, line))
            else:
                block.lines.append(line)
        self.anchors = self._anchors()

    def links(self):
        """(line number, target) of every link."""
        for number, text in self.prose:
            for match in LINK.finditer(re.sub(r'(`+).*?\1', '', text)):
                yield number, match[1]

    def _anchors(self):
        found, counts = set(), {}
        for _, text in self.prose:
            found.update(HTML_ANCHOR.findall(text))
            if heading := re.match(r'#{1,6}\s+(.*)', text):
                name = anchor(heading[1])
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
