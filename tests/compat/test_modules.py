# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the modules with the peers' names: programs ask for them, they say what is absent, and wait for views."""

import cmath
import random
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import cuda_graphs as cg
import cuda_graphs.compat.quadrants as qd
import cuda_graphs.compat.taichi as ti
import cuda_graphs.compat.taichi.math as tm
from cuda_graphs.compat import absent

array = ti.types.ndarray(dtype=ti.i64, ndim=1)


def test_import_of_the_package_does_not_import_the_modules(run_child):
    found = run_child("import sys, cuda_graphs; print([each for each in sys.modules if 'compat' in each])")
    assert (found.stdout.strip(), found.stderr) == ("[]", "")


SCRIPT = """
    import sys
    import taichi as ti
    import taichi.math as tm
    import quadrants as qd

    ti.init(arch=ti.cpu)
    x = ti.field(ti.f32, shape=4)

    @ti.kernel
    def fill():
        for i in x:
            x[i] = tm.pi * i

    if __name__ == "__main__":
        fill()
        print(ti.__name__, qd.__name__, round(x[2], 3), sys.argv[1:])
        try:
            import taichi.lang.impl
        except ModuleNotFoundError as error:
            print(error)
"""


@pytest.mark.parametrize("as_module", [False, True])
def test_script_of_the_peers_runs_unchanged(as_module, tmp_path, run_child, driver):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    command = ["-m", "script", "a", "-b"] if as_module else [str(script), "a", "-b"]
    code = f"""if True:
        import os, subprocess, sys
        os.chdir({str(tmp_path)!r})
        sys.exit(subprocess.run([sys.executable, "-m", "cuda_graphs.compat", *{command}]).returncode)
    """
    found = run_child(code)
    assert found.returncode == 0, found.stderr
    first, second = found.stdout.splitlines()
    assert first == "cuda_graphs.compat.taichi cuda_graphs.compat.quadrants 6.283 ['a', '-b']"
    assert second.startswith("No module named 'taichi.lang")


def test_command_without_a_script_says_its_usage():
    found = subprocess.run(
        [sys.executable, "-m", "cuda_graphs.compat"], capture_output=True, text=True, check=False
    )
    assert found.returncode == 1
    assert "usage: python -m cuda_graphs.compat" in found.stderr


@pytest.mark.parametrize("name", sorted(absent.ABSENT))
def test_absent_names_say_why(name):
    owner, words = ti, name.split(".")
    for word in words[:-1]:
        owner = getattr(owner, word)
    with pytest.raises(AttributeError, match="absent"):
        getattr(owner, words[-1])


def test_names_that_neither_peer_has_are_usual_errors():
    for module, name in ((ti, "taichi"), (tm, "math")):
        with pytest.raises(
            AttributeError, match=f"module 'cuda_graphs.compat.{name}' has no attribute 'flield'"
        ):
            module.flield  # noqa: B018
    assert not hasattr(tm, "__wrapped__")


def test_options_of_init_reach_kernels_that_were_defined_before():
    @ti.kernel
    def third() -> ti.f64:
        return 1.0 / 3.0

    assert third() == np.float32(1) / np.float32(3)
    ti.init(default_fp=ti.f64)
    assert third() == 1 / 3
    assert ti.field(float, shape=2).dtype is ti.f64


def test_numbers_have_the_bits_of_the_source_whatever_fast_math_says():
    x, y, z = np.random.default_rng(2).random((3, 1000), dtype=np.float32)
    ti.init(fast_math=True)

    @ti.kernel
    def compute(x: ti.types.ndarray(), y: ti.types.ndarray(), z: ti.types.ndarray()):
        for i in x:
            z[i] = (x[i] * y[i] - z[i]) / y[i] + x[i] - y[i]

    truth = (x * y - z) / y + x - y
    compute(x, y, z)
    np.testing.assert_array_equal(z, truth)


def test_unknown_options_of_init_are_refused():
    ti.init(offline_cache=False, kernel_profiler=True)
    with pytest.raises(TypeError, match="no option 'arhc'"):
        ti.init(arhc=ti.cpu)


