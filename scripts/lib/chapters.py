"""Which chapter each of them grows out of."""

# Not the one before it.
ELSEWHERE = {'07_full_speed': '02_write_read'}


def grown_from(chapters, chapter):
    """The chapter whose difference to this one is its lesson; '' for the first."""
    at = chapters.index(chapter)
    before = ELSEWHERE.get(chapter)
    if before in chapters:
        return before
    return chapters[at - 1] if at else ''
