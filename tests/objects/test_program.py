# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a Program compiles CUDA C++ to code that runs, or raises with the compiler's log."""

import enum
import io
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cuda_graphs as cg

EMPTY = 'extern "C" __global__ void f() {}'


def test_a_cubin_runs(device, stream, pinned):
    source = 'extern "C" __global__ void set(int* x) { *x = 42; }'
    x = pinned(1)
    code = cg.Program(source).compile("cubin")
    cg.launch(stream, cg.LaunchConfig(grid=1, block=1), code.get_kernel("set"), x.ctypes.data)
    stream.sync()
    assert x[0] == 42
    assert code.code_type == "cubin"


def test_ptx_is_text_for_the_architecture(device):
    code = cg.Program(EMPTY).compile("ptx")
    assert f".target sm_{device.arch}".encode() in code.code
    assert code.code_type == "ptx"
    assert not code.code.endswith(b"\0")


class Word(enum.StrEnum):
    CPP = "c++"
    PTX = "ptx"
    CUBIN = "cubin"
    PTX_IN_CAPITALS = "PTX"
    LTOIR = "ltoir"


@pytest.mark.parametrize("target", ["cubin", "ptx", "ltoir"])
def test_words_may_be_enums_of_strings(device, target):
    code = cg.Program(EMPTY, Word.CPP).compile(Word(target))
    assert (code.code_type, type(code.code_type)) == (target, str)
    assert code.code == cg.Program(EMPTY, "c++").compile(target).code
    text = cg.Program(EMPTY).compile("ptx").code
    assert cg.Program(text, Word.PTX_IN_CAPITALS).compile(Word.PTX).get_kernel("f").num_arguments == 0


@pytest.mark.parametrize("arch", ["sm_80", "compute_80", "80"])
def test_the_architecture_can_be_chosen(arch):
    assert b".target sm_80" in cg.Program(EMPTY, options={"arch": arch}).compile("ptx").code


def test_ltoir_can_be_made_and_not_loaded(device):
    code = cg.Program(EMPTY).compile("ltoir")
    assert (code.code_type, len(code.code) > 0) == ("ltoir", True)
    with pytest.raises(RuntimeError, match="code of type 'ltoir' cannot be loaded"):
        code.get_kernel("f")


def test_name_expressions_find_templates(device, stream, pinned):
    source = "template <class T> __global__ void set(T* x) { *x = T(2.5); }"
    names = ["set<int>", b"set<float>"]
    code = cg.Program(source).compile("cubin", name_expressions=names)
    assert list(code.symbol_mapping) == names
    assert all(isinstance(name, bytes) and name.startswith(b"_Z") for name in code.symbol_mapping.values())
    one = cg.LaunchConfig(grid=1, block=1)
    for name, dtype, expected in [(names[0], np.int32, 2), (names[1], np.float32, 2.5)]:
        x = pinned(1, dtype)
        cg.launch(stream, one, code.get_kernel(name), x.ctypes.data)
        stream.sync()
        assert x[0] == expected


def test_a_single_name_expression_needs_no_list(device):
    source = "template <class T> __global__ void set(T* x) { *x = T(2.5); }"
    for name in ("set<int>", b"set<int>"):
        code = cg.Program(source).compile("cubin", name_expressions=name)
        assert code.get_kernel(name).num_arguments == 1


def test_an_error_carries_the_log_and_the_options(device):
    program = cg.Program("__global__ void f() { return 1 + ; }", options={"name": "broken.cu"})
    with pytest.raises(cg.NVRTCError, match=r"compilation log:\n\nbroken\.cu") as caught:
        program.compile()
    assert "error: expected an expression" in caught.value.log
    assert caught.value.name == "NVRTC_ERROR_COMPILATION"
    assert "--gpu-architecture=" in caught.value.attempt


def test_warnings_go_to_logs(device):
    logs = io.StringIO()
    cg.Program('extern "C" __global__ void f() { int unused; }').compile("ptx", logs=logs)
    assert "unused" in logs.getvalue()


def test_an_option_that_nvrtc_does_not_know_is_an_error_with_its_log(device):
    with pytest.raises(cg.NVRTCError, match="--no-such-option"):
        cg.Program(EMPTY, options={"options": ["--no-such-option"]}).compile()


