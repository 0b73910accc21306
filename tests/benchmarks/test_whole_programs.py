# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: each whole program of the benchmark computes what NumPy computes, and every figure of a run is comparable."""

import dataclasses
import importlib
import json
import subprocess
import sys

import numpy as np
import pytest

import cuda_graphs as cg
from tests.conftest import ROOT

# Program -> parameters of its data: the smallest that exercise all of its parts.
SMALL = {
    "jacobi": {"n": 20, "tolerance": 1e-3, "pairs": 100},
    "cg_3d": {"n": 6, "tolerance": 1e-3, "rounds": 50},
    "lattice_d2q9": {"n": 8, "steps": 10},
    "lattice_d3q19": {"n": 6, "steps": 10},
    "mpm": {"grid": 32, "count": 200, "steps": 10},
    "fdtd": {"n": 20, "steps": 10},
    "n_body": {"n": 50, "steps": 5},
    "small_odes": {"n": 20, "steps": 50},
    "springs": {"n": 5, "steps": 8},
    "attention": {"rows": 64, "width": 128},
    "page_rank": {"n": 50, "links": 4, "steps": 10},
    "equalise": {"n": 20},
}


@pytest.fixture
def benchmark_modules(monkeypatch):
    """Imports modules of benchmarks/ by the names that its programs use."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


@pytest.fixture
def kit(benchmark_modules, device):
    return benchmark_modules("programs.kits").with_cuda_graphs(cg.driver_info().kind == "cuda")


def test_benchmark_runs_the_programs_of_these_tests(benchmark_modules):
    assert list(benchmark_modules("whole_programs").PROGRAMS) == list(SMALL)


def difference(found, wanted):
    return np.abs(found.astype("f8") - wanted).max() / np.abs(wanted.astype("f8")).max()


@pytest.mark.parametrize("program", SMALL)
def test_program_computes_the_result_of_numpy_in_every_run(program, kit, benchmark_modules):
    module = benchmark_modules(f"programs.{program}")
    wanted = module.truth(**module.data(**SMALL[program]))
    run = module.with_cuda_graphs(kit, **module.data(**SMALL[program]))
    for _ in range(2):
        run.reset()
        run.call()
        kit.sync()
        found = np.asarray(run.result())
        assert found.shape == wanted.shape
        assert difference(found, wanted) <= module.TOLERANCE


@pytest.mark.parametrize("program", ["jacobi", "cg_3d"])
def test_program_that_ends_at_a_tolerance_counts_its_iterations(program, kit, benchmark_modules):
    module = benchmark_modules(f"programs.{program}")
    counts = []
    for tolerance in (1e-1, 1e-3):
        run = module.with_cuda_graphs(kit, **module.data(**SMALL[program] | {"tolerance": tolerance}))
        run.reset()
        run.call()
        kit.sync()
        counts.append(run.done())
    assert 0 < counts[0] < counts[1]


@pytest.mark.parametrize("program", SMALL)
def test_smallest_data_need_little_and_run(program, kit, benchmark_modules):
    module = benchmark_modules(f"programs.{program}")
    done = 3
    size = module.SIZES["small"]
    smallest = module.smallest(done, size)
    most, least = module.work(done, **size), module.work(done, **smallest)
    assert least.bytes + least.flops < 0.5 * (most.bytes + most.flops)
    run = module.with_cuda_graphs(kit, **module.data(**smallest))
    run.reset()
    run.call()
    kit.sync()


@pytest.mark.parametrize("program", SMALL)
def test_sizes_grow_in_work(program, benchmark_modules):
    module = benchmark_modules(f"programs.{program}")
    assert list(module.SIZES) == ["small", "medium", "large"]
    works = [sum(module.work(10, **size)) for size in module.SIZES.values()]
    assert works == sorted(works)


def test_attention_of_blocks_computes_the_result_of_numpy(kit, benchmark_modules):
    """Its kernels for a GPU, on every driver."""
    module = benchmark_modules("programs.attention")
    given = module.data(rows=64, width=64)
    run = module.with_cuda_graphs(dataclasses.replace(kit, on_gpu=True), **given)
    run.call()
    kit.sync()
    assert difference(run.result(), module.truth(**given)) <= module.TOLERANCE


def test_result_beyond_the_tolerance_makes_a_contestant_absent(benchmark_modules):
    contestant, absent = benchmark_modules("program_contestant"), benchmark_modules("contestant").Absent
    wanted = np.array([1.0, -4.0])
    contestant.compare(wanted + 0.004, wanted, 1e-2)
    for wrong in (wanted + 0.05, wanted * np.nan, wanted[:1]):
        with pytest.raises(absent):
            contestant.compare(wrong, wanted, 1e-2)


def test_run_writes_figures_limits_and_reasons(tmp_path):
    file = tmp_path / "figures.json"
    command = [
        sys.executable,
        ROOT / "benchmarks/whole_programs.py",
        "--only",
        "small_odes",
        "--sizes",
        "small",
    ]
    options = ["--peers", "CuPy", "--rounds", "2", "--driver", cg.driver_info().kind, "--json", file]
    subprocess.run([*command, *options], check=True, capture_output=True, cwd=ROOT)
    found = json.loads(file.read_text())
    entry = found["programs"]["small_odes"]["small"]
    assert entry["figures"]["cuda_graphs"]["best"] > 0
    assert entry["limit"] == pytest.approx(1e6 * entry["flops"] / found["limits"]["flops"])
    assert entry["launch"] > 0
    assert (entry["figures"]["CuPy"] is None) == any("CuPy" in reason for reason in found["absent"])


FRAGILE = """
import sys
sys.path.insert(0, {benchmarks!r})
from contestant import Worker, serve

class Fragile(Worker):
    is_broken = False

    def come(self):
        pass

    def take(self, program, size, wanted):
        self.is_broken = self.is_broken or program == "bad"
        if self.is_broken:
            raise RuntimeError("an illegal memory access")

serve(Fragile)
"""


def test_an_error_of_one_program_does_not_count_for_the_next(benchmark_modules, tmp_path):
    programs = benchmark_modules("program_contestant")
    script = tmp_path / "fragile.py"
    script.write_text(FRAGILE.format(benchmarks=str(ROOT / "benchmarks")))
    contestant = type("Fragile", (programs.ProgramContestant,), {"script": script})("fragile", "")
    with pytest.raises(programs.Absent, match="RuntimeError: an illegal memory access"):
        contestant.take("bad", "small")
    contestant.take("good", "small")
    contestant.end()
