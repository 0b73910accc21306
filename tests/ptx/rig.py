# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Runs PTX through the loader as the host driver does, but from Python: services made of ctypes callbacks, entries
called by address. Guard words round the shared memory catch writes outside."""

import ctypes
from dataclasses import dataclass, field

import numpy as np

from cuda_graphs.hostdriver.ptx import loader

ENTRY = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64
)
GUARD = 0xA5


class Launch(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("cluster", ctypes.c_uint32 * 3),
        ("dynamic_shared_bytes", ctypes.c_uint32),
        ("together", ctypes.c_void_p),
    ]


class Site(ctypes.Structure):
    """cgh_site"""

    _fields_ = [
        ("file", ctypes.c_char_p),
        ("instruction", ctypes.c_char_p),
        ("line", ctypes.c_uint32),
        ("ptx_line", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("axes", ctypes.c_uint32),
    ]


class Services:
    """cgh_services. Lists keep the text that a kernel prints and the conditions that it sets; trap and assert end the
    process, because Python cannot unwind through generated code."""

    KINDS = (
        ("set_conditional", ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_uint32)),
        ("vprintf", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p)),
        (
            "assert_fail",
            ctypes.CFUNCTYPE(
                None,
                ctypes.c_char_p,
                ctypes.c_char_p,
                ctypes.c_uint32,
                ctypes.c_char_p,
                ctypes.POINTER(ctypes.c_uint32 * 3),
                ctypes.POINTER(ctypes.c_uint32 * 3),
            ),
        ),
        ("trap", ctypes.CFUNCTYPE(None)),
        ("scratch", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)),
        ("clock64", ctypes.CFUNCTYPE(ctypes.c_uint64)),
        ("globaltimer", ctypes.CFUNCTYPE(ctypes.c_uint64)),
        (
            "access",
            ctypes.CFUNCTYPE(
                None, ctypes.c_uint64, ctypes.c_uint64, ctypes.POINTER(Site), *[ctypes.c_uint32] * 6
            ),
        ),
        ("order", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)),
        ("allocate", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint64)),
        ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("sleep_until", ctypes.CFUNCTYPE(None, ctypes.c_uint64)),
        (
            "share",
            ctypes.CFUNCTYPE(
                ctypes.c_int32,
                ENTRY,
                ctypes.POINTER(Launch),
                ctypes.c_void_p,
                ctypes.c_uint32,
                ctypes.c_void_p,
            ),
        ),
        (
            "collect",
            ctypes.CFUNCTYPE(
                ctypes.c_void_p,
                ctypes.c_size_t,
                ctypes.c_uint64,
                ctypes.c_uint32,
                ctypes.POINTER(ctypes.c_uint32),
            ),
        ),
    )

    def __init__(self, wants: int = 0):
        self.accesses: list[tuple] = []
        self.orders: list[ctypes.Array] = []
        self.conditionals: list[tuple[int, int]] = []
        self.printed: list[tuple[str, int]] = []
        self.buffers: list[ctypes.Array] = []
        self.released: list[int] = []
        self.slept: list[int] = []
        self.collections: list[int] = []  # the memory of the one thread, until its last call
        self.ticks = 0
        self.callbacks = [kind(getattr(self, name)) for name, kind in self.KINDS]
        self.table = loader.Services(wants=wants)
        for number, callback in enumerate(self.callbacks):
            self.table.functions[number] = ctypes.cast(callback, ctypes.c_void_p).value
        self.address = ctypes.addressof(self.table)

    def set_conditional(self, handle: int, value: int) -> None:
        self.conditionals.append((handle, value))

    def vprintf(self, text: bytes, args: int) -> int:
        self.printed.append((text.decode(), args))
        return 1

    def assert_fail(self, message, file, line, function, block, thread) -> None:
        import os

        place = f"block {list(block.contents)} thread {list(thread.contents)}"
        os.write(2, f"{message.decode()} at {file.decode()}:{line} in {function.decode()}, {place}".encode())
        os._exit(43)

    def trap(self) -> None:
        import os

        os._exit(42)

    def scratch(self, size: int) -> int:
        self.buffers.append(ctypes.create_string_buffer(size + 64))
        return -(-ctypes.addressof(self.buffers[-1]) // 64) * 64

    def collect(self, size: int, most_threads: int, whole: int, is_new) -> int | None:
        if most_threads == 0:
            return None
        if whole:
            is_new[0] = 1
            return self.scratch(size)
        is_new[0] = not self.collections
        if not self.collections:
            self.collections.append(self.scratch(size))
        return self.collections[0]

    def access(self, address: int, size: int, site, *place: int) -> None:
        found = site.contents
        named = (found.file, found.line, found.ptx_line, found.instruction.decode(), size, found.flags)
        self.accesses.append((address, named, place[:3], place[3:]))

    def order(self, threads: int) -> int:
        """The other way round."""
        self.orders.append((ctypes.c_uint32 * threads)(*reversed(range(threads))))
        return ctypes.addressof(self.orders[-1])

    def allocate(self, size: int) -> int:
        return self.scratch(size)

    def release(self, address: int) -> None:
        self.released.append(address)

    def sleep_until(self, time: int) -> None:
        self.slept.append(time)

    def share(self, loop, launch, params: int, blocks: int, cost: int) -> int:
        """Refuses each loop: no native image is loaded here."""
        return 0

    def clock64(self) -> int:
        self.ticks += 1
        return self.ticks << 30

    def globaltimer(self) -> int:
        self.ticks += 1
        return self.ticks << 31


@dataclass
class Program:
    """A loaded image and its kernels by name."""

    image: loader.LoadedImage
    services: Services
    kernels: dict[str, loader.Kernel] = field(init=False)

    def __post_init__(self) -> None:
        found = self.image.image
        self.kernels = {found.kernels[i].name.decode(): found.kernels[i] for i in range(found.kernel_count)}

    def variable(self, name: str) -> tuple[int, int]:
        found = self.image.image
        for i in range(found.global_count):
            if found.globals[i].name.decode() == name:
                return found.globals[i].address, found.globals[i].bytes
        raise KeyError(name)

    def param_block(self, kernel: loader.Kernel, args: tuple) -> np.ndarray:
        assert len(args) == kernel.param_count, f"{kernel.param_count} parameters"
        block = np.zeros(-(-max(kernel.param_bytes, 1) // 16) * 16, np.uint8)
        for i, arg in enumerate(args):
            param = kernel.params[i]
            data = np.uint64(arg.ctypes.data).tobytes() if isinstance(arg, np.ndarray) else arg_bytes(arg)
            assert len(data) == param.size, f"parameter {i} has {param.size} bytes, not {len(data)}"
            block[param.offset : param.offset + param.size] = np.frombuffer(data, np.uint8)
        return block

    def launch(
        self, name, grid, block, *args, shared: int = 0, first: int = 0, end: int | None = None, cluster=1
    ) -> None:
        kernel = self.kernels[name]
        grid, block, cluster = (
            (*(int(n) for n in np.atleast_1d(size)), 1, 1, 1) for size in (grid, block, cluster)
        )
        launch = Launch(grid[:3], block[:3], cluster[:3], shared)
        params = self.param_block(kernel, args)
        size = -(-kernel.static_shared_bytes // 16) * 16 + shared
        memory = np.full(size + 3 * 128, GUARD, np.uint8)
        start = 128 - memory.ctypes.data % 128
        blocks = int(np.prod(np.array(grid[:3], dtype=np.int64)))
        ENTRY(kernel.entry)(
            ctypes.addressof(launch),
            params.ctypes.data,
            memory.ctypes.data + start,
            first,
            blocks if end is None else end,
        )
        assert (memory[:start] == GUARD).all(), "written before the shared memory"
        assert (memory[start + size :] == GUARD).all(), "written behind the shared memory"


def arg_bytes(arg) -> bytes:
    if isinstance(arg, bytes):
        return arg
    if isinstance(arg, int):
        raise TypeError("give an integer a width: np.int32(...)")
    return np.asarray(arg).tobytes()


def load(ptx: str | bytes, services: Services | None = None) -> Program:
    services = services or Services()
    image = ptx.encode() if isinstance(ptx, str) else ptx
    return Program(loader.load(image, services.address), services)


HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"


def compile_cuda(source: str, *options: str) -> str:
    """CUDA C++ -> PTX by NVRTC."""
    from cuda.bindings import nvrtc
    from cuda.pathfinder import find_nvidia_header_directory

    def check(result):
        assert result[0] == nvrtc.nvrtcResult.NVRTC_SUCCESS, log()
        return result[1:]

    def log() -> str:
        text = b" " * nvrtc.nvrtcGetProgramLogSize(program)[1]
        nvrtc.nvrtcGetProgramLog(program, text)
        return text.decode()

    flags = [] if any("architecture" in option for option in options) else ["--gpu-architecture=compute_90"]
    flags += [f"-I{find_nvidia_header_directory('cudart')}", *options]
    program = nvrtc.nvrtcCreateProgram(source.encode(), b"test.cu", 0, [], [])[1]
    check(nvrtc.nvrtcCompileProgram(program, len(flags), [flag.encode() for flag in flags]))
    ptx = b" " * check(nvrtc.nvrtcGetPTXSize(program))[0]
    check(nvrtc.nvrtcGetPTX(program, ptx))
    nvrtc.nvrtcDestroyProgram(program)
    return ptx.decode().rstrip("\0")
