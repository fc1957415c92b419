"""action.yml: its steps are a script, which gets each input; the script runs the lab and has its status."""
import os
import re
import subprocess

import pytest
import yaml

from nodes import TOP

TEXT = (TOP / 'action.yml').read_text('utf-8')
ACTION = yaml.safe_load(TEXT)
SCRIPT = TOP / 'scripts/lib/action.sh'


def step(verb, **inputs):
    """The script, as the action calls it: an input that is not given is empty."""
    return subprocess.run([SCRIPT, verb], cwd=TOP / 'docs', check=False, text=True,
                          env=os.environ | {f'WANTED_{name.upper()}': value for name, value in inputs.items()},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_each_input_reaches_the_script_and_none_is_text_of_a_command():
    prepare, run, upload = ACTION['runs']['steps']
    for verb, one in ('prepare', prepare), ('run', run):
        assert one['run'] == f'"$LAB_ACTION/scripts/lib/action.sh" {verb}' and one['shell'] == 'bash'
        assert '${{' not in one['run']
    assert {f'WANTED_{name.upper()}' for name in ACTION['inputs']} == {*run['env']} - {'LAB_ACTION'}
    for name in ACTION['inputs']:
        assert re.search(rf'inputs\.{name}\b', run['env'][f'WANTED_{name.upper()}'])
    name = upload['with']['path'].removeprefix('${{ runner.temp }}/')
    assert f"format('{{0}}/{name}', runner.temp)" in run['env']['WANTED_CAPTURE']
    assert re.search(r'uses: \S+@[0-9a-f]{40} # v', TEXT)


def test_the_example_gives_inputs_that_there_are():
    flow = yaml.safe_load((TOP / 'docs/lab/workflow.yml').read_text('utf-8'))
    *_, own = flow['jobs']['rdma']['steps']
    assert {*own['with']} <= {*ACTION['inputs']}
    assert own['uses'].endswith('@v' + (TOP / 'VERSION').read_text('utf-8').strip())


def test_it_runs_the_command_beside_another_and_has_its_status(tmp_path):
    capture = tmp_path / 'packets'
    said = step('run', command='lab/send.py $LAB_B; exit 7', beside='lab/send.py', nodes='2', device='siw',
                engine='uml', kernel='', loss='', capture=str(capture))
    assert said.returncode == 7 and 'received: hello from pyverbs' in said.stdout, said.stderr
    assert capture.stat().st_size > 500


@pytest.mark.parametrize('inputs, why', [
    ({'command': ''}, 'no command is given'), ({'command': 'true', 'nodes': '9'}, 'nodes'),
    ({'command': 'true', 'loss': '101'}, 'a percentage, 0 to 100')])
def test_an_input_that_is_wrong_is_refused(inputs, why):
    said = step('run', **inputs)
    assert said.returncode == 2 and why in said.stderr
