# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Program: CUDA C++ source, compiled by NVRTC at run time.

On a GPU the result is machine code for that GPU, so that NVRTC may be newer than the driver (the driver refuses PTX
that is newer than itself). On the host driver the result is PTX, which the host driver translates.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from cuda_graphs.core.driver.choice import driver_info
from cuda_graphs.errors import NVRTCError
from cuda_graphs.objects.options import accept_options

from .object_code import ObjectCode, demangle, make_object_code, read_signature
from .signature import Type, from_function

CODE_TYPES = ("c++", "ptx")
TARGETS = {"c++": ("cubin", "ptx", "ltoir"), "ptx": ("ptx",)}

KERNEL_NAMES = re.compile(rb"\.entry\s+([\w$]+)|\.text\.([\w$]+)\0")
"""The names of kernels in PTX and in a cubin, whose sections have the names of their kernels."""

PROBE = "cuda_graphs_signature<decltype(cuda_graphs_kernel(&({})))>"
PROBES = b"""
template <class... Types> __device__ void (*cuda_graphs_kernel(void (*)(Types...)))(Types...);
template <class> __global__ void cuda_graphs_signature() {}
"""
"""The argument of the template is the type of a kernel. The function chooses the kernel among overloads of its
name, which may be functions of CUDA."""

FRONT_END = ("--fdevice-syntax-only", "--minimal")
"""NVRTC's options to compile nothing, and to declare less."""

MISSING = (
    "CUDA C++ is compiled by NVRTC, which is not installed ({problem}). Install it with "
    "`pip install 'cuda-graphs[nvrtc]'`, or load code that is compiled already: ObjectCode.from_ptx(), .from_cubin()."
)


# The functions below convert a field of ProgramOptions to NVRTC options.
def _switch(option: str, on: bool) -> list[str]:
    return [f"--{option}"] if on else []


def _yes_no(option: str, on: bool) -> list[str]:
    return [f"--{option}={'true' if on else 'false'}"]


def _one(option: str, value: Any) -> list[str]:
    return [f"--{option}={value}"]


def _each(option: str, values: Any) -> list[str]:
    """Return an option for one value, or for each value of a list or tuple."""
    return [f"--{option}={_text(option, value)}" for value in _sequence(values)]


def _each_macro(option: str, values: Any) -> list[str]:
    """Return an option for one macro, or for each macro of a list or tuple. ("NAME", "1") is one macro with its
    value."""
    return [
        f"--{option}={_macro(option, value)}"
        for value in ([values] if _is_pair(values) else _sequence(values))
    ]


def _sequence(values: Any) -> Sequence[Any]:
    return values if isinstance(values, (list, tuple)) else [values]


def _is_pair(macro: Any) -> bool:
    return (
        isinstance(macro, tuple)
        and len(macro) == 2
        and all(isinstance(part, (str, int, float)) for part in macro)
    )


def _macro(option: str, macro: Any) -> str:
    return "=".join(map(str, macro)) if _is_pair(macro) else _text(option, macro)


def _text(option: str, value: Any) -> str:
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(
            f"each value of {option} must be a str or a path, got {type(value).__name__} {value!r}"
        )
    return os.fsdecode(value)


WORDS: dict[str, tuple[str, Callable[[str, Any], list[str]]]] = {
    "std": ("std", _one),
    "include_path": ("include-path", _each),
    "define_macro": ("define-macro", _each_macro),
    "undefine_macro": ("undefine-macro", _each),
    "pre_include": ("pre-include", _each),
    "relocatable_device_code": ("relocatable-device-code", _yes_no),
    "link_time_optimization": ("dlink-time-opt", _switch),
    "debug": ("device-debug", _switch),
    "lineinfo": ("generate-line-info", _switch),
    "max_register_count": ("maxrregcount", _one),
    "ftz": ("ftz", _yes_no),
    "prec_sqrt": ("prec-sqrt", _yes_no),
    "prec_div": ("prec-div", _yes_no),
    "fma": ("fmad", _yes_no),
    "use_fast_math": ("use_fast_math", _switch),
    "extra_device_vectorization": ("extra-device-vectorization", _switch),
    "device_as_default_execution_space": ("device-as-default-execution-space", _switch),
    "no_source_include": ("no-source-include", _switch),
    "disable_warnings": ("disable-warnings", _switch),
    "ptxas_options": ("ptxas-options", _each),
}
"""Field of ProgramOptions -> (option of NVRTC, function that formats the value)."""


