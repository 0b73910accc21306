# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The cache gives back what was built, and never runs what it cannot vouch for."""

import os
import subprocess
import sys

import numpy as np
import pytest

from cuda_graphs.hostdriver.ptx import cache, code_generation
from cuda_graphs.native import disk_cache
from tests.ptx.rig import HEADER, load

TEXT = (
    HEADER
    + """
.const .u32 k = 5;
.visible .entry add(.param .u64 p, .param .align 4 .b8 s[12]) .maxntid 64, 2, 1 {
  .reg .b64 %rd<2>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; ld.const.u32 %r2, [k]; add.u32 %r1, %r1, %r2;
  st.global.u32 [%rd1], %r1; ret;
}
"""
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_GRAPHS_CACHE", "1")
    monkeypatch.setenv("CUDA_GRAPHS_CACHE_DIR", str(tmp_path / "c"))
    return tmp_path / "c"


@pytest.fixture
def builds(monkeypatch):
    """Counts translations."""
    found = []
    real = code_generation.object_code
    monkeypatch.setattr(code_generation, "object_code", lambda ir: found.append(1) or real(ir))
    return found


def run() -> int:
    program = load(TEXT)
    kernel = program.kernels["add"]
    assert (kernel.param_count, kernel.param_bytes, kernel.max_threads_per_block, kernel.const_bytes) == (
        2,
        20,
        128,
        4,
    )
    value = np.array([10], np.uint32)
    program.launch("add", 1, 1, value, bytes(12))
    return int(value[0])


def test_a_second_load_builds_nothing_and_runs_the_same(folder, builds):
    assert run() == run() == 15
    assert len(builds) == 1
    assert len(list(folder.iterdir())) == 1


def test_the_folder_is_private(folder):
    run()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert next(folder.iterdir()).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: b"", lambda data: data[:99] + b"?" + data[100:]]
)
def test_a_damaged_entry_is_reported_rebuilt_and_not_run(folder, builds, damage):
    run()
    entry = next(folder.iterdir())
    entry.write_bytes(damage(entry.read_bytes()))
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert run() == 15
    assert len(builds) == 2
    assert run() == 15
    assert len(builds) == 2


@pytest.mark.parametrize(
    "content", [b"", b"{not JSON", b"[]", b'{"kernels": []}', b'{"kernels": 1, "globals": 2}']
)
def test_an_entry_with_wrong_content_is_reported_and_rebuilt(folder, builds, content):
    run()
    name = next(folder.iterdir()).stem
    assert disk_cache.write(cache.KIND, name, len(content).to_bytes(8, "little") + content)
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert run() == 15
    assert run() == 15
    assert len(builds) == 2


def test_zero_turns_it_off(folder, builds, monkeypatch):
    monkeypatch.setenv("CUDA_GRAPHS_CACHE", "0")
    assert run() == run() == 15
    assert len(builds) == 2
    assert not folder.exists()


def test_a_folder_that_others_can_write_is_not_used(folder, builds):
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="not used"):
        assert run() == 15
    assert not list(folder.iterdir())


def test_the_least_recently_used_entries_go_first(folder):
    folder.mkdir(mode=0o700)
    for number in range(5):
        path = folder / f"{number}.{cache.KIND}"
        path.write_bytes(bytes(100))
        os.utime(path, (number, number))
    disk_cache.trim(folder, 250)
    assert sorted(path.name for path in folder.iterdir()) == [f"{n}.{cache.KIND}" for n in (3, 4)]


def test_the_default_place_honours_xdg(monkeypatch, tmp_path):
    monkeypatch.delenv("CUDA_GRAPHS_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert disk_cache.directory() == tmp_path / "cuda_graphs"


def test_the_key_depends_on_content_and_host():
    host = {"cpu": "a", "features": "b"}
    keys = {cache.key(b"x", host), cache.key(b"y", host), cache.key(b"x", host | {"cpu": "c"})}
    assert len(keys) == 3


def test_a_hit_in_a_new_process_parses_and_compiles_nothing(folder):
    run()
    code = (
        "import sys; from tests.ptx.rig import load; from tests.ptx.test_cache import TEXT\n"
        "load(TEXT)\n"
        "assert 'cuda_graphs.hostdriver.ptx.syntax.parser' not in sys.modules, 'parsed'\n"
    )
    path = os.pathsep.join(entry for entry in sys.path if entry)
    subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, timeout=60, env=os.environ | {"PYTHONPATH": path}
    )
