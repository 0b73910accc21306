# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Runs LLVM: optimises LLVM text and emits an object for this CPU, or PTX.

This is the only module that runs LLVM. One lock covers it.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any

from . import trace

__all__ = ["assembly", "cpu", "map_llvm", "object_code", "ptx"]

LOCK = threading.RLock()
# A linker may place code and constants of one object more than 2 GiB apart, so 32-bit displacements do not suffice.
CODE_MODEL = {"reloc": "static", "codemodel": "large"}


@cache
def map_llvm() -> None:
    """Map LLVM's library, of some 180 MB, in a thread of its own while the frontend translates.

    The thread does not hold the interpreter lock in the call of C. Its result is not needed: llvmlite loads the library
    again on import.
    """
    found = None if "llvmlite" in sys.modules else importlib.util.find_spec("llvmlite")
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        for library in Path(folder, "binding").glob("libllvmlite.*"):
            threading.Thread(target=_map, args=(os.fsencode(library),), daemon=True).start()


def _map(library: bytes) -> None:
    ctypes.CDLL(None).dlopen(library, os.RTLD_NOW)


@cache
def _binding() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm


@cache
def _cpu() -> Any:
    llvm = _binding()
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=3, **CODE_MODEL)


@cache
def _gpu(arch: str, version: int) -> Any:
    target = _binding().Target.from_triple("nvptx64-nvidia-cuda")
    return target.create_target_machine(cpu=arch, features=f"+ptx{version}", opt=3)


@cache
def cpu() -> dict[str, Any]:
    """Return the requirements of object code on a CPU: {"triple", "features"}."""
    llvm = _binding()
    features = sorted(name for name, has in llvm.get_host_cpu_features().items() if has)
    return {"triple": llvm.get_process_triple(), "features": features}


def object_code(text: str) -> bytes:
    """Return an object file for the CPU of this process."""
    with LOCK:
        module = _optimised(text, _cpu())
        if trace.level() >= trace.ASSEMBLY:
            trace.show(trace.ASSEMBLY, "assembly", _cpu().emit_assembly(module))
        with trace.timed("code generation"):
            return _cpu().emit_object(module)


def assembly(text: str) -> str:
    """Return the assembly of the object file from `object_code`."""
    with LOCK:
        return _cpu().emit_assembly(_optimised(text, _cpu()))


def ptx(text: str, arch: str, version: int, libdevice: str | None) -> str:
    """Return PTX for `arch` ("sm_90") in an ISA version (83: 8.3). `libdevice` is the path of the math library."""
    with LOCK:
        machine = _gpu(arch, version)
        module = _optimised(text, machine, libdevice if "@__nv_" in text else None)
        with trace.timed("code generation"):
            found = machine.emit_assembly(module)
        trace.show(trace.ASSEMBLY, "PTX", found)
        return found


def _optimised(text: str, machine: Any, library: str | None = None) -> Any:
    llvm = _binding()
    trace.show(trace.LLVM, "LLVM", text)
    with trace.timed("LLVM parse"):
        module = llvm.parse_assembly(text, llvm.create_context())
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        module.verify()
        if library is not None:
            _link(module, library)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    options.loop_interleaving = options.loop_unrolling = True
    with trace.timed("LLVM optimise"):
        llvm.create_pass_builder(machine, options).getModulePassManager().run(
            module, llvm.create_pass_builder(machine, options)
        )
    trace.show(trace.LLVM, "LLVM, optimised", module)
    return module


def _link(module: Any, library: str) -> None:
    """Link a library into the module. Its functions become internal, so that unused ones are dropped."""
    own = {function.name for function in module.functions if not function.is_declaration}
    other = _binding().parse_bitcode(Path(library).read_bytes(), module._context)
    other.triple, other.data_layout = module.triple, module.data_layout
    module.link_in(other)
    for function in module.functions:
        if not function.is_declaration and function.name not in own:
            function.linkage = "internal"
