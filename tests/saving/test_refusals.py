# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: `save` writes all of a definition or nothing, and names everything that cannot travel. `load` says what is
missing or wrong in one class of errors."""

import ctypes
import zipfile

import numpy as np
import pytest

import cuda_graphs as cg
from tests.saving.files import changed, with_short_blobs, without_code

Floats = cg.types.ndarray(cg.f32, ndim=1)
ONE = cg.LaunchConfig(grid=1, block=1)

STRUCTURES = """
.version 7.8
.target sm_80
.address_size 64
.visible .entry takes(.param .align 8 .b8 pair[16], .param .u64 number) { ret; }
"""


@cg.kernel
def fill(x: Floats):
    for i in x:
        x[i] = 1.0


@cg.kernel
def store(at: cg.u64, count: cg.i64, out: Floats):
    out[0] = cg.f32(at + cg.u64(count))


@cg.kernel
def numbers(a: cg.u64, b: cg.i64, out: cg.Array1[cg.i64]):
    out[0] = cg.i64(a)
    out[1] = b


STORES = """
extern "C" __global__ void stores(unsigned long long at, long long count) {
    if (count == 0) *(float*)at = 1.0f;
}
"""


@pytest.fixture
def x(device):
    return cg.ndarray(cg.f32, 8)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "saved.cgg"


@pytest.fixture
def takes(device):
    return cg.ObjectCode.from_ptx(STRUCTURES.encode()).get_kernel("takes")


def refusal(g, path, **names):
    """The message of `save`, which has written nothing."""
    with pytest.raises(cg.SavedGraphError) as error:
        g.save(path, **names)
    assert not path.exists() and not list(path.parent.iterdir())
    return str(error.value)


def test_memory_without_a_name_is_listed_with_each_node(x, path):
    g = cg.GraphDef()
    g.memset(x, 0.0, name="first").call(fill, x)
    message = refusal(g, path)
    assert "'first'" in message and "fill" in message and "inputs, outputs or include" in message
    assert message.count("test_refusals.py") == 2


@pytest.mark.parametrize("is_named", [True, False])
def test_an_address_as_an_integer_is_refused(x, path, is_named):
    """The array of the address may be in the file or not. The kernel may be of Python or of CUDA C++."""
    out = cg.ndarray(cg.f32, 1)
    names = {"include": [out, x] if is_named else [out]}
    g = cg.GraphDef()
    g.call(store, x.handle, 1, out)
    message = refusal(g, path, **names)
    assert f"passes the address {x.handle:#x} as a plain integer (at)" in message and "store" in message
    g = cg.GraphDef()
    compiled = cg.Program(STORES, code_type="c++").compile("ptx")
    g.launch(ONE, compiled.get_kernel("stores"), x.handle + 4, 3, name="theirs")
    message = refusal(g, path, **names)
    assert (
        f"passes the address {x.handle + 4:#x} as a plain integer (argument 0): declare a pointer" in message
    )
    assert "KernelNode 'theirs'" in message and "test_refusals.py" in message
    g = cg.GraphDef()
    g.call(store, g.param("place", cg.u64, default=x.handle), 1, out)
    assert "place" in refusal(g, path, **names) and "plain integer" in refusal(g, path, **names)


def test_integers_that_are_no_addresses_travel(device, stream, path):
    g = cg.GraphDef()
    out = cg.ndarray(cg.i64, 2)
    g.call(numbers, 2**62 + 1, -(2**62), out)
    g.save(path, outputs={"out": out})
    found = cg.ndarray(cg.i64, 2)
    cg.load(path).instantiate().launch(stream, out=found)
    stream.sync()
    assert found.to_numpy().tolist() == [2**62 + 1, -(2**62)]


def test_an_address_in_a_structure_is_refused(x, takes, path):
    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]

    g = cg.GraphDef()
    g.launch(ONE, takes, Pair(1, x.handle), np.uint64(7))
    assert "in a structure (argument 0)" in refusal(g, path, include=[x])
    g = cg.GraphDef()
    g.launch(ONE, takes, Pair(1, 2), np.uint64(7))
    g.save(path)
    (node,) = cg.load(path).nodes()
    assert node.args == (1 + (2 << 64), 7)


def test_a_part_of_an_input_is_refused(x, path):
    g = cg.GraphDef()
    g.memset(x[4:], 0.0)
    assert "a part of 'x', from byte 16 on" in refusal(g, path, inputs={"x": x})


def test_a_callback_needs_a_name(device, path):
    g = cg.GraphDef()
    g.callback(lambda: None)
    assert "has no name" in refusal(g, path)
    g = cg.GraphDef()
    g.callback(print, name="same")
    g.callback(repr, name="same")
    assert "'same' of another callback" in refusal(g, path)


def test_a_circle_of_edges_is_refused(x, path):
    g = cg.GraphDef()
    first = g.memset(x, 0.0)
    first.pred = {first.memset(x, 1.0)}
    assert "has a cycle of edges" in refusal(g, path, include=[x])


def test_the_default_of_a_parameter_must_be_saved_memory(x, path):
    g = cg.GraphDef()
    g.call(fill, g.param("values", Floats, default=x))
    assert "the default of" in refusal(g, path)
    g.save(path, include=[x])
    assert cg.load(path).instantiate().params["values"][1] is not None


@pytest.mark.parametrize(
    ("names", "error", "words"),
    [
        ({"inputs": ["x"]}, TypeError, "mapping"),
        ({"inputs": {"a b": 0}}, ValueError, "keyword of Graph.launch"),
        ({"inputs": {"stream": 0}}, ValueError, "keyword of Graph.launch"),
        ({"inputs": {"x": 7}}, TypeError, "array or a Buffer"),
        ({"include": 7}, TypeError, "list of arrays"),
        ({"include": [np.zeros(4)]}, TypeError, "pageable host memory"),
        ({"architecture": "hopper"}, ValueError, "sm_90"),
    ],
)
def test_wrong_arguments_of_save_are_refused(device, path, names, error, words):
    with pytest.raises(error, match=words):
        cg.GraphDef().save(path, **names)
    assert not path.exists()


def test_an_array_has_one_name_and_a_name_one_array(x, path):
    other = cg.ndarray(cg.f32, 8)
    g = cg.GraphDef()
    g.memset(x, 0.0)
    with pytest.raises(ValueError, match="also called 'x'"):
        g.save(path, inputs={"x": x}, outputs={"y": x})
    with pytest.raises(ValueError, match="another array"):
        g.save(path, inputs={"x": x}, outputs={"x": other})
    with pytest.raises(ValueError, match="name the larger one alone"):
        g.save(path, inputs={"x": x}, outputs={"y": x[2:4]})


def test_a_file_that_cannot_be_written_is_named_as_given(x, path, tmp_path):
    g = cg.GraphDef()
    g.memset(x, 0.0)
    for place in (tmp_path / "absent" / "x.cgg", tmp_path):
        with pytest.raises(OSError, match=r"x\.cgg|directory") as error:
            g.save(place, include=[x])
        assert error.value.filename == str(place) and error.value.filename2 is None
    assert not list(tmp_path.rglob(".unfinished*"))


def test_missing_callbacks_are_listed(device, path):
    g = cg.GraphDef()
    g.callback(print, name="report").callback(repr)
    g.save(path)
    with pytest.raises(cg.SavedGraphError, match=r"callbacks=\{'report': \.\.\., 'repr': \.\.\.\}"):
        cg.load(path)
    with pytest.raises(cg.SavedGraphError, match="calls no function 'other'"):
        cg.load(path, callbacks={"report": print, "repr": print, "other": print})
    with pytest.raises(TypeError, match="callable"):
        cg.load(path, callbacks={"report": 7})


def test_a_kernel_without_code_for_this_driver_is_named(x, path):
    g = cg.GraphDef()
    g.call(fill, x)
    g.save(path, inputs={"x": x})
    without_code(path, "native", "ptx", "cubin")
    with pytest.raises(cg.SavedGraphError, match="'fill_0_loop' has no code for"):
        cg.load(path)


def test_a_file_of_a_later_version_is_refused(device, path):
    cg.GraphDef().save(path)
    changed(path, lambda manifest: manifest.update(schema=2))
    with pytest.raises(cg.SavedGraphError, match="use a later version"):
        cg.load(path)


def test_other_files_are_refused(device, path):
    with pytest.raises(FileNotFoundError):
        cg.load(path)
    path.write_bytes(b"no zip")
    with pytest.raises(cg.SavedGraphError, match="no zip file"):
        cg.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other", "")
    with pytest.raises(cg.SavedGraphError, match=r"manifest\.json is missing"):
        cg.load(path)


def test_a_blob_cannot_claim_more_bytes_than_its_file_can_hold(x, path):
    g = cg.GraphDef()
    g.memset(x, 0.0)
    g.save(path, include=[x])
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("blobs/0").file_size
    large = whole.replace(size.to_bytes(4, "little"), (2**31).to_bytes(4, "little"))
    assert large != whole
    path.write_bytes(large)
    with pytest.raises(cg.SavedGraphError, match=r"blobs/0 has \d+ bytes instead of 32"):
        cg.load(path)


def test_a_copy_beyond_its_memory_is_refused(x, path):
    g = cg.GraphDef()
    g.memset(x, 0.0)
    g.save(path, include=[x])

    def widen(manifest):
        manifest["graphs"][0]["nodes"][0]["shape"][0] = 9

    changed(path, widen)
    with pytest.raises(cg.SavedGraphError, match="fills 36 bytes of memory of 32"):
        cg.load(path)


def test_an_old_file_stays_whole_when_a_new_one_cannot_be_saved(x, path):
    cg.GraphDef().save(path)
    before = path.read_bytes()
    g = cg.GraphDef()
    g.memset(x, 0.0)
    with pytest.raises(cg.SavedGraphError):
        g.save(path)
    assert path.read_bytes() == before


def test_native_code_that_is_cut_off_is_not_loaded(device, stream, path):
    """PTX of the same kernel is, if the file has it. The file has the hash of the shorter code."""
    g = cg.GraphDef()
    x = cg.ndarray(cg.f32, 8)
    g.call(fill, x)
    g.save(path, outputs={"x": x})
    if cg.driver_info().kind != "host":
        pytest.skip("native code is for the host driver")
    with_short_blobs(path, "native")
    loaded = cg.load(path)
    loaded.instantiate().launch(stream, x=x)
    stream.sync()
    assert np.all(x.to_numpy() == 1)
    without_code(path, "ptx")
    with pytest.raises(cg.SavedGraphError, match="truncated"):
        cg.load(path)
