# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `show` says what a saved graph holds without loading it, and `run` launches it with files of NumPy."""

import json

import numpy as np
import pytest

import cuda_graphs as cg
from tests.command_line.conftest import command

__all__ = ["command"]

Floats = cg.types.ndarray(cg.f32, ndim=1)


@cg.kernel
def scaled(a: cg.f32, x: Floats, y: Floats):
    for i in x:
        y[i] = a * x[i]


@cg.kernel
def added(x: Floats, y: Floats):
    for i in x:
        y[i] += x[i]


@pytest.fixture
def file(device, tmp_path):
    x, y = cg.ndarray(cg.f32, 6), cg.ndarray(cg.f32, 6)
    g = cg.GraphDef()
    g.call(scaled, g.param("a", cg.f32, default=2.0), x, y)
    g.save(tmp_path / "scaled.cgg", inputs={"x": x}, outputs={"y": y})
    return "scaled.cgg"


def test_show_lists_nodes_parameters_and_kernels(command, file):
    facts = json.loads(command("show", file, "--json").stdout)
    assert facts["nodes"] == {"kernel": 1} and facts["driver"] == cg.driver_info().kind
    assert facts["parameters"]["x"] == {"type": "ndarray(f32, ndim=1)", "shape": [6], "role": "input"}
    assert facts["parameters"]["a"]["role"] == "parameter"
    assert facts["kernels"] == [{"name": "scaled_0_loop", "code": ["native", "ptx"], "missing": None}]
    text = command("show", file).stdout
    assert (
        "input x: ndarray(f32, ndim=1) of shape (6,)" in text and "kernel scaled_0_loop: native, ptx" in text
    )


def test_draw_and_check_take_saved_graphs(command, file):
    assert "kernel" in command("draw", file).stdout.splitlines()[1]
    assert command("check", file).stdout == "scaled: nothing found\n"


@pytest.fixture
def calling(device, tmp_path):
    """A file whose graph calls functions of the host."""
    x = cg.zeros(6)
    g = cg.GraphDef()
    g.memset(x, 0, name="clear").callback(lambda: None, name="first").callback(lambda: None, name="second")
    g.save(tmp_path / "calling.cgg", outputs={"x": x})
    return "calling.cgg"


def test_draw_and_check_need_no_functions_of_the_host(command, calling):
    tree = command("draw", calling)
    assert tree.returncode == 0, tree.stderr
    assert "first" in tree.stdout and "second" in tree.stdout
    assert command("check", calling).stdout.startswith("calling: nothing found\n")


@pytest.mark.parametrize("line", ["run", "profile", "profile --launches 2"])
def test_launches_need_the_functions_of_the_host(command, calling, line):
    refused = command(*line.split(), calling)
    assert refused.returncode == 3 and "Traceback" not in refused.stderr
    assert "calls functions of the host (first, second): launch it in Python" in refused.stderr


def test_profile_takes_saved_graphs(command, file, host_driver):
    profile = json.loads(command("profile", file, "--launches", "3", "--json").stdout)
    assert [(graph["name"], graph["launches"]) for graph in profile["graphs"]] == [("scaled", 3)]
    assert [row["runs"] for row in profile["graphs"][0]["nodes"]] == [3]


def test_saved_graphs_take_no_arguments(command, file):
    refused = command("draw", file, "--", "x")
    assert refused.returncode == 2
    assert "scaled.cgg is a saved graph, which takes no arguments after `--`" in refused.stderr


def test_run_reads_inputs_and_writes_outputs(command, file, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.float32))
    done = command("run", file, "--input", "x=x.npy", "--output", "y.npy", "--set", "a=-3")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "y.npy: y, float32 of shape (6,)\n"
    assert (np.load(tmp_path / "y.npy") == -3 * np.arange(6)).all()


