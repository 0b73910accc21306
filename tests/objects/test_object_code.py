# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the first kernel loads its code, the last user unloads it, and a refusal gives its reason."""

import re

import pytest

import cuda_graphs as cg

SOURCE = 'extern "C" __global__ void one() {} extern "C" __global__ void two(int x) {}'
FACTORIES = ("cubin", "ptx", "fatbin", "native", "ltoir", "object", "library")


@pytest.fixture
def ptx(device):
    return cg.Program(SOURCE).compile("ptx").code


def factory(kind):
    return getattr(cg.ObjectCode, f"from_{kind}")


@pytest.mark.parametrize("kind", FACTORIES)
def test_each_factory_keeps_code_name_and_symbols(kind, tmp_path):
    path = tmp_path / "code.bin"
    path.write_bytes(b"the code")
    for module in (b"the code", path, str(path)):
        code = factory(kind)(module, name="mine", symbol_mapping={"a": "b"})
        assert (code.code, code.code_type, code.name) == (b"the code", kind, "mine")
        mapping = code.symbol_mapping
        mapping["c"] = "d"
        assert code.symbol_mapping == {"a": "b"}
    assert factory(kind)(path).name == str(path)


@pytest.mark.parametrize("kind", ["ltoir", "object", "library"])
def test_code_that_must_be_linked_first_cannot_be_loaded(kind):
    with pytest.raises(RuntimeError, match=f"code of type '{kind}' cannot be loaded"):
        factory(kind)(b"code").get_kernel("f")


def test_misuse_is_named():
    with pytest.raises(TypeError, match="module must be the code as bytes or the path of a file, got int"):
        cg.ObjectCode.from_ptx(3)
    with pytest.raises(FileNotFoundError):
        cg.ObjectCode.from_ptx("/no/such/file.ptx")
    with pytest.raises(TypeError, match="symbol_mapping must be a mapping or None"):
        cg.ObjectCode.from_ptx(b"", symbol_mapping=3)


def ptx_that_the_driver_takes(ptx, driver):
    """PTX in a version of the language that every driver of CUDA 12 knows."""
    return re.sub(rb"\.version \d+\.\d+", b".version 8.0", ptx)


def test_ptx_is_loaded_and_gives_kernels(ptx, driver):
    code = cg.ObjectCode.from_ptx(ptx_that_the_driver_takes(ptx, driver), symbol_mapping={"alias": "two"})
    assert repr(code) == "<ObjectCode handle=not loaded code_type=ptx>"
    assert code.get_kernel("one").name == code.get_kernel(b"one").name == "one"
    assert code.get_kernel("alias").name == "two"
    assert code.handle != 0
    assert repr(code) == f"<ObjectCode handle={code.handle:#x} code_type=ptx>"


def test_loading_happens_at_the_first_kernel(device):
    code = cg.ObjectCode.from_ptx(b"this is no ptx")
    assert code.code_type == "ptx"
    with pytest.raises(cg.CUDAError):
        code.get_kernel("one")


def test_a_refusal_carries_the_loaders_log(device, ptx, driver):
    broken = ptx_that_the_driver_takes(ptx, driver).replace(b"ret;", b"frobnicate;")
    code = cg.ObjectCode.from_ptx(broken, name="broken.ptx")
    with pytest.raises(cg.ImageError) as caught:
        code.get_kernel("one")
    assert "frobnicate" in caught.value.log
    assert "'broken.ptx' (ptx," in caught.value.attempt
    assert "frobnicate" in str(caught.value)


def test_a_kernel_that_is_not_there_is_reported_with_those_that_are(device):
    code = cg.Program(SOURCE).compile("cubin")
    with pytest.raises(cg.CUDAError) as caught:
        code.get_kernel("three")
    assert caught.value.name == "CUDA_ERROR_NOT_FOUND"
    assert "get_kernel('three')" in caught.value.attempt
    assert "which has 'one', 'two'" in caught.value.attempt


def test_two_codes_are_different_even_with_the_same_bytes(device):
    a, b = (cg.ObjectCode.from_ptx(b"same") for _ in range(2))
    assert a != b
    assert a == a
    assert len({a, b}) == 2


INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background of a shell is born without
import cuda_graphs as cg
from cuda_graphs.hostdriver.ptx import loader

def stop(image, services):
    raise {error}

cg.Device().set_current()
ptx = b".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry f() {{ ret; }}\\n"
load, loader.load = loader.load, stop
try:
    cg.ObjectCode.from_ptx(ptx).get_kernel("f")
except BaseException as error:
    print(type(error).__name__, "Log:\\n{error}".replace("()", "") in str(error))
loader.load = load
print(cg.ObjectCode.from_ptx(ptx).get_kernel("f").name)
"""


@pytest.mark.parametrize(
    ("error", "printed"),
    [
        ("ZeroDivisionError()", "CUDAError True"),
        ("SystemExit()", "CUDAError True"),
        ("KeyboardInterrupt()", "KeyboardInterrupt False"),
    ],
)
def test_exception_in_the_loader_of_the_host_driver_is_an_error_and_loads_nothing(error, printed, run_child):
    child = run_child(INTERRUPTED.format(error=error), CUDA_GRAPHS_DRIVER="host")
    assert (child.returncode, child.stdout, child.stderr) == (0, f"{printed}\nf\n", "")
