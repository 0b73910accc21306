# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Runs LLVM: optimises LLVM IR and emits an object file for this CPU, or PTX.

This is the only module that runs LLVM's passes and code generators. LLVM is loaded on the first use. One lock covers
it. Its holder may compile several modules at the same time (`in_parallel`): each thread has its own modules, contexts
and code generators, and calls LLVM's two long functions without the lock of llvmlite, which lets in one thread at a
time.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from . import trace
from .conversions import without_mixed_conversions
from .library_text import Library
from .versions import state_of

if TYPE_CHECKING:
    from llvmlite.binding import ModuleRef, TargetMachine

__all__ = [
    "CODE_MODEL",
    "HUGE",
    "LANES",
    "LOCK",
    "SERIAL",
    "InvalidIR",
    "assembly",
    "in_parallel",
    "object_code",
    "object_codes",
    "preload",
    "ptx_codes",
    "requirements",
    "uses_libdevice",
]

LOCK = threading.RLock()
# A linker may place code and constants of one object more than 2 GiB apart. 32-bit distances between them (the small
# code model; with position independence also in jump tables) then end the process in an assertion.
CODE_MODEL = {"reloc": "static", "codemodel": "large"}


# Attributes of functions, which choose the passes of their whole module.
# LANES: an emitter has already made vectors of the loops. The search for more of them (SLP), which takes as long as all
#   other passes, finds nothing.
# SERIAL: there is no loop, so passes for loops have nothing to do.
# HUGE: thousands of statements, which O3 would unroll far. From Genesis' constraint solver O3 makes 326 kB of
#   PTX in 2.2 s, for which ptxas takes 3.3 s, and O2 250 kB in 1.4 s, for which it takes 2.8 s.
LANES, SERIAL, HUGE = (f'"cuda_graphs-passes"="{name}"' for name in ("lanes", "serial", "huge"))
LEVELS = {SERIAL: 1, HUGE: 2}
# The features of an x86-64 CPU that code may use: those that make kernels faster and that the host driver can check
# (hostdriver/loader/cpu_features.cpp). New versions of LLVM name further ones. AVX-512 DQ is not among them: with it
# LLVM 22.1 reads mask registers that nothing has written in some loops with the remainders of two indices, and a kernel
# computes NaN (tests/compiler/test_remainders.py). AVX-512 FP16 is not among them either: without DQ it ends the
# process where a loop converts unsigned integers (tests/compiler/test_native_images.py).
X86_FEATURES = frozenset(
    """
    64bit adx avx avx2 avx512bf16 avx512bitalg avx512bw avx512cd avx512f avx512ifma avx512vbmi avx512vbmi2 avx512vl
    avx512vnni avx512vpopcntdq avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 cmov cmpccxadd crc32
    cx16 cx8 evex512 f16c fma fma4 fxsr gfni lzcnt mmx movbe pclmul popcnt prfchw raoint sahf sse sse2 sse3 sse4.1
    sse4.2 sse4a ssse3 tbm vpclmulqdq xop
    """.split()
)


class InvalidIR(Exception):
    """LLVM does not accept a text as a module. The text of the exception is LLVM's reason."""


@cache
def preload() -> None:
    """Map LLVM's library, of some 180 MB, in a thread of its own while other code runs.

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
def binding() -> Any:
    """Return llvmlite's interface to LLVM, ready for use."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm


@cache
def requirements() -> dict[str, Any]:
    """Return the requirements of object code on a CPU: {"triple", "features"}."""
    features = sorted(name for name, has in used_features().items() if has)
    return {"triple": binding().get_process_triple(), "features": features}


def used_features() -> Any:
    """Return the features of this CPU, as LLVM's map of names; those that no code may use are off."""
    features = binding().get_host_cpu_features()
    if binding().get_process_triple().startswith("x86_64"):
        features.update(dict.fromkeys(features.keys() - X86_FEATURES, False))
    return features


def cpu_machine(name: str, features: str) -> TargetMachine:
    """Return the code generator for a CPU of this machine's architecture."""
    target = binding().Target.from_triple(binding().get_process_triple())
    return target.create_target_machine(cpu=name, features=features, opt=3, **CODE_MODEL)


