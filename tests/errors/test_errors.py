# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an error says which status it is, what that means, what was attempted and what to do; also after pickling."""

import copy
import pickle
import re
from pathlib import Path

import pytest

from cuda_graphs import errors
from cuda_graphs.errors import (
    CaptureError,
    CUDAError,
    CUDANotSupportedError,
    CUDAOutOfMemoryError,
    DriverNotFoundError,
    GraphInstantiateError,
    GraphUpdateError,
    ImageError,
    LaunchError,
    NVRTCError,
    error_from_code,
    instantiate_error,
    update_error,
)
from cuda_graphs.errors.table import LOST, ROWS, STICKY, TABLE


def codes_of_cuda_h() -> dict[str, int]:
    pathfinder = pytest.importorskip("cuda.pathfinder")
    folder = pathfinder.find_nvidia_header_directory("cudart")
    if folder is None:
        pytest.skip("there is no cuda.h on this machine")
    header = (Path(folder) / "cuda.h").read_text()
    body = header[header.index("typedef enum cudaError_enum") : header.index("} CUresult;")]
    return {name: int(value) for name, value in re.findall(r"(CUDA_ERROR_\w+)\s*=\s*(\d+)", body)}


def test_every_status_of_cuda_h_has_a_row_under_its_name():
    codes = codes_of_cuda_h()
    assert len(codes) > 90
    missing = {name: code for name, code in codes.items() if code not in TABLE}
    assert missing == {}
    assert {name: code for name, code in codes.items() if TABLE[code].name != name} == {}


@pytest.mark.parametrize("code", TABLE)
def test_a_row_has_a_name_an_explanation_and_a_remedy(code):
    row = TABLE[code]
    assert re.fullmatch(r"CUDA_ERROR_[A-Z_]+", row.name)
    assert len(row.explanation) > 20 and row.explanation.endswith(".")
    assert len(row.remedy) > 10 and row.remedy.endswith(".")


def test_rows_are_unique():
    assert len(ROWS.strip().split("\n\n")) == len(TABLE), "a code is there twice"
    assert len({row.name for row in TABLE.values()}) == len(TABLE)
    # Remedies may repeat: those of old statuses do.
    assert len({row.explanation for row in TABLE.values()}) == len(TABLE)


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        TABLE[1] = TABLE[2]  # type: ignore[index]


CLASS_OF = [
    (1, CUDAError),
    (2, CUDAOutOfMemoryError),
    (2, MemoryError),
    (36, CUDANotSupportedError),
    (209, ImageError),
    (218, ImageError),
    (222, ImageError),
    (400, CUDAError),
    (700, LaunchError),
    (701, LaunchError),
    (710, LaunchError),
    (719, LaunchError),
    (801, CUDANotSupportedError),
    *[(code, CaptureError) for code in range(900, 909)],
    (910, GraphUpdateError),
    (999, CUDAError),
]


@pytest.mark.parametrize(("code", "cls"), CLASS_OF, ids=[f"{c}-{k.__name__}" for c, k in CLASS_OF])
def test_a_status_raises_the_class_that_a_program_would_catch(code, cls):
    error = error_from_code(code)
    assert isinstance(error, cls)
    assert isinstance(error, CUDAError)


@pytest.mark.parametrize("code", [1, 400, 909, 999])
def test_other_statuses_are_plain_cuda_errors(code):
    assert type(error_from_code(code)) is CUDAError


@pytest.mark.parametrize("code", TABLE)
def test_the_message_starts_with_name_and_explanation_and_ends_with_the_remedy(code):
    row = TABLE[code]
    error = error_from_code(code, row.name, "driver words", "cuGraphLaunch(graph_exec=0x10, stream=0x20)")
    text = str(error)
    assert text.startswith(f"{row.name}: {row.explanation}")
    assert "cuGraphLaunch(graph_exec=0x10, stream=0x20)" in text
    assert "driver words" in text
    assert text.endswith(row.remedy)


def test_the_parts_can_be_read_one_by_one():
    error = error_from_code(1, "CUDA_ERROR_INVALID_VALUE", "invalid argument", "cuGraphAddNode(graph=0x1)")
    assert (error.code, error.name, error.text) == (1, "CUDA_ERROR_INVALID_VALUE", "invalid argument")
    assert error.attempt == "cuGraphAddNode(graph=0x1)"
    assert (error.explanation, error.remedy) == TABLE[1][1:]
    assert error_from_code(1).attempt is None


def test_an_explanation_of_ours_replaces_that_of_the_table():
    error = CUDAError(201, explanation="Device 0 is not yet initialized", remedy="Call set_current().")
    assert str(error).splitlines() == [
        "CUDA_ERROR_INVALID_CONTEXT: Device 0 is not yet initialized",
        "Remedy: Call set_current().",
    ]


def test_an_unknown_code_says_so():
    assert str(error_from_code(12345)) == "UNEXPECTED ERROR CODE: 12345"
    assert str(error_from_code(12345, attempt="cuInit(flags=0)")).startswith("UNEXPECTED ERROR CODE: 12345\n")


def test_a_code_that_only_the_driver_knows_is_told_in_its_words():
    error = error_from_code(9920, "CUDA_ERROR_OF_THE_FUTURE", "something new")
    assert str(error) == "CUDA_ERROR_OF_THE_FUTURE: something new"


