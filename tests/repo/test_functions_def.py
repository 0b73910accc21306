# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `_driver/functions.def` names every driver function once, and the host driver exports exactly those."""

import ctypes
import re

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


@pytest.fixture
def host_driver(tree):
    return tree.root / "cuda_graphs/_hostdriver/libcuda_graphs_hostdriver.so"


def test_the_host_driver_exports_every_function_of_the_list(rows, host_driver):
    library = ctypes.CDLL(str(host_driver))
    symbols = [symbol for _, _, symbol, _ in rows] + ["cuGetProcAddress_v2"]
    assert [symbol for symbol in symbols if not hasattr(library, symbol)] == []


def test_the_host_driver_exports_nothing_else(rows, host_driver):
    # Anything more would be called by somebody and be in nobody's table. The plug and the services are ours.
    data = host_driver.read_bytes()
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
