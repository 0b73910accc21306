# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Launch a saved graph once, with inputs from files of NumPy, and write outputs to files.

A saved graph is code that runs with your rights. Run only files that you trust."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from .outcome import UNUSABLE, USAGE, CommandError, Outcome
from .script import load_saved

if TYPE_CHECKING:
    from cuda_graphs.saving.loading import LoadedGraph

HELP = "launch a saved graph"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file of GraphDef.save")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE.npy",
        help="the values of an input. Without it, an input has the saved values, or zeros",
    )
    parser.add_argument(
        "--output",
        action="append",
        default=[],
        metavar="[NAME=]FILE.npy",
        help="write an output; without NAME, the output that is called FILE",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=NUMBER", help="the value of a number"
    )
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")


def run(arguments: argparse.Namespace) -> Outcome:
    import cuda_graphs as cg

    graph = load_saved(arguments.file)
    executable = graph.instantiate()
    numbers = numbers_of(arguments.set)
    set_inputs(graph, arguments.input)
    outputs = outputs_of(graph, arguments.output)
    arrays = {name: default_of(graph, graph.outputs[name]) for name in outputs}
    stream = cg.Device().create_stream()
    cg.Device().sync()  # the inputs are there
    try:
        executable.launch(stream, **numbers)
        stream.sync()
    except (ValueError, TypeError, OverflowError, cg.CUDAError) as error:
        raise CommandError(f"{arguments.file} cannot be launched: {error}", UNUSABLE) from None
    return written(arrays, outputs)


def pair_of(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise CommandError(f"{option} takes NAME=VALUE, got {text!r}", USAGE)
    return name, value


def numbers_of(given: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in given:
        name, value = pair_of(text, "--set")
        try:
            found[name] = int(value) if value.lstrip("-").isdigit() else float(value)
        except ValueError:
            raise CommandError(f"--set {text}: {value!r} is no number", USAGE) from None
    return found


def set_inputs(graph: LoadedGraph, given: list[str]) -> None:
    """Write the contents of files of NumPy to the arrays of inputs."""
    import numpy as np

    for text in given:
        name, file = pair_of(text, "--input")
        if name not in graph.inputs:
            raise CommandError(f"there is no input {name!r}: the inputs are {listed(graph.inputs)}", USAGE)
        try:
            values = np.load(file, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise CommandError(f"cannot read {file}: {error}", UNUSABLE) from None
        array = default_of(graph, graph.inputs[name])
        try:
            array.from_numpy(values)
        except (ValueError, TypeError) as error:
            raise CommandError(f"--input {text}: {error}", USAGE) from None


def default_of(graph: LoadedGraph, parameter: Any) -> Any:
    """Return the array that a launch uses for a parameter without a value: the kind of memory that was saved, with the
    saved contents or zeros."""
    import cuda_graphs as cg
    from cuda_graphs.saving.array_types import dtype_of

    if parameter.default is None or not hasattr(parameter, "ndim"):
        raise CommandError(
            f"{parameter!r} has no shape, so it needs an array: launch the graph in Python", USAGE
        )
    name, inner = parameter._element()
    dtype, shape = dtype_of(name, inner), parameter.default.shape
    size = math.prod((*shape, *inner)) * dtype_of(name, ()).size
    return cg.Buffer.from_handle(parameter.default.address, size, owner=graph).view(dtype, shape)


def outputs_of(graph: LoadedGraph, given: list[str]) -> dict[str, str]:
    """Return the file of each output."""
    found = {}
    for text in given:
        name, equals, file = text.partition("=")
        if not equals:
            name, file = text.rpartition("/")[2].removesuffix(".npy"), text
        if name not in graph.outputs:
            raise CommandError(f"there is no output {name!r}: the outputs are {listed(graph.outputs)}", USAGE)
        found[name] = file
    return found


def listed(names: Any) -> str:
    return ", ".join(names) or "none"


def written(arrays: dict[str, Any], outputs: dict[str, str]) -> Outcome:
    """Write the outputs."""
    import numpy as np

    lines, data = [], {}
    for name, file in outputs.items():
        values = arrays[name].to_numpy()
        try:
            with open(file, "wb") as target:
                np.save(target, values, allow_pickle=False)
        except OSError as error:
            raise CommandError(f"cannot write {file}: {error.strerror}", UNUSABLE) from None
        lines.append(f"{file}: {name}, {values.dtype} of shape {values.shape}")
        data[name] = {"file": file, "dtype": str(values.dtype), "shape": list(values.shape)}
    return Outcome("\n".join(lines), data)