def test_debug_checks_indices():
    ti.init(debug=True)
    x = ti.field(ti.i32, shape=3)

    @ti.kernel
    def write(i: ti.i32):
        x[i] = 1

    for error in (cg.KernelIndexError, ti.TaichiAssertionError, qd.QuadrantsAssertionError):
        with pytest.raises(error):
            write(5)


def test_functions_have_values_on_the_host():
    v, w = tm.vec3(1, 2, 2), tm.vec3(0, 1, 0)
    found = [
        tm.length(v),
        tm.dot(v, w),
        tm.clamp(3.0, 0.0, 1.0),
        tm.mix(1.0, 3.0, 0.5),
        ti.sqrt(4.0),
        tm.step(1.0, 0.5),
        ti.max(1, 2),
    ]
    assert found == [3, 2, 1, 2, 2, 0, 2]
    assert tm.normalize(v).tolist() == pytest.approx([1 / 3, 2 / 3, 2 / 3])
    assert ti.Vector([1, 2]).dtype == np.int64
    assert ti.Matrix.identity(ti.f32, 2).tolist() == [[1, 0], [0, 1]]
    assert ti.Vector.unit(3, 1).tolist() == [0, 1, 0]
    assert ti.Matrix.cols([ti.Vector([1, 2]), ti.Vector([3, 4])]).tolist() == [[1, 3], [2, 4]]


def test_makers_of_vectors_have_the_same_values_in_kernels():
    out = ti.Matrix.field(3, 3, ti.f32, shape=7)

    @ti.kernel
    def fill():
        out[0] = ti.Matrix.identity(ti.f32, 3)
        out[1] = ti.Matrix.cols(
            [ti.Vector([1.0, 2.0, 3.0]), ti.Vector.unit(3, 0, ti.f32), ti.Vector.zero(ti.f32, 3)]
        )
        out[2] = ti.Matrix.rows(
            [ti.Vector.one(ti.f32, 3), ti.Vector([4.0, 5.0, 6.0]), ti.Vector.unit(3, 2, ti.f32)]
        )
        out[3] = ti.Matrix.diag(3, 2.5)
        out[4] = ti.Matrix.one(ti.f32, 3, 3) - ti.Matrix.zero(ti.f32, 3, 3)
        out[5] = tm.eye(3)
        out[6][0, 1] = tm.vdir(0.5).x + (tm.rotation2d(0.5) @ tm.vec2(1.0, 0.0)).y

    fill()
    found = out.to_numpy()
    assert found[0].tolist() == found[5].tolist() == np.eye(3).tolist()
    assert found[1].tolist() == [[1, 1, 0], [2, 0, 0], [3, 0, 0]]
    assert found[2].tolist() == [[1, 1, 1], [4, 5, 6], [0, 0, 1]]
    assert found[3].tolist() == (2.5 * np.eye(3)).tolist()
    assert found[4].tolist() == np.ones((3, 3)).tolist()
    assert found[6][0, 1] == pytest.approx(np.cos(0.5) + np.sin(0.5))


def test_complex_numbers_are_those_of_python_in_kernels_and_on_the_host():
    out = ti.Vector.field(2, ti.f64, shape=8)
    ti.init(default_fp=ti.f64)

    @ti.kernel
    def compute():
        z, w = ti.Vector([1.5, -0.5]), ti.Vector([0.25, 2.0])
        out[0], out[1], out[2], out[3] = tm.cmul(z, w), tm.cdiv(z, w), tm.cinv(z), tm.cconj(z)
        out[4], out[5], out[6], out[7] = tm.cexp(z), tm.clog(z), tm.csqrt(z), tm.cpow(z, 3.0)

    compute()
    z, w = 1.5 - 0.5j, 0.25 + 2j
    truth = [z * w, z / w, 1 / z, z.conjugate(), cmath.exp(z), cmath.log(z), cmath.sqrt(z), z**3]
    np.testing.assert_allclose(out.to_numpy(), [(each.real, each.imag) for each in truth], rtol=1e-12)
    assert tm.cmul(tm.vec2(1.5, -0.5), tm.vec2(0.25, 2.0)).tolist() == [1.375, 2.875]


