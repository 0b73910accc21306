# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a call of a kernel does to its arguments what NumPy does, and refuses what it cannot take before it runs."""

import dataclasses
import linecache
import math

import numpy as np
import pytest

import cuda_graphs as cg

f32_1d = cg.types.ndarray(cg.f32, ndim=1)


@cg.kernel
def saxpy(a: cg.f32, x: f32_1d, y: f32_1d):
    """y += a x"""
    for i in x:
        y[i] += a * x[i]


def arrays(n):
    x, y = cg.ndarray(cg.f32, n), cg.ndarray(cg.f32, n)
    x.from_numpy(np.arange(n, dtype="f"))
    y.fill(1)
    return x, y


@pytest.mark.parametrize("n", [1, 7, 1000, 100_000])
def test_saxpy(n):
    x, y = arrays(n)
    saxpy(2.0, x, y)
    np.testing.assert_array_equal(y.to_numpy(), 2 * np.arange(n, dtype="f") + 1)


def test_smaller_and_larger_arrays_are_of_one_specialisation():
    for n in (1000, 3, 5000):
        x, y = arrays(n)
        saxpy(1.0, x, y)
        np.testing.assert_array_equal(y.to_numpy(), np.arange(n, dtype="f") + 1)


def test_arguments_may_be_given_by_name():
    x, y = arrays(5)
    saxpy(y=y, a=3, x=x)
    saxpy(1, x, y=y)
    assert y.to_numpy().tolist() == [1, 5, 9, 13, 17]


def test_the_same_array_may_be_given_twice():
    x, _ = arrays(5)
    saxpy(1.0, x, x)
    assert x.to_numpy().tolist() == [0, 2, 4, 6, 8]


def test_calls_on_a_stream_are_in_its_order(device):
    stream = device.create_stream()
    x, y = arrays(50_000)
    for _ in range(10):
        saxpy(1.0, x, y, stream=stream)
    stream.sync()
    np.testing.assert_array_equal(y.to_numpy(), 10 * np.arange(50_000, dtype="f") + 1)


def test_numpy_arrays_are_done_when_the_call_returns():
    x, y = np.arange(300, dtype="f"), np.ones(300, "f")
    saxpy(2, x, y)
    np.testing.assert_array_equal(y, 2 * np.arange(300, dtype="f") + 1)


def test_numpy_arrays_with_gaps_or_in_another_order_are_copied_in_and_out():
    @cg.kernel
    def double(m: cg.types.ndarray(cg.f64, ndim=2)):
        for i, j in m:
            m[i, j] = 2 * m[i, j] + j

    for array in (np.arange(24.0).reshape(4, 6).T, np.arange(48.0).reshape(6, 8)[::2, 1::3], np.ones((3, 4))):
        wanted = 2 * array + np.arange(array.shape[1])
        double(array)
        np.testing.assert_array_equal(array, wanted)


def test_arrays_without_elements_are_legal():
    saxpy(1, np.zeros(0, "f"), np.zeros(0, "f"))


def test_read_only_arrays_can_be_read_and_not_written():
    x, y = np.arange(3, dtype="f"), np.ones(3, "f")
    x.flags.writeable = False
    saxpy(1, x, y)
    assert y.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="parameter 'y' is read-only, but the kernel writes it"):
        saxpy(1, y, x)
    assert x.tolist() == [0, 1, 2]


