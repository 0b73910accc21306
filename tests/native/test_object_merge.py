# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: merged objects run as each of them alone, under the names that they are given. A damaged part is refused."""

import ctypes
import random
import shutil
import struct
import subprocess

import pytest

from cuda_graphs.native import linker, llvm
from cuda_graphs.native.object_merge import Part, merged

# Each part has a constant, a table, zeros, an internal function, an import, and a name that all parts share.
IR = """
@table = internal constant [3 x double] [double {n}.5, double {n}.25, double {n}.125]
@counter = internal global i32 {n}
@zeros = internal global [{n}00 x i32] zeroinitializer
declare i32 @given(i32)
define internal double @half(double %x) noinline nounwind {{
  %y = fmul double %x, 0.{n}
  ret double %y
}}
define double @entry(i64 %i) nounwind {{
  %p = getelementptr [3 x double], ptr @table, i64 0, i64 %i
  %x = load volatile double, ptr %p
  %y = call double @half(double %x)
  ret double %y
}}
define i32 @count{n}(i32 %x) nounwind {{
  %old = load volatile i32, ptr @counter
  %y = call i32 @given(i32 %x)
  %new = add i32 %old, %y
  store volatile i32 %new, ptr @counter
  %z = load volatile i32, ptr getelementptr (i32, ptr @zeros, i64 9)
  %sum = add i32 %new, %z
  ret i32 %sum
}}
"""
TRIPLE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(lambda x: 3 * x)
IMPORTS = {"given": ctypes.cast(TRIPLE, ctypes.c_void_p).value}
NUMBERS = range(1, 6)

pytestmark = pytest.mark.skipif(
    "x86_64" not in llvm.requirements()["triple"], reason="objects of other CPUs are not merged"
)


@pytest.fixture(scope="module")
def parts():
    objects = llvm.object_codes([IR.format(n=n) for n in NUMBERS])
    return [Part(image, {"entry": f"entry{n}"}) for n, image in zip(NUMBERS, objects, strict=True)]


def test_merged_objects_run_as_each_alone(parts):
    code = linker.LinkedObject(merged(parts), IMPORTS)
    assert set(code.exports) == {f"{name}{n}" for name in ("entry", "count") for n in NUMBERS}
    for n in NUMBERS:
        entry = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(code[f"entry{n}"])
        assert [entry(i) for i in range(3)] == [(n + tail) * float(f"0.{n}") for tail in (0.5, 0.25, 0.125)]
        count = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(code[f"count{n}"])
        assert [count(i) for i in range(3)] == [n, n + 3, n + 9]
    code.close()


USER = """
declare i32 @count1(i32)
declare i32 @given(i32)
define i32 @both(i32 %x) nounwind {{
  %a = call i32 @count1(i32 %x)
  %b = call i32 @given(i32 %x)
  %sum = add i32 %a, %b
  ret i32 %sum
}}
"""


@pytest.mark.parametrize("order", [1, -1])
def test_a_part_uses_symbols_of_another_part_and_imports(parts, order):
    (user,) = llvm.object_codes([USER.format()])
    code = linker.LinkedObject(merged([Part(user, {}), parts[0]][::order]), IMPORTS)
    both = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(code["both"])
    assert [both(i) for i in range(3)] == [1, 1 + 3 + 3, 1 + 3 + 6 + 6]
    code.close()


def test_merged_objects_merge_again(parts):
    both = merged([Part(merged(parts[:2]), {}), Part(merged(parts[2:]), {"entry3": "other"})])
    code = linker.LinkedObject(both, IMPORTS)
    assert {"entry1", "entry2", "other", "entry5", "count3"} <= set(code.exports)
    code.close()


def test_a_new_name_is_also_the_beginning_of_longer_names(parts):
    """A unit calls its pieces by names that begin with its own."""
    (user,) = llvm.object_codes([USER.format()])
    code = linker.LinkedObject(
        merged([Part(user, {"cou": "other.cou"}), Part(parts[0].image, {"count": "other.count"})]), IMPORTS
    )
    both = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(code["both"])
    assert [both(i) for i in range(3)] == [1, 1 + 3 + 3, 1 + 3 + 6 + 6]
    assert "other.count1" in code.exports
    code.close()


def test_one_part_under_its_own_names_stays_as_it_is(parts):
    assert merged([Part(parts[0].image, {})]) == parts[0].image


@pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not installed")
def test_other_programs_read_merged_objects(parts, tmp_path):
    file = tmp_path / "merged.o"
    file.write_bytes(merged(parts))
    done = subprocess.run(["readelf", "-aW", str(file)], capture_output=True, text=True, check=True)
    assert "Warning" not in done.stdout + done.stderr
    assert "Error" not in done.stdout + done.stderr


def test_a_part_with_a_huge_alignment_is_refused_before_memory_is_filled(parts):
    image = bytearray(parts[0].image)
    begin = linker.HEADER.unpack_from(image)[8]
    for row in range(begin, len(image) - linker.SECTION.size + 1, linker.SECTION.size):
        name, kind, flags, address, at, size, link, info, _, each = linker.SECTION.unpack_from(image, row)
        linker.SECTION.pack_into(image, row, name, kind, flags, address, at, size, link, info, 1 << 40, each)
    with pytest.raises(RuntimeError, match="unsupported alignment"):
        merged([Part(bytes(image), {}), parts[1]])


def test_a_damaged_part_is_refused_or_gives_an_object(parts):
    """Never anything else: not an endless loop, and no crash."""
    image, draw = parts[0].image, random.Random(3)
    for _ in range(300):
        changed = bytearray(image)
        for _ in range(draw.randrange(1, 4)):
            changed[draw.randrange(len(image))] = draw.randrange(256)
        try:
            assert linker.is_linkable(merged([Part(bytes(changed), {}), parts[1]]))
        except (RuntimeError, struct.error, IndexError, KeyError, ValueError, OverflowError):
            continue
