# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: every example runs as a reader would run it, on the driver of this test run, and says nothing on stderr."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import cuda_graphs as cg

pytest.importorskip("matplotlib")

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def run(name, *arguments, cwd, code=0):
    child = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / name), *map(str, arguments)],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert child.returncode == code, child.stdout + child.stderr
    if code == 0:
        assert child.stderr == ""
    return child.stdout + child.stderr


@pytest.fixture
def small_map(tmp_path):
    z = np.random.default_rng(7).uniform(0, 500, (37, 53)).astype(np.float32)
    np.save(tmp_path / "small.npy", z)
    return tmp_path / "small.npy"


def test_every_example_is_tested_and_listed():
    source = Path(__file__).read_text()
    listed = (ROOT / "examples/README.md").read_text()
    for example in EXAMPLES:
        assert f'run("{example.name}"' in source
        assert f"`{example.name}`" in listed


def test_the_hillslope_of_the_real_map_agrees_with_numpy(tmp_path):
    output = run("hillslope.py", "--tolerance", 0.5, cwd=tmp_path)
    assert "map: 344 x 403 cells" in output
    assert "largest difference: 0 m" in output
    assert (tmp_path / "hillslope.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("driver", ["host", "auto"])
def test_the_hillslope_of_a_map_of_ones_own_agrees_with_numpy(driver, small_map, tmp_path):
    output = run(
        "hillslope.py", "--input", small_map, "--driver", driver, "--output", "own.png", cwd=tmp_path
    )
    assert "map: 37 x 53 cells" in output
    assert "largest difference: 0 m" in output
    assert (tmp_path / "own.png").exists()


def test_the_hillslope_takes_more_steps_for_a_smaller_tolerance(small_map, tmp_path):
    def steps(tolerance):
        output = run("hillslope.py", "--input", small_map, "--tolerance", tolerance, cwd=tmp_path)
        return int(output.partition("graph: ")[2].split()[0])

    assert 1 < steps(10) < steps(1)


def test_the_hillslope_stops_at_the_limit_of_steps(small_map, tmp_path):
    output = run("hillslope.py", "--input", small_map, "--tolerance", 0, "--steps", 17, cwd=tmp_path)
    assert "graph: 17 steps" in output


def test_the_hillslope_refuses_what_is_no_map(tmp_path):
    np.save(tmp_path / "line.npy", np.zeros(9))
    assert "two dimensions" in run("hillslope.py", "--input", "line.npy", cwd=tmp_path, code=1)


@pytest.mark.parametrize(
    ("tolerance", "first", "second"), [(0.25, 0.244140625, 0.06103515625), (2000, 500.0, 250.0)]
)
def test_the_device_loop_halves_until_the_tolerance_that_each_launch_is_given(
    tolerance, first, second, tmp_path
):
    output = run("device_loop.py", tolerance, cwd=tmp_path)
    assert "check: nothing found" in output
    assert f"until it was {first} on" in output
    assert f"until it was {second}\n" in output


@pytest.mark.parametrize("n", [1 << 12, 1000])
def test_the_named_parameters_reach_every_launch(n, tmp_path):
    output = run("named_parameters.py", n, cwd=tmp_path)
    assert f"{n} times 0.9766, {2 * n} times 0.1875, {n // 2 + 1} times 0.175" in output
    assert "tol is a f32, now 0.25" in output


def test_the_saved_solver_finds_the_straight_line_in_another_process(tmp_path):
    output = run("save_and_load.py", 33, cwd=tmp_path)
    assert "{'relaxation': LoopCount(iterations=" in output and "33 points between 1 and 3" in output


def test_the_adaptive_quadrature_finds_the_lengths_that_are_known(tmp_path):
    output = run("adaptive_quadrature.py", "--ellipses", 20, "--tolerance", 1e-11, cwd=tmp_path)
    assert "flat ellipse: 4.000000000, circle: 6.283185307" in output
    assert "differs by at most 0.001609" in output  # at the flat one, where the formula gives 3.998391


def newton_steps(output):
    """The third column of the table."""
    rows = [line.split() for line in output.splitlines() if line[:1] == " "]
    return [int(row[2]) for row in rows]


@pytest.mark.parametrize("eccentricity", [0, 0.1, 0.96714])
def test_the_root_finder_agrees_with_numpy_and_polishes_what_is_rough(eccentricity, tmp_path):
    output = run("root_finder.py", "--eccentricity", eccentricity, cwd=tmp_path)
    assert "Kepler's equation holds within 1e-13" in output
    assert len(newton_steps(output)) == 12
    assert all(1 <= steps < 10 for steps in newton_steps(output))


def test_the_root_finder_leaves_a_good_bracket_alone(tmp_path):
    output = run("root_finder.py", "--steps", 60, "--tolerance", 1e-8, cwd=tmp_path)
    assert newton_steps(output) == [0] * 12


def test_the_root_finder_refuses_what_is_no_ellipse(tmp_path):
    assert "less than 1" in run("root_finder.py", "--eccentricity", 1, cwd=tmp_path, code=1)


def test_the_switch_dispatch_agrees_with_numpy(tmp_path):
    output = run("switch_dispatch.py", cwd=tmp_path)
    assert "NumPy agrees" in output


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ([0], [-3, -4]),
        ([1], [6, 8]),
        ([2], [9, 16]),
        ([3], [3, 4]),
        ([4], [3, 5]),
        ([5], [3, 4]),
        ([1, 7, 0], [-6, -8]),
    ],
)
def test_each_branch_of_the_switch_does_its_own(program, expected, tmp_path):
    output = run("switch_dispatch.py", "--driver", "host", *program, cwd=tmp_path)
    assert f"[{', '.join(map(str, expected))}, " in output.splitlines()[1]


