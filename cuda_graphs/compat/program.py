# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The state of a program of a peer: the options of `init`, and when calls wait."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import Any

import cuda_graphs as cg
from cuda_graphs.kernels.arrays.ndarray import has_views

__all__ = [
    "IGNORED",
    "Settings",
    "cfg",
    "cpu",
    "cuda",
    "gpu",
    "init",
    "reset",
    "settings",
    "sync",
    "wait",
    "x64",
    "x86_64",
]

cpu = x64 = x86_64 = "host"
cuda = "cuda"
gpu = "auto"

# Options of `init` without a meaning here: they tune the peers' compilers, memory pools and logs.
IGNORED = frozenset((
    "ad_stack_experimental_enabled", "ad_stack_size", "ad_stack_sparse_threshold_bytes", "advanced_optimization",
    "async_mode", "cache_loop_invariant_global_vars", "cfg_optimization", "offline_cache_max_size_of_files",
    "check_out_of_bound", "cuda_stack_limit", "debug_dump_path", "default_ad_stack_size", "default_cpu_block_dim",
    "default_gpu_block_dim", "demote_dense_struct_fors", "detect_read_only", "device_memory_GB",
    "device_memory_fraction",
    "dynamic_index", "enable_fallback", "enable_graph", "fast_math", "flatten_if", "force_scalarize_matrix",
    "gdb_trigger", "kernel_profiler", "log_level", "make_block_local", "make_cpu_multithreading_loop",
    "make_thread_local", "max_block_dim", "move_loop_invariant_outside_if",
    "num_compile_threads", "offline_cache", "offline_cache_cleaning_factor", "offline_cache_cleaning_policy",
    "offline_cache_file_path", "opt_level", "print_full_traceback", "print_ir", "print_kernel_asm",
    "print_kernel_llvm_ir", "print_kernel_llvm_ir_optimized", "print_non_pure", "raise_on_templated_floats",
    "real_matrix_scalarize", "require_version",
    "saturating_grid_dim", "short_circuit_operators", "simplify_after_lower_access",
    "simplify_before_lower_access", "src_ll_cache", "timeline", "unrolling_limit", "verbose", "verbose_kernel_launches",
    "vk_api_version",
))  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """The options of `init` that decide the code of kernels."""

    default_fp: Any = cg.f32
    default_ip: Any = cg.i32
    debug: bool = False

    def options(self) -> dict[str, Any]:
        """Return the keywords of `cg.kernel`."""
        return {
            "default_float": self.default_fp,
            "default_int": self.default_ip,
            "debug": self.debug,
        }


class Program:
    """The state of this process."""

    settings = Settings()


def settings() -> Settings:
    """Return the options of the last `init`."""
    return Program.settings


def init(
    arch: str | None = None,
    default_fp: Any = cg.f32,
    default_ip: Any = cg.i32,
    *,
    debug: bool = False,
    random_seed: int | None = None,
    cpu_max_num_threads: int | None = None,
    **others: Any,
) -> None:
    """Choose the driver and the options of kernels.

    The variable CUDA_GRAPHS_DRIVER wins over `arch`, and so does a driver that is loaded already. `fast_math`, which
    is on by default in the peers, is ignored: results have the bits of the source (docs/guide/large-programs.md#bits).

    With `cpu_max_num_threads=1` all work runs in the calling thread, as with CUDA_GRAPHS_HOST_THREADS=0, unless the
    host driver is loaded already. Other numbers are ignored.

    Raises:
        TypeError: An option is unknown.
    """
    unknown = sorted(others.keys() - IGNORED)
    if unknown:
        raise TypeError(f"init() has no option {unknown[0]!r} in cuda_graphs.compat: leave it out")
    if cpu_max_num_threads == 1:
        os.environ.setdefault("CUDA_GRAPHS_HOST_THREADS", "0")
    if arch is not None and "CUDA_GRAPHS_DRIVER" not in os.environ:
        with contextlib.suppress(RuntimeError):  # another driver is loaded, and the program uses it
            cg.use_driver(arch)
    cg.Device().set_current()
    Program.settings = Settings(default_fp, default_ip, debug)
    cg.random_seed(0 if random_seed is None else random_seed)


def on_cpu() -> bool:
    """Return True if kernels run on the host driver."""
    return bool(cg.driver_info().kind == "host")


class Config:
    """The options that hold now, as programs read them: `if cfg.arch == cpu`."""

    fast_math = False

    @property
    def arch(self) -> str:
        """`cpu` or `cuda`: the driver that runs kernels."""
        return cpu if on_cpu() else cuda

    @property
    def default_fp(self) -> Any:
        """The type of floats of the last `init`."""
        return settings().default_fp

    @property
    def default_ip(self) -> Any:
        """The type of ints of the last `init`."""
        return settings().default_ip

    @property
    def debug(self) -> bool:
        """True if kernels check indices and assertions."""
        return settings().debug

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"cfg.{name} is absent in cuda_graphs.compat: there are arch, default_fp, default_ip, debug and fast_math"
        )


cfg = Config()


def reset() -> None:
    """Forget compiled code and the options of `init`. Arrays and fields stay."""
    Program.settings = Settings()
    cg.reset()


def sync() -> None:
    """Wait for all work of the current device."""
    cg.Device().sync()


def wait() -> None:
    """Wait after the call of a kernel where the program could see that the call returned early.

    Calls of the peers wait on CPUs. Reads of arrays wait here too. Only memory that other libraries share must not be
    read while a kernel writes it, so calls wait once such a view exists in the process.
    """
    if has_views() and on_cpu():
        cg.Device().sync()
