# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Runs an example whose graphs are saved, or loads and launches these files.

    python tests/examples/saved_graphs.py record FOLDER EXAMPLE [ARGUMENT ...]
    python tests/examples/saved_graphs.py replay FOLDER

`record` saves each definition that the example instantiates, with the contents of all arrays, launches it, keeps the
contents afterwards, and restores the arrays. Then the example goes on. `replay` launches the files, and compares.

Memory that kernels have for themselves, such as partial sums and the counts of barriers, is no result: it depends on
the number of threads, and a file makes it anew. Kernels of other libraries have no code that a file could hold, so an
example that can use such a library runs without it.
"""

import gc
import json
import runpy
import sys
import zipfile
from pathlib import Path

import numpy as np

import cuda_graphs as cg
from cuda_graphs.compiler.artifact import OVERFLOW_PATH
from cuda_graphs.graph.display.reading import read_order
from cuda_graphs.graph.executable.executable import observe_instantiations
from cuda_graphs.graph.nodes.node_kinds import KernelNode
from cuda_graphs.graph.nodes.restoring import memory_of_counter, read_bytes
from cuda_graphs.graph.operands.loop_counter import LoopCounter
from cuda_graphs.kernels.graph.replay import is_replayed
from cuda_graphs.kernels.specialisation.origins import origin_of
from cuda_graphs.objects.code.arguments import is_known_memory
from cuda_graphs.objects.code.signature import FORMS
from cuda_graphs.saving.loading import add_nodes

TIMEOUT_S = 20
MARGIN = 20  # allowed difference, as a multiple of that of two launches
ROUNDING = 1e-5  # allowed difference, as a multiple of the largest element
ELEMENTS = {"float": np.float32, "double": np.float64, "int": np.int32, "unsigned int": np.uint32}
OTHER_LIBRARIES = ("cupy", "torch")
ROUNDING_ACROSS = 1e-3  # the same on another driver, where functions and the order of sums differ


def whole_arrays(definition):
    """The arrays and buffers whose memory is part of no other one, in the order of their addresses."""
    chosen, own = [], memory_of_kernels(definition)
    for address, size, each in sorted(known_memory(), key=lambda row: (row[1], rank(row[2])), reverse=True):
        is_part = any(address < start + length and start < address + size for start, length, _ in chosen)
        if address not in own and not is_part:
            chosen.append((address, size, each))
    return [each for _, _, each in sorted(chosen, key=lambda row: row[0])]


def kernel_arguments(definition):
    """Yield (kernel, number of the argument, its bytes) for the pointers of all kernel nodes."""
    for reading in read_order(definition):
        for node in reading.nodes:
            for number, (form, data, *_) in enumerate(raw_arguments(node)):
                if FORMS[form] == "pointer" or len(data) == 8:
                    yield node.kernel, number, int.from_bytes(data, "little")


def raw_arguments(node):
    return node._raw_arguments() if isinstance(node, KernelNode) else ()


def memory_of_kernels(definition):
    """The addresses of the memory that kernels of Python have for themselves."""
    found = set()
    for kernel, number, address in kernel_arguments(definition):
        code, task = origin_of(kernel) or (None, 0)
        if code is not None:
            slot = code.artifact.tasks[task].slots[number]
            own = {OVERFLOW_PATH, *dict(code.artifact.temps)}
            found |= {address} if slot.kind == "pointer" and slot.path in own else set()
    return found


def types_of_buffers(definition):
    """The types of the elements of Buffers, by address, from the types of the parameters of kernels."""
    found = {}
    for kernel, number, address in kernel_arguments(definition):
        dtype = ELEMENTS.get(kernel.signature[number].replace("const ", "").rstrip("* "))
        if dtype is not None:
            found[address] = dtype
    return found


def rank(each):
    """Arrays are preferred to the bytes of the same memory."""
    return not isinstance(each, cg.Buffer)


def known_memory():
    """Yield (address, bytes, object) of all memory that Python code has, apart from that of alloc nodes."""
    objects = gc.get_objects()
    counters = {memory_of_counter(each).handle for each in objects if isinstance(each, LoopCounter)}
    for each in (*objects, *numpy_arrays()):
        try:
            if isinstance(each, np.ndarray):
                row = each.ctypes.data, each.nbytes, each
            elif isinstance(each, cg.NDArray):
                row = each.handle, each.nbytes, each
            elif isinstance(each, cg.Buffer):
                row = each.handle, each.size, each
            else:
                continue
            if row[1] > 0 and row[0] not in counters and read_bytes(*row[:2]):
                yield row
        except (cg.CUDAError, RuntimeError, TypeError, ValueError, BufferError):
            continue  # it is closed, or memory of an alloc node


def numpy_arrays():
    """Yield the arrays of NumPy in memory of the driver, among the variables of the program."""
    frame = sys._getframe()
    while frame is not None:
        values = list(frame.f_locals.values())
        for each in (
            *values,
            *(inner for value in values for inner in getattr(value, "__dict__", {}).values()),
        ):
            if isinstance(each, np.ndarray) and each.flags.c_contiguous and is_known_memory(each.ctypes.data):
                yield each
        frame = frame.f_back


def contents(each, types):
    """The elements of an array, or those of a buffer whose type a kernel tells; else its bytes."""
    if isinstance(each, np.ndarray):
        return each.copy()
    if isinstance(each, cg.NDArray):
        return each.to_numpy().copy()
    return np.frombuffer(read_bytes(each.handle, each.size), types.get(each.handle, np.uint8))


def restore(each, values):
    if isinstance(each, np.ndarray):
        each[...] = values
    elif isinstance(each, cg.NDArray):
        each.from_numpy(values)
    else:
        each.view(cg.u8, (each.size,)).from_numpy(values.view(np.uint8))


def launched(graph):
    """Launch a graph once. Parameters without a value get a number."""
    stream = cg.Device().create_stream()
    missing = [name for name, state in graph.params.items() if state.value is None]
    graph.launch(stream, **dict.fromkeys(missing, 1))
    stream.sync(timeout=TIMEOUT_S)


def results(graph, arrays, types, before):
    """The contents of the arrays after a launch. Their contents are `before` again."""
    try:
        launched(graph)
    finally:
        cg.Device().sync()
        after = [contents(each, types) for each in arrays]
        for each, values in zip(arrays, before, strict=True):
            restore(each, values)
    return after


def difference(one, other):
    """The largest difference of two arrays. Elements that are not numbers in both, or the same infinity, are equal."""
    one, other = one.astype(np.float64), other.astype(np.float64)
    if np.any(np.isnan(one) != np.isnan(other)):
        return np.inf
    with np.errstate(invalid="ignore"):
        return float(np.max(np.abs(one - other), initial=0.0, where=(one != other) & ~np.isnan(one)))


def allowed_differences(after, again):
    """The differences that each array may have in another process: on this driver, and on the other one. None for
    integers. Sums of several threads depend on their order, in this process too; a residual is small beside the numbers
    from which it is computed.
    """
    floats = [each for each in after if each.dtype.kind == "f"]
    size = max((np.max(np.abs(each), initial=0.0, where=np.isfinite(each)) for each in floats), default=0.0)
    rounding = size * np.array([ROUNDING, ROUNDING_ACROSS])
    return np.array(
        [
            np.maximum(MARGIN * difference(one, other), rounding if one.dtype.kind == "f" else 0.0 * rounding)
            for one, other in zip(after, again, strict=True)
        ]
    )


class Recorder:
    """Saves definitions in a folder, with what a launch makes of the arrays."""

    def __init__(self, folder):
        self.folder, self.found, self.is_busy = folder, [], False

    def __call__(self, definition, graph):
        if self.is_busy or is_replayed(graph):  # a graph of a graph kernel, which only calls can launch
            return
        self.is_busy = True
        try:
            self.found.append(self.record(definition, graph))
        finally:
            self.is_busy = False

    def record(self, definition, graph):
        """Return "" for a saved graph, or why it cannot be saved or launched by itself."""
        cg.Device().sync()
        arrays, types = whole_arrays(definition), types_of_buffers(definition)
        before = [contents(each, types) for each in arrays]
        path = self.folder / f"{len(self.found)}.cgg"
        try:
            definition.save(path, include=arrays)
            after, again = (results(graph, arrays, types, before) for _ in range(2))
        except (cg.SavedGraphError, RuntimeError, TimeoutError, TypeError) as error:
            path.unlink(missing_ok=True)
            graph.cancel()
            return f"{type(error).__name__}: {error}"
        allowed = allowed_differences(after, again)
        np.savez(path.with_suffix(".npz"), *after, allowed=allowed)
        return ""


def record(folder, example, *arguments):
    recorder = Recorder(folder)
    sys.modules.update(dict.fromkeys(OTHER_LIBRARIES))  # as if they were not installed
    observe_instantiations(recorder)
    sys.argv = [example, *arguments]
    sys.path[0] = str(Path(example).parent)
    try:
        runpy.run_path(example, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    observe_instantiations(None)
    (folder / "found.json").write_text(json.dumps(recorder.found))


def replay(folder):
    """Load and launch each file, and compare the arrays. Prints the number of arrays compared."""
    cg.Device().set_current()
    compared, wrong = 0, []
    for path in sorted(folder.glob("*.cgg")):
        definition = cg.GraphDef()
        *_, arrays = add_nodes(
            definition,
            path.read_bytes(),
            lambda names: [do_nothing for _ in names],
            cg.driver_info().kind == "host",
        )
        launched(definition.instantiate())
        expected = np.load(path.with_suffix(".npz"))
        allowed = expected["allowed"][:, int(driver_of(path) != cg.driver_info().kind)]
        assert len(arrays) == len(allowed)
        for number, array in enumerate(arrays):
            wanted = expected[f"arr_{number}"]
            found = np.frombuffer(read_bytes(array.handle, array.size), wanted.dtype).reshape(wanted.shape)
            off = difference(found, wanted)
            if not off <= allowed[number]:
                wrong.append(
                    f"{path.name}, array {number}, {wanted.dtype} {wanted.shape}: {off}, allowed {allowed[number]}"
                )
            compared += 1
    assert not wrong, "\n".join(wrong)
    print(compared)


def driver_of(path):
    """The kind of the driver that saved a file."""
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("manifest.json"))["driver"]


def do_nothing():
    """Stand for a callback of an example."""


if __name__ == "__main__":
    verb, where, *rest = sys.argv[1:]
    {"record": record, "replay": replay}[verb](Path(where), *rest)
