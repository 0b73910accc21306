# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an object for this CPU is linked without LLVM, and its sections get the protection that they request. A damaged
object, or one with an unknown symbol, is refused and never run."""

import contextlib
import ctypes
import random
import struct

import numpy as np
import pytest

from cuda_graphs.native import linker, llvm
from cuda_graphs.native.loaded_code import LoadedCode

IR = """
@numbers = internal constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5]
@counter = global i32 7
@zeros = global [1000 x i32] zeroinitializer
@pointer = global ptr @counter
declare double @cos(double)
declare i32 @given(i32)

define double @cosine(double %x) nounwind {
  %y = call double @cos(double %x)
  ret double %y
}
define i32 @count() nounwind {
  %p = load volatile ptr, ptr @pointer
  %old = load volatile i32, ptr %p
  %new = add i32 %old, 1
  store volatile i32 %new, ptr @counter
  %z = load volatile i32, ptr getelementptr (i32, ptr @zeros, i64 999)
  %sum = add i32 %new, %z
  ret i32 %sum
}
define double @number(i64 %i) nounwind {
  %p = getelementptr [4 x double], ptr @numbers, i64 0, i64 %i
  %x = load volatile double, ptr %p
  ret double %x
}
define i32 @ask(i32 %x) nounwind {
  %y = call i32 @given(i32 %x)
  ret i32 %y
}
"""
TRIPLE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(lambda x: 3 * x)
IMPORTS = {"given": ctypes.cast(TRIPLE, ctypes.c_void_p).value}

pytestmark = pytest.mark.skipif(
    "x86_64" not in llvm.requirements()["triple"], reason="LLVM links the objects of this CPU"
)


@pytest.fixture(scope="module")
def image():
    return llvm.object_code(IR)


def function(code, name, result, *args):
    return ctypes.CFUNCTYPE(result, *args)(code[name])


def test_code_calls_reads_and_writes(image):
    code = LoadedCode(image, ["cosine", "count", "number", "ask"], IMPORTS)
    assert function(code, "cosine", ctypes.c_double, ctypes.c_double)(0.0) == 1.0
    assert [function(code, "count", ctypes.c_int32)() for _ in range(3)] == [8, 9, 10]
    numbers = function(code, "number", ctypes.c_double, ctypes.c_int64)
    assert [numbers(i) for i in range(4)] == [1.5, 2.5, 3.5, 4.5]
    assert function(code, "ask", ctypes.c_int32, ctypes.c_int32)(14) == 42


def test_each_linked_object_has_variables_of_its_own(image):
    one, two = (LoadedCode(image, ["count"], IMPORTS) for _ in range(2))
    assert function(one, "count", ctypes.c_int32)() == function(two, "count", ctypes.c_int32)() == 8


def protections(address):
    """Returns the system's protection of the page at an address, like "r-xp"."""
    with open("/proc/self/maps") as file:
        for line in file:
            bounds, what, *_ = line.split()
            begin, end = (int(each, 16) for each in bounds.split("-"))
            if begin <= address < end:
                return what
    return None


def test_nothing_can_be_both_written_and_executed(image):
    code = linker.LinkedObject(image, IMPORTS)
    assert protections(code["count"]) == "r-xp"
    assert protections(code["counter"]) == "rw-p"
    address = code["count"]
    code.close()
    assert protections(address) != "r-xp"
    code.close()  # again: nothing happens


def test_symbols_that_an_object_needs_must_be_there(image):
    with pytest.raises(RuntimeError, match="given"):
        LoadedCode(image, ["count"])
    with pytest.raises(RuntimeError, match="missing"):
        LoadedCode(image, ["count", "missing"], IMPORTS)


def test_names_that_the_object_keeps_to_itself_are_not_exported(image):
    with pytest.raises(RuntimeError, match="numbers"):
        LoadedCode(image, ["numbers"], IMPORTS)


def test_other_relocations_are_refused(image):
    """A distance of 32 bits, which may not be far enough."""
    changed = bytearray(image)
    (table,) = struct.unpack_from("<Q", image, 0x28)
    size, count = struct.unpack_from("<HH", image, 0x3A)
    for i in range(count):
        kind, _, _, offset, length = struct.unpack_from("<IQQQQ", image, table + i * size + 4)
        for at in range(offset, offset + length, 24) if kind == linker.RELA else ():
            struct.pack_into("<I", changed, at + 8, 2)  # R_X86_64_PC32
    with pytest.raises(RuntimeError, match="relocation type 2"):
        linker.LinkedObject(bytes(changed), IMPORTS)


def test_an_object_that_is_cut_anywhere_is_refused(image):
    for end in range(0, len(image) - 64, 7):
        with pytest.raises(RuntimeError):
            linker.LinkedObject(image[:end], IMPORTS)


def test_damage_anywhere_in_the_tables_ends_in_code_or_in_an_error(image):
    """Nothing of it is run, and nothing is written outside: that would end the process."""
    chosen = random.Random(3)
    for _ in range(500):
        changed = bytearray(image)
        (table,) = struct.unpack_from("<Q", image, 0x28)
        for _ in range(4):
            changed[chosen.randrange(table, len(image))] = chosen.randrange(256)
        with contextlib.suppress(RuntimeError):
            linker.LinkedObject(bytes(changed), IMPORTS).close()


HALVES = """
define float @widen(i16 %bits) {
  %half = bitcast i16 %bits to half
  %wide = fpext half %half to float
  ret float %wide
}
define i16 @from_float(float %x) {
  %half = fptrunc float %x to half
  %bits = bitcast half %half to i16
  ret i16 %bits
}
define i16 @from_double(double %x) {
  %half = fptrunc double %x to half
  %bits = bitcast half %half to i16
  ret i16 %bits
}
"""


def test_conversions_of_f16_are_linked_for_a_cpu_without_f16c(monkeypatch):
    monkeypatch.setattr(llvm, "this_cpu", lambda: llvm.cpu_machine("x86-64-v2", "-f16c"))
    assert "__extendhfsf2" in llvm.assembly(HALVES)
    code = LoadedCode(llvm.object_code(HALVES), ["widen", "from_float", "from_double"])
    widen = function(code, "widen", ctypes.c_float, ctypes.c_uint16)
    narrow = function(code, "from_float", ctypes.c_uint16, ctypes.c_float)
    narrow_double = function(code, "from_double", ctypes.c_uint16, ctypes.c_double)
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    halves = halves[~np.isnan(halves)]
    assert [widen(int(each)) for each in halves.view(np.uint16)] == halves.astype(np.float32).tolist()
    numbers = np.random.default_rng(5).standard_normal(1000) * 10.0 ** np.arange(-8, 12).repeat(50)
    with np.errstate(over="ignore"):
        assert [narrow(each) for each in numbers.astype("f")] == [
            int(each) for each in numbers.astype("f").astype(np.float16).view(np.uint16)
        ]
        assert [narrow_double(each) for each in numbers] == [
            int(each) for each in numbers.astype(np.float16).view(np.uint16)
        ]