def _per_thread(make: Callable[..., TargetMachine]) -> Callable[..., TargetMachine]:
    """Return a function that makes each code generator once in each thread."""
    kept = threading.local()

    def get(*args: object) -> TargetMachine:
        made: dict[str, TargetMachine] = kept.__dict__
        if str(args) not in made:
            made[str(args)] = make(*args)
        return made[str(args)]

    return get


@_per_thread
def this_cpu() -> TargetMachine:
    """Return the code generator for the CPU of this process."""
    return cpu_machine(binding().get_host_cpu_name(), used_features().flatten())


@_per_thread
def gpu_machine(arch: str, version: int) -> TargetMachine:
    target = binding().Target.from_triple("nvptx64-nvidia-cuda")
    return target.create_target_machine(cpu=arch, features=f"+ptx{version}", opt=3)


def object_code(text: str, rewrite: Callable[[str], str] | None = None) -> bytes:
    """Return an object file for the CPU of this process.

    `rewrite` changes the text of the optimised module. Functions that it adds as alwaysinline are inlined.
    """
    with LOCK:
        return _object_code(text, rewrite)


def _object_code(text: str, rewrite: Callable[[str], str] | None = None) -> bytes:
    machine = this_cpu()
    module = _optimised(without_mixed_conversions(text), machine, rewrite=rewrite)
    if trace.level() >= trace.ASSEMBLY:
        trace.show(trace.ASSEMBLY, "assembly", machine.emit_assembly(module))
    with trace.timed("LLVM code generation"):
        return _emitted(machine, module, is_object=True)


def object_codes(texts: Sequence[str]) -> list[bytes]:
    """Return the object files of several modules, which are compiled at the same time."""
    with LOCK:
        return in_parallel(_object_code, texts)


def assembly(text: str, rewrite: Callable[[str], str] | None = None) -> str:
    """Return the assembly of the object file from `object_code`."""
    with LOCK:
        machine = this_cpu()
        return machine.emit_assembly(_optimised(without_mixed_conversions(text), machine, rewrite=rewrite))


def ptx_codes(texts: Sequence[str], arch: str, version: int, libdevice: str | None) -> list[str]:
    """Return the PTX of several modules, which are compiled at the same time.

    `arch` is the architecture ("sm_90"), `version` that of the ISA (83: 8.3), `libdevice` the path of the math library.
    """
    with LOCK:
        needs_library = libdevice is not None and any(map(uses_libdevice, texts))
        library = _library(libdevice, state_of(libdevice)) if libdevice and needs_library else None
        return in_parallel(lambda text: _ptx(text, arch, version, library), texts)


def _ptx(text: str, arch: str, version: int, library: Library | None) -> str:
    machine = gpu_machine(arch, version)
    module = _optimised(text, machine, library=library if uses_libdevice(text) else None)
    with trace.timed("LLVM code generation"):
        found = _emitted(machine, module, is_object=False).decode()
    trace.show(trace.ASSEMBLY, "PTX", found)
    return found


def uses_libdevice(text: str) -> bool:
    """Return whether a module calls functions of libdevice."""
    return "@__nv_" in text


@lru_cache(maxsize=1)
def _library(path: str, state: str) -> Library:
    """Return the library in a file of bitcode. `state` is that of the file, which another one may replace."""
    with trace.timed(f"LLVM reads {path}"):
        return Library(str(binding().parse_bitcode(Path(path).read_bytes(), binding().create_context())))


def _optimised(
    text: str,
    machine: TargetMachine,
    *,
    library: Library | None = None,
    rewrite: Callable[[str], str] | None = None,
) -> ModuleRef:
    """Return the module, optimised at O3 with vectorisation.

    Contraction and fast-math are allowed where the flags of instructions allow them.
    """
    trace.show(trace.LLVM, "LLVM before optimisation", text)
    module = _parsed(text, machine)
    if library is not None:
        _link(module, library)
    with trace.timed("LLVM optimise"):
        passes = _pass_builder(machine, text)
        _unlocked().LLVMPY_RunNewModulePassManager(passes.getModulePassManager(), module, passes)
        if rewrite is not None:
            module = _rewritten(module, machine, rewrite)
    trace.show(trace.LLVM, "LLVM after optimisation", module)
    return module


