# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Adds names and source lines to the DOT files that drivers write.

A driver names its nodes "graph_1_node_0" and so on. With the option `handles` it writes the handle of each node into
the label, which identifies the node. The code relies neither on the order of attributes nor on the form of labels:
libcuda writes plain labels for some kinds of nodes, and records (fields in braces) for others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from os import PathLike
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from cuda_graphs.errors import CUDAError
from cuda_graphs.graph.nodes.options import GraphDebugPrintOptions

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.protocols import Definition

__all__ = ["add_labels", "find_handles", "write_labelled"]

WITH_HANDLES = GraphDebugPrintOptions(handles=True)
# Mangled names of kernels may hold any bytes.
ENCODING: dict[str, Any] = {"encoding": "utf-8", "errors": "surrogateescape", "newline": ""}

QUOTED = r'"(?:[^"\\]|\\.)*"'
NODE = re.compile(rf'^("[^"]+")\s*\[((?:[^"\]]|{QUOTED})*)\]', re.MULTILINE | re.DOTALL)
LABEL = re.compile(rf"(?<![a-z])label=({QUOTED})", re.DOTALL)
HANDLE = re.compile(r"0x[0-9a-fA-F]+")


def write_labelled(
    graph: Definition, path: str | bytes | PathLike[str], options: GraphDebugPrintOptions
) -> None:
    """Have the driver write the file, then add the labels to the file.

    Raises OSError if the file cannot be opened for writing.
    """
    try:
        graph._write_dot(path, options._to_flags())
    except CUDAError as error:
        raise reason_of(error, path) from None
    labels = dict(labels_of(graph))
    if not labels or not os.path.isfile(path):  # a pipe cannot be read back
        return
    text = read_text(path)
    handles = find_handles(text if options.handles or options.verbose else text_with_handles(graph), labels)
    with open(path, "w", **ENCODING) as file:
        file.write(add_labels(text, handles, labels))


def reason_of(error: CUDAError, path: str | bytes | PathLike[str]) -> Exception:
    """Return the OSError that is the cause of the driver's error, else that error."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK))
    except OSError as cause:
        return cause
    return error


def text_with_handles(graph: Definition) -> str:
    with TemporaryDirectory() as folder:
        path = os.path.join(folder, "graph.dot")
        graph._write_dot(path, WITH_HANDLES._to_flags())
        return read_text(path)


def read_text(path: str | bytes | PathLike[str]) -> str:
    with open(path, **ENCODING) as file:
        text: str = file.read()
    return text


def labels_of(graph: Definition) -> Iterator[tuple[int, str]]:
    """Yield (handle, text to add to the label) for the nodes of a graph and of all graphs in it."""
    graphs = [graph]
    for each in graphs:  # the loop appends to the list
        for node in each.nodes():
            lines = [line for line in (node._given_name(), node.source) if line]
            if lines and (raw := node._raw()):
                yield raw, "\n".join(lines)
            graphs += node._inner_graphs()


def find_handles(text: str, known: Mapping[int, str]) -> dict[str, int]:
    """Return name in the file -> handle for a file with handles. The handle is the first known number in a label."""
    found = {}
    for name, attributes in NODE.findall(text):
        numbers = (int(number, 16) for label in LABEL.findall(attributes) for number in HANDLE.findall(label))
        handle = next((number for number in numbers if number in known), None)
        if handle is not None:
            found[name] = handle
    return found


def add_labels(text: str, handles: Mapping[str, int], labels: Mapping[int, str]) -> str:
    """Return the file with `labels` added to the labels of the nodes."""

    def with_label(node: re.Match[str]) -> str:
        if node[1] not in handles:
            return node[0]
        words = labels[handles[node[1]]]
        is_record = 'shape="record"' in node[2]
        extend = extend_record if is_record else extend_label
        return node[0].replace(node[2], LABEL.sub(lambda label: extend(label[0], words), node[2]))

    return NODE.sub(with_label, text)


def extend_label(label: str, words: str) -> str:
    """Return label="..." with lines added."""
    return f'{label[:-1].rstrip()}\\n{escape(words, "")}"'


def extend_record(label: str, words: str) -> str:
    """Return label="{ ... }" with a field added."""
    end = label.rindex("}")
    return f"{label[:end]}| {escape(words, '{}|<>')}{label[end:]}"


def escape(words: str, special: str) -> str:
    words = words.encode(errors="backslashreplace").decode()  # a path may hold bytes that are not UTF-8
    for sign in ("\\", '"', *special):
        words = words.replace(sign, f"\\{sign}")
    return words.replace("\n", "\\n")