WORDS = [
    ({}, []),
    ({"std": "c++20"}, ["--std=c++20"]),
    ({"define_macro": "A"}, ["--define-macro=A"]),
    ({"define_macro": ("A", "1")}, ["--define-macro=A=1"]),
    ({"define_macro": ["A", ("B", "2")]}, ["--define-macro=A", "--define-macro=B=2"]),
    ({"define_macro": (("A", "1"), ("B", 2))}, ["--define-macro=A=1", "--define-macro=B=2"]),
    ({"define_macro": ("A", ("B", "2"))}, ["--define-macro=A", "--define-macro=B=2"]),
    ({"define_macro": [("A", "1")]}, ["--define-macro=A=1"]),
    ({"define_macro": (("A", "1"),)}, ["--define-macro=A=1"]),
    ({"define_macro": ("A", "B", "C")}, ["--define-macro=A", "--define-macro=B", "--define-macro=C"]),
    ({"include_path": ["a", "b"]}, ["--include-path=a", "--include-path=b"]),
    ({"include_path": ("/a", Path("/b"))}, ["--include-path=/a", "--include-path=/b"]),
    ({"undefine_macro": ("A", "B")}, ["--undefine-macro=A", "--undefine-macro=B"]),
    ({"pre_include": ("a.h", "b.h")}, ["--pre-include=a.h", "--pre-include=b.h"]),
    ({"ptxas_options": ("-v", "-O1")}, ["--ptxas-options=-v", "--ptxas-options=-O1"]),
    ({"options": "--minimal"}, ["--minimal"]),
    ({"relocatable_device_code": True}, ["--relocatable-device-code=true"]),
    ({"fma": False, "ftz": True}, ["--ftz=true", "--fmad=false"]),
    ({"use_fast_math": True, "lineinfo": True}, ["--generate-line-info", "--use_fast_math"]),
    ({"max_register_count": 32}, ["--maxrregcount=32"]),
    ({"options": ["-x", "-y"]}, ["-x", "-y"]),
]


@pytest.mark.parametrize(("options", "words"), WORDS, ids=str)
def test_options_become_words_for_nvrtc(options, words):
    assert cg.ProgramOptions(**options).as_words() == words


@pytest.mark.parametrize(
    "options",
    [
        {"std": "c++17", "define_macro": [("VALUE", "3"), "HERE"], "undefine_macro": "HERE"},
        {"relocatable_device_code": True, "define_macro": ("VALUE", "3")},
        {"debug": True, "define_macro": ("VALUE", "3")},
        {"lineinfo": True, "max_register_count": 64, "define_macro": ("VALUE", "3")},
        {"use_fast_math": True, "extra_device_vectorization": True, "define_macro": ("VALUE", "3")},
        {"ftz": True, "prec_sqrt": False, "prec_div": False, "fma": False, "define_macro": ("VALUE", "3")},
        {"device_as_default_execution_space": True, "disable_warnings": True, "define_macro": ("VALUE", "3")},
        {"no_source_include": True, "ptxas_options": "-v", "define_macro": ("VALUE", "3")},
    ],
    ids=lambda options: "-".join(options),
)
def test_nvrtc_takes_every_option(device, stream, pinned, options):
    source = """
    #ifdef HERE
    #error the macro is still here
    #endif
    extern "C" __global__ void set(int* x) { *x = VALUE; }
    """
    x = pinned(1)
    code = cg.Program(source, options=options).compile("cubin")
    cg.launch(stream, cg.LaunchConfig(grid=1, block=1), code.get_kernel("set"), x.ctypes.data)
    stream.sync()
    assert x[0] == 3


def test_headers_of_the_user_are_found(device, tmp_path):
    (tmp_path / "mine.h").write_text("#define NAME f\n")
    source = '#include "mine.h"\nextern "C" __global__ void NAME() {}'
    for path in (tmp_path, str(tmp_path), [tmp_path]):
        assert cg.Program(source, options={"include_path": path}).compile().get_kernel("f").num_arguments == 0
    pre = {"include_path": tmp_path, "pre_include": "mine.h"}
    assert cg.Program('extern "C" __global__ void NAME() {}', options=pre).compile().get_kernel("f")


def test_headers_of_cuda_are_found_without_options(device):
    source = """
    #include <cuda_fp16.h>
    extern "C" __global__ void f(__half* x) { *x = __float2half(1.5f); }
    """
    assert cg.Program(source).compile("ptx").code


SETS = """
#include <cuda_graphs.h>
extern "C" __global__ void set(cudaGraphConditionalHandle h) { cudaGraphSetConditional(h, 3); }
"""

DECLARED = """
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
"""
"""The declaration of CUDA's own header."""


@pytest.mark.parametrize(
    ("before", "options"),
    [
        ("", {}),
        ("#include <cuda_graphs.h>", {}),
        (DECLARED, {}),
        ("", {"relocatable_device_code": True}),
        ("", {"no_source_include": True, "std": "c++11"}),
        ("", {"pre_include": "cuda_graphs.h"}),
    ],
    ids=str,
)
def test_our_header_declares_the_function_that_sets_conditions(device, before, options):
    text = cg.Program(f"{before}\n{SETS}\n{DECLARED}", options=options).compile("ptx").code
    assert b"cudaGraphSetConditional" in text