@cache
def _unlocked() -> Any:
    """Return the functions of llvmlite's library that take long, without llvmlite's lock."""
    found = ctypes.CDLL(binding().ffi.lib._name)
    pointer = ctypes.c_void_p
    found.LLVMPY_RunNewModulePassManager.argtypes = [pointer, pointer, pointer]
    found.LLVMPY_RunNewModulePassManager.restype = None
    found.LLVMPY_TargetMachineEmitToMemory.argtypes = [pointer, pointer, ctypes.c_int, pointer]
    found.LLVMPY_TargetMachineEmitToMemory.restype = pointer
    return found


def _emitted(machine: TargetMachine, module: ModuleRef, *, is_object: bool) -> bytes:
    """Return the object file or the assembly of a module."""
    library = binding().ffi.lib
    error = ctypes.c_char_p()
    buffer = _unlocked().LLVMPY_TargetMachineEmitToMemory(machine, module, is_object, ctypes.addressof(error))
    if not buffer:
        raise RuntimeError((error.value or b"LLVM gives no reason").decode())
    buffer = ctypes.cast(buffer, binding().ffi.LLVMMemoryBufferRef)
    try:
        return ctypes.string_at(library.LLVMPY_GetBufferStart(buffer), library.LLVMPY_GetBufferSize(buffer))
    finally:
        library.LLVMPY_DisposeMemoryBuffer(buffer)


Result = TypeVar("Result")


def in_parallel(work: Callable[[str], Result], texts: Sequence[str]) -> list[Result]:
    """Return the result of each text, in order. Threads share the texts; the caller holds LOCK and is one of them.

    Threads take the longest texts first. The first of them that fails raises its error, as if there were one thread.
    """
    found: dict[int, Result] = {}
    failed: dict[int, BaseException] = {}
    order = sorted(range(len(texts)), key=lambda number: -len(texts[number]))
    left, taking = iter(order), threading.Lock()

    def run() -> None:
        while not failed:
            with taking:
                number = next(left, None)
            if number is None:
                return
            try:
                found[number] = work(texts[number])
            except BaseException as error:  # raised below
                failed[number] = error

    others = [threading.Thread(target=run) for _ in range(min(len(texts), len(os.sched_getaffinity(0))) - 1)]
    for thread in others:
        thread.start()
    run()
    for thread in others:
        thread.join()
    if failed:
        raise failed[next(number for number in order if number in failed)]
    return [found[number] for number in range(len(texts))]


def _parsed(text: str, machine: TargetMachine) -> ModuleRef:
    with trace.timed("LLVM parse"):
        try:
            module = binding().parse_assembly(text, binding().create_context())
            module.triple = machine.triple
            module.data_layout = str(machine.target_data)
            module.verify()
        except RuntimeError as error:
            raise InvalidIR(str(error)) from None
    return module


def _pass_builder(machine: TargetMachine, text: str = "") -> Any:
    """Return the passes for the text of a module."""
    level = next((level for passes, level in LEVELS.items() if passes in text), 3)
    options = binding().create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = True
    options.slp_vectorization = LANES not in text
    options.loop_interleaving = options.loop_unrolling = True
    return binding().create_pass_builder(machine, options)


def _rewritten(module: ModuleRef, machine: TargetMachine, rewrite: Callable[[str], str]) -> ModuleRef:
    before = str(module)
    after = rewrite(before)
    if after == before:
        return module
    module = _parsed(after, machine)
    inliner = binding().create_new_module_pass_manager()
    inliner.add_always_inliner_pass()
    inliner.run(module, _pass_builder(machine))
    return module


def _link(module: ModuleRef, library: Library) -> None:
    """Link the functions of a library that the module calls. They become internal, so that inlined ones are dropped."""
    own = {function.name for function in module.functions if not function.is_declaration}
    called = [function.name for function in module.functions if function.is_declaration]
    other = binding().parse_assembly(library.part(called), module._context)
    other.triple, other.data_layout = module.triple, module.data_layout
    module.link_in(other)
    for function in module.functions:
        if not function.is_declaration and function.name not in own:
            function.linkage = "internal"
