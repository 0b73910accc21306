# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the host driver loads and runs native images like PTX, with the same results to the bit. It refuses a foreign,
damaged or cut image with a reason; other drivers refuse all of them."""

import ctypes
import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

import cuda_graphs
from cuda_graphs.compiler import compile_kernel, specialise
from cuda_graphs.compiler.codegen.ptx.ptx_target import Ptx
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.ir.interpreter import interpret
from cuda_graphs.compiler.pipeline import lower
from cuda_graphs.native import llvm
from cuda_graphs.native.image import HASHED, HEAD, fnv1a
from tests.compiler.rig import cg

INVALID_IMAGE, NO_BINARY_FOR_GPU = 200, 209


@pytest.fixture
def host(driver):
    if driver.kind != "host":
        pytest.skip("native images run on the host driver")


def steps(
    x: cg.ndarray(cg.f32, 1), y: cg.ndarray(cg.f64, 2), count: cg.ndarray(cg.i32, 1), a: cg.f32, on: cg.bool_
):
    for i in range(x.shape[0]):
        if on:
            x[i] = a * x[i] + cg.f32(i) / 3.0
        if x[i] > 100.0:
            count[0] += 1
    count[1] = count[0] * 2
    for i, j in cg.ndrange(y.shape[0], (1, y.shape[1])):
        y[i, j] = cg.sqrt(y[i, j]) + y[i, j - 1] * 0.0 + x[i]


def arguments():
    values = np.random.default_rng(5)
    return {
        "x": values.random(1000, "f4") * 200,
        "y": values.random((60, 70)),
        "count": np.zeros(2, "i4"),
        "a": np.float32(1.25),
        "on": np.bool_(True),
    }


def image_of(target, function=steps, **given):
    return compile_kernel(function, specialise(function, given or arguments()), target, verify_ir=True)


class Run:
    """An artifact on the driver: `arrays` by path, and each task with what it is launched with."""

    def __init__(self, artifact, given, grid=7):
        kind = "ptx" if artifact.target == "ptx" else "native"
        code = getattr(cuda_graphs.ObjectCode, f"from_{kind}")(artifact.image)
        self.arrays = {}
        for path, value in given.items():
            if isinstance(value, np.ndarray):
                self.arrays[path] = cuda_graphs.ndarray(BY_NAME[value.dtype.name], value.shape)
                self.arrays[path].from_numpy(value)
        temps = {path: cuda_graphs.ndarray(cuda_graphs.u8, size) for path, size in artifact.temps}
        self.keep = temps

        def argument(slot):
            array = self.arrays.get(slot.path, temps.get(slot.path))
            if slot.kind == "pointer":
                return array.handle
            return np.int32(array.shape[slot.axis]) if slot.kind == "extent" else given[slot.path]

        self.tasks = [
            (
                cuda_graphs.LaunchConfig(grid=grid if task.parallel else 1, block=32 if task.parallel else 1),
                code.get_kernel(task.entry),
                [argument(slot) for slot in task.slots],
            )
            for task in artifact.tasks
        ]

    def launch(self, stream):
        for config, kernel, args in self.tasks:
            cuda_graphs.launch(stream, config, kernel, *args)
        stream.sync()
        return {path: array.to_numpy() for path, array in self.arrays.items()}

    def as_graph(self, stream):
        definition = cuda_graphs.GraphDef()
        node = definition
        for config, kernel, args in self.tasks:
            node = node.launch(config, kernel, *args)
        definition.instantiate().launch(stream)
        stream.sync()
        return {path: array.to_numpy() for path, array in self.arrays.items()}


BY_NAME = {
    type.dtype and np.dtype(type.dtype).name: type for type in map(cg.SCALARS.get, cg.SCALARS) if type.dtype
}


def same(found, wanted):
    for path, array in wanted.items():
        if isinstance(array, np.ndarray):
            np.testing.assert_array_equal(found[path], array, err_msg=path)


def interpreted():
    given = arguments()
    program, _ = lower(steps, specialise(steps, given))
    interpret(program.kernel, given, given, print)
    return given


@pytest.mark.parametrize("grid", [1, 2, 7, 5000])
def test_results_are_those_of_ptx_and_of_the_interpreter(host, device, stream, grid):
    wanted = interpreted()
    for target in (X86(), Ptx()):
        same(Run(image_of(target), arguments(), grid).launch(stream), wanted)


def test_tasks_are_nodes_of_graphs(host, stream):
    same(Run(image_of(X86()), arguments()).as_graph(stream), interpreted())


def test_kernels_say_what_they_take(host, device):
    artifact = image_of(X86())
    code = cuda_graphs.ObjectCode.from_native(artifact.image)
    for task in artifact.tasks:
        kernel = code.get_kernel(task.entry)
        assert [(each.offset, each.size) for each in kernel.arguments_info] == [
            (s.offset, s.size) for s in task.slots
        ]
        assert kernel.attributes.shared_size_bytes == 0
    with pytest.raises(cuda_graphs.CUDAError, match=artifact.tasks[0].entry):
        code.get_kernel("missing")


def reports(x: cg.ndarray(cg.i32, 1)):
    for i in x:
        assert x[i] < 10, "too large"
        print("x", i, x[i])


def test_text_goes_out_and_asserts_end_the_kernel(host, run_child):
    code = """
