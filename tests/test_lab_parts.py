"""The lab without a node: what no lab here can show, of its engines, of kernels, and of the filter of system calls."""
import errno
import os
import pathlib
import struct
import subprocess
import sys
import unittest.mock

import pytest

from lib.lab import choose, kernel, qemu, run, sandbox, uml
from lib.lab.settings import Failed, Settings

COMPLETE = ''.join(f'kernel/{name}.ko.xz:\n' for name in kernel.NEEDED)


def settings(**environment):
    """Of these variables, without LAB_."""
    return Settings({f'LAB_{name}': value for name, value in environment.items()})


def test_whoever_waits_for_exec_does_not_wait_for_what_it_does_not_need():
    loaded = subprocess.run([sys.executable, '-B', '-S', '-c', 'import sys, lib.lab.__main__, lib.lab.client; print(*sys.modules)'],
                            cwd=pathlib.Path(__file__).parent, check=True, text=True, stdout=subprocess.PIPE).stdout.split()
    assert not {'enum', 'json', 'pathlib', 're', 'typing'} & set(loaded)


@pytest.mark.parametrize('name, processors, accel, clock', [
    ('tcg', 4, 'tcg,thread=single,tb-size=256', True), ('tcg', 5, 'tcg,thread=multi,tb-size=256', True), ('kvm', 4, 'kvm', False)])
def test_only_what_is_emulated_has_threads_other_clocks_and_does_without_a_part(name, processors, accel, clock):
    engine = qemu.Qemu(settings(NAME='x'), name, kernel.Kernel('/boot/vmlinuz', '/lib/a,b', '6.1'), 2)
    engine.initrd, engine.sandbox = pathlib.Path('/s/initrd'), ['bwrap']
    with unittest.mock.patch.object(os, 'sched_getaffinity', lambda _: range(processors)):
        words = engine.command('b', 7, 8)
    assert words[words.index('-accel') + 1] == accel and ('clocksource' in ' '.join(words)) == clock
    assert (words[words.index('-cpu') + 1] == 'max') == (not clock)
    assert 'local,id=modules,path=/lib/a,,b,readonly=on,security_model=none' in words


def test_whether_a_guest_boots_in_kvm_is_found_out_once_until_this_machine_boots_again(tmp_path, monkeypatch):
    monkeypatch.setattr(os.path, 'exists', lambda path: True)
    monkeypatch.setattr(os, 'access', lambda path, how: True)
    here, found, tried = settings(CACHE=str(tmp_path)), kernel.Kernel('/boot/vmlinuz', '/lib/modules/6.1', '6.1'), []
    monkeypatch.setattr(qemu, 'boots', lambda found, how, seconds: tried.append(how) or len(tried) == 3)
    assert qemu.why_not_kvm(here, None) == '' and 'no guest booted' in qemu.why_not_kvm(here, found)
    assert qemu.why_not_kvm(here, found) == qemu.why_not_kvm(here, None) == 'no guest boots in /dev/kvm'
    assert 'no guest booted' in qemu.why_not_kvm(settings(CACHE=str(tmp_path), ENGINE='kvm'), found)
    (tmp_path / 'kvm').write_text('another boot\nhangs')
    assert qemu.why_not_kvm(here, found) == qemu.why_not_kvm(here, found) == '' and tried == ['kvm'] * 3


@pytest.mark.device
def test_a_guest_boots_or_does_not(tmp_path, monkeypatch):
    here = Settings(dict(os.environ))
    found = kernel.at_hand(here) or kernel.fetch(here)
    assert qemu.boots(found, 'tcg', 600)
    (tmp_path / qemu.machine().qemu).write_text('#!/bin/sh\nexec sleep 100\n')
    (tmp_path / qemu.machine().qemu).chmod(0o755)
    monkeypatch.setenv('PATH', f'{tmp_path}:{os.environ["PATH"]}')
    assert not qemu.boots(found, 'tcg', 0.5)


