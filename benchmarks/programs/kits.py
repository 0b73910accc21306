# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The libraries of the contestants: how each one makes, fills and reads an array, and waits.

A Kit holds these functions. A library that has no code for the machine of the driver raises Missing.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Missing(Exception):
    """The library cannot take part; the message gives the reason."""


class Run(NamedTuple):
    """A program that is ready: `reset` restores the state before a call, outside of the clock; `call` runs the program;
    `result` returns the result as an array of NumPy; `done` the number of iterations, if the program decides it."""

    reset: Callable[[], object]
    call: Callable[[], object]
    result: Callable[[], Array]
    done: Callable[[], int] = lambda: 0


class Work(NamedTuple):
    """The least work of a run: bytes to and from memory, each element once a step, and floating-point operations."""

    bytes: float = 0.0
    flops: float = 0.0


@dataclass(frozen=True)
class Kit:
    """put      copies an array of NumPy to a new array of the library
    write    copies an array of NumPy into an array of the library, whose type and shape it has
    get      returns an array of the library as one of NumPy
    sync     waits for all work
    on_gpu   True if arrays are on a GPU
    device   the device in the words of the library
    """

    put: Callable[[Array], Any]
    write: Callable[[Any, Array], object]
    get: Callable[[Any], Array]
    sync: Callable[[], object]
    on_gpu: bool = False
    device: Any = None


def no_wait() -> None:
    """Do nothing: the work is done when a call returns."""


def with_cuda_graphs(on_gpu: bool) -> Kit:
    import cuda_graphs as cg

    cg.use_driver("cuda" if on_gpu else "host")
    cg.Device().set_current()
    types = {each.dtype: each for each in (cg.f32, cg.i32, cg.u8)}

    def put(array: Array) -> cg.NDArray:
        made = cg.ndarray(types[array.dtype.str], array.shape)
        made.from_numpy(array)
        return made

    return Kit(put, cg.NDArray.from_numpy, cg.NDArray.to_numpy, cg.Device().default_stream.sync, on_gpu)


def with_numba(on_gpu: bool) -> Kit:
    if on_gpu:
        raise Missing("runs on a CPU; numba-cuda is its contestant on a GPU")
    import numba  # noqa: F401 - its absence is a reason

    return Kit(np.array, np.copyto, np.asarray, no_wait)


def with_numba_cuda(on_gpu: bool) -> Kit:
    if not on_gpu:
        raise Missing("runs on a GPU; numba is its contestant on a CPU")
    if not hasattr(np, "row_stack"):  # Numba 0.68 uses it when it is imported; NumPy 2.5 has removed it
        np.row_stack = np.vstack  # type: ignore[attr-defined]
    from numba import config, cuda

    config.CUDA_LOW_OCCUPANCY_WARNINGS = False
    cuda.current_context()
    return Kit(
        cuda.to_device,
        lambda array, source: array.copy_to_device(np.ascontiguousarray(source)),
        lambda array: array.copy_to_host(),
        cuda.synchronize,
        on_gpu,
    )


def with_warp(on_gpu: bool) -> Kit:
    import warp as wp

    wp.config.quiet = True
    wp.init()
    device = "cuda:0" if on_gpu else "cpu"
    types = {"float32": wp.float32, "int32": wp.int32, "uint8": wp.uint8}
    return Kit(
        lambda array: wp.array(array, dtype=types[array.dtype.name], device=device),
        lambda array, source: array.assign(source),
        lambda array: array.numpy(),
        lambda: wp.synchronize_device(device),
        on_gpu,
        device,
    )


def with_quadrants(on_gpu: bool) -> Kit:
    import quadrants as qd

    qd.init(
        arch=qd.cuda if on_gpu else qd.cpu,
        fast_math=False,
        offline_cache=True,
        offline_cache_file_path=os.environ.get("QD_OFFLINE_CACHE_FILE_PATH", ""),
        log_level=qd.ERROR,
    )
    types = {"float32": qd.f32, "int32": qd.i32, "uint8": qd.u8}

    def put(array: Array) -> Any:
        made = qd.ndarray(types[array.dtype.name], array.shape)
        made.from_numpy(array)
        return made

    return Kit(
        put,
        lambda array, source: array.from_numpy(np.ascontiguousarray(source)),
        lambda array: array.to_numpy(),
        qd.sync,
        on_gpu,
    )


def with_cupy(on_gpu: bool) -> Kit:
    if not on_gpu:
        raise Missing("runs on a GPU only")
    import cupy

    return Kit(
        cupy.asarray,
        lambda array, source: array.set(np.ascontiguousarray(source)),
        cupy.asnumpy,
        lambda: cupy.cuda.Device().synchronize(),
        on_gpu,
    )


def with_jax(on_gpu: bool) -> Kit:
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # other contestants need memory, too
    if not on_gpu:
        os.environ["JAX_PLATFORMS"] = "cpu"
    import jax

    device = jax.devices("gpu" if on_gpu else "cpu")[0]

    def write(array: Any, source: Array) -> None:
        raise TypeError("arrays of JAX do not change")

    def put(array: Array) -> Any:
        return jax.device_put(array, device)

    # A call blocks until its result is there: `call` of each program ends with block_until_ready.
    return Kit(put, write, np.asarray, no_wait, on_gpu, device)


def with_torch(on_gpu: bool) -> Kit:
    import torch

    device = torch.device("cuda" if on_gpu else "cpu")
    return Kit(
        lambda array: torch.from_numpy(array.copy()).to(device),
        lambda array, source: array.copy_(torch.from_numpy(np.ascontiguousarray(source))),
        lambda array: array.cpu().numpy(),
        torch.cuda.synchronize if on_gpu else no_wait,
        on_gpu,
        device,
    )


KITS: dict[str, Callable[[bool], Kit]] = {
    "cuda_graphs": with_cuda_graphs,
    "numba": with_numba,
    "numba_cuda": with_numba_cuda,
    "warp": with_warp,
    "quadrants": with_quadrants,
    "cupy": with_cupy,
    "jax": with_jax,
    "torch": with_torch,
}
"""Peer -> function that makes its Kit on a CPU or a GPU. The functions of programs have the same names: with_PEER."""