def test_a_header_of_the_user_with_the_name_of_ours_is_found_first(device, tmp_path):
    (tmp_path / "cuda_graphs.h").write_text('extern "C" __global__ void theirs() {}\n')
    program = cg.Program("#include <cuda_graphs.h>", options={"include_path": tmp_path})
    assert program.compile("ptx").get_kernel("theirs").num_arguments == 0


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
@pytest.mark.parametrize("options", [[], ["-rdc=true"]], ids=["whole", "relocatable"])
def test_nvcc_takes_our_header_beside_its_own(tmp_path, options):
    (tmp_path / "set.cu").write_text(SETS)
    command = ["nvcc", "-Werror", "all-warnings", *options, f"-I{cg.get_include()}", "-arch=sm_90"]
    made = subprocess.run(
        [*command, "-c", "set.cu", "-o", "set.o"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")


def test_our_header_is_empty_for_compilers_of_host_code(tmp_path):
    (tmp_path / "host.cpp").write_text("#include <cuda_graphs.h>\n#include <cuda_graphs.h>\nint main() {}\n")
    made = subprocess.run(
        ["g++", "-Wall", "-Wextra", "-Werror", f"-I{cg.get_include()}", "-fsyntax-only", "host.cpp"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")


def test_ptx_passes_through(device, stream, pinned):
    text = cg.Program('extern "C" __global__ void set(int* x) { *x = 7; }').compile("ptx").code
    program = cg.Program(text, "ptx")
    assert program.backend == "driver"
    code = program.compile("ptx")
    assert (code.code, code.code_type) == (text, "ptx")
    with pytest.raises(
        ValueError, match="Unsupported target_type='cubin' of a ptx program; expected one of 'ptx'"
    ):
        program.compile("cubin")


WRONG = [
    (lambda: cg.Program(EMPTY, "nvvm"), ValueError, "code_type must be one of .*, got 'nvvm'"),
    (lambda: cg.Program(EMPTY, "fortran"), ValueError, "code_type must be one of .*, got 'fortran'"),
    (lambda: cg.Program(3), TypeError, "code must be a str or bytes, got int"),
    (lambda: cg.Program(EMPTY, options=3), TypeError, "program options must be a ProgramOptions"),
    (lambda: cg.Program(EMPTY, options={"colour": 1}), TypeError, "colour"),
    (
        lambda: cg.ProgramOptions(include_path=[("a", "b")]).as_words(),
        TypeError,
        r"each value of include-path must be a str or a path, got tuple \('a', 'b'\)",
    ),
    (
        lambda: cg.ProgramOptions(define_macro=[("A", "B", "C")]).as_words(),
        TypeError,
        "each value of define-macro must be",
    ),
    (lambda: cg.Program(EMPTY).compile("exe"), ValueError, "Unsupported target_type='exe'"),
]


@pytest.mark.parametrize(("call", "kind", "message"), WRONG, ids=[row[2] for row in WRONG])
def test_misuse_is_named(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_a_closed_program_compiles_no_more(device):
    program = cg.Program(EMPTY)
    code = program.compile("ptx")
    program.close()
    program.close()
    assert program.is_closed
    with pytest.raises(RuntimeError, match="Program has been closed"):
        program.compile("ptx")
    assert code.code


def test_a_program_may_be_bytes_and_compiled_twice(device):
    program = cg.Program(EMPTY.encode(), "C++")
    assert program.compile("ptx").code == program.compile("ptx").code


def test_without_nvrtc_the_error_names_what_to_install(run_child):
    child = run_child(
        """
import sys
sys.modules["cuda.bindings.nvrtc"] = None
import cuda_graphs as cg
try:
    cg.Program("", options={"arch": "sm_90"}).compile("ptx")
except RuntimeError as error:
    print(error)
"""
    )
    assert "pip install 'cuda-graphs[nvrtc]'" in child.stdout, child.stderr


def test_code_can_be_pickled(device):
    code = cg.Program(EMPTY).compile("cubin", name_expressions=["f"])
    again = pickle.loads(pickle.dumps(code))
    assert (again.code, again.code_type, again.name, again.symbol_mapping) == (
        code.code,
        code.code_type,
        code.name,
        code.symbol_mapping,
    )
    assert again.get_kernel("f").name == code.get_kernel("f").name


def test_compiling_loads_numpy_and_llvmlite_for_nobody(run_child):
    child = run_child(
        "import sys, cuda_graphs as cg; cg.Program('', options={'arch': 'sm_90'}).compile('ptx'); "
        "assert not {'llvmlite', 'numpy'} & set(sys.modules), sys.modules.keys()"
    )
    assert (child.returncode, child.stderr) == (0, "")
    assert sys.modules