@pytest.mark.parametrize('not_uml, not_kvm, here, environment, engine', [
    ('', '', True, {}, 'kvm'), ('', '', False, {}, 'uml'), ('', 'no', True, {}, 'uml'), ('no', 'no', True, {}, 'tcg'),
    ('no', '', False, {}, 'kvm'), ('', '', True, {'DEVICE': 'siw'}, 'uml')])
def test_the_engine_is_kvm_then_uml_then_emulation(monkeypatch, not_uml, not_kvm, here, environment, engine):
    found = kernel.Kernel('/boot/vmlinuz', '/lib/modules/6.1', '6.1')
    monkeypatch.setattr(uml, 'why_not', lambda _: not_uml)
    monkeypatch.setattr(qemu, 'why_not_kvm', lambda *_: not_kvm)
    monkeypatch.setattr(kernel, 'at_hand', lambda _: found if here else None)
    assert choose.choose(settings(**environment), lambda _: found) == (engine, None if engine == 'uml' else found)


def test_what_is_asked_for_and_cannot_be_is_refused(monkeypatch):
    monkeypatch.setattr(uml, 'why_not', lambda _: 'no ptrace')
    monkeypatch.setattr(kernel, 'at_hand', lambda _: kernel.Kernel('/boot/vmlinuz', '/lib/modules/6.1', '6.1'))
    monkeypatch.setattr(qemu, 'why_not_kvm', lambda *_: 'no /dev/kvm')
    for environment, said in (({'ENGINE': 'uml'}, 'no ptrace'), ({'ENGINE': 'kvm'}, 'no /dev/kvm'), ({'DEVICE': 'siw'}, 'no siw')):
        with pytest.raises(Failed) as refused:
            choose.choose(settings(**environment))
        assert said in ' '.join(refused.value.args)


def test_it_is_said_why_nodes_are_emulated_unless_somebody_wants_it_so(tmp_path):
    assert choose.why_slower(settings(CACHE=str(tmp_path))) == ''
    (tmp_path / 'uml').mkdir()
    (tmp_path / 'uml/linux').write_text('#!/bin/sh\necho "check_ptrace : it is not"\n')
    (tmp_path / 'uml/linux').chmod(0o755)
    assert choose.why_slower(settings(CACHE=str(tmp_path))) == 'ptrace is forbidden here: check_ptrace : it is not'
    assert choose.why_slower(settings(CACHE=str(tmp_path), ENGINE='tcg')) == ''


def kept(cache, release, modules=COMPLETE):
    """A kernel in the cache."""
    folder = cache / 'kernel' / release
    (folder / 'modules' / release).mkdir(parents=True)
    (folder / 'vmlinuz').touch()
    (folder / 'modules' / release / 'modules.dep').write_text(modules)
    return folder


def test_the_newest_kernel_of_the_cache_is_taken_unpacked_if_it_is(tmp_path):
    for release in '6.9.1-amd64', '6.12.0-amd64', '6.1.0-56-amd64':
        kept(tmp_path, release)
    for image in 'vmlinuz', 'vmlinux':
        (tmp_path / 'kernel/6.12.0-amd64' / image).touch()
        assert kernel.from_cache(settings(CACHE=str(tmp_path))).image.endswith(f'/6.12.0-amd64/{image}')


def test_a_kernel_without_a_module_will_not_do_but_with_one_that_is_built_in(tmp_path):
    folder = kept(tmp_path, '6.1', COMPLETE.replace('kernel/rdma_rxe', 'kernel/xrdma_rxe'))
    assert kernel.from_cache(settings(CACHE=str(tmp_path))) is None
    asked = {'KERNEL': str(folder / 'vmlinuz'), 'MODULES': f'{folder}/modules/6.1/'}
    with pytest.raises(Failed, match='lack: rdma_rxe'):
        kernel.from_caller(settings(**asked))
    with pytest.raises(Failed, match='no modules for the kernel'):
        kernel.from_caller(settings(**asked | {'MODULES': str(folder)}))
    (folder / 'modules/6.1/modules.builtin').write_text('a/rdma_rxe.ko\n')
    assert kernel.from_cache(settings(CACHE=str(tmp_path))).release == '6.1'
    assert kernel.from_caller(settings(**asked)).release == '6.1'


