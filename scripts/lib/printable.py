"""What others wrote, for a terminal."""
import re

# Controls but tab and newline, and what makes text invisible or run backwards.
OBEYED = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f'
                    '\u2028-\u202e\u2060-\u206f\ufeff]')


def printable(text):
    """Bytes that are no UTF-8 as \\xNN, and what a terminal would obey, so that they
    can be shown."""
    text = text.encode('utf-8', 'surrogateescape').decode('utf-8', 'backslashreplace')
    return OBEYED.sub(lambda x: x[0].encode('unicode_escape').decode(), text)