def test_success_is_no_error():
    with pytest.raises(ValueError, match="CUDA_SUCCESS"):
        error_from_code(0)
    with pytest.raises(ValueError, match="success"):
        instantiate_error(0, 0)


def test_sticky_errors_say_that_the_context_is_lost():
    for code in TABLE:
        error = error_from_code(code)
        assert error.context_lost is (code in STICKY)
        assert (LOST in str(error)) is (code in STICKY)
    assert {700, 702, 710, 719} <= STICKY


def test_sticky_errors_are_those_of_cuda_h():
    pathfinder = pytest.importorskip("cuda.pathfinder")
    folder = pathfinder.find_nvidia_header_directory("cudart")
    if folder is None:
        pytest.skip("there is no cuda.h on this machine")
    header = (Path(folder) / "cuda.h").read_text()
    body = header[header.index("typedef enum cudaError_enum") : header.index("} CUresult;")]
    rows = re.findall(r"/\*\*(.*?)\*/\s*CUDA_ERROR_\w+\s*=\s*(\d+)", body, re.DOTALL)
    said = {int(code) for text, code in rows if re.search(r"inconsistent\s+(\*\s+)?state", text)}
    assert said - STICKY == set()


@pytest.mark.parametrize(
    "error",
    [
        error_from_code(2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory", "cuMemAlloc(bytes=8)"),
        error_from_code(218, attempt="cuLibraryLoadData", log="line 3: unknown instruction"),
        error_from_code(4242),
        CUDAError(201, explanation="ours", remedy=""),
        NVRTCError(6, "NVRTC_ERROR_COMPILATION", "bad source", log="error: x"),
        instantiate_error(5, 1),
        update_error(2, 910),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_survives_pickling_and_copying(error):
    error.add_note("seen in a worker")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)


def test_a_failed_load_shows_the_loaders_log():
    text = str(error_from_code(218, log="kernel f, line 12: unknown instruction wgmma\n"))
    assert "Log:\nkernel f, line 12: unknown instruction wgmma\nRemedy:" in text


def test_a_failed_compilation_shows_the_compilers_log():
    error = NVRTCError(
        6, "NVRTC_ERROR_COMPILATION", "NVRTC_ERROR_COMPILATION", log='x.cu(1): error: "y" is undefined'
    )
    assert str(error).endswith(', compilation log:\n\nx.cu(1): error: "y" is undefined')
    assert str(error).startswith("NVRTC_ERROR_COMPILATION: ")
    assert error.log == 'x.cu(1): error: "y" is undefined'
    assert isinstance(error, CUDAError)


def test_an_nvrtc_code_is_never_looked_up_among_the_driver_codes():
    error = NVRTCError(2, "NVRTC_ERROR_PROGRAM_CREATION_FAILURE", "no program")
    assert str(error) == "NVRTC_ERROR_PROGRAM_CREATION_FAILURE: no program"
    assert not NVRTCError(700, "NVRTC_ERROR_X", "x").context_lost


INSTANTIATION_TEXTS = [
    (2, "The structure of the definition is invalid, for example because it has a cycle."),
    (3, "A definition for device launch holds a node that the device cannot launch."),
    (4, "The nodes of a definition for device launch belong to more than one context."),
    (5, "A condition of the definition belongs to no conditional node."),
]


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize(("result", "text"), INSTANTIATION_TEXTS)
def test_a_specific_instantiation_result_goes_before_the_status(result, text, code):
    error = instantiate_error(result, code, "CUDA_ERROR_INVALID_VALUE" if code else "")
    assert isinstance(error, GraphInstantiateError)
    assert isinstance(error, RuntimeError) and isinstance(error, CUDAError)
    assert str(error).startswith(text)
    assert error.remedy and str(error).endswith(error.remedy)


def test_an_instantiation_without_a_specific_result_is_the_drivers_status():
    error = instantiate_error(1, 1, "CUDA_ERROR_INVALID_VALUE", "invalid argument")
    assert type(error) is CUDAError
    assert str(error).startswith("CUDA_ERROR_INVALID_VALUE: ")


def test_an_instantiation_that_fails_with_a_success_status_says_so():
    error = instantiate_error(1, 0)
    assert isinstance(error, GraphInstantiateError)
    assert str(error) == (
        "The driver made no executable graph, although cuGraphInstantiateWithParams returned CUDA_SUCCESS. "
        "It gives no reason."
    )
    assert str(instantiate_error(77, 0)) == "The instantiation failed with the unknown result 77"


def test_a_failed_update_says_what_differs():
    error = update_error(2, 910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE")
    assert isinstance(error, GraphUpdateError)
    assert re.search(r"Graph update failed: .+ \(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED\)", str(error))
    assert type(update_error(0, 1)) is CUDAError
    assert "CUgraphExecUpdateResult 99" in str(update_error(99, 910))


def test_a_missing_driver_is_a_runtime_error():
    with pytest.raises(RuntimeError, match="libcuda"):
        raise DriverNotFoundError("libcuda.so.1 was not found")


def test_all_exception_classes_are_exported():
    classes = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert classes == set(errors.__all__)