def test_the_switch_dispatch_refuses_a_program_that_is_too_long(tmp_path):
    assert "1 to 1024 numbers" in run("switch_dispatch.py", *[0] * 1025, cwd=tmp_path, code=1)


@pytest.mark.parametrize("n", [1000, 5])
def test_the_captured_loop_agrees_with_the_integral(n, tmp_path):
    output = run("stream_capture.py", n, cwd=tmp_path)
    assert output.startswith(f"{n} pendulums, 5 passes of the loop")


@pytest.mark.parametrize("driver", ["host", "auto"])
def test_the_fork_and_join_of_two_libraries_agrees_with_numpy(driver, monkeypatch, tmp_path):
    monkeypatch.setenv("CUDA_GRAPHS_DRIVER", driver)
    output = run("fork_join.py", 100_000, cwd=tmp_path)
    assert "fork behind MemcpyNode, joined by KernelNode; NumPy agrees" in output


def test_the_fork_and_join_is_of_cupy_and_pytorch_where_they_are(driver, tmp_path):
    there = driver.kind == "cuda" and all(find_spec(name) for name in ("cupy", "torch"))
    assert run("fork_join.py", cwd=tmp_path).startswith("CuPy" if there else "two programs")


def test_the_inference_of_pytorch_is_the_same_or_cannot_be_here(driver, tmp_path):
    output = run("torch_inference.py", cwd=tmp_path)
    if driver.kind == "cuda" and find_spec("torch"):
        assert "the graph gives what PyTorch gives, to the last bit" in output
    else:
        assert output.startswith("This example needs")


def test_requests_enter_and_leave_a_running_loop(tmp_path):
    output = run("serving.py", 100, cwd=tmp_path)
    assert output.startswith("100 requests, ")
    assert "in one launch" in output
    assert "NumPy agrees" in output


def test_training_with_graphs_is_training_without_them(tmp_path):
    output = run("torch_training.py", 4, cwd=tmp_path)
    if find_spec("torch"):
        assert "with and without graphs" in output
        assert "<graphed model for 2 of 8 shapes>" in output
    else:
        assert output.startswith("This example needs PyTorch")


def test_jax_finds_the_shape_of_a_chain(tmp_path):
    output = run("jax_kernels.py", cwd=tmp_path)
    assert ("the theory" if find_spec("jax") else "This example needs JAX") in output


def test_the_wave_comes_back_after_a_period(tmp_path):
    output = run("wave_equation.py", cwd=tmp_path)
    assert "228 calls" in output
    assert "76 launches of a graph" in output


def test_tiles_are_factored_side_by_side(tmp_path):
    output = run("tiled_cholesky.py", 5, 8, cwd=tmp_path)
    assert "5 x 5 tiles" in output and "35 calls" in output
    assert "longest chain: 13 calls" in output


def test_the_plate_comes_to_rest_on_the_device(tmp_path):
    assert "sweeps in one launch" in run("jacobi.py", cwd=tmp_path)


def test_the_plate_of_one_rank_comes_to_rest(tmp_path):
    pytest.importorskip("mpi4py", reason="needs pip install 'cuda-graphs[mpi]'")
    output = run("distributed_jacobi.py", "--size", 20, cwd=tmp_path)
    assert "rank 0 of 1: rows 1 to 18" in output and "NumPy agrees" in output


def test_conjugate_gradients_of_one_rank_end_on_the_device(tmp_path):
    pytest.importorskip("mpi4py", reason="needs pip install 'cuda-graphs[mpi]'")
    output = run("distributed_cg.py", "--size", 8, cwd=tmp_path)
    assert "rank 0 of 1: layers 0 to 7" in output and "one rank agrees" in output


def test_the_training_of_one_rank_agrees_with_numpy(tmp_path):
    pytest.importorskip("mpi4py", reason="needs pip install 'cuda-graphs[mpi]'")
    output = run("data_parallel.py", "--steps", 20, cwd=tmp_path)
    assert "20 steps in one launch" in output and "NumPy agrees" in output


def test_conjugate_gradients_end_on_the_device(tmp_path):
    """One launch for each tolerance, and the residual is what was asked for, which the example compares with NumPy."""
    output = run("conjugate_gradient.py", cwd=tmp_path)
    assert output.count("rounds in one launch") == 3
    assert "graphs=1, builds=1, replayed=True" in output or "lowering='host'" in output


def test_attention_agrees_with_numpy(tmp_path):
    assert "in one launch of 3 nodes" in run("attention.py", cwd=tmp_path)


