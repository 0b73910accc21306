# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: functions of `cg.interop.jax` compute what the same functions of JAX compute, also under `jax.jit`, `jax.grad`
and `jax.vmap`, on the buffers and the stream of JAX."""

import gc
import os

import pytest

import cuda_graphs as cg
from tests.conftest import LEFT

jax = pytest.importorskip("jax")
jnp = jax.numpy

f32, i32 = cg.f32, cg.i32
Vector, Number = cg.Array1[f32], cg.types.ndarray(f32, 0)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def place(request, session_device):
    """A device of JAX. Each test frees its compiled code at its end."""
    try:
        (device, *_) = jax.devices(request.param)
    except RuntimeError as error:
        pytest.skip(str(error))
    if request.param == "cpu" and cg.driver_info().kind == "cuda":
        # JAX calls on threads of its own. The Device of each has a pool, as long as the thread lives.
        request.node.stash[LEFT] = {"pool": os.cpu_count() or 1}
    with jax.default_device(device):
        yield request.param
    jax.clear_caches()
    gc.collect()


@pytest.fixture
def array(place):
    return lambda values, dtype="float32": jnp.array(values, dtype)


@pytest.fixture
def waves(place):
    @cg.kernel
    def wave(x: Vector, c: Number, a: f32, y: Vector, signs: cg.Array1[i32]):
        for i in x:
            y[i] = a * cg.sin(x[i]) + c[()]
            signs[i] = 1 if x[i] > 0 else -1

    return cg.interop.jax(
        wave, out={"y": "x", "signs": lambda x, c, a: jax.ShapeDtypeStruct(x.shape, "int32")}
    )


def with_jax(x, c, a):
    return a * jnp.sin(x) + c, jnp.sign(x).astype("int32")


def close(found, wanted):
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        assert jnp.allclose(one, other, rtol=1e-5, atol=1e-6), (one, other)


def test_calls_give_what_jax_gives(waves, array):
    for values in ([0.3, -0.7, 1.1], [0.5], []):
        x, c = array(values), array(0.25)
        close(waves(x, c, 1.5), with_jax(x, c, 1.5))
        close(jax.jit(lambda x, c: waves(2 * x, c=c, a=2.0))(x, c), with_jax(2 * x, c, 2.0))
    assert repr(waves) == "<wave(x, c, a) -> y, signs for JAX>"


def test_calls_are_in_the_order_of_compiled_code(waves, array):
    def steps(call, x, c):
        return jax.lax.fori_loop(0, 20, lambda i, x: call(x, c * i, 0.9)[0], x)

    x, c = array([0.3, -0.7, 1.1]), array(0.01)
    close(jax.jit(lambda x, c: steps(waves, x, c))(x, c), steps(with_jax, x, c))


def test_gradients_are_those_of_jax(waves, array):
    def loss(call, x, c):
        y, signs = call(2 * x, c, 1.5)
        return (jax.nn.relu(y) * signs).sum()

    x, c = array([0.3, -0.7, 1.1, 0.9]), array(0.25)
    for transform in (lambda f: f, jax.jit):
        found = transform(jax.grad(lambda x, c: loss(waves, x, c), argnums=(0, 1)))(x, c)
        close(found, jax.grad(lambda x, c: loss(with_jax, x, c), argnums=(0, 1))(x, c))


def test_functions_are_mapped_over_batches(waves, array):
    x, c = array([[0.3, -0.7], [1.1, 0.9], [0.1, 0.2]]), array(0.25)
    close(jax.jit(jax.vmap(lambda x: waves(x, c, 1.5)))(x), jax.vmap(lambda x: with_jax(x, c, 1.5))(x))


def test_outputs_begin_as_zeros_and_inputs_are_unchanged(array):
    @cg.kernel
    def total(x: Vector, twice: cg.types.ndarray(f32, 0)):
        for i in x:
            twice[()] += 2.0 * x[i]

    function = cg.interop.jax(total, out={"twice": lambda x: jnp.zeros((), x.dtype)})
    x = array([1.0, 2.0, 4.0])
    run = jax.jit(lambda x: function(x) + function(x))
    assert [float(run(x)) for _ in range(3)] == [28.0] * 3
    assert x.tolist() == [1.0, 2.0, 4.0]
    close(jax.grad(run)(x), array([4.0, 4.0, 4.0]))


def test_element_types(place):
    for name in ("int8", "uint16", "int32", "uint32", "float16", "bfloat16"):

        @cg.kernel
        def copied(x: cg.types.ndarray(ndim=2), y: cg.types.ndarray(ndim=2)):
            for i, j in x:
                y[i, j] = x[i, j]

        x = jnp.arange(6).reshape(2, 3).astype(name)
        y = jax.jit(cg.interop.jax(copied, out={"y": "x"}))(x.T)
        assert y.dtype == x.dtype
        assert y.tolist() == x.T.tolist()


def test_graph_is_a_function(array):
    @cg.kernel
    def scaled(x: Vector, by: f32, y: Vector):
        for i in x:
            y[i] += by * x[i]

    definition = cg.GraphDef()
    x, by, y = definition.param("x", Vector), definition.param("by", f32), definition.param("y", Vector)
    definition.call(scaled, x, by, y).call(scaled, x, by, y)
    function = cg.interop.jax(definition.instantiate(), out={"y": "x"})
    for values in ([1.0, 2.0, 3.0], [4.0]):
        x = array(values)
        close(jax.jit(lambda x: 1 + function(x, 3.0))(x), 1 + 6 * x)


def test_errors_of_a_call_are_raised_by_jax(array):
    @cg.kernel
    def flat(x: Vector, y: cg.Array2[f32]):
        for i in x:
            y[i, 0] = x[i]

    function, x = cg.interop.jax(flat, out={"y": "x"}), array([1.0])
    with pytest.raises(Exception, match="ValueError: parameter 'y' takes 2 dimensions, not 1"):
        jax.block_until_ready(function(x))


def test_function_must_be_kept(array):
    @cg.kernel
    def same(x: Vector, y: Vector):
        for i in x:
            y[i] = x[i]

    function, x = cg.interop.jax(same, out={"y": "x"}), array([1.0])
    compiled = jax.jit(function).lower(x).compile()
    assert compiled(x).tolist() == [1.0]
    del function
    jax.clear_caches()  # which keep the function while it may be compiled again
    gc.collect()
    with pytest.raises(Exception, match="the function of this call is gone: keep the result"):
        jax.block_until_ready(compiled(x))


def test_wrong_arguments_are_refused(waves, array):
    x, c = array([0.3]), array(0.25)
    with pytest.raises(TypeError, match=r"wave\(\) takes x, c, a and returns y, signs"):
        waves(x)
    with pytest.raises(
        TypeError, match=r"argument 'a' of wave\(\) must be a constant, but jax.jit traces it"
    ):
        jax.jit(waves)(x, c, 1.5)
    assert jax.jit(waves, static_argnums=2)(x, c, 1.5)[1].tolist() == [1]
    with pytest.raises(TypeError, match="constants of wave"):
        waves(x, c, [1.5])
    with pytest.raises(TypeError, match=r"takes a cg\.kernel or a Graph"):
        cg.interop.jax(print, out={"y": "x"})
    with pytest.raises(ValueError, match="has no parameter 'z'"):
        cg.interop.jax(waves.code, out={"z": "x"})
    with pytest.raises(TypeError, match="needs a shape and a dtype"):
        cg.interop.jax(waves.code, out={"y": lambda x, c, a: 3, "signs": "x"})(x, c, 1.5)
