# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: linked code does not mind how far apart its sections are.

The linker takes memory for code and for constants wherever some is free. An object with 32-bit distances in it ended
the process, now and then, once enough was mapped between the two.
"""

import struct

from cuda_graphs.native import llvm

R_X86_64_64 = 1

# A table of jumps, a table of numbers, a call and a variable: what distances are made of.
IR = """
@numbers = internal constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5]
@variable = internal global i32 7
declare double @cos(double)

define internal double @callee(double %x) noinline nounwind {
  %y = call double @cos(double %x)
  ret double %y
}

define double @entry(i32 %which) nounwind {
  switch i32 %which, label %default [i32 0, label %a
    i32 1, label %b
    i32 2, label %c
    i32 3, label %d
    i32 4, label %e]
a:
  %i = zext i32 %which to i64
  %p = getelementptr [4 x double], ptr @numbers, i64 0, i64 %i
  %x = load volatile double, ptr %p
  ret double %x
b:
  %y = call double @callee(double 0.1)
  ret double %y
c:
  store volatile i32 %which, ptr @variable
  ret double 2.25
d:
  ret double 1.0e100
e:
  %v = load volatile i32, ptr @variable
  %f = sitofp i32 %v to double
  ret double %f
default:
  ret double 0.1
}
"""


def relocation_types(image):
    """The types of all relocations of an ELF64 object."""
    (table,) = struct.unpack_from("<Q", image, 0x28)
    size, count = struct.unpack_from("<HH", image, 0x3A)
    for i in range(count):
        kind, _, _, offset, length = struct.unpack_from("<IQQQQ", image, table + i * size + 4)
        if kind == 4:  # SHT_RELA
            for at in range(offset, offset + length, 24):
                yield struct.unpack_from("<I", image, at + 8)[0]


def test_objects_hold_no_distances_of_32_bits():
    types = list(relocation_types(llvm.object_code(IR)))
    assert len(types) > 3
    assert set(types) == {R_X86_64_64}
