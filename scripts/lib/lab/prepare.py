"""lab.sh fetch and kernel: what a lab needs from a network, or from a compiler."""
import hashlib
import os
import pathlib
import subprocess

from lib.lab import up
from lib.lab.progress import say
from lib.lab.settings import REPOSITORY, Failed, Settings


def fetch(settings: Settings) -> None:
    """What `make demo` needs from the network: packages and a kernel."""
    if subprocess.run([f'{REPOSITORY}/scripts/install_deps.sh', 'build', 'lab'],
                      check=False).returncode:
        raise SystemExit(1)
    up.check(settings)
    # Beside a lab that may be up.
    settings.name = f'fetch-{os.getpid()}'
    _, release, image = up.start(settings, 0)
    print(f'lab: the kernel is {release}: {image}')
    print("lab: all is here that 'make demo' needs; it asks the network for "
          'nothing more')


def build_kernel(settings: Settings) -> None:
    """The engine uml's kernel in the cache, made of what is here now."""
    if os.environ.get('CLI_CHECK'):
        return
    if os.uname().machine != 'x86_64':
        raise Failed(f'the engine uml is for x86_64 only, and this is {os.uname().machine}')
    out = pathlib.Path(settings.cache, 'uml')
    parts = pathlib.Path(REPOSITORY, 'scripts/lib/kernel')
    sources = [parts / 'build.sh', parts / 'lab.config',
               *sorted(parts.glob('*.patch'))]
    digest = hashlib.sha256(b''.join(path.read_bytes() for path in sources))
    made = f'{digest.hexdigest()}  -\n'
    if (out / 'linux').exists() and (out / 'made').is_file() and \
            (out / 'made').read_text() == made:
        return
    if subprocess.run([parts / 'build.sh', 'lab', out], check=False).returncode:
        raise SystemExit(1)
    (out / 'made').write_text(made)
    say(f'lab: its own kernel is Linux {(out / "release").read_text().strip()}, '
        f'in {out}')