@dataclass
class ProgramOptions:
    """Compilation options of a Program. None leaves an option to NVRTC."""

    name: str = "program"
    """The name of the source in messages."""
    arch: str | None = None
    """The architecture to compile for, "sm_90" or "compute_90"; None for that of the current device."""
    std: str | None = None
    """The language standard, "c++11" to "c++23"."""
    include_path: str | Path | Sequence[str | Path] | None = None
    """Folders with headers: one folder, a list or a tuple. CUDA's headers and `cuda_graphs.h` are always found."""
    define_macro: str | tuple[str, Any] | Sequence[str | tuple[str, Any]] | None = None
    """A name, a pair (name, value), or a list or a tuple of them. A tuple of two strings is one pair."""
    undefine_macro: str | Sequence[str] | None = None
    """Names to undefine: one, a list or a tuple."""
    pre_include: str | Path | Sequence[str | Path] | None = None
    """Headers to include first: one, a list or a tuple."""
    relocatable_device_code: bool | None = None
    """Generate code that can be linked with other code."""
    link_time_optimization: bool = False
    """Enable link-time optimisation. The target "ltoir" sets it."""
    debug: bool = False
    """Generate debug information, without optimisation."""
    lineinfo: bool = False
    """Generate line numbers, for profilers."""
    max_register_count: int | None = None
    """The maximum number of registers of a thread."""
    ftz: bool | None = None
    """Flush denormal floats to zero."""
    prec_sqrt: bool | None = None
    """Round square roots as in IEEE 754."""
    prec_div: bool | None = None
    """Round divisions as in IEEE 754."""
    fma: bool | None = None
    """Allow ``a * b + c`` to be rounded once."""
    use_fast_math: bool = False
    """Set ftz and fma, clear prec_sqrt and prec_div, and use the fast functions."""
    extra_device_vectorization: bool = False
    """Vectorise more aggressively."""
    device_as_default_execution_space: bool = False
    """Treat functions without an annotation as __device__."""
    no_source_include: bool = False
    """Do not search the working directory for headers."""
    disable_warnings: bool = False
    """Report only errors."""
    ptxas_options: str | Sequence[str] | None = None
    """Options of the assembler: one, a list or a tuple."""
    options: str | Sequence[str] = ()
    """Further NVRTC options: one, a list or a tuple."""

    def as_words(self) -> list[str]:
        """Return the options for NVRTC, without the architecture."""
        words = []
        for name, (option, write) in WORDS.items():
            value = getattr(self, name)
            if value is not None:
                words += write(option, value)
        return [*words, *_sequence(self.options)]


