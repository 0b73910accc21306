# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""LLVM IR -> object file for this CPU -> code in this process. One lock guards all of it, because the process has one
target machine and one JIT."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

from cuda_graphs.compiler.cache.package_versions import llvm_version
from cuda_graphs.compiler.codegen.x86.host_cpu import identity

from . import extremes, linker, trace
from .errors import invalid_ptx

if TYPE_CHECKING:
    import llvmlite.binding as llvm

LOCK = threading.RLock()
_numbers = count()


@cache
def _binding() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


# A linker may place the code and the constants of one object more than 2 GiB apart. 32-bit distances between them (the
# small code model; with position independence also in jump tables) then end the process in an assertion.
CODE_MODEL = {"reloc": "static", "codemodel": "large"}


def depends_on() -> dict[str, str]:
    """Returns the properties that the object code depends on besides the IR, without loading LLVM."""
    return {"llvm": llvm_version(), "cpu": identity(), **CODE_MODEL}


@cache
def host() -> dict[str, str]:
    """Returns LLVM's description of this machine: triple, CPU and features."""
    llvm = _binding()
    return {
        "triple": llvm.get_process_triple(),
        "cpu": llvm.get_host_cpu_name(),
        "features": llvm.get_host_cpu_features().flatten(),
    }


@cache
def _machine() -> llvm.TargetMachine:
    return machine_of(host()["cpu"], host()["features"])


def machine_of(cpu: str, features: str) -> llvm.TargetMachine:
    """Returns LLVM's code generator for a CPU of this machine's architecture."""
    target = _binding().Target.from_triple(host()["triple"])
    return target.create_target_machine(cpu=cpu, features=features, opt=3, **CODE_MODEL)


@cache
def _jit() -> llvm.LLJIT:
    # JITLink lays an image out in one piece. The older linker maps sections one by one. About once in 20 000 loads
    # beside the host driver's arenas, the sections lie more than 2 GiB apart, and LLVM aborts the process.
    return _binding().create_lljit_compiler(use_jit_link=True)


def compile_ir(ir: str) -> bytes:
    with LOCK:
        module = _optimised(ir)
        if trace.level() >= trace.ASSEMBLY:
            trace.show(trace.ASSEMBLY, "assembly", _machine().emit_assembly(module))
        with trace.timed("LLVM emit"):
            return _machine().emit_object(module)


def assembly(ir: str) -> str:
    """Returns the assembly of the object that `compile_ir` would make."""
    with LOCK:
        return _machine().emit_assembly(_optimised(ir))


def _optimised(ir: str) -> llvm.ModuleRef:
    """Returns the module optimised at O3 with vectorisation, without fast-math and contraction."""
    trace.show(trace.LLVM, "LLVM before optimisation", ir)
    module = _parsed(ir)
    with trace.timed("LLVM optimise"):
        builder = _pass_builder()
        builder.getModulePassManager().run(module, builder)
        text = str(module)
        if extremes.INTRINSIC.search(text):
            module = _parsed(extremes.replaced(text))
            _inline(module)
    trace.show(trace.LLVM, "LLVM after optimisation", module)
    return module


def _parsed(ir: str) -> llvm.ModuleRef:
    llvm = _binding()
    with trace.timed("LLVM parse"):
        try:
            module = llvm.parse_assembly(ir, llvm.create_context())
            module.triple = host()["triple"]
            module.data_layout = str(_machine().target_data)
            module.verify()
        except RuntimeError as error:
            raise invalid_ptx(f"the translation to LLVM is not valid: {error}") from None
    return module


def _pass_builder() -> Any:
    llvm = _binding()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = True
    options.loop_interleaving = True
    options.loop_unrolling = True
    return llvm.create_pass_builder(_machine(), options)


def _inline(module: llvm.ModuleRef) -> None:
    """Inlines functions marked as alwaysinline and removes them."""
    passes = _binding().create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.run(module, _pass_builder())


class Code:
    """Linked code that exports `symbols`; `imports` are addresses by name. It is unloaded with this object.

    Raises RuntimeError if the object uses an undefined name or lacks one of `symbols`.
    """

    def __init__(self, object_code: bytes, symbols: list[str], imports: Mapping[str, int] | None = None):
        imports = imports or {}
        with trace.timed("link"):
            if linker.is_linkable(object_code):
                self.tracker: Any = linker.Linked(object_code, imports)
            elif os.uname().machine == "x86_64":  # LLVM would end the process on a damaged object
                raise RuntimeError("this is not an object for x86-64")
            else:
                self.tracker = _linked_by_llvm(object_code, symbols, imports)
        missing = [symbol for symbol in symbols if symbol not in self]
        if missing:
            self.close()
            raise RuntimeError(f"the object does not define {', '.join(missing)}")

    def __contains__(self, symbol: str) -> bool:
        try:
            return bool(self.tracker[symbol])
        except KeyError:
            return False

    def __getitem__(self, symbol: str) -> int:
        return self.tracker[symbol]

    def close(self) -> None:
        with LOCK:
            self.tracker.close()

    def __del__(self) -> None:
        # At exit the process frees the code, and LLVM may already be unloaded. Without a tracker, linking had failed.
        if hasattr(self, "tracker") and not sys.is_finalizing():
            self.close()


def _linked_by_llvm(object_code: bytes, symbols: list[str], imports: Mapping[str, int]) -> Any:
    """Links an object for a CPU that linker.py does not support, and returns LLVM's resource tracker."""
    builder = _binding().JITLibraryBuilder().add_object_img(object_code).add_current_process()
    for name, address in imports.items():
        builder.import_symbol(name, address)
    for symbol in symbols:
        builder.export_symbol(symbol)
    with LOCK:
        return builder.link(_jit(), f"image{next(_numbers)}")
