"""Waits for many files at once, and writes without waiting."""
from __future__ import annotations

import collections.abc
import os
import selectors

Call = collections.abc.Callable[[], object]

class Output:
    """A file that is written without waiting, and what is still to go to it."""

    def __init__(self, loop: Loop, file: int,
                 done: collections.abc.Callable[[int], None] | None = None,
                 room: int | None = None):
        # room: how many bytes may be written before more() is called.
        self.loop, self.file, self.done = loop, file, done
        self.room = room
        self.data = bytearray()
        os.set_blocking(file, False)

    def write(self, data: bytes) -> None:
        """Writes now what can be written now, and the rest when it can."""
        self.data += data
        self.flush()

    def flush(self) -> None:
        """Called when the file can be written to. May raise OSError."""
        while self.data and self.room != 0:
            try:
                count = os.write(self.file, self.data[:self.room])
            except BlockingIOError:
                break
            del self.data[:count]
            if self.room:
                self.room -= count
            if self.done:
                self.done(count)
        self.loop.want(self.file, selectors.EVENT_WRITE,
                       self.flush if self.data and self.room != 0 else None)

    def more(self, count: int) -> None:
        """There is room for count more bytes."""
        self.room = (self.room or 0) + count
        self.flush()


class Loop:
    """Calls functions when files are ready."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()

    def want(self, file: int, event: int, function: Call | None) -> None:
        """Call function when the event comes at file; None: no longer."""
        known = self.selector.get_map().get(file)
        calls = dict(known.data) if known else {}
        calls.pop(event, None)
        if function:
            calls[event] = function
        if not calls:
            self.forget(file)
        elif known:
            self.selector.modify(file, sum(calls), calls)
        else:
            self.selector.register(file, sum(calls), calls)

    def forget(self, file: int) -> None:
        """Before file is closed."""
        try:
            self.selector.unregister(file)
        except KeyError:
            pass

    def turn(self, timeout: float | None = None) -> None:
        """Waits once, and calls what is to be called."""
        for key, mask in self.selector.select(timeout):
            for event, function in list(key.data.items()):
                # What was called before may have closed it.
                if mask & event and self.selector.get_map().get(
                        key.fd) == key:
                    function()
