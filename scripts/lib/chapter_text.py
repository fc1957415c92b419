"""The text of a chapter in which its tables are."""


def looked_up(chapter):
    """reference.md, which has them, and README.md, where a chapter has no other."""
    return '\n'.join(path.read_text('utf-8') for path in
                     (chapter / 'reference.md', chapter / 'README.md')
                     if path.is_file())
