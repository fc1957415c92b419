"""Containerfile has no list of packages of its own: it installs what scripts/lib/install_deps.tsv says."""
import json
import os
import re
import runpy
import shutil
import subprocess

from nodes import TOP

CONTAINER = runpy.run_path(str(TOP / 'scripts/maint/container.py'))
STEPS = CONTAINER['steps']((TOP / 'Containerfile').read_text('utf-8'))
# What install_deps.sh and a clone need before it.
FIRST = {'ca-certificates', 'git', 'sudo'}


def test_what_it_copies_is_all_that_the_script_needs(tmp_path):
    for word, rest in STEPS:
        if word == 'COPY':
            *sources, there = rest.split()
            folder = tmp_path / there.strip('/')
            folder.mkdir(parents=True, exist_ok=True)
            for source in sources:
                shutil.copy2(TOP / source, folder)
    command, = [rest for word, rest in STEPS if word == 'RUN' and 'install_deps.sh' in rest]
    script, *sets = command.split()
    here, there = (subprocess.run([name, *sets], check=False, text=True, env=os.environ | {'NO_INSTALL': '1'},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                   for name in (TOP / 'scripts/install_deps.sh', tmp_path / script.strip('/')))
    assert (here.returncode, here.stdout) == (there.returncode, there.stdout)
    assert {'build', 'lab', 'wire', 'kernel'} <= {*sets}


def test_it_names_no_other_packages():
    named = ' '.join(words for _, rest in STEPS for words in re.findall(r'apt-get install ([^&;|]*)', rest))
    assert {word for word in named.split() if word[0] != '-'} == FIRST


def test_the_devcontainer_is_made_of_it():
    folder = TOP / '.devcontainer'
    settings = json.loads((folder / 'devcontainer.json').read_text('utf-8'))
    assert (folder / settings['build']['dockerfile']).resolve() == TOP / 'Containerfile'
    assert (folder / settings['build']['context']).resolve() == TOP
    assert settings['remoteUser'] == dict(STEPS)['USER']
