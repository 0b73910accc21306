# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Objects that look to the adapters like kernels of numba-cuda, CuPy and Triton, without these libraries.

The code is real: numba-cuda 0.30 and Triton 3.6 compiled code/*.ptx from the functions below, without a GPU
(numba.cuda.compile; warmup with a driver that only names a target). `.version` and `.target` are lowered so that every
driver accepts them. The code is loaded without this package, so that the tests see which objects keep it.
"""

import ctypes
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import cuda_graphs as cg

CODE = Path(__file__).parent / "code"


class Driver:
    """The driver of the process, without this package."""

    def __init__(self):
        self.library = ctypes.CDLL(cg.driver_info().path)

    def __call__(self, name, *args):
        status = getattr(self.library, name)(*args)
        assert status == 0, f"{name}: {status}"


class Loaded:
    """Code loaded as a library or as a module. The destructor unloads it and adds the name to `gone`."""

    def __init__(self, code, name, gone, how="Library"):
        self.driver, self.name, self.gone, self.how = Driver(), name, gone, how
        self.raw, self.handle = ctypes.c_void_p(), ctypes.c_void_p()
        rest = (None, None, 0, None, None, 0) if how == "Library" else ()
        self.driver(f"cu{how}LoadData", ctypes.byref(self.raw), code, *rest)
        get = "cuLibraryGetKernel" if how == "Library" else "cuModuleGetFunction"
        self.driver(get, ctypes.byref(self.handle), self.raw, name.encode())

    def __del__(self):
        self.driver(f"cu{self.how}Unload", self.raw)
        self.gone.append(self.name)


# numba-cuda


@dataclass(frozen=True)
class Integer:
    bitwidth: int
    signed: bool


@dataclass(frozen=True)
class Float:
    bitwidth: int


@dataclass(frozen=True)
class Complex:
    bitwidth: int


@dataclass(frozen=True)
class Boolean:
    pass


@dataclass(frozen=True)
class Array:
    dtype: object
    ndim: int
    layout: str
    mutable: bool = True


@dataclass(frozen=True)
class Record:
    pass


class BaseTuple:
    pass


@dataclass(frozen=True)
class Tuple(BaseTuple):
    types: tuple


KINDS = {
    "i": lambda t: Integer(8 * t.itemsize, True),
    "u": lambda t: Integer(8 * t.itemsize, False),
    "f": lambda t: Float(8 * t.itemsize),
    "c": lambda t: Complex(8 * t.itemsize),
    "b": lambda t: Boolean(),
    "V": lambda t: Record(),
}


def type_of_numpy(dtype):
    return KINDS[dtype.kind](dtype)


def type_of(value):
    interface = getattr(value, "__cuda_array_interface__", None) or getattr(
        value, "__array_interface__", None
    )
    if interface is not None and not isinstance(value, np.generic):
        layout = "C" if interface.get("strides") is None else "A"
        dtype = type_of_numpy(np.dtype(interface["typestr"]))
        return Array(dtype, len(interface["shape"]), layout, not interface["data"][1])
    if isinstance(value, tuple):
        return Tuple(tuple(map(type_of, value)))
    if isinstance(value, (np.generic, bool, int, float, complex)):
        return type_of_numpy(np.asarray(value).dtype)
    raise ValueError(f"Cannot determine Numba type of {type(value)}")


def spread(x, y, a, n, flag, z, pair):
    """The source of code/numba_spread.ptx, which has `i = cuda.grid(1)` and `if i < y.size` in place of the loop."""
    for i in range(y.size):
        value = x[i, 1] * a + n + pair[0] * pair[1]
        if flag:
            value += z.real - z.imag
        y[i] = value


# The declared types of the arguments.
SPREAD = (
    Array(Float(32), 2, "A"), Array(Float(64), 1, "C"), Float(32), Integer(32, True), Boolean(), Complex(64),
    Tuple((Integer(16, True), Float(64))),
)  # fmt: skip


class Dispatcher:
    """A kernel of numba.cuda.jit. With `declared` types it compiles for no others, else for these that `made` has."""

    extensions = ()

    def __init__(self, py_func, gone, *, declared=None, made=(), cooperative=False):
        self.py_func, self.gone, self.cooperative = py_func, gone, cooperative
        self.overloads, self.made, self.compiles = {}, dict(made), []
        for types, (code, name) in (declared or {}).items():
            self.overloads[types] = self._load(types, code, name)

    def _load(self, types, code, name):
        loaded = Loaded(code, name, self.gone)
        kernel = SimpleNamespace(handle=loaded.handle.value)
        function = SimpleNamespace(kernel=kernel, loaded=loaded)
        library = SimpleNamespace(get_cufunc=lambda: function)
        return SimpleNamespace(
            library=library, cooperative=self.cooperative, signature=SimpleNamespace(args=types)
        )

    def typeof_pyval(self, value):
        return type_of(value)

    def compile(self, types):
        if not self.made and len(self.overloads) == 1:  # numba-cuda 0.30 then calls it specialized
            return next(iter(self.overloads.values()))
        if not self.made:
            raise RuntimeError("Compilation disabled")
        self.compiles.append(types)
        self.overloads[types] = self._load(types, *self.made[types])
        return self.overloads[types]


def numba_spread(gone, *, declarations=1):
    """With two declarations the first is of types that no test has."""
    code = ((CODE / "numba_spread.ptx").read_bytes() + b"\0", "spread")
    others = (Array(Integer(64, True), 3, "C"), *SPREAD[1:])
    return Dispatcher(spread, gone, declared=dict([(others, code), (SPREAD, code)][-declarations:]))


# CuPy


class RawKernel:
    """A cupy.RawKernel: it has a CUfunction, of a module."""

    def __init__(self, code, name, gone, *, enable_cooperative_groups=False):
        self.name, self.enable_cooperative_groups = name, enable_cooperative_groups
        self.max_dynamic_shared_size_bytes = 48 * 1024
        loaded = Loaded(code, name, gone, "Module")
        self.kernel = SimpleNamespace(ptr=loaded.handle.value, module=loaded)


# Triton


def axpy(x, y, a, n, step, BLOCK):
    """The source of code/triton_axpy_step_*.ptx, with 64 for BLOCK: once with 1 for `step`, which makes it a constant,
    and once with another number.

        i = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) * step
        inside = i < n
        tl.store(y + i, a * tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)
    """


class CompiledKernel:
    """What Triton compiled."""

    name = "axpy"

    def __init__(self, signature, **metadata):
        step = "1" if signature["step"] == "constexpr" else "n"
        self.asm = {"ptx": (CODE / f"triton_axpy_step_{step}.ptx").read_text()}
        self.src = SimpleNamespace(signature=signature)
        target = SimpleNamespace(arch=int(cg.Device().arch))
        usual = {
            "num_warps": 2,
            "warp_size": 32,
            "num_ctas": 1,
            "shared": 0,
            "launch_cooperative_grid": False,
        }
        sizes = {"global_scratch_size": 0, "profile_scratch_size": 0}
        self.metadata = SimpleNamespace(**{**usual, **sizes, "target": target, **metadata})


class JITFunction:
    """A function of triton.jit."""

    def __init__(self, fn=axpy, **metadata):
        self.fn, self.metadata = fn, metadata
        self.arg_names = list(fn.__code__.co_varnames[: fn.__code__.co_argcount])
        self.warmed, self.compiled = [], {}

    def warmup(self, *args, grid, **options):
        self.warmed.append((args, grid, options))
        named = dict(zip(self.arg_names, args, strict=True))
        signature = {name: self.type_of(name, value) for name, value in named.items()}
        key = tuple(signature.items())
        if key not in self.compiled:
            self.compiled[key] = CompiledKernel(signature, **self.metadata)
        return self.compiled[key]

    def type_of(self, name, value):
        if name == "BLOCK" or (isinstance(value, int) and value == 1):
            return "constexpr"
        if hasattr(value, "data_ptr"):
            return {"float32": "*fp32", "bfloat16": "*bf16"}[str(value.dtype).rpartition(".")[2]]
        if isinstance(value, (bool, int, float)):
            return {bool: "u1", int: "i32", float: "fp32"}[type(value)]
        raise TypeError(f"failed to specialize argument of type: {type(value).__name__}")


class Tensor:
    """A tensor of the device as Triton sees one: an address and a type."""

    dtype = "torch.float32"

    def __init__(self, array):
        self.array = array

    def data_ptr(self):
        return self.array.handle
