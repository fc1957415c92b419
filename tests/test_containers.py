"""Containerfile has no list of packages of its own: it installs what scripts/lib/install_deps.tsv says."""
import json
import os
import re
import shutil
import subprocess

from nodes import TOP

TEXT = (TOP / 'Containerfile').read_text('utf-8')


def test_what_it_copies_is_all_that_the_script_needs(tmp_path):
    for *sources, there in map(str.split, re.findall(r'(?m)^COPY (.*)', TEXT)):
        folder = tmp_path / there.strip('/')
        folder.mkdir(parents=True, exist_ok=True)
        for source in sources:
            shutil.copy2(TOP / source, folder)
    script, *sets = re.search(r'(?m)^RUN (\S*install_deps\.sh.*)', TEXT)[1].split()
    here, there = (subprocess.run([name, *sets], check=False, text=True, env=os.environ | {'NO_INSTALL': '1'},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                   for name in (TOP / 'scripts/install_deps.sh', tmp_path / script.strip('/')))
    assert (here.returncode, here.stdout) == (there.returncode, there.stdout)
    assert {'build', 'lab', 'wire', 'kernel'} <= {*sets}
    named = re.search(r'apt-get install (.*)', TEXT)[1].split()
    assert {word for word in named if word[0] != '-'} == {'ca-certificates', 'git', 'sudo'}


def test_the_devcontainer_is_made_of_it():
    folder = TOP / '.devcontainer'
    settings = json.loads((folder / 'devcontainer.json').read_text('utf-8'))
    assert (folder / settings['build']['dockerfile']).resolve() == TOP / 'Containerfile'
    assert (folder / settings['build']['context']).resolve() == TOP
    assert f'USER {settings["remoteUser"]}' in TEXT
