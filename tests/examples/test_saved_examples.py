# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the graphs of every example can be saved; another process loads them, on this driver or on the other one, and a
launch gives the same arrays."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests/examples/saved_graphs.py"

# Example -> (its arguments, graphs that it instantiates).
SAVED = {
    "attention": ([], 1),
    "conjugate_gradient": ([], 1),
    "device_loop": ([], 1),
    "draw_graph": ([], 1),
    "fluid_mpm": ([100, 20], 1),
    "fork_join": ([100_000], 1),
    "hanging_net": ([5], 2),
    "hillslope": (["--tolerance", 0.5], 1),
    "image_filter": ([], 1),
    "jacobi": ([], 1),
    "n_body": ([], 1),
    "profile_graph": ([], 1),
    "root_finder": ([], 1),
    "stream_capture": ([], 1),
    "switch_dispatch": ([], 1),
    "tiled_cholesky": ([5, 8], 1),
    "wave_equation": ([], 1),
}
NEEDS_CUPTI = ("profile_graph",)
# Example -> why it has no graph that a launch by itself could repeat.
WITHOUT = {
    "close_pairs": "the order of the pairs depends on the threads",
    **dict.fromkeys(("adaptive_quadrature", "rigid_chain"), "kernels only"),
    **dict.fromkeys(("cloth_throw", "inverse_heat"), "tapes"),
    **dict.fromkeys(
        ("data_parallel", "distributed_cg", "distributed_jacobi"), "collectives of several processes"
    ),
    **dict.fromkeys(("jax_kernels", "torch_inference", "torch_training"), "graphs of another library"),
    "named_parameters": "a launch must pass an array",
    "save_and_load": "saves and loads itself, in another process",
    "serving": "its loop runs until the host ends it",
    "two_devices": "a file is for one device",
}


def test_every_example_is_saved_or_has_a_reason():
    names = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert names == {*SAVED, *WITHOUT}
    assert not SAVED.keys() & WITHOUT.keys()


@pytest.mark.parametrize("name", SAVED)
def test_files_of_examples_give_the_same_in_another_process(name, driver, tmp_path):
    record_and_replay(name, driver.kind, driver.kind, tmp_path)


@pytest.mark.cuda
@pytest.mark.parametrize(("saver", "loader"), [("host", "cuda"), ("cuda", "host")])
@pytest.mark.parametrize("name", SAVED)
def test_files_of_examples_give_the_same_on_the_other_driver(name, saver, loader, tmp_path):
    record_and_replay(name, saver, loader, tmp_path)


def record_and_replay(name, saver, loader, tmp_path):
    """Save the graphs of an example on one driver; load and launch them on another one."""
    if name in NEEDS_CUPTI and saver == "cuda":
        pytest.importorskip("cupti", reason="on a GPU the example ends at once without cupti-python")
    arguments, graphs = SAVED[name]
    folder = tmp_path / "saved"
    folder.mkdir()
    run(saver, "record", folder, ROOT / f"examples/{name}.py", *arguments, cwd=tmp_path)
    assert json.loads((folder / "found.json").read_text()) == [""] * graphs
    assert int(run(loader, "replay", folder, cwd=tmp_path)) > 0


def run(driver, *arguments, cwd):
    """Run the script on a driver, and return the last line of its output."""
    environment = {
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
        "CUDA_GRAPHS_DRIVER": driver,
        "CUDA_GRAPHS_HOST_THREADS": "0",  # otherwise the order of sums may decide how often a loop runs
    }
    child = subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert child.returncode == 0, child.stdout + child.stderr
    return child.stdout.splitlines()[-1]
