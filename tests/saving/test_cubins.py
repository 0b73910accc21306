# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `save(architectures=...)` adds machine code for these GPUs. They load it without PTX, and get the same results.
What nvJitLink cannot make is an error that names the node."""

import struct

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.objects.code.kernel import CodeImage
from cuda_graphs.objects.code.signature import Type
from cuda_graphs.saving.codes import Blobs, Codes
from cuda_graphs.saving.cubins import cubin_of
from cuda_graphs.saving.text import facts_of
from tests.graph_rig import ONE
from tests.saving.files import changed, contents, without_code

nvjitlink = pytest.importorskip("cuda.bindings.nvjitlink")
try:
    nvjitlink.version()
except RuntimeError as missing:
    pytest.skip(f"needs nvJitLink (pip install 'cuda-graphs[cubins]'): {missing}", allow_module_level=True)

Floats = cg.Array1[cg.f32]
CUDA_MACHINE = 190  # EM_CUDA of the ELF header


@cg.kernel
def twice(x: Floats):
    for i in x:
        x[i] = 2.0 * x[i] + cg.sin(x[i])


def number(name):
    return int(name.removeprefix("sm_"))


def architecture_of(cubin):
    """The architecture in the header of a cubin, and that it is one (ELF, e_machine and e_flags)."""
    (machine,), (flags,) = struct.unpack_from("<H", cubin, 18), struct.unpack_from("<I", cubin, 48)
    assert (cubin[:4], machine) == (b"\x7fELF", CUDA_MACHINE)
    return flags >> 8 & 0xFF


def newer_ones():
    """Two architectures for which the PTX of this driver can be compiled."""
    if cg.driver_info().kind == "host":
        return ["sm_80", "sm_90"]
    own = cg.Device().arch
    return [f"sm_{own}", "sm_120" if int(own) < 120 else "sm_121"]


@pytest.fixture
def x(device):
    return cg.array(np.arange(8, dtype=np.float32))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "graph.cgg"


def results(path, stream):
    graph = cg.load(path).instantiate()
    out = cg.array(np.arange(8, dtype=np.float32))
    graph.launch(stream, x=out)
    stream.sync()
    return out.to_numpy()


def test_each_kernel_has_a_cubin_for_each_architecture(x, path, stream):
    names = newer_ones()
    g = cg.GraphDef()
    g.call(twice, x).call(twice, x)
    g.save(path, inputs={"x": x}, architectures=names)
    manifest, blobs = contents(path)
    (row,) = manifest["kernels"]
    assert {key: architecture_of(blobs[blob]) for key, blob in row["cubins"].items()} == {
        name.removeprefix("sm_"): number(name) for name in names
    }
    assert "ptx" in row["code"]
    assert all(row["name"].encode() in blobs[blob] for blob in row["cubins"].values())
    assert facts_of(path)["kernels"][0]["code"] == [
        "native",
        "ptx",
        *sorted(f"cubin {name}" for name in names),
    ]
    first = results(path, stream)
    g.save(path, inputs={"x": x})
    assert results(path, stream).tolist() == first.tolist()
    assert "cubins" not in contents(path)[0]["kernels"][0]


def test_kernels_of_ptx_have_cubins_too(x, path, stream, kernels):
    g = cg.GraphDef()
    g.launch(ONE, cg.ObjectCode.from_ptx(PTX).get_kernel("seven"), x)
    g.save(path, inputs={"x": x}, architectures=newer_ones()[:1])
    (row,) = contents(path)[0]["kernels"]
    assert len(row["cubins"]) == 1
    assert results(path, stream)[0] == 7


PTX = b"""
.version 7.8
.target sm_80
.address_size 64
.visible .entry seven(.param .u64 .ptr .global x) {
    .reg .u64 %a;
    ld.param.u64 %a, [x];
    cvta.to.global.u64 %a, %a;
    st.global.f32 [%a], 0f40E00000;
    ret;
}
"""


class KernelOfAGpu:
    """A kernel of CUDA C++ as a GPU has it: a cubin, and the PTX of which that was made."""

    handle = 1

    def _image(self):
        signatures = {"seven": [Type("float*", "pointer", 8, "float", 4, False)]}
        return CodeImage(cubin_of(PTX, "sm_90"), "cubin", "a program", "seven", signatures, PTX)


def test_a_cubin_of_cuda_c_travels_with_its_ptx_and_the_code_for_this_cpu(device):
    blobs = Blobs()
    codes = Codes(blobs, None, ["sm_90", "sm_120"])
    found = codes.add(KernelOfAGpu())
    (row,) = codes.rows
    assert (found.problem, row["missing"]) == ("", None)
    assert sorted(row["code"]) == ["cubin", "native", "ptx"]
    assert blobs.all[row["code"]["ptx"]] == PTX
    assert sorted(row["cubins"]) == ["120", "90"]


@pytest.mark.cuda
def test_kernels_of_cuda_c_from_a_gpu_run_on_the_host_driver(x, path, stream, elsewhere):
    source = 'extern "C" __global__ void halve(float* x) { x[threadIdx.x] *= 0.5f; }'
    program = cg.Program(source, code_type="c++").compile("cubin")
    g = cg.GraphDef()
    g.launch(cg.LaunchConfig(grid=1, block=8), program.get_kernel("halve"), x)
    g.save(path, inputs={"x": x})
    assert results(path, stream).tolist() == [0.5 * each for each in range(8)]
    text = elsewhere(ON_THE_HOST, path, CUDA_GRAPHS_DRIVER="host")
    assert text == "[0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5]\n"


ON_THE_HOST = """
import sys
import numpy as np
import cuda_graphs as cg
x, stream = cg.array(np.arange(8, dtype=np.float32)), cg.Device().create_stream()
cg.load(sys.argv[1]).instantiate().launch(stream, x=x)
stream.sync()
print(x.to_numpy().tolist())
"""


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ("sm_90", TypeError, "architectures must be a list of names, got str"),
        ([90], TypeError, "architectures must be a list of str, got int"),
        (["sm_90a"], ValueError, "architectures must be names such as"),
        (["hopper"], ValueError, "got 'hopper'"),
    ],
)
def test_other_names_are_refused(device, path, given, error, words):
    with pytest.raises(error, match=words):
        cg.GraphDef().save(path, architectures=given)
    assert not path.exists()


@pytest.mark.parametrize(("name", "words"), [("sm_52", "sm_52"), ("sm_999", "does not know sm_999")])
def test_an_architecture_that_the_ptx_cannot_run_on_names_the_node(x, path, name, words):
    g = cg.GraphDef()
    g.call(twice, x, name="doubling")
    with pytest.raises(
        cg.SavedGraphError, match=f"'doubling'.* launches a kernel that has no cubin for .*{words}"
    ):
        g.save(path, inputs={"x": x}, architectures=[name])
    assert not path.exists()


def test_without_nvjitlink_the_error_says_what_to_install(x, path, monkeypatch):
    def missing():
        raise RuntimeError("libnvJitLink.so is missing")

    monkeypatch.setattr(nvjitlink, "version", missing)
    g = cg.GraphDef()
    g.call(twice, x)
    with pytest.raises(
        RuntimeError, match=r"libnvJitLink.so is missing.*pip install 'cuda-graphs\[cubins\]'"
    ):
        g.save(path, inputs={"x": x}, architectures=["sm_90"])
    g.save(path, inputs={"x": x})


@pytest.mark.cuda
def test_this_gpu_loads_its_cubin_and_no_ptx(x, path, stream):
    own = f"sm_{cg.Device().arch}"
    g = cg.GraphDef()
    g.call(twice, x)
    g.save(path, inputs={"x": x}, architectures=[own])
    first = results(path, stream)
    without_code(path, "ptx")
    assert results(path, stream).tolist() == first.tolist()
    changed(path, lambda manifest: manifest["kernels"][0].update(cubins={"10": 0}))
    with pytest.raises(cg.SavedGraphError, match="has no code for a GPU"):
        cg.load(path)
    changed(path, lambda manifest: manifest["kernels"][0].update(cubins={own.removeprefix("sm_"): 99}))
    with pytest.raises(cg.SavedGraphError, match="the cubins"):
        cg.load(path)


@pytest.mark.cuda
def test_a_damaged_cubin_is_no_reason_to_refuse_a_file_with_ptx(x, path, stream):
    g = cg.GraphDef()
    g.call(twice, x)
    g.save(path, inputs={"x": x}, architectures=[f"sm_{cg.Device().arch}"])
    first = results(path, stream)

    def spoil(manifest):
        row = manifest["kernels"][0]
        row["cubins"] = dict.fromkeys(row["cubins"], row["code"]["native"])

    changed(path, spoil)
    assert results(path, stream).tolist() == first.tolist()
