# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a part of a library is a module that is complete, and code with it is the code with the whole library."""

import re
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from cuda.pathfinder import find_bitcode_lib

from cuda_graphs.native import llvm as native
from cuda_graphs.native.library_text import Library
from cuda_graphs.native.versions import state_of

PATH = find_bitcode_lib("device")
CALLER = """target triple = "nvptx64-nvidia-cuda"
declare {type} @{name}({type})
define ptx_kernel void @k(ptr addrspace(1) %p) {{
  %a = load {type}, ptr addrspace(1) %p
  %b = call {type} @{name}({type} %a)
  store {type} %b, ptr addrspace(1) %p
  ret void
}}
"""


@pytest.fixture(scope="module")
def library():
    native.binding()
    return native._library(PATH, state_of(PATH))


def whole(text):
    """Return the PTX of a module that the whole library is linked with, by LLVM's own interface."""
    machine = native.gpu_machine("sm_90", 80)
    module = native._parsed(text, machine)
    other = llvm.parse_bitcode(Path(PATH).read_bytes(), module._context)
    other.triple, other.data_layout = module.triple, module.data_layout
    module.link_in(other)
    for function in module.functions:
        if not function.is_declaration and function.name != "k":
            function.linkage = "internal"
    passes = native._pass_builder(machine, text)
    passes.getModulePassManager().run(module, passes)
    return machine.emit_assembly(module)


def without_call_numbers(ptx):
    """LLVM numbers the calls of a process in comments."""
    return re.sub(r"callseq \d+", "callseq", ptx)


def test_each_function_comes_with_all_that_it_refers_to(library):
    names = [name[1:] for name in library.items if name.startswith("@__nv_")]
    assert len(names) > 300
    for name in names:
        part = llvm.parse_assembly(library.part([name]), llvm.create_context())
        part.verify()
        missing = {each.name for each in part.functions if each.is_declaration}
        assert all(each.startswith("llvm.") or each == "__nvvm_reflect" for each in missing), name
        assert sum(each.name.startswith("__nv_") for each in part.functions) < 20, name


@pytest.mark.parametrize(
    ("name", "type"),
    [("sin", "double"), ("cosf", "float"), ("tgamma", "double"), ("erfcinvf", "float"), ("exp", "double")],
)
def test_code_with_a_part_is_the_code_with_the_whole_library(name, type):
    text = CALLER.format(name=f"__nv_{name}", type=type)
    (found,) = native.ptx_codes([text], "sm_90", 80, PATH)
    assert without_call_numbers(found) == without_call_numbers(whole(text))
    assert ".entry k" in found


def test_functions_that_the_library_lacks_are_left_out(library):
    assert library.part(["nothing", "k"]) == ""


def test_items_of_all_kinds_are_found_and_others_left_out():
    text = """source_filename = "x"

%pair = type { i32, i32 }
@table = internal constant [2 x i32] [i32 1, i32 2]
@other = internal constant i32 7

; Function Attrs: nounwind
define i32 @f(i32 %x) #0 {
entry:
  %a = insertvalue %pair undef, i32 %x, 0
  %b = extractvalue %pair %a, 0, !note !0
  %c = call i32 @g(i32 %b)
  ret i32 %c
}

define internal i32 @g(i32 %x) {
  %p = load i32, ptr @table
  ret i32 %p
}

define i32 @h() {
  ret i32 0
}

attributes #0 = { nounwind }
attributes #1 = { noinline }

!0 = !{!1}
!1 = !{i32 3}
!2 = !{i32 4}
"""
    part = Library(text).part(["f"])
    native.binding()
    llvm.parse_assembly(part, llvm.create_context()).verify()
    assert [
        word for word in ("%pair =", "@table =", "@f(", "@g(", "#0 =", "!0 =", "!1 =") if word not in part
    ] == []
    assert [word for word in ("@other", "@h(", "#1 =", "!2 =", "source") if word in part] == []