class Program:
    """Source code that can be compiled.

    Args:
        code: The source, str or bytes.
        code_type: "c++" (CUDA C++), or "ptx" (passed through; the driver compiles it).
        options: ProgramOptions or a dict of its fields.

    Raises:
        ValueError: `code_type` is unknown.
    """

    def __init__(
        self,
        code: str | bytes,
        code_type: str = "c++",
        options: ProgramOptions | dict[str, Any] | None = None,
    ) -> None:
        if not isinstance(code, (str, bytes)):
            raise TypeError(f"code must be a str or bytes, got {type(code).__name__}")
        kind = next(
            (each for each in CODE_TYPES if isinstance(code_type, str) and each == code_type.lower()), None
        )
        if kind is None:
            raise ValueError(
                f"code_type must be one of {', '.join(map(repr, CODE_TYPES))}, got {code_type!r}"
            )
        self._code: bytes | None = code.encode() if isinstance(code, str) else code
        self._code_type = kind
        self._options = accept_options(ProgramOptions, options, "program options")

    @property
    def backend(self) -> str:
        """The compiler: "NVRTC", or "driver" for PTX."""
        return "NVRTC" if self._code_type == "c++" else "driver"

    @property
    def is_closed(self) -> bool:
        """True after `close()`."""
        return self._code is None

    def close(self) -> None:
        """Release the source. Code compiled from it stays valid. May be called twice."""
        self._code = None

    def compile(
        self,
        target_type: str = "cubin",
        name_expressions: str | bytes | Iterable[str | bytes] = (),
        logs: TextIO | None = None,
    ) -> ObjectCode:
        """Compile and return the ObjectCode.

        Args:
            target_type: "cubin" (code for the device), "ptx", or "ltoir" (to be linked); a str, or an enum of strings.
            name_expressions: One or more C++ names (``"scale<float>"``) to instantiate, for `get_kernel`.
            logs: The destination of the compiler's warnings; has a `write` method.

        Raises:
            NVRTCError: The source has errors; `log` is the compiler's output.
            RuntimeError: NVRTC is not installed, or the program has been closed.
            ValueError: `target_type` is unknown.
        """
        if self._code is None:
            raise RuntimeError("Program has been closed")
        # Use the table's own string, since target_type may be an enum of strings.
        target = next((each for each in TARGETS[self._code_type] if each == target_type), None)
        if target is None:
            raise ValueError(
                f"Unsupported target_type={target_type!r} of a {self._code_type} program; "
                f"expected one of {', '.join(map(repr, TARGETS[self._code_type]))}"
            )
        if self._code_type == "ptx":
            return make_object_code(self._code, "ptx", self._options.name)
        given = name_expressions
        names: list[str | bytes] = [given] if isinstance(given, (str, bytes)) else list(given)
        made, ptx, log, symbols = self._compile_with_nvrtc(target, names)
        if logs is not None and log:
            logs.write(log)
        return make_object_code(
            made, target, self._options.name, symbols, self._signatures(made, symbols), ptx
        )

    def _compile_with_nvrtc(
        self, target: str, names: list[str | bytes]
    ) -> tuple[bytes, bytes | None, str, dict[str | bytes, bytes]]:
        assert self._code is not None
        # The host driver translates PTX to machine code when it loads it.
        made_as = "ptx" if target == "cubin" and driver_info().kind == "host" else target
        words = self._words(made_as)
        if target == "ltoir" and not self._options.link_time_optimization:
            words.append("--dlink-time-opt")
        with _Compiler(self._code, self._options.name) as compiler:
            made, log, symbols = compiler.compile(words, made_as, names)
            return made, compiler.code("ptx") if made_as == "cubin" else None, log, symbols

    def _words(self, target: str) -> list[str]:
        """Return the options for NVRTC."""
        words = [f"--gpu-architecture={self._architecture(target)}", *self._options.as_words()]
        return words + [f"--include-path={folder}" for folder in (get_include(), *_header_folders())]

    def _signatures(self, made: bytes, symbols: dict[str | bytes, bytes]) -> dict[str, list[Type]]:
        """Return the parameter types of the kernels in the result, by their names in it."""
        kernels = dict.fromkeys(found[found.lastindex or 0].decode() for found in KERNEL_NAMES.finditer(made))
        given = {name.decode(): os.fsdecode(expression) for expression, name in symbols.items()}
        # A mangled name has the types, but as expressions of template arguments if the kernel is of a template.
        wanted = {name: given.get(name, name) for name in kernels if name in given or demangle(name) is None}
        found = {name: read_signature(made, name) for name in kernels}
        return {**found, **self._ask_types(wanted)}

    def _ask_types(self, wanted: dict[str, str]) -> dict[str, list[Type]]:
        """Return the parameter types of kernels, given the expressions that name them in the source.

        NVRTC mangles the type of a kernel as the argument of a template. It need not compile code for that. Without an
        answer for all of them, as for a kernel in a namespace, each is asked for alone.
        """
        if not wanted:
            return {}
        for options in (FRONT_END, ()):
            answer = self._mangle(wanted, options)
            if answer is not None:
                return answer
        if len(wanted) == 1:
            return {}
        alone = (self._mangle({name: expression}, ()) for name, expression in wanted.items())
        return {name: types for answer in alone if answer for name, types in answer.items()}

    def _mangle(self, wanted: dict[str, str], options: Sequence[str]) -> dict[str, list[Type]] | None:
        """Return the parameter types of kernels; None if NVRTC does not compile the expressions."""
        assert self._code is not None
        asked = {PROBE.format(expression): name for name, expression in wanted.items()}
        with _Compiler(self._code + PROBES, self._options.name) as compiler:
            try:
                mangled = compiler.mangle([*self._words("ptx"), *options], list(asked))
            except NVRTCError:
                return None
        named = {asked[str(each)]: demangle(name.decode()) for each, name in mangled.items()}
        return {name: from_function(text.removesuffix(">()")) for name, text in named.items() if text}

    def _architecture(self, target: str) -> str:
        """Return the architecture for the target: real for a cubin, virtual for code that is compiled later."""
        arch = self._options.arch
        if arch is None:
            from cuda_graphs.objects.device.device import Device

            arch = Device().arch
        number = arch.removeprefix("sm_").removeprefix("compute_")
        return f"sm_{number}" if target == "cubin" else f"compute_{number}"

    def __repr__(self) -> str:
        return f"<Program backend={self.backend!r} name={self._options.name!r}>"


