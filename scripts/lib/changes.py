"""What has changed in a repository, and which of its scripts and tests name which."""
import re
import subprocess


def code(path):
    """What a file says, without the lines that are comments."""
    text = path.read_text('utf-8', 'replace')
    return '\n'.join(line for line in text.splitlines()
                     if not line.lstrip().startswith('#') or 'source=' in line)


def mention(path, root):
    """An expression for how another script or test names a file."""
    parts, stem = path.relative_to(root).parts, re.escape(path.stem)
    place, name = re.escape(parts[-2]), re.escape(path.name)
    if path.suffix == '.bats':
        return r'(?!)'
    if parts[1] == 'fixtures':
        return rf'\bfixtures/{re.escape(parts[2])}'
    ways = []
    if path.suffix == '.py':
        module = re.escape('.'.join(parts[2:]).removesuffix('.py').removesuffix('.__main__'))
        ways += [rf'\b{stem}\.py\b', rf'\bpython\.sh"? {module}(?![.\w])',
                 rf'\b(from|import) ([\w.]+\.)?{stem}\b',
                 rf'\bfrom lib[\w.]* import .*\b{stem}\b']
    elif path.suffix == '.bash':
        ways += [rf'\bload \S*\b{stem}\b']
    # With its folder, since names such as up.sh or check.sh are in several places.
    if len(parts) > 2 + (parts[1] == 'lib'):
        ways += [rf'\blib/{place}\b', rf'\b{place}[/.]{stem}\b']
    else:
        ways += [rf'\b{name}\b']
    return '|'.join(ways)


def naming(root, name):
    """All scripts and tests that name a file, or something that names it, and so on."""
    files = [path for path in [*root.glob('scripts/**/*'), *root.glob('tests/*')]
             if path.is_file() and path.suffix in ('.sh', '.py', '.bash', '.bats')]
    text = {path: code(path) for path in files}
    found, new = set(), {root / name}
    while new:
        found |= new
        regex = re.compile('|'.join(mention(path, root) for path in new))
        new = {path for path in files if path not in found and
               regex.search(text[path])}
    return found


def git(root, *words):
    """What git says, by names that end with a zero byte, or none if it fails."""
    done = subprocess.run(['git', '-C', root, *words], capture_output=True, text=True,
                          check=False)
    return [name for name in done.stdout.split('\0') if name] \
        if done.returncode == 0 else []


def differing(root):
    """The files that differ from main."""
    base = None
    for branch in ('main', 'origin/main'):
        base = base or git(root, 'merge-base', branch, 'HEAD')
    since = base[0].strip() if base else 'HEAD'
    return sorted({*git(root, 'diff', '--name-only', '--no-renames', '-z', since),
                   *git(root, 'ls-files', '-oz', '--exclude-standard')})
