# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `_driver/functions.def` names every driver function that we call once. The host driver exports these functions
and those of its own two lists, and every function of CUDA 13.0 is in one of the three lists.
"""

import ctypes
import re
from pathlib import Path

import pytest

LINE = re.compile(r"^CG_(REQUIRED|OPTIONAL)\((\w+), (\w+), (\d+)\)$", re.MULTILINE)


@pytest.fixture(scope="module")
def rows(tree):
    text = (tree.root / "cuda_graphs/_driver/functions.def").read_text()
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


OF_THE_HOST = re.compile(r"^CGH_(MORE|REFUSED)\((\w+), (\w+), (\d+)\)$", re.MULTILINE)


@pytest.fixture(scope="module")
def host_rows(tree):
    """The rows that the host driver has besides."""
    found = []
    for name in ("more", "refused"):
        text = (tree.root / f"cuda_graphs/_hostdriver/{name}.def").read_text()
        rows = OF_THE_HOST.findall(text)
        assert len(rows) == len(re.findall(r"^CGH_", text, re.MULTILINE)), "a line is not in the stated form"
        assert {row[0] for row in rows} == {name.upper()}
        found += rows
    return found


def test_no_symbol_is_in_two_lists(rows, host_rows):
    symbols = [row[2] for row in [*rows, *host_rows]]
    assert sorted(set(symbols)) == sorted(symbols)


TYPE = re.compile(r"\(CUDAAPI \*PFN_(cu\w+?)_v(\d+)\)")
ELSEWHERE = {
    "cuGetProcAddress": "itself",
    "cuWGLGetDevice": "of Windows",
}
# The header says 12.9, and cuda.bindings asks for 12.8, which libcuda takes.
LOGS = ("Current", "DumpToFile", "DumpToMemory", "RegisterCallback", "UnregisterCallback")
EARLIER = {f"cuLogs{name}": 12080 for name in LOGS}


def test_every_function_of_cuda_13_0_is_offered_or_refused(rows, host_rows):
    from cuda import pathfinder

    newest = {}
    folder = Path(pathfinder.find_nvidia_header_directory("cudart"))
    for header in sorted(folder.glob("cuda*Typedefs.h")):
        for name, version in TYPE.findall(header.read_text()):
            if int(version) <= 13000:
                newest[name] = max(int(version), newest.get(name, 0))
    assert len(newest) > 450
    have = {(name, int(version)) for _, name, _, version in [*rows, *host_rows]}
    asked = {(name, EARLIER.get(name, version)) for name, version in newest.items() if name not in ELSEWHERE}
    assert sorted(asked - have) == []


@pytest.fixture
def host_driver(tree):
    return tree.root / "cuda_graphs/_hostdriver/libcuda_graphs_hostdriver.so"


def test_the_host_driver_exports_every_function_of_the_lists(rows, host_rows, host_driver):
    library = ctypes.CDLL(str(host_driver))
    symbols = [symbol for _, _, symbol, _ in [*rows, *host_rows]] + ["cuGetProcAddress_v2"]
    assert [symbol for symbol in symbols if not hasattr(library, symbol)] == []


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