class _Compiler:
    """An nvrtcProgram for one compilation."""

    def __init__(self, code: bytes, name: str) -> None:
        self._api = _nvrtc()
        self._name = name
        # NVRTC requires C strings, and the binding passes bytes unchanged.
        self._handle = self._check(
            self._api.nvrtcCreateProgram(code + b"\0", name.encode() + b"\0", 0, None, None),
            "nvrtcCreateProgram",
        )

    def __enter__(self) -> _Compiler:
        return self

    def __exit__(self, *exc: object) -> None:
        self._api.nvrtcDestroyProgram(self._handle)

    def compile(
        self, words: list[str], target: str, names: list[str | bytes]
    ) -> tuple[bytes, str, dict[str | bytes, bytes]]:
        symbols = self.mangle(words, names)
        log = self._text("ProgramLog")
        return self.code(target), log, symbols

    def code(self, target: str) -> bytes:
        """Return the result of the compilation. A cubin is made of PTX, which stays available."""
        made = self._bytes({"cubin": "CUBIN", "ptx": "PTX", "ltoir": "LTOIR"}[target])
        return made.rstrip(b"\0") if target == "ptx" else made

    def mangle(self, words: list[str], names: Sequence[str | bytes]) -> dict[str | bytes, bytes]:
        """Compile, and return the mangled names of C++ names."""
        expressions = {name: name.encode() if isinstance(name, str) else name for name in names}
        for expression in expressions.values():
            self._check(self._api.nvrtcAddNameExpression(self._handle, expression), "nvrtcAddNameExpression")
        encoded = [word.encode() for word in words]
        answer = self._api.nvrtcCompileProgram(self._handle, len(encoded), encoded)
        self._check(answer, f"compiling {self._name!r} with {' '.join(words)}", self._text("ProgramLog"))
        return {
            name: self._check(self._api.nvrtcGetLoweredName(self._handle, expression), f"the name {name!r}")
            for name, expression in expressions.items()
        }

    def _bytes(self, what: str) -> bytes:
        size = self._check(getattr(self._api, f"nvrtcGet{what}Size")(self._handle), f"nvrtcGet{what}Size")
        made = bytes(size)
        self._check(getattr(self._api, f"nvrtcGet{what}")(self._handle, made), f"nvrtcGet{what}")
        return made

    def _text(self, what: str) -> str:
        return self._bytes(what).rstrip(b"\0").decode(errors="replace").strip()

    def _check(self, answer: tuple[Any, ...], attempt: str, log: str | None = None) -> Any:
        status, *values = answer
        if int(status) != 0:
            _, text = self._api.nvrtcGetErrorString(status)
            raise NVRTCError(int(status), status.name, text.decode(), attempt, log, explanation=text.decode())
        return values[0] if values else None


@functools.cache
def _nvrtc() -> Any:
    """Return cuda.bindings.nvrtc, after a check that its library is installed."""
    from cuda import pathfinder

    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError, pathfinder.DynamicLibNotFoundError) as problem:
        raise RuntimeError(MISSING.format(problem=str(problem).splitlines()[0])) from problem
    return nvrtc


def get_include() -> str:
    """Return the folder of ``cuda_graphs.h``, which declares ``cudaGraphSetConditional``.

    `Program` finds the header without it. Other compilers get the folder as an option: ``nvcc -I$(python -c "import
    cuda_graphs as cg; print(cg.get_include())")``.
    """
    return str(Path(__file__).parent / "include")


@functools.cache
def _header_folders() -> tuple[str, ...]:
    """Return the installed folders of CUDA's own headers (cuda_fp16.h, <cuda/std/...>)."""
    from cuda import pathfinder

    found = (pathfinder.find_nvidia_header_directory(name) for name in ("cudart", "cccl"))
    return tuple(str(folder) for folder in found if folder)