def test_the_bodies_keep_their_energy(tmp_path):
    assert "after 100 steps" in run("n_body.py", cwd=tmp_path)


def test_the_inverse_heat_problem_finds_its_sources_and_writes_a_picture(tmp_path):
    output = run("inverse_heat.py", "--rounds", 40, "--output", "found.png", cwd=tmp_path)
    first, last = (float(part) for part in output.partition("misfit: ")[2].partition("\n")[0].split(" -> "))
    assert last < 1e-3 * first
    assert float(output.partition("relative error of the source ")[2].split()[0]) < 0.3
    assert (tmp_path / "found.png").read_bytes().startswith(b"\x89PNG")
    assert "1 or more" in run("inverse_heat.py", "--rounds", 0, cwd=tmp_path, code=1)


def test_the_image_filter_agrees_with_numpy_and_writes_a_picture(tmp_path):
    output = run("image_filter.py", cwd=tmp_path)
    assert "picture: 600 x 512 pixels" in output
    assert "graph of 4 kernels" in output
    assert float(output.partition("largest difference: ")[2].split()[0]) < 1e-4
    assert (tmp_path / "image_filter.png").read_bytes().startswith(b"\x89PNG")


def test_the_image_filter_takes_a_picture_of_ones_own(tmp_path):
    from matplotlib.image import imread, imsave

    imsave(tmp_path / "own.png", np.random.default_rng(5).uniform(size=(23, 41, 3)))
    output = run(
        "image_filter.py", "--input", "own.png", "--passes", 1, "--output", "drawn.png", cwd=tmp_path
    )
    assert "picture: 23 x 41 pixels" in output
    assert "graph of 2 kernels" in output
    assert imread(tmp_path / "drawn.png").std() > 0.01


def test_the_image_filter_refuses_what_has_no_colours_and_no_passes(tmp_path):
    from PIL import Image

    Image.fromarray(np.zeros((5, 5), np.uint8)).save(tmp_path / "grey.png")
    assert "has colours" in run("image_filter.py", "--input", "grey.png", cwd=tmp_path, code=1)
    assert "1 or more" in run("image_filter.py", "--passes", 0, cwd=tmp_path, code=1)


@pytest.mark.parametrize(("room", "grows"), [(4, True), (100_000, False)])
def test_the_list_of_close_pairs_grows_when_it_must_and_agrees_with_numpy(room, grows, tmp_path):
    output = run("close_pairs.py", "--room", room, cwd=tmp_path)
    assert ("a larger list, and on at FIND" in output) == grows
    assert "1 graph; NumPy agrees" in output


def test_the_fluid_moves_as_in_numpy_and_stays_in_the_box(tmp_path):
    output = run("fluid_mpm.py", 500, 300, cwd=tmp_path)
    assert "500 particles, after 50 steps" in output
    assert "300 more steps" in output


def test_the_cloth_is_thrown_to_the_target_by_the_right_gradient(tmp_path):
    output = run("cloth_throw.py", cwd=tmp_path)
    assert "302 calls, 1061 with repeats" in output
    assert "it lands 0.01 cm away" in output


def test_the_chain_has_the_period_of_theory_and_keeps_its_energy(tmp_path):
    output = run("rigid_chain.py", 16, cwd=tmp_path)
    assert "period of one body 0.916" in output
    assert "16 chains of 5 bodies" in output


def test_both_configurations_of_the_net_hang_in_one_place_and_carry_its_weight(tmp_path):
    output = run("hanging_net.py", 5, cwd=tmp_path)
    assert output.count("the corners carry 4.9050 N of 4.9050 N") == 2
    assert "2 specialisations" in output


def test_the_profiled_graph_names_its_slow_loop_and_its_files_have_the_runs(tmp_path):
    output = run("profile_graph.py", tmp_path, cwd=tmp_path)
    if "pip install" in output:  # a GPU without CUPTI
        return
    assert re.search(r"\* until smooth +while +10 ", output)
    steps = int(re.search(r"(\d+) iterations a launch", output)[1])
    events = json.loads((tmp_path / "profile_trace.json").read_text())["traceEvents"]
    assert sum(event["name"] == "body, repeated" for event in events) == 10 * steps
    for name in ("profile_graph.svg", "profile_gantt.svg"):
        assert "until smooth" in (tmp_path / name).read_text()


def test_the_drawn_graph_has_its_loop_and_the_mistake_is_marked(tmp_path):
    output = run("draw_graph.py", tmp_path, cwd=tmp_path)
    assert "7 until steady  while" in output
    assert "findings after a fill without an edge" in output
    assert "until steady" in (tmp_path / "heat.svg").read_text()
    assert "noted" in (tmp_path / "mistake.svg").read_text()


def test_the_plate_that_two_devices_share_agrees_with_numpy(tmp_path):
    few = cg.driver_info().kind == "cuda" and len(cg.Device.get_all_devices()) < 2
    output = run("two_devices.py", 64, 10, cwd=tmp_path, code=int(few))
    assert ("needs two devices" if few else "12 nodes, 5 launches") in output
