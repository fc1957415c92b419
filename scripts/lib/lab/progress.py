"""What lab.sh says as it goes on, on standard error."""
import collections.abc
import sys
import time


def say(text: str) -> None:
    """A line, which may need the room of one that is being rewritten."""
    if sys.stderr.isatty():
        text = '\r\033[K' + text
    print(text, file=sys.stderr, flush=True)


def say_failed(lines: collections.abc.Sequence[str]) -> None:
    """One message, a part a line."""
    say(f'lab.sh: {lines[0]}')
    for line in lines[1:]:
        print(f'        {line}', file=sys.stderr, flush=True)


class Progress:
    """What the keeper is doing, and for how long.

    On a terminal it is one line that is rewritten, elsewhere a line after 5 s, 10 s,
    20 s and so on.
    """

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.next = 5
        self.step = self.detail = ''

    @property
    def seconds(self) -> int:
        """Since the beginning."""
        return int(time.monotonic() - self.began)

    def set_step(self, text: str) -> None:
        """Something new begins."""
        self.step, self.detail = text, ''
        if not sys.stderr.isatty():
            say(f'lab: {text}')
        self.show()

    def set_detail(self, text: str) -> None:
        """How far it is."""
        self.detail = f': {text}'
        self.show()

    def show(self) -> None:
        """Brings what is shown up to date."""
        if sys.stderr.isatty():
            sys.stderr.write(f'\r\033[Klab: {self.step}{self.detail} '
                             f'({self.seconds} s)')
            sys.stderr.flush()
        elif self.seconds >= self.next:
            self.next = 2 * self.seconds
            say(f'lab:   after {self.seconds} s: {self.step}{self.detail}')

    @staticmethod
    def clear() -> None:
        """Takes the line away that is rewritten."""
        if sys.stderr.isatty():
            sys.stderr.write('\r\033[K')
            sys.stderr.flush()
