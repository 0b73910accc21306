# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `core/driver/functions.def` names every driver function that we call once. The host driver exports these
functions and those of its own two lists, and every function of CUDA 13.0 is in one of the three lists.
"""

import ctypes
import re
from pathlib import Path

import pytest

LINE = re.compile(r"^CG_(REQUIRED|OPTIONAL)\((\w+), (\w+), (\d+)\)$", re.MULTILINE)


@pytest.fixture(scope="module")
def rows(tree):
    text = (tree.root / "cuda_graphs/core/driver/functions.def").read_text()
    found = LINE.findall(text)
    assert len(found) == len(re.findall(r"^CG_", text, re.MULTILINE)), "a line is not in the stated form"
    return found


def test_each_function_is_there_once(rows):
    names = [name for _, name, _, _ in rows]
    assert len(names) > 150
    assert sorted(set(names)) == sorted(names)


def test_the_symbol_is_the_name_with_at_most_a_version(rows):
    assert [symbol for _, name, symbol, _ in rows if not re.fullmatch(rf"{name}(_v\d+)?", symbol)] == []


def test_versions_are_versions_of_cuda(rows):
    assert [row for row in rows if not 2000 <= int(row[3]) <= 13000 or int(row[3]) % 10] == []


OF_THE_HOST = re.compile(r"^CGH_(OFFERED|REFUSED)\((\w+), (\w+), (\d+)\)$", re.MULTILINE)


@pytest.fixture(scope="module")
def host_rows(tree):
    """The rows that the host driver has besides."""
    found = []
    for name in ("offered", "refused"):
        text = (tree.root / f"cuda_graphs/hostdriver/{name}.def").read_text()
        rows = OF_THE_HOST.findall(text)
        assert len(rows) == len(re.findall(r"^CGH_", text, re.MULTILINE)), "a line is not in the stated form"
        assert {row[0] for row in rows} == {name.upper()}
        found += rows
    return found


def test_no_symbol_is_in_two_lists(rows, host_rows):
    symbols = [row[2] for row in [*rows, *host_rows]]
    assert sorted(set(symbols)) == sorted(symbols)


TYPE = re.compile(r"\(CUDAAPI \*PFN_(cu\w+?)_v(\d+)(_ptds|_ptsz)?\)")
DECLARED = re.compile(r"CUDAAPI\s+(cu\w+)\s*\(")
OF_WINDOWS = "cuWGLGetDevice"
# The header says 12.9, and cuda.bindings asks for 12.8, which libcuda takes.
LOGS = ("Current", "DumpToFile", "DumpToMemory", "RegisterCallback", "UnregisterCallback")
EARLIER = {f"cuLogs{name}": 12080 for name in LOGS}
DRIVER_VERSION = 13000
PER_THREAD = 2  # CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM


@pytest.fixture(scope="module")
def headers():
    from cuda import pathfinder

    return Path(pathfinder.find_nvidia_header_directory("cudart"))


@pytest.fixture(scope="module")
def typedefs(headers):
    """(name, version, is the per-thread form) of each function type of the headers, CUDA 13.0 and older."""
    found = set()
    for header in sorted(headers.glob("cuda*Typedefs.h")):
        found |= {(n, int(v), bool(form)) for n, v, form in TYPE.findall(header.read_text())}
    found = {row for row in found if row[1] <= DRIVER_VERSION and row[0] != OF_WINDOWS}
    assert len(found) > 650
    return found


def test_every_version_of_every_function_of_cuda_13_0_is_offered_or_refused(rows, host_rows, typedefs):
    have = {(name, int(version)) for _, name, _, version in [*rows, *host_rows]}
    asked = {(name, EARLIER.get(name, version)) for name, version, form in typedefs if not form}
    assert sorted(asked - have) == []


@pytest.fixture
def host_driver(tree):
    return tree.root / "cuda_graphs/hostdriver/libcuda_graphs_hostdriver.so"


def test_the_host_driver_exports_every_function_of_the_lists(rows, host_rows, host_driver):
    library = ctypes.CDLL(str(host_driver))
    symbols = [symbol for _, _, symbol, _ in [*rows, *host_rows]] + ["cuGetProcAddress_v2"]
    assert [symbol for symbol in symbols if not hasattr(library, symbol)] == []


@pytest.fixture
def address(host_driver):
    """The address that cuGetProcAddress gives for a name, a version and flags; None where it finds none."""
    library = ctypes.CDLL(str(host_driver))

    def ask(name, version, flags=0):
        found, status = ctypes.c_void_p(), ctypes.c_int()
        asked = ctypes.byref(found), version, ctypes.c_uint64(flags), ctypes.byref(status)
        answer = library.cuGetProcAddress_v2(name.encode(), *asked)
        assert (answer == 0) == (status.value == 0) == (found.value is not None)
        return found.value

    return ask


def test_every_version_of_the_headers_has_an_address(typedefs, address):
    asked = [(name, version, PER_THREAD if form else 0) for name, version, form in typedefs]
    assert [row for row in sorted(asked) if address(*row) is None] == []


def test_two_versions_of_a_function_have_two_addresses(typedefs, address):
    versions = {}
    for name, version, form in typedefs:
        versions.setdefault((name, form), set()).add(EARLIER.get(name, version))
    several = {key: found for key, found in versions.items() if len(found) > 1}
    assert len(several) > 60
    for (name, form), found in several.items():
        addresses = {address(name, version, PER_THREAD if form else 0) for version in found}
        assert len(addresses) == len(found), f"{name}: {sorted(found)}"


def test_every_function_that_cuda_h_declares_is_exported(headers, typedefs, host_driver):
    # The third version of a function has the symbol name_v3, the first one the name alone.
    versions = {}
    for name, version, form in typedefs:
        if not form:
            versions.setdefault(name, set()).add(version)
    library, missing, checked = ctypes.CDLL(str(host_driver)), [], 0
    for symbol in sorted(set(DECLARED.findall((headers / "cuda.h").read_text()))):
        name, number = re.fullmatch(r"(cu\w+?)(?:_v(\d))?(?:_ptsz|_ptds)?", symbol).groups()
        if int(number or 1) > len(versions.get(name, ())):
            continue  # newer than CUDA 13.0
        checked += 1
        if not hasattr(library, symbol):
            missing.append(symbol)
    assert checked > 480
    assert missing == []


def test_the_host_driver_exports_nothing_else(rows, host_rows, host_driver):
    # Programs could call any other symbol although no table lists it. The plug and the services are ours.
    data = host_driver.read_bytes()
    rows = [*rows, *host_rows]
    known = {symbol for _, _, symbol, _ in rows} | {name for _, name, _, _ in rows}
    exported = {s for s in dynamic_symbols(data) if not s.startswith(("_", "cgh"))}
    assert sorted(exported - known - {"cuGetProcAddress", "cuGetProcAddress_v2"}) == []


def dynamic_symbols(data):
    """Names that an ELF64 little-endian shared library defines and exports."""

    def field(head, at, size):
        return int.from_bytes(head[at : at + size], "little")

    sections, entry, count = field(data, 0x28, 8), field(data, 0x3A, 2), field(data, 0x3C, 2)
    heads = [data[sections + i * entry :][:entry] for i in range(count)]

    table = next(h for h in heads if field(h, 4, 4) == 11)  # SHT_DYNSYM
    strings = field(heads[field(table, 40, 4)], 24, 8)
    start, size = field(table, 24, 8), field(table, 32, 8)
    for at in range(start, start + size, 24):
        symbol = data[at : at + 24]
        if field(symbol, 6, 2) and field(symbol, 4, 1) >> 4 in (1, 2):  # defined, and global or weak
            name = strings + field(symbol, 0, 4)
            yield data[name : data.index(b"\0", name)].decode()
