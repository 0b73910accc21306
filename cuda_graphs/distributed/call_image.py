# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of the host driver that start nonblocking calls of MPI and wait for them.

Such a kernel is a native image (native/image.py) with one thread of work. Its parameters are the addresses of the
functions and their arguments, so the image depends on no MPI and is linked with none. The parameters of a kernel with
two calls, each of 8 bytes:

    MPI_Test, word, token, function 1, its arguments, function 2, its arguments

Each argument is an int, a pointer or a handle of MPI. On the CPUs that this file knows, an argument of 4 bytes is the
lower half of a register or of a slot of 8 bytes on the stack. All arguments are therefore passed as 8 bytes.

The kernel repeats MPI_Test, and gives its core to other threads from time to time: ranks often outnumber cores. It returns
when the word (health.py) is not 0. A call that has begun then stays unfinished.
"""

from __future__ import annotations

import platform
from functools import cache

from cuda_graphs.native import llvm
from cuda_graphs.native.function_text import FunctionText, constant_string
from cuda_graphs.native.host_cpu import identity, made_here
from cuda_graphs.native.image import pack_image
from cuda_graphs.native.units import Unit, codes_of
from cuda_graphs.objects.code.kernel import Kernel
from cuda_graphs.objects.code.object_code import make_object_code

__all__ = ["LEADING", "call_kernel"]

LEADING = 3  # parameters before those of the calls: MPI_Test, the word and the token
CPUS = ("x86_64", "aarch64")
TRIES = 64  # calls of MPI_Test before the core is given to other threads
STATUS_BYTES = 256  # more than an MPI_Status of any MPI
FAILED = "an MPI function of {} returned an error"
OVERLAPS = (
    "{}: two nodes use one communicator at the same time. Order the nodes with edges, and launch executables of one "
    "definition on one stream"
)


@cache
def call_kernel(name: str, counts: tuple[int, ...]) -> Kernel:
    """Return the kernel of calls at the same time, each with the given number of arguments before the request.

    Args:
        name: The name of the kernel, an identifier.
        counts: The number of arguments of each call.

    Raises:
        RuntimeError: This CPU passes arguments in another way.
    """
    if platform.machine() not in CPUS:
        raise RuntimeError(f"collectives on the host driver need a CPU of {', '.join(CPUS)}")
    depends_on = ("distributed", identity(), str(llvm.CODE_MODEL))
    (code,) = codes_of([Unit("", text_of(name, counts))], depends_on, llvm.object_codes)
    cpu = llvm.requirements()
    parameters = LEADING + sum(1 + count for count in counts)
    entry = {
        "name": name,
        "params": [(8 * i, 8) for i in range(parameters)],
        "shared": 0,
        "open_ended": 1,
    }
    image = pack_image({**cpu, "made_here": made_here(**cpu), "entries": [entry]}, code.data)
    return make_object_code(image, "native", name, signatures={}).get_kernel(name)


def text_of(name: str, counts: tuple[int, ...]) -> str:
    """Return the kernel as LLVM text."""
    declarations: dict[str, str] = {}
    e = FunctionText(declarations)
    values = iter(range(LEADING + sum(1 + count for count in counts)))
    test, word, token = (load(e, next(values), "ptr") for _ in range(LEADING))
    failed, overlaps = e.label("failed"), e.label("overlaps")
    begin, ready, given_up = e.label("begin"), e.label("ready"), e.label("given_up")
    taken = e.let(f"atomicrmw xchg ptr {token}, i64 1 seq_cst")
    e.jump_if(e.let(f"icmp eq i64 {taken}, 0"), begin, overlaps)
    e.start(begin)
    jump_unless_set(e, word, ready, given_up)
    requests = [e.slot("i64") for _ in counts]  # an MPI_Request is an int or a pointer
    for request, count in zip(requests, counts):
        function = load(e, next(values), "ptr")
        arguments = [f"i64 {load(e, next(values), 'i64')}" for _ in range(count)]
        check(e, e.let(f"call i32 {function}({', '.join([*arguments, f'ptr {request}'])})"), failed)
    done, status, tries = e.slot("i32"), e.slot(f"[{STATUS_BYTES} x i8]"), e.slot("i32")
    e.line(f"store i32 0, ptr {tries}")
    for request in requests:
        again, rest, ask, over = (e.label(stem) for stem in ("again", "rest", "ask", "over"))
        e.jump(ask)
        e.start(again)
        tested = e.let(f"add i32 {e.let(f'load i32, ptr {tries}')}, 1")
        e.line(f"store i32 {tested}, ptr {tries}")
        e.jump_if(e.let(f"icmp eq i32 {e.let(f'urem i32 {tested}, {TRIES}')}, 0"), rest, ask)
        e.start(rest)
        e.call("sched_yield", "i32", [])
        jump_unless_set(e, word, ask, given_up)
        check(e, e.let(f"call i32 {test}(ptr {request}, ptr {done}, ptr {status})"), failed)
        is_done = e.let(f"load i32, ptr {done}")
        e.jump_if(e.let(f"icmp eq i32 {is_done}, 0"), again, over)
        e.start(over)
    e.jump(given_up)
    e.start(given_up)
    e.line(f"store atomic i64 0, ptr {token} seq_cst, align 8")
    e.line("ret void")
    texts = {"file": "cuda_graphs.distributed", "function": name}
    texts |= {failed: FAILED.format(name), overlaps: OVERLAPS.format(name)}
    for label in (failed, overlaps):
        fail(e, label)
    constants = [f"@{key}.text = private constant {constant_string(text)}" for key, text in texts.items()]
    lines = "\n".join([*e.slots, *e.lines])
    return (
        "\n".join([*constants, *declarations.values()])
        + f"\ndefine void @{name}(ptr %launch, ptr %params, ptr %shared, i64 %first, i64 %end) {{\n{lines}\n}}\n"
    )


def load(e: FunctionText, number: int, kind: str) -> str:
    """Emit the value of a parameter."""
    return e.let(f"load {kind}, ptr {e.let(f'getelementptr i8, ptr %params, i64 {8 * number}')}")


def jump_unless_set(e: FunctionText, word: str, go_on: str, given_up: str) -> None:
    """Emit a jump to `go_on` while the word is 0, and start that block."""
    is_clear = e.let(f"icmp eq i64 {e.let(f'load atomic i64, ptr {word} monotonic, align 8')}, 0")
    e.jump_if(is_clear, go_on, given_up)
    e.start(go_on)


def check(e: FunctionText, result: str, failed: str) -> None:
    """Emit a jump to `failed` unless the result of an MPI function is MPI_SUCCESS, which is 0 (MPI 4.1, 9.4)."""
    succeeded = e.label("succeeded")
    e.jump_if(e.let(f"icmp eq i32 {result}, 0"), succeeded, failed)
    e.start(succeeded)


def fail(e: FunctionText, label: str) -> None:
    """Emit a block that ends the launch with the text of that label."""
    zeros = e.slot("[3 x i32]")
    e.start(label)
    e.line(f"store [3 x i32] zeroinitializer, ptr {zeros}")
    kinds = ("ptr", "ptr", "i32", "ptr", "ptr", "ptr")
    values = (f"@{label}.text", "@file.text", "0", "@function.text", zeros, zeros)
    e.call_void("cgh_assert_fail", list(zip(kinds, values, strict=True)))
    e.line("unreachable")
