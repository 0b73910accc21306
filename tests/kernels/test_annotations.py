# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what a parameter is declared to be decides which arguments it takes, and which of them share code."""

import numpy as np
import pytest

import cuda_graphs as cg


def count(kernel):
    """Returns the number of specialisations of a kernel."""
    return int(repr(kernel).split(", ")[-1].split()[0])


def doubling(annotation):
    @cg.kernel
    def double(x: annotation):
        for at in cg.grouped(x):
            x[at] = x[at] * 2

    return double


VECTOR = cg.types.ndarray(cg.f32, 1)

SAME = {
    "NDArray[dtype, ndim]": cg.types.NDArray[cg.f32, 1],
    "NDArray[dtype]": cg.types.NDArray[cg.f32],
    "NDArray": cg.types.NDArray,
    "ndarray": cg.types.ndarray,
    "ndarray()": cg.types.ndarray(),
    "ndarray(dtype, ndim)": cg.types.ndarray(dtype=cg.f32, ndim=1),
    "text": "cg.types.NDArray[cg.f32, 1]",
    "Tensor": cg.types.Tensor,
}


@pytest.mark.parametrize("form", SAME)
def test_all_forms_of_an_array_take_one(form):
    double = doubling(SAME[form])
    x, y = np.ones(3, "f"), cg.ndarray(cg.f32, 4)
    y.fill(2)
    double(x)
    double(y)
    assert x.tolist() == [2] * 3
    assert y.to_numpy().tolist() == [4] * 4
    assert count(double) == 1


@pytest.mark.parametrize("form", ["NDArray[dtype, ndim]", "ndarray(dtype, ndim)"])
def test_declared_elements_and_dimensions_are_checked(form):
    double = doubling(SAME[form])
    with pytest.raises(TypeError, match="'x' takes elements of f32, not f64"):
        double(np.ones(3))
    with pytest.raises(ValueError, match="'x' takes 1 dimensions, not 2"):
        double(np.ones((3, 2), "f"))
    assert cg.types.NDArray[cg.f32, 1] == cg.types.ndarray(cg.f32, 1)
    assert cg.types.NDArray[cg.vec3, 1] == cg.types.ndarray(cg.vec3, 1)


def test_a_tensor_is_a_field_or_an_array():
    double = doubling(cg.types.Tensor)
    a, b, x = cg.field(cg.i32, 3), cg.field(cg.i32, (2, 2)), np.ones((2, 2))
    for value in (a, b, a, b):
        value.fill(3)
        double(value)
        assert (value.to_numpy() == 6).all()
    double(x)
    assert (x == 2).all()
    assert count(double) == 3
    with pytest.raises(TypeError, match="parameter 'x' takes an array, got 3"):
        double(3)


def test_tensors_become_nodes_of_graphs(device):
    stream, double = device.create_stream(), doubling(cg.types.Tensor)
    a, x = cg.field(cg.f32, 3), cg.ndarray(cg.f32, 3)
    a.fill(1)
    x.fill(1)
    g = cg.GraphDef()
    g.call(double, a).call(double, x).call(double, a)
    g.instantiate().launch(stream)
    stream.sync()
    assert (a.to_numpy().tolist(), x.to_numpy().tolist()) == ([4] * 3, [2] * 3)


def test_a_field_is_no_array_argument():
    double = doubling(cg.types.ndarray(cg.f32, 1))
    with pytest.raises(TypeError, match=r"parameter 'x' takes an array.*cg\.template or cg\.types\.Tensor"):
        double(cg.field(cg.f32, 3))