@pytest.mark.parametrize('boot, modules', [('boot/vmlinuz-7.3.4', 'lib/modules/7.3.4'), ('boot/vmlinuz-7.3.4', 'usr/lib/modules/7.3.4'),
                                           ('usr/lib/modules/7.3.4/vmlinuz', 'usr/lib/modules/7.3.4')])
def test_run_takes_packages_of_each_debian_which_have_no_modules_dep(tmp_path, boot, modules):
    for file in boot, f'{modules}/modules.order', f'{modules}/modules.builtin':
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert run.kernel(str(tmp_path)) == {'LAB_KERNEL': str(tmp_path / boot), 'LAB_MODULES': str(tmp_path / modules)}
    assert (tmp_path / modules / 'modules.dep').exists()


def verdict(machine, architecture, number, *arguments):
    """What the filter says to a call, run as the kernel would."""
    data = struct.pack('=IIQ6Q', number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    program = list(struct.iter_unpack('=HBBI', sandbox.program(machine)))
    at = word = 0
    while True:
        code, yes, no, operand = program[at]
        at += 1
        if code == sandbox.LOAD:
            [word] = struct.unpack_from('=I', data, operand)
        elif code == sandbox.END:
            return operand
        else:
            at += yes if {sandbox.IF_EQUAL: word == operand, sandbox.IF_AT_LEAST: word >= operand,
                          sandbox.IF_SET: word & operand}[code] else no


X86, NR = sandbox.CALLS['x86_64']
REFUSED, ABSENT = sandbox.FAIL | errno.EPERM, sandbox.FAIL | errno.ENOSYS


@pytest.mark.parametrize('name, arguments, want', [
    ('chmod', (0, 0o4755), REFUSED), ('fchmodat', (0, 0, 0o6755), REFUSED), ('mknod', (0, 0o4600), REFUSED),
    ('open', (0, 0o101, 0o4600), REFUSED), ('chmod', (0, 0o2755), sandbox.FAIL), ('creat', (0, 0o2755), REFUSED),
    ('chmod', (0, 0o1777), sandbox.ALLOW), ('open', (0, 0, 0o4755), sandbox.ALLOW), ('openat', (0, 0, 0o100, 0o644), sandbox.ALLOW)])
def test_the_filter_lets_no_file_be_setuid_or_setgid(name, arguments, want):
    assert verdict('x86_64', X86, NR[name][0], *arguments) == want


def test_the_filter_leaves_no_way_past_it():
    for machine, (architecture, calls) in sandbox.CALLS.items():
        assert verdict(machine, architecture, calls['fchmod'][0], 3, 0o4755) == REFUSED
        for number in sandbox.ABSENT[machine].values():
            assert verdict(machine, architecture, number) == ABSENT
        assert verdict(machine, architecture, sandbox.CLONE[machine], 0x10000011) == REFUSED
        assert verdict(machine, architecture, sandbox.CLONE[machine], 0x11) == sandbox.ALLOW
    # x32, and another architecture, whose calls have other numbers.
    assert verdict('x86_64', X86, 0x40000000 + 90, 0, 0o4755) == ABSENT
    assert verdict('x86_64', 0x40000003, 15, 0, 0o4755) == ABSENT
    assert verdict('x86_64', X86, 0, 0o4755, 0o4755) == sandbox.ALLOW


def test_bwrap_gets_the_filter_also_from_a_process_that_has_no_other_file_open():
    subprocess.run([sys.executable, '-B', '-c', 'import sys; from lib.lab import sandbox; '
                    'sys.exit(sandbox.run(sandbox.command([]) + ["true"], (), 1).wait())'],
                   cwd=pathlib.Path(__file__).parent, check=True)
