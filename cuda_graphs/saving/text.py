# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A saved graph in words, from its manifest alone: no driver is needed, and nothing is loaded."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import Any

from cuda_graphs.drawing.text import size_in_words

from .archive import read_manifest
from .schema import Row, check_type

__all__ = ["describe", "facts_of"]


def facts_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a file holds, as data of JSON.

    Raises:
        OSError: The file cannot be read.
        SavedGraphError: It is damaged, or of a later version.
    """
    manifest = read_manifest(path)
    graphs = [Row(data, f"graph {number}") for number, data in enumerate(manifest["graphs"])]
    kinds = Counter(
        Row(node, f"a node of {row.where}").text("kind") for row in graphs for node in row.items("nodes")
    )
    parameters = [Row(data, f"parameter {number}") for number, data in enumerate(manifest["parameters"])]
    memory = [Row(data, f"memory {number}") for number, data in enumerate(manifest["memory"])]
    kernels = [Row(data, f"kernel {number}") for number, data in enumerate(manifest["kernels"])]
    shapes = {row.get("parameter"): row.items("shape") for row in memory if row.get("parameter") is not None}
    return {
        "file": os.fspath(path),
        "schema": manifest["schema"],
        "version": str(manifest.get("version")),
        "driver": str(manifest.get("driver")),
        "graphs": len(graphs),
        "nodes": dict(kinds),
        "kernels": [
            {
                "name": row.text("name"),
                "code": codes_of(row),
                "missing": row.optional_text("missing"),
            }
            for row in kernels
        ],
        "parameters": {
            row.text("name"): {
                "type": type_text(row),
                "shape": shapes.get(number),
                "role": role_of(manifest, row.text("name")),
            }
            for number, row in enumerate(parameters)
        },
        "callbacks": [str(name) for name in manifest["callbacks"]],
        "bytes": sum(row.number("bytes") for row in memory),
    }


def type_text(row: Row) -> str:
    name, ndim, inner = check_type(row.get("type"), f"the type of {row.where}")
    if inner:
        name = f"{'vec' if len(inner) == 1 else 'mat'}({', '.join(map(str, inner))}, {name})"
    return name if ndim < 0 else f"ndarray({name}, ndim={ndim})"


def codes_of(row: Row) -> list[str]:
    """Return the types of the code of a kernel, and the architectures of its cubins."""
    cubins = Row(row.get("cubins") or {}, row.where).data
    return sorted(Row(row.get("code"), row.where).data) + [f"cubin sm_{name}" for name in sorted(cubins)]


def role_of(manifest: Mapping[str, Any], name: str) -> str:
    roles = [table[:-1] for table in ("inputs", "outputs") if name in Row(manifest.get(table), table).data]
    return " and ".join(roles) or "parameter"


def describe(facts: Mapping[str, Any]) -> str:
    """Return the facts of a file as lines."""
    count = sum(facts["nodes"].values())
    kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(facts["nodes"].items()))
    lines = [
        f"{facts['file']}: {count} node{'s' * (count != 1)} ({kinds or 'none'}) in {facts['graphs']} "
        f"graph{'s' * (facts['graphs'] != 1)}",
        f"saved on the {facts['driver']} driver by cuda_graphs {facts['version']}, schema {facts['schema']}",
        f"memory: {size_in_words(facts['bytes'])}",
    ]
    for name, each in facts["parameters"].items():
        shape = "" if each["shape"] is None else f" of shape {tuple(each['shape'])}"
        lines.append(f"{each['role']} {name}: {each['type']}{shape}")
    for each in facts["kernels"]:
        missing = f"; {each['missing']}" if each["missing"] else ""
        lines.append(f"kernel {each['name']}: {', '.join(each['code'])}{missing}")
    lines += [f"callback {name}" for name in facts["callbacks"]]
    return "\n".join(lines)