WRONG = {
    "too few": (lambda x, y: (1, x), TypeError, r"saxpy\(\) takes 3 arguments \(a, x, y\), got 2: y missing"),
    "too many": (lambda x, y: (1, x, y, y), TypeError, r"takes 3 arguments \(a, x, y\), got 4"),
    "text": (lambda x, y: ("1", x, y), TypeError, "parameter 'a' takes f32, a number, got str"),
    "array for a number": (lambda x, y: (np.ones(2), x, y), TypeError, "parameter 'a' takes f32, a number"),
    "number for an array": (lambda x, y: (1, 2, y), TypeError, "parameter 'x' takes an array, got 2"),
    "list for an array": (
        lambda x, y: (1, x, [1.0]),
        TypeError,
        r"parameter 'y' takes an array, got \[1.0\]",
    ),
    "None for an array": (lambda x, y: (1, x, None), TypeError, "parameter 'y' takes an array, got None"),
    "type": (lambda x, y: (1, x, cg.ndarray(cg.f64, 5)), TypeError, "'y' takes elements of f32, not f64"),
    "type of NumPy": (lambda x, y: (1, x, np.ones(5)), TypeError, "'y' takes elements of f32, not f64"),
    "mask": (lambda x, y: (1, x, np.ma.array(np.ones(5, "f"))), ValueError, "'y' is a masked array"),
    "complex": (
        lambda x, y: (1, x, np.ones(5, "c8")),
        TypeError,
        "'y': arrays of complex64 are not supported",
    ),
    "dimensions": (
        lambda x, y: (1, x, cg.ndarray(cg.f32, (5, 1))),
        ValueError,
        "'y' takes 1 dimensions, not 2",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_argument_that_is_not_as_declared_is_refused_by_name(what):
    make, error, message = WRONG[what]
    x, y = arrays(5)
    with pytest.raises(error, match=message):
        saxpy(*make(x, y))
    assert y.to_numpy().tolist() == [1] * 5


def test_keywords_are_checked():
    x, y = arrays(5)
    with pytest.raises(TypeError, match="has no parameter 'b'"):
        saxpy(1, x, b=y)
    with pytest.raises(TypeError, match="got multiple values for argument 'x'"):
        saxpy(1, x, x=y)
    with pytest.raises(TypeError, match="misses arguments: 'a', 'y'"):
        saxpy(x=x)
    with pytest.raises(TypeError, match="Stream or GraphBuilder expected, got int"):
        saxpy(1, x, y, stream=3)


NUMBERS = [
    *[
        (t, v)
        for t in ("i8", "i16", "i32", "i64")
        for v in (-(2 ** (int(t[1:]) - 1)), 2 ** (int(t[1:]) - 1) - 1)
    ],
    *[(t, v) for t in ("u8", "u16", "u32", "u64") for v in (0, 2 ** int(t[1:]) - 1)],
    *[("f64", v) for v in (0.1, -1e300, math.inf)],
    *[("f32", v) for v in (0.5, -(2.0**100))],
    *[("f16", v) for v in (0.5, -1024.0)],
    ("bf16", 2.0**100),
    ("bool_", True),
    ("bool_", False),
]


@pytest.mark.parametrize(("kind", "value"), NUMBERS)
def test_numbers_of_every_type_arrive_whole(kind, value):
    scalar = getattr(cg, kind)

    @cg.kernel
    def store(out: cg.types.ndarray(scalar, ndim=0), value: scalar):
        out[()] = value

    out = cg.ndarray(scalar, ())
    store(out, value)
    assert out[()] == value


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_numpy_scalars_are_numbers():
    @cg.kernel
    def store(out: cg.types.ndarray(cg.i64, ndim=1), a: cg.i32, b: cg.f32, c: cg.bool_):
        out[0], out[1], out[2] = a, b, c

    out = np.zeros(3, "i8")
    store(out, np.int8(-3), np.float64(4.0), np.True_)
    assert out.tolist() == [-3, 4, 1]


@pytest.mark.parametrize(
    ("kind", "value", "error", "message"),
    [
        (
            "i32",
            2**31,
            OverflowError,
            "parameter 'value' takes i32, from -2147483648 to 2147483647, got 2147483648",
        ),
        ("u8", -1, OverflowError, "takes u8, from 0 to 255, got -1"),
        ("u64", 2**64, OverflowError, "takes u64"),
        ("i64", -(2**63) - 1, OverflowError, "takes i64"),
        ("i32", 1.0, TypeError, r"parameter 'value' takes i32, an integer, got 1.0 \(float\)"),
        ("i32", np.float32(1), TypeError, "takes i32, an integer"),
        ("bool_", 1.5, TypeError, "takes bool, got 1.5"),
        ("f64", 10**400, OverflowError, "parameter 'value' takes f64, but this int is too large for it"),
        ("f32", 1j, TypeError, "takes f32, a number, got complex"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(kind, value, error, message):
    scalar = getattr(cg, kind)

    @cg.kernel
    def store(out: cg.types.ndarray(scalar, ndim=0), value: scalar):
        out[()] = value

    out = cg.ndarray(scalar, ())
    with pytest.raises(error, match=message):
        store(out, value)


@cg.kernel
def total(x: cg.types.ndarray(cg.f64, ndim=1)) -> cg.f64:
    s = cg.f64(0.0)
    for i in x:
        s += x[i]
    return s


def test_a_kernel_returns_a_number():
    values = np.arange(1000.0)
    assert total(values) == values.sum()
    own = cg.ndarray(cg.f64, 1000)
    own.from_numpy(values)
    assert [total(own) for _ in range(3)] == [values.sum()] * 3


def test_a_kernel_returns_several_numbers():
    @cg.kernel
    def both(a: cg.i32, b: cg.f32) -> tuple[cg.f32, cg.i32, cg.bool_]:
        return b * 2, a + 1, a > 3

    assert both(4, 1.5) == (3.0, 5, True)


@dataclasses.dataclass
class Material:
    density: cg.f32
    stiffness: cg.types.ndarray(cg.f32, ndim=1)


@dataclasses.dataclass
class World:
    gravity: cg.types.vec3
    material: Material
    count: int


@cg.kernel
def weigh(world: World, out: f32_1d):
    for i in range(world.count):
        out[i] = world.material.stiffness[i] * world.material.density + world.gravity[2] * world.gravity.x


def test_dataclasses_are_taken_apart_at_any_depth():
    stiffness, out = arrays(6)
    weigh(World((2.0, 0.0, -3.0), Material(0.5, stiffness), 5), out)
    assert out.to_numpy().tolist() == [-6.0, -5.5, -5.0, -4.5, -4.0, 1.0]
    weigh(World(np.array([1, 0, 0]), Material(2, stiffness), 6), out)
    assert out.to_numpy().tolist() == [0, 2, 4, 6, 8, 10]


def test_members_are_refused_by_their_path():
    stiffness, out = arrays(6)
    with pytest.raises(TypeError, match=r"parameter 'world.material.density' takes f32, a number, got str"):
        weigh(World((0, 0, 0), Material("heavy", stiffness), 5), out)
    with pytest.raises(TypeError, match=r"parameter 'world.material' takes a Material, got a World"):
        weigh(World((0, 0, 0), World(0, 0, 0), 5), out)
    with pytest.raises(TypeError, match=r"parameter 'world.gravity' takes vec\(3, f32\): 3 components"):
        weigh(World((0, 0), Material(1, stiffness), 5), out)


def test_matrices_are_passed_by_value():
    @cg.kernel
    def turn(m: cg.types.mat(2, 3, cg.f64), v: cg.types.vec3, out: cg.types.ndarray(cg.f64, ndim=1)):
        r = m @ v
        out[0], out[1] = r[0], r[1]

    out, m = np.zeros(2), np.arange(6.0).reshape(2, 3)
    turn(m, (1, 2, 3), out)
    assert out.tolist() == (m @ [1, 2, 3]).tolist()


def test_more_parameters_than_fit_on_the_stack_are_fine():
    names = [f"p{i}" for i in range(100)]
    Many = dataclasses.make_dataclass("Many", [(name, cg.f64) for name in names])

    @cg.func
    def add(many: cg.template):
        s = cg.f64(0.0)
        for name in cg.static(range(100)):
            s += getattr(many, names[name])
        return s

    @cg.kernel
    def first_and_last(many: Many, out: cg.types.ndarray(cg.f64, ndim=0)):
        out[()] = many.p0 + many.p99 * many.p50

    out = np.zeros(())
    first_and_last(Many(*map(float, range(100))), out)
    assert out == 99 * 50


def test_tasks_run_one_after_the_other():
    @cg.kernel
    def phases(x: cg.types.ndarray(cg.i64, ndim=1), out: cg.types.ndarray(cg.i64, ndim=0)):
        s = cg.i64(0)
        for i in x:
            s += x[i]
        out[()] = s * 2
        for i in range(x.shape[0]):
            x[i] = s - x[i]

    x, out = cg.ndarray(cg.i64, 1000), cg.ndarray(cg.i64, ())
    values = np.arange(1000)
    x.from_numpy(values)
    for _ in range(3):
        wanted = values.sum() - values
        phases(x, out)
        assert out[()] == 2 * values.sum()
        values = wanted
    np.testing.assert_array_equal(x.to_numpy(), values)


def test_a_kernel_says_what_it_is():
    assert saxpy.__name__ == "saxpy"
    assert saxpy.__doc__ == "y += a x"
    assert repr(saxpy).startswith("<kernel saxpy(a, x, y)")
    with pytest.raises(RuntimeError, match="Use the decorator"):
        cg.KernelFunction()
    with pytest.raises(TypeError, match="@kernel takes a function, got int"):
        cg.kernel(3)


def test_wrong_declaration_is_an_error_at_once():
    with pytest.raises(cg.CompileError, match="parameter 'x' of kernel bad has no annotation"):

        @cg.kernel
        def bad(x):
            pass

    with pytest.raises(TypeError, match="a parameter of a kernel cannot be called 'stream'"):

        @cg.kernel
        def taken(stream: cg.i32):
            pass


def test_wrong_body_is_an_error_of_each_call():
    @cg.kernel
    def bad(x: f32_1d):
        x[0] = undefined_name  # noqa: F821

    for _ in range(2):
        with pytest.raises(cg.CompileNameError, match="undefined_name"):
            bad(np.zeros(1, "f"))


@pytest.mark.parametrize("level", ["0", "1"])
def test_tracebacks_go_through_the_compiler_only_when_debugging(level, monkeypatch, capsys):
    monkeypatch.setenv("CUDA_GRAPHS_DEBUG", level)

    @cg.kernel
    def bad(x: f32_1d):
        x[0] = cg.static(1 // 0)

    with pytest.raises(cg.CompileStaticError) as caught:
        bad(np.zeros(1, "f"))
    files = [str(entry.path) for entry in caught.traceback]
    assert any("frontend" in file for file in files) == (level == "1")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_code_of_exec_needs_its_source_in_linecache(monkeypatch):
    source = "@cg.kernel\ndef fill(x: f32_1d):\n    for i in x:\n        x[i] = 3.0\n"
    space = {"cg": cg, "f32_1d": f32_1d}
    exec(compile(source, "<nowhere>", "exec"), space)
    x = np.zeros(2, "f")
    with pytest.raises(cg.CompileSyntaxError, match=r"source of fill cannot be found(.|\n)*linecache"):
        space["fill"](x)
    entry = len(source), None, source.splitlines(keepends=True), "<nowhere>"
    monkeypatch.setitem(linecache.cache, "<nowhere>", entry)
    space["fill"](x)
    assert x.tolist() == [3, 3]


class OnlyDLPack:
    """An array of a library that offers nothing but DLPack, as tensors of the host do."""

    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


def test_object_with_dlpack_is_an_array():
    x, y = np.arange(5, dtype="f"), np.ones(5, "f")
    saxpy(2, OnlyDLPack(x), OnlyDLPack(y))
    assert y.tolist() == [1, 3, 5, 7, 9]
    own = arrays(5)[0]
    saxpy(1, OnlyDLPack(own), y)
    assert y.tolist() == [1, 4, 7, 10, 13]