@pytest.mark.parametrize("annotation", [cg.types.ndarray(cg.f32, 1) | None, cg.types.NDArray | None])
def test_an_optional_array_may_be_none(annotation, device):
    @cg.kernel
    def scale(x: cg.types.ndarray(cg.f32, 1), by: annotation):
        for i in x:
            if cg.static(by is not None):
                x[i] *= by[i]
            else:
                x[i] += 1.0

    x = np.ones(3, "f")
    scale(x, np.full(3, 4, "f"))
    scale(x, None)
    scale(x, by=np.full(3, 2, "f"))
    assert x.tolist() == [10] * 3
    assert count(scale) == 2
    own = cg.ndarray(cg.f32, 3)
    g = cg.GraphDef()
    g.call(scale, own, None).call(scale, own, own)
    stream = device.create_stream()
    g.instantiate().launch(stream)
    stream.sync()
    assert own.to_numpy().tolist() == [1] * 3


def test_none_is_refused_where_it_is_not_declared():
    with pytest.raises(TypeError, match="parameter 'x' takes an array, got None"):
        doubling(cg.types.NDArray)(None)
    with pytest.raises(TypeError):
        cg.types.ndarray() | 3


@pytest.mark.parametrize("annotation", [cg.template, cg.template(), cg.types.Template])
def test_all_forms_of_a_template_take_a_value(annotation):
    @cg.kernel
    def fill(x: cg.types.NDArray, value: annotation):
        for i in x:
            x[i] = value

    x = np.zeros(2, "i4")
    for value in (3, 4, 3):
        fill(x, value)
        assert x.tolist() == [value] * 2
    assert count(fill) == 2


@pytest.mark.parametrize(("annotation", "wanted"), [(int, 7), (float, 7.5), (bool, True)])
def test_numbers_of_python_are_scalar_types(annotation, wanted):
    @cg.kernel
    def give(x: annotation) -> annotation:
        return x

    assert give(wanted) == wanted
    with pytest.raises((TypeError, OverflowError), match="parameter 'x' takes"):
        give(2**40 if annotation is int else "text")


class Rod:
    def end(self, x: VECTOR):
        return x[0]


def with_annotation(said):
    def answers(x: VECTOR):
        return x[0]

    answers.__annotations__["return"] = said
    return answers


def silent(x: VECTOR) -> cg.f32:
    x[0] = 1


def empty(x: VECTOR) -> cg.f32:
    x[0] = 1
    return


RETURNS = [
    (
        with_annotation(None),
        cg.CompileReturnError,
        "the kernel returns a value, but its annotation does not declare one",
    ),
    (Rod.end, cg.CompileReturnError, "the kernel returns a value, but its annotation does not declare one"),
    (silent, cg.CompileReturnError, "the kernel declares a return value but has no return"),
    (empty, cg.CompileReturnError, "the kernel declares a return value but has no return"),
    (
        with_annotation(5),
        cg.CompileTypeError,
        "a kernel returns numbers, vectors and dataclasses of them, not 5",
    ),
    (
        with_annotation(VECTOR),
        cg.CompileTypeError,
        "a kernel returns numbers, vectors and dataclasses of them, not",
    ),
]


@pytest.mark.parametrize(
    ("function", "error", "words"), RETURNS, ids=[f"{r[0].__name__} {r[2][:30]}" for r in RETURNS]
)
def test_a_return_that_does_not_fit_the_annotation_is_refused_when_the_kernel_is_made(function, error, words):
    with pytest.raises(error, match=words) as caught:
        cg.kernel(function)
    assert caught.value.remedy and caught.value.loc.function == function.__name__


def test_a_return_that_is_left_out_when_compiling_asks_for_no_annotation():
    @cg.kernel  # noqa: RET503
    def answers(x: VECTOR, tells: cg.template):
        x[0] = 1
        if cg.static(tells):
            return x[0]

    x = cg.ndarray(cg.f32, 1)
    assert answers(x, False) is None and x[0] == 1
    with pytest.raises(cg.CompileReturnError, match="the kernel returns 1 values, and its annotation says 0"):
        answers(x, True)


def test_a_return_of_none_is_no_value():
    @cg.kernel
    def answers(x: VECTOR):
        x[0] = 2
        return None  # noqa: RET501

    x = cg.ndarray(cg.f32, 1)
    assert answers(x) is None and x[0] == 2