def test_run_begins_with_the_saved_contents(command, device, tmp_path):
    """Those of an input that is not given, and of an output that the graph adds to."""
    x, y = (cg.array(np.full(6, value, np.float32)) for value in (3, 10))
    z = cg.array(np.arange(6, dtype=np.float32))
    g = cg.GraphDef()
    g.call(added, x, y).call(added, y, z)
    g.save(tmp_path / "sums.cgg", inputs={"x": x, "z": z}, outputs={"y": y, "z": z}, include=[x, y, z])
    done = command("run", "sums.cgg", "--output", "y.npy", "--output", "z=all.npy")
    assert done.returncode == 0, done.stderr
    assert (np.load(tmp_path / "y.npy") == 13).all()
    assert (np.load(tmp_path / "all.npy") == 13 + np.arange(6)).all()
    np.save(tmp_path / "z.npy", np.ones(6, np.float32))
    assert command("run", "sums.cgg", "--input", "z=z.npy", "--output", "z.npy").returncode == 0
    assert (np.load(tmp_path / "z.npy") == 14).all()


@pytest.mark.parametrize(
    "dtype", [cg.f16, cg.bf16, cg.f64, cg.i8, cg.u32, cg.bool, cg.vec3, cg.mat2[cg.i16]], ids=str
)
def test_run_takes_arrays_of_every_type(command, device, tmp_path, dtype):
    x, y = (cg.ndarray(dtype, (2, 3)) for _ in range(2))
    g = cg.GraphDef()
    g.memcpy(y, x)
    g.save(tmp_path / "copy.cgg", inputs={"x": x}, outputs={"y": y})
    x.fill(1)
    np.save(tmp_path / "x.npy", x.to_numpy())
    done = command("run", "copy.cgg", "--input", "x=x.npy", "--output", "y.npy")
    assert done.returncode == 0, done.stderr
    found, wanted = np.load(tmp_path / "y.npy"), x.to_numpy()
    assert found.shape == wanted.shape and found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("memory", ["pinned", "managed", "device"])
def test_run_uses_the_kind_of_memory_that_was_saved(command, device, tmp_path, memory):
    """Copies of executables take no other kind."""
    resources = {"pinned": cg.PinnedMemoryResource, "managed": lambda: cg.ManagedMemoryResource(device)}
    resource = device.memory_resource if memory == "device" else resources[memory]()
    x, y = resource.allocate(16), resource.allocate(16)
    g = cg.GraphDef()
    g.memcpy(y, x)
    g.save(tmp_path / "copy.cgg", inputs={"x": x}, outputs={"y": y})
    np.save(tmp_path / "x.npy", np.arange(16, dtype=np.uint8))
    done = command("run", "copy.cgg", "--input", "x=x.npy", "--output", "y.npy")
    assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "y.npy").tolist() == list(range(16))


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("show missing.cgg", 3, "cannot read missing.cgg: No such file or directory"),
        ("show x.npy", 3, "is no zip file"),
        ("run missing.cgg", 3, "cannot read missing.cgg: No such file or directory"),
        ("run x.npy", 3, "is no zip file"),
        ("run scaled.cgg --input z=x.npy", 2, "there is no input 'z': the inputs are x"),
        ("run scaled.cgg --output z.npy", 2, "there is no output 'z': the outputs are y"),
        ("run scaled.cgg --input x", 2, "--input takes NAME=VALUE"),
        ("run scaled.cgg --input x=no.npy", 3, "cannot read no.npy"),
        ("run scaled.cgg --input x=short.npy", 2, "--input x=short.npy"),
        ("run scaled.cgg --set a=b", 2, "is no number"),
        ("run scaled.cgg --set b=1", 3, "cannot be launched"),
        ("run scaled.cgg --output y=no/y.npy", 3, "cannot write no/y.npy"),
    ],
)
def test_wrong_command_lines_end_with_their_code_and_message(command, file, tmp_path, line, code, words):
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.float32))
    np.save(tmp_path / "short.npy", np.arange(5, dtype=np.float32))
    done = command(*line.split())
    assert done.returncode == code, done.stdout + done.stderr
    assert words in done.stderr and "Traceback" not in done.stderr