import numpy as np, cuda_graphs
from tests.compiler.test_native_images import Run, reports, X86, specialise, compile_kernel
device = cuda_graphs.Device()
device.set_current()
stream = device.create_stream()
for value in (3, 30):
    given = {"x": np.full(2, value, "i4")}
    Run(compile_kernel(reports, specialise(reports, given), X86(), debug=True), given, 1).launch(stream)
"""
    done = run_child(code)
    assert done.stdout == "x 0 3\nx 1 3\n"
    assert "too large" in done.stderr
    assert "CUDA_ERROR_ASSERT" in done.stderr


def test_access_to_memory_that_is_not_there_ends_the_kernel(host, run_child):
    code = """
import numpy as np, cuda_graphs
from tests.compiler.test_native_images import Run, image_of, reports, X86
device = cuda_graphs.Device()
device.set_current()
stream = device.create_stream()
run = Run(image_of(X86(), reports, x=np.zeros(2, "i4")), {"x": np.zeros(2, "i4")}, 1)
config, kernel, args = run.tasks[0]
cuda_graphs.launch(stream, config, kernel, 64, *args[1:])
stream.sync()
"""
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in run_child(code).stderr


def refusal(image, driver, name="cuLibraryLoadFromFile", path=None):
    """(status, log) of loading it without Python in between."""
    library = ctypes.CDLL(driver.path)
    handle = ctypes.c_void_p()
    if path is None:
        status = library.cuLibraryLoadData(ctypes.byref(handle), image, None, None, 0, None, None, 0)
    else:
        path.write_bytes(image)
        status = library.cuLibraryLoadFromFile(
            ctypes.byref(handle), bytes(path), None, None, 0, None, None, 0
        )
    library.cghLastLoadLog.restype = ctypes.c_char_p
    if status == 0:
        library.cuLibraryUnload(handle)
    return status, library.cghLastLoadLog().decode()


def rewritten(image, *, version=None, code=None, **description):
    """The image with other parts, and hashes that fit."""
    magic, old, head, _, size, _, _ = HEAD.unpack_from(image)
    text = json.dumps({**json.loads(image[head : head + size]), **description}).encode()
    body = text + (image[head + size :] if code is None else code)
    fields = (magic, version or old, head, head + len(body), len(text))
    digest = hashlib.sha256(body).digest()
    return HEAD.pack(*fields, fnv1a(HEAD.pack(*fields, 0, digest)[:HASHED]), digest) + body


def changed(image, at):
    return image[:at] + bytes([image[at] ^ 4]) + image[at + 1 :]


REFUSED = {
    "cut in the head": (lambda image: image[:40], INVALID_IMAGE, "ends in its head"),
    "cut behind the head": (lambda image: image[:64], INVALID_IMAGE, "not have the length that its head gives"),
    "cut at the end": (lambda image: image[:-1], INVALID_IMAGE, "not have the length that its head gives"),
    "longer than it says": (lambda image: image + b"x", INVALID_IMAGE, "not have the length that its head gives"),
    "another length": (lambda image: changed(image, 18), INVALID_IMAGE, "damaged head"),
    "a bit in the hash": (lambda image: changed(image, 40), INVALID_IMAGE, "not what was written"),
    "a bit in the description": (lambda image: changed(image, 80), INVALID_IMAGE, "not what was written"),
    "a bit in the code": (lambda image: changed(image, len(image) - 9), INVALID_IMAGE, "not what was written"),
    "another version": (lambda image: rewritten(image, version=2), NO_BINARY_FOR_GPU, "version 2"),
    "another architecture": (lambda image: rewritten(image, triple="aarch64-linux"), NO_BINARY_FOR_GPU, "aarch64"),
    "another CPU": (lambda image: rewritten(image, features=["avx99"]), NO_BINARY_FOR_GPU, "lacks avx99"),
    "entries that are not there": (
        lambda image: rewritten(image, entries=[{"name": "other", "params": [], "shared": 0}]),
        INVALID_IMAGE, "cannot be linked",
    ),
    "no list of entries": (lambda image: rewritten(image, entries=3), INVALID_IMAGE, "description"),
    "parameters with a negative offset": (
        lambda image: rewritten(image, entries=[{"name": "a", "params": [[-8, 8]], "shared": 0}]),
        INVALID_IMAGE, "negative offset",
    ),
    "shared memory with a negative size": (
        lambda image: rewritten(image, entries=[{"name": "a", "params": [], "shared": -1}]),
        INVALID_IMAGE, "negative size",
    ),
    "code that is none": (lambda image: rewritten(image, code=b"\x7fELF nothing"), INVALID_IMAGE, "cannot be linked"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_damaged_or_foreign_image_is_refused_with_a_reason(host, driver, device, tmp_path, what):
    damage, status, reason = REFUSED[what]
    image = image_of(X86()).image
    assert refusal(image, driver, path=tmp_path / "image") == (0, "")
    found, log = refusal(damage(image), driver, path=tmp_path / "image")
    assert (found, reason in log) == (status, True), log


def test_the_loader_finds_the_features_that_llvm_finds(host, driver, device, tmp_path):
    image = image_of(X86()).image
    for name, has in llvm.binding().get_host_cpu_features().items():
        if name in llvm.X86_FEATURES:
            status, log = refusal(rewritten(image, features=[name]), driver, path=tmp_path / "image")
            assert status == (0 if has else NO_BINARY_FOR_GPU), f"{name}: {log}"


def test_the_loader_knows_all_features_that_code_may_use():
    """This CPU may lack features that another one has."""
    root = Path(__file__).resolve().parents[2]
    table = (root / "cuda_graphs/hostdriver/loader/cpu_features.cpp").read_text()
    assert not llvm.X86_FEATURES - set(re.findall(r'^ {4}\{"([^"]+)", ', table, re.MULTILINE))


def test_code_uses_no_feature_that_the_loader_does_not_know(monkeypatch):
    """LLVM 22 names AVX10.1, and later versions will name more."""
    newer = {"sse2": True, "avx10.1": True, "avx99": True, "avx512dq": True, "avx2": False}
    monkeypatch.setattr(llvm.binding(), "get_host_cpu_features", lambda: dict(newer))
    monkeypatch.setattr(llvm.binding(), "get_process_triple", lambda: "x86_64-unknown-linux-gnu")
    assert llvm.requirements.__wrapped__()["features"] == ["sse2"]
    monkeypatch.setattr(llvm.binding(), "get_process_triple", lambda: "aarch64-unknown-linux-gnu")
    assert len(llvm.requirements.__wrapped__()["features"]) == 4


def test_an_image_that_says_its_length_needs_no_other(host, driver, device):
    image = image_of(X86()).image
    assert refusal(image + b"something else", driver) == (0, "")


def test_object_code_that_was_cut_is_not_given_to_a_driver(device):
    image = image_of(X86()).image
    for wrong in (image[:-1], image[:30], b"", image_of(Ptx()).image):
        with pytest.raises(ValueError, match="is not a native image, or is truncated"):
            cuda_graphs.ObjectCode.from_native(wrong).get_kernel("a")


def test_a_driver_of_gpus_refuses_native_images(driver, device):
    if driver.kind == "host":
        pytest.skip("the host driver takes them")
    with pytest.raises(cuda_graphs.ImageError):
        cuda_graphs.ObjectCode.from_native(image_of(X86()).image).get_kernel("a")


def convert_indices(a: cg.ndarray(cg.f32, 2), n: cg.i32):
    for i, j in cg.ndrange(a.shape[0], (1, n)):
        a[i, j] = 0.5 * j


def test_loops_convert_their_indices_on_each_cpu(host, driver, device):
    """LLVM ended the process on CPUs with AVX-512 FP16 but without DQ."""
    a = np.zeros((17, 6), "f4")
    cuda_graphs.kernel(convert_indices)(a, 6)
    assert np.array_equal(a, np.tile(0.5 * np.arange(6, dtype="f4"), (17, 1)) * (np.arange(6) > 0))
