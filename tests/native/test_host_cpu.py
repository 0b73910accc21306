# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the CPU that code is made for is known without LLVM, by what the system says of it. LLVM is mapped early, which
loads nothing of llvmlite."""

import os
import threading

import pytest

from cuda_graphs.native import host_cpu, llvm

LINE = (
    "processor\t: {n}\nvendor_id\t: Acme\nmodel\t\t: 17\ncpu MHz\t\t: {mhz}\nflags\t\t: fpu {flag}\n"
    "core id\t\t: {n}\n\n"
)


@pytest.fixture
def cpu(tmp_path, monkeypatch):
    """Have the system describe another CPU. Gives what is then said of it."""

    def describe(text):
        file = tmp_path / "cpuinfo"
        file.write_text(text)
        monkeypatch.setattr(host_cpu, "FILE", str(file))
        host_cpu.identity.cache_clear()
        return host_cpu.identity()

    yield describe
    host_cpu.identity.cache_clear()


def test_cores_and_clocks_do_not_matter_but_what_the_cpu_can_do(cpu):
    here = cpu(LINE.format(n=0, mhz=2000, flag="avx2") + LINE.format(n=1, mhz=3000, flag="avx2"))
    assert "Acme" in here
    assert cpu(LINE.format(n=5, mhz=1234.5, flag="avx2")) == here
    assert cpu(LINE.format(n=0, mhz=2000, flag="avx512f")) != here


def test_only_the_first_core_is_read(cpu, monkeypatch):
    assert cpu(LINE.format(n=0, mhz=1, flag="a") * 10_000) == cpu(LINE.format(n=0, mhz=1, flag="a"))
    reads = []
    real = os.read
    monkeypatch.setattr(os, "read", lambda *args: reads.append(args) or real(*args))
    cpu(LINE.format(n=0, mhz=1, flag="a") * 10_000)
    assert len(reads) == 1


@pytest.mark.parametrize("text", ["", "nothing that is known\t: 1\n\n"])
def test_llvm_names_the_cpu_where_the_system_does_not(cpu, text):
    assert cpu(text) == str(llvm.requirements())


def test_llvm_names_the_cpu_where_the_file_is_missing(monkeypatch):
    monkeypatch.setattr(host_cpu, "FILE", "/nowhere")
    host_cpu.identity.cache_clear()
    try:
        assert host_cpu.identity() == str(llvm.requirements())
    finally:
        host_cpu.identity.cache_clear()


def test_an_image_is_known_again_by_all_that_it_says_of_its_cpu():
    made = {
        host_cpu.made_here("x86_64", ["avx2"]),
        host_cpu.made_here("x86_64", ["avx2", "fma"]),
        host_cpu.made_here("riscv64", ["avx2"]),
    }
    assert len(made) == 3
    assert host_cpu.made_here("x86_64", ["avx2"]) in made


MAPS = """
import sys, threading
from cuda_graphs.native import llvm
before = set(threading.enumerate())
llvm.preload()
for thread in set(threading.enumerate()) - before:
    thread.join()
mapped = "libllvmlite" in open("/proc/self/maps").read()
print(mapped, "llvmlite" in sys.modules)
from llvmlite import binding
print(binding.llvm_version_info[0] > 0)
"""


def test_llvm_is_mapped_without_llvmlite_which_finds_it_later(run_child):
    done = run_child(MAPS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "False", "True"]


def test_llvm_that_is_loaded_is_not_mapped_again():
    llvm.binding()
    llvm.preload.cache_clear()
    before = threading.active_count()
    llvm.preload()
    assert threading.active_count() == before