@pytest.mark.parametrize("n", [2, 3])
def test_polar_factors_are_orthogonal_and_of_2x2_also_semi_definite(n):
    given = np.random.default_rng(5).standard_normal((200, n, n))
    given[0] = 0
    F, U, P = (qd.Matrix.field(n, n, qd.f64, shape=200) for _ in range(3))
    F.from_numpy(given)

    @qd.kernel
    def decompose():
        for i in F:
            U[i], P[i] = qd.polar_decompose(F[i], qd.f64)

    decompose()
    u, p = U.to_numpy(), P.to_numpy()
    w, s, v = np.linalg.svd(given[1:])
    if n == 3:  # as in the peers: the nearest rotation
        sign = np.sign(np.linalg.det(w @ v))
        w[:, :, -1] *= sign[:, None]
        s[:, -1] *= sign
    np.testing.assert_allclose(u[1:], w @ v, atol=1e-12)
    np.testing.assert_allclose(p[1:], v.transpose(0, 2, 1) @ (s[:, :, None] * v), atol=1e-12)
    assert (u[0] == np.eye(n)).all() and (p[0] == 0).all()


OPERATIONS = {
    "add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip
LIMITS = np.iinfo(np.int32)
FIRST = {"add": 0, "mul": 1, "and": -1, "or": 0, "xor": 0, "min": LIMITS.max, "max": LIMITS.min}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("log2", [1, 3, 5])
def test_scans_and_reductions_of_tiles_are_those_of_numpy(name, log2):
    n, subgroup = 64, qd.simt.subgroup
    values = np.random.default_rng(log2).integers(1, 4, n).astype(np.int32)
    x, out = qd.field(qd.i32, shape=n), qd.field(qd.i32, shape=(n, 3))
    x.from_numpy(values)
    scan, reduce = getattr(subgroup, f"inclusive_{name}_tiled"), getattr(subgroup, f"reduce_{name}_tiled")
    before = getattr(subgroup, f"exclusive_{name}_tiled")

    @qd.kernel
    def run():
        qd.loop_config(block_dim=32)
        for i in range(n):
            out[i, 0] = scan(x[i], log2)
            out[i, 1] = reduce(x[i], log2)
            out[i, 2] = before(x[i], log2)

    run()
    tiles = values.reshape(-1, 2**log2)
    scans = OPERATIONS[name].accumulate(tiles, 1)
    earlier = np.pad(scans[:, :-1], ((0, 0), (1, 0)), constant_values=FIRST[name])
    wanted = np.stack([scans.ravel(), np.repeat(scans[:, -1], 2**log2), earlier.ravel()], 1)
    np.testing.assert_array_equal(out.to_numpy(), wanted)


@pytest.mark.parametrize("log2", [3, 5])
def test_sums_of_tiles_are_rounded_in_the_order_of_quadrants(log2):
    """`reduce_add` adds halves first, `reduce_all_add` neighbours: a pair, then pairs of pairs."""
    size = 1 << log2
    x = np.random.default_rng(log2).standard_normal(32).astype(np.float32)
    halves, neighbours = qd.field(qd.f32, shape=32), qd.field(qd.f32, shape=32)

    @qd.kernel
    def add(x: qd.types.ndarray(dtype=qd.f32, ndim=1)):
        qd.loop_config(block_dim=32)
        for i in range(32):
            halves[i] = qd.simt.subgroup.reduce_add_tiled(x[i], log2)
            neighbours[i] = qd.simt.subgroup.reduce_all_add_tiled(x[i], log2)

    add(x)
    parts, pairs = x.reshape(-1, size), x.reshape(-1, size)
    for _ in range(log2):
        parts = parts[:, : parts.shape[1] // 2] + parts[:, parts.shape[1] // 2 :]
        pairs = pairs[:, ::2] + pairs[:, 1::2]
    assert (halves.to_numpy().reshape(-1, size)[:, 0] == parts[:, 0]).all()
    assert (neighbours.to_numpy().reshape(-1, size) == pairs).all()


def test_votes_and_masks_of_tiles_are_those_of_numpy():
    n, subgroup = 64, qd.simt.subgroup
    values = np.random.default_rng(3).integers(0, 2, n).astype(np.int32)
    values[8:16] = 1
    x, out, masks = qd.field(qd.i32, shape=n), qd.field(qd.i32, shape=(n, 4)), qd.field(qd.u32, shape=(n, 5))
    x.from_numpy(values)
    many = np.random.default_rng(4).integers(0, 5, n).astype(np.int32)
    values_of, votes = qd.field(qd.i32, shape=n), qd.field(qd.u32, shape=(n, 4))
    values_of.from_numpy(many)

    @qd.kernel
    def run():
        qd.loop_config(block_dim=32)
        for i in range(n):
            out[i, 0] = subgroup.all_true_tiled(x[i], 3)
            out[i, 1] = subgroup.any_true_tiled(x[i], 1)
            out[i, 2] = subgroup.all_equal_tiled(x[i], 2)
            out[i, 3] = subgroup.elect()
            lane = subgroup.invocation_id()
            masks[i, 0], masks[i, 1] = subgroup.lanemask_eq(lane), subgroup.lanemask_lt(lane)
            masks[i, 2], masks[i, 3] = subgroup.lanemask_le(lane), subgroup.lanemask_ge(lane)
            masks[i, 4] = subgroup.lanemask_gt(lane)

            votes[i, 0] = qd.simt.warp.match_any(qd.simt.warp.active_mask(), values_of[i])
            votes[i, 1] = qd.simt.warp.match_all(qd.u32(7), values_of[i] * 0)
            votes[i, 2] = subgroup.ballot_first_n(x[i], 12)
            votes[i, 3] = subgroup.ballot_full_subgroup(x[i])

    run()
    lanes = np.arange(n) % 32
    given, warps = (each.reshape(-1, 32) for each in (many, values))
    same = ((given[:, :, None] == given[:, None]) << np.arange(32, dtype=np.uint64)).sum(-1).ravel()
    ballots = (warps << np.arange(32, dtype=np.int64)).sum(1).repeat(32)
    np.testing.assert_array_equal(
        votes.to_numpy(), np.stack([same, 7 + 0 * same, ballots & 0xFFF, ballots], 1)
    )
    eight, two, four = (values.reshape(-1, size) for size in (8, 2, 4))
    wanted = [
        eight.all(1).repeat(8), two.any(1).repeat(2), (four == four[:, :1]).all(1).repeat(4), lanes == 0,
    ]  # fmt: skip
    np.testing.assert_array_equal(out.to_numpy(), np.stack(wanted, 1))
    one, full = np.uint64(1), np.uint64(0xFFFFFFFF)
    eq = one << lanes.astype(np.uint64)
    lt = eq - one
    np.testing.assert_array_equal(
        masks.to_numpy(), np.stack([eq, lt, lt | eq, ~lt & full, ~(lt | eq) & full], 1)
    )


def test_hints_change_no_result():
    x = ti.field(ti.i32, shape=8)

    @ti.kernel
    def fill():
        ti.block_local(x)
        ti.cache_read_only(x)
        for i in x:
            x[i] = ti.assume_in_range(i + 1, i, 0, 2) + qd.volatile_load(x[i])

    fill()
    assert x.to_numpy().tolist() == list(range(1, 9))


def test_matrices_of_transformations_are_those_of_numpy():
    at = ti.Vector.field(4, ti.f32, shape=3)

    @ti.kernel
    def move():
        p = tm.vec4(1.0, 2.0, 3.0, 1.0)
        at[0] = tm.translate(1.0, 2.0, 3.0) @ p
        at[1] = tm.scale(2.0, 3.0, 4.0) @ p
        at[2] = tm.rot_by_axis(tm.vec3(0.0, 0.0, 2.0), 0.5) @ p

    move()
    found = at.to_numpy()
    assert found[0].tolist() == [2, 4, 6, 1]
    assert found[1].tolist() == [2, 6, 12, 1]
    assert np.linalg.norm(found[2, :3]) == pytest.approx(np.sqrt(14), rel=1e-6)
    assert found[2, 2:].tolist() == [3, 1]


def test_placed_fields_have_one_shape():
    x = ti.field(ti.f32)
    with pytest.raises(RuntimeError, match="no shape yet"):
        x[0] = 1
    ti.root.dense(ti.i, 4).place(x)
    x[2] = 1
    assert x.to_numpy().tolist() == [0, 0, 1, 0]
    with pytest.raises(RuntimeError, match="placed already"):
        ti.root.dense(ti.i, 5).place(x)
    with pytest.raises(TypeError, match="its shape already"):
        ti.root.dense(ti.i, 4).place(ti.field(ti.f32, shape=4))
    with pytest.raises(AttributeError, match="fields are dense"):
        ti.root.pointer(ti.i, 4)


def test_kernels_of_quadrants_become_graphs():
    count = qd.ndarray(qd.i32, ())

    @qd.kernel(graph=True)
    def halve(x: qd.types.ndarray(qd.i32, 1), left: qd.types.ndarray(qd.i32, 0)):
        while qd.graph_do_while(left):
            for i in x:
                x[i] += 1
            for _ in range(1):
                left[()] -= 1

    x = qd.ndarray(qd.i32, 5)
    count[()] = 7
    halve(x, count)
    assert x.to_numpy().tolist() == [7] * 5


@ti.kernel
def advance(x: array, factor: ti.i64, shift: ti.i64):
    for i in x:
        for _ in range(200):
            x[i] = x[i] * factor % 1000003 + shift


@pytest.mark.parametrize("seed", range(8))
def test_views_never_show_a_kernel_at_work(seed, driver):
    """Kernels, host writes and reads of a view in random order: the view shows what NumPy computes, at any time."""
    if driver.kind != "host":
        pytest.skip("memory of a GPU has no views on the host")
    chance = random.Random(seed)
    x = ti.ndarray(ti.i64, shape=20000)
    truth = np.arange(20000)
    x.from_numpy(truth)
    view = np.from_dlpack(x) if chance.random() < 0.5 else np.asarray(x.to_numpy(copy=False))
    for _ in range(12):
        step = chance.choice(("kernel", "write", "read"))
        if step == "kernel":
            factor, shift = chance.randrange(1, 50), chance.randrange(100)
            advance(x, factor, shift)
            for _ in range(200):
                truth = truth * factor % 1000003 + shift
        elif step == "write":
            view[chance.randrange(20000)] = 5
            truth = view.copy()
        np.testing.assert_array_equal(view, truth)


VIEWS = """
    import cuda_graphs.compat.taichi as ti
    from cuda_graphs.kernels.arrays.ndarray import has_views

    x = ti.ndarray(ti.i32, shape=4)

    @ti.kernel
    def fill(x: ti.types.ndarray(ti.i32, 1)):
        for i in x:
            x[i] = i

    fill(x)
    x.to_numpy()
    print(has_views())
    x.__dlpack__()
    print(has_views())
"""


def test_views_exist_from_the_first_export_on(tmp_path, run_child):
    program = tmp_path / "views.py"
    program.write_text(textwrap.dedent(VIEWS))
    found = run_child(f"import runpy; runpy.run_path({str(program)!r})")
    assert (found.stdout.split(), found.stderr) == (["False", "True"], "")


FOR_KERNELS = {
    "a reduction of a block": lambda: qd.simt.block.reduce_add(1.0, block_dim=32),
    "a lane of a warp": lambda: qd.simt.warp.shfl_sync_i32(1, 2, 3),
    "a decomposition": lambda: qd.svd([[1.0, 0.0], [0.0, 1.0]], dt=qd.f64),
    "a rotation": lambda: tm.rotation3d(ang_x=1.0, ang_y=0.0, ang_z=0.0),
}


@pytest.mark.parametrize("name", FOR_KERNELS)
def test_the_host_cannot_call_functions_for_kernels(name):
    with pytest.raises(RuntimeError, match="this function has a meaning in kernels only"):
        FOR_KERNELS[name]()


def test_kernels_run_in_the_calling_thread_if_init_asks_for_one_thread(run_child, driver):
    if driver.kind != "host":
        pytest.skip("the option is for the host driver")
    found = run_child("""if True:
        import os
        import cuda_graphs.compat.quadrants as qd

        def threads():
            return len(os.listdir("/proc/self/task"))

        before = threads()
        qd.init(arch=qd.cpu, cpu_max_num_threads=1)
        x = qd.ndarray(qd.f32, 1 << 20)
        x.fill(1)
        qd.sync()
        print(threads() - before)
    """)
    assert (found.stdout, found.stderr) == ("0\n", "")


@pytest.mark.parametrize(
    ("dtype", "numpy"),
    [(qd.f32, np.float32), (qd.f64, np.float64), (qd.u32, np.uint32), (qd.i64, np.int64)],
)
def test_exclusive_extremes_begin_with_the_limit_of_their_type(dtype, numpy):
    x, out = qd.field(dtype, shape=32), qd.field(dtype, shape=(32, 4))
    x.from_numpy(np.arange(32, 0, -1).astype(numpy))
    is_float = numpy in (np.float32, np.float64)
    least, greatest = (-np.inf, np.inf) if is_float else (np.iinfo(numpy).min, np.iinfo(numpy).max)

    @qd.kernel
    def run():
        qd.loop_config(block_dim=32)
        for i in range(32):
            out[i, 0] = qd.simt.subgroup.exclusive_max(x[i])
            out[i, 1] = qd.simt.subgroup.exclusive_min(x[i])
            out[i, 2] = qd.simt.block.exclusive_max(x[i], 32, dtype)
            out[i, 3] = qd.simt.block.exclusive_min(x[i], 32, dtype)

    run()
    found = out.to_numpy()
    for greater, less in ((0, 1), (2, 3)):
        assert found[:, greater].tolist() == [least] + [32] * 31
        assert found[:, less].tolist() == [greatest, *range(32, 1, -1)]


def test_last_block_to_end_sees_what_all_blocks_wrote_before_their_fences():
    blocks, block = 20, 32
    x, parts = qd.field(qd.i32, shape=blocks * block), qd.field(qd.i32, shape=blocks)
    done, out = qd.field(qd.i32, shape=()), qd.field(qd.i32, shape=())
    x.from_numpy(np.arange(blocks * block, dtype=np.int32))

    @qd.kernel
    def total():
        qd.loop_config(block_dim=block)
        for i in range(blocks * block):
            ticket = qd.simt.block.SharedArray((1,), qd.i32)
            part = qd.simt.subgroup.reduce_all_add(x[i])
            if i % block == 0:
                parts[i // block] = part
                qd.simt.grid.mem_fence()
                ticket[0] = qd.atomic_add(done[None], 1)
            qd.simt.block.sync()
            if i % block == 0 and ticket[0] == blocks - 1:
                qd.simt.grid.memfence()
                for k in range(blocks):
                    out[None] += parts[k]

    total()
    assert out[None] == np.arange(blocks * block).sum()


@pytest.mark.parametrize(
    "name", ["snode", "parent", "get_scalar_field", "to_paddle", "from_paddle", "get_type"]
)
def test_absent_members_of_fields_and_arrays_say_what_to_use(name):
    for owner in (ti.Matrix.field(2, 2, ti.f32, shape=3), ti.ndarray(ti.f32, 3)):
        with pytest.raises(
            AttributeError, match=rf"\.{name} is absent in cuda_graphs.compat: (use|fields are dense)"
        ):
            getattr(owner, name)
        assert not hasattr(owner, name)


def test_cfg_has_the_options_that_hold(device):
    ti.init(default_fp=ti.f64, debug=True)
    assert ti.cfg.arch == (ti.cpu if cg.driver_info().kind == "host" else ti.cuda)
    assert (ti.cfg.default_fp, ti.cfg.default_ip, ti.cfg.debug, ti.cfg.fast_math) == (
        ti.f64,
        ti.i32,
        True,
        False,
    )
    assert qd.lang.impl.current_cfg() is qd.cfg
    with pytest.raises(AttributeError, match=r"cfg\.opt_level is absent .*: there are arch, default_fp"):
        ti.cfg.opt_level  # noqa: B018
