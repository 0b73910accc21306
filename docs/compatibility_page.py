# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/compatibility.md: what has become of each public name of Taichi and Quadrants in cuda_graphs.compat.

python -m docs.compatibility_page
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from cuda_graphs.compat import absent, structs
from cuda_graphs.compat.absent import ABSENT
from cuda_graphs.compat.arrays import PeerField, PeerNdarray, PeerStructField
from cuda_graphs.compat.elements import PeerVector
from cuda_graphs.compat.scalars import f32
from cuda_graphs.compiler.frontend.expressions import linear
from docs.peer_names import QUADRANTS, TAICHI

PAGE = Path(__file__).parent / "compatibility.md"
PEERS = {"taichi": TAICHI, "quadrants": QUADRANTS}

# Names with another spelling on objects of this package -> the spelling.
OTHER = {
    "Matrix.unit": "`Vector.unit`",
    "Matrix.frobenius_inner": "`(a * b).sum()`",
    **absent.OTHER_MEMBERS,
    "Struct.methods": "methods of a dataclass",
}
# The classes of the objects that the modules make.
OBJECTS = {
    "Field": PeerField,
    "Ndarray": PeerNdarray,
    "Matrix": PeerVector,
    "Struct": structs.struct_type(member=f32),
    "StructField": PeerStructField,
}
# Members of fields of structures that each member's field has.
OF_MEMBERS = (
    "dtype",
    "from_torch",
    "to_torch",
    "has_grad",
    "has_dual",
    "to_dlpack",
    "from_paddle",
    "to_paddle",
)

# Reasons of names that are not about dense data and kernels.
ELSEWHERE = {
    absent.SPARSE, absent.SNODES, absent.MESHES, absent.QUANT, absent.WINDOWS, absent.PROFILE, absent.SOLVERS,
    absent.TEXTURES, absent.BACKENDS, absent.AOT, absent.LOGGING, absent.INTERNAL, absent.STREAMS, absent.TREE,
}  # fmt: skip

Row = tuple[str, str, str]  # the name; "same", "other" or "absent"; the spelling or the reason


def names_of(peer: str) -> Iterator[str]:
    """Yield the public names of a peer by their paths in its module."""
    for group, names in PEERS[peer].items():
        for name in names.split():
            yield f"{group}.{name}" if group else name


def has(module: ModuleType, path: str) -> bool:
    """Return True if the module has the name, or if vectors in kernels have the method."""
    owner, _, name = path.rpartition(".")
    if owner in ("Matrix", "Vector") and name in (*linear.METHODS, *linear.CHANGES):
        return True
    if owner == "StructField" and name == "shape":
        return True
    if owner in OBJECTS and hasattr(OBJECTS[owner], name):
        return True
    found: object = module
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            return False
    return True


def reason(path: str) -> str | None:
    """Return why a name is absent; None if no table says it."""
    owner, _, name = path.rpartition(".")
    if owner.endswith("Field") or owner == "Ndarray":
        return absent.DENSE_MEMBERS.get(name)
    parts = path.split(".")
    return next(
        (ABSENT[p] for n in range(1, len(parts) + 1) for p in [".".join(parts[:n])] if p in ABSENT), None
    )


def row(peer: str, path: str) -> Row:
    """Return what has become of a name.

    Raises:
        LookupError: No table mentions the name.
    """
    owner, _, name = path.rpartition(".")
    if path in OTHER:
        return path, "other", OTHER[path]
    if owner == "StructField" and name in OF_MEMBERS:
        return path, "other", "that of each member, `x.name`"
    if has(importlib.import_module(f"cuda_graphs.compat.{peer}"), path):
        return path, "same", ""
    why = reason(path)
    if why is None:
        raise LookupError(f"{peer}.{path} is not in cuda_graphs.compat, and has no reason in absent.py")
    return path, "absent", why


def rows(peer: str) -> list[Row]:
    return [row(peer, path) for path in names_of(peer)]


def share(peer: str) -> float:
    """Return which part of the names about dense data and kernels is there."""
    kinds = [kind for _, kind, why in rows(peer) if why not in ELSEWHERE]
    return sum(kind != "absent" for kind in kinds) / len(kinds)


INTRODUCTION = """# Programs of Taichi and Quadrants

*Written by `docs/compatibility_page.py`; change that, not this page.*

`cuda_graphs.compat` has the public names of Taichi and Quadrants on the objects of this package. A program runs
unchanged:

```sh
python -m cuda_graphs.compat fractal.py
```

In that process, `import taichi as ti` and `import quadrants as qd` give `cuda_graphs.compat.taichi` and
`cuda_graphs.compat.quadrants`, whether the peers are installed or not. A program can also import them itself:

```python
import numpy as np
import cuda_graphs.compat.taichi as ti

ti.init(arch=ti.cpu)
x = ti.Vector.field(2, ti.f32, shape=8)


@ti.kernel
def turn(angle: ti.f32) -> None:
    for i in x:
        x[i] = ti.Vector([ti.cos(angle * i), ti.sin(angle * i)])


turn(0.5)
assert np.allclose(np.linalg.norm(x.to_numpy(), axis=1), 1)
```

The library has the behaviour, and [Coming from Taichi](coming-from-taichi.md) describes it. These points differ
from the peers:

* **Calls.** Calls of kernels return early on CPUs too. Reads of arrays and fields wait, and so do calls with arrays of
  NumPy. If another library has got a view of an array, by DLPack or an array interface, each later call waits on the
  host driver, so that the view shows all results.
* **Bits.** `init(fast_math=True)` is ignored. Numbers have the bits of the source, as in Quadrants without `fast_math`:
  [Genesis moves bodies alike to the bit](guide/large-programs.md#bits). Decompositions (`svd` and the like) round
  otherwise, and on GPUs `sin` and the like, since Quadrants brings an older library of them.
* **Names** in kernels take the wider type of what is assigned to them: after `x = 3; x = x / 2` the number is 1.5.
* **Bools** add up as integers: `(a > 1) + (a > 2)` may be 2. In Quadrants it is a bool.
* **Arrays of NumPy outside of a kernel** are no constants in it. Pass them, or write `static(a[1])`.
* **`init`** makes no state but the options of kernels. Fields stay after `reset`. `arch` chooses the driver. The
  variable `CUDA_GRAPHS_DRIVER` wins over it. `cfg` has `arch`, `default_fp`, `default_ip`, `debug` and `fast_math`.
* **Vectors on the host** compute with Python's numbers, f64 and i64, unless they have a dtype. In a kernel f64 and
  i64 become the default types. `v == w` compares components. It is true where Python asks for one truth if all are
  equal; the peers' is always true.
* **`root.dense(...).place(...)`** gives dense fields in C order. Other layers are absent.
* **`simt`** works on CPUs too. A warp has 32 lanes, and all of them take part. If threads of a block decide
  differently around a barrier, all take a branch that one of them takes, and repeat a loop as long as one of them does.
  Around operations of warps the lanes of each warp agree in this way. On CPUs, loops around operations of warps take
  blocks of at most 32 threads, unless all threads of the block are known to take them together.

31 programs in the style of the peers' users (`tests/compat/programs`) run unchanged through both modules, and compute
what NumPy computes. On a CPU (2026-11-28) 30 of them agree with Taichi 1.7.4, and 29 with Quadrants 1.3.3: results
differ by at most 4.6e-7 of the largest value (`tests/compat/compare_with_peers.py`). On CPUs, Taichi has no blocks of
threads, and Quadrants refuses these and the differentiable springs.

A name that is absent raises an `AttributeError` with the reason, when it is used.

"""


def table(peer: str) -> str:
    """Return the part of the page about one peer."""
    found = rows(peer)
    count = {kind: sum(each[1] == kind for each in found) for kind in ("same", "other", "absent")}
    title = {"taichi": "Taichi 1.7.3", "quadrants": "Quadrants 1.3.3"}[peer]
    lines = [
        f"## {title}",
        "",
        f"{count['same']} names are the same, {count['other']} have another name, {count['absent']} are absent. Of the "
        f"names about dense data and kernels, {100 * share(peer):.1f} % are there.",
        "",
    ]
    lines += ["### The same", ""]
    for group in PEERS[peer]:
        same = [
            path.removeprefix(f"{group}.")
            for path, kind, _ in found
            if kind == "same" and path.rpartition(".")[0] == group
        ]
        if same:
            lines += [f"`{group or peer}`: " + ", ".join(f"`{name}`" for name in same) + ".", ""]
    for kind, heading, column in (("other", "Another name", "Here"), ("absent", "Absent", "Why")):
        lines += [f"### {heading}", "", f"| {title} | {column} |", "|---|---|"]
        by_text: dict[str, list[str]] = {}
        for path, what, text in found:
            if what == kind:
                by_text.setdefault(text, []).append(path)
        lines += [
            f"| {', '.join(f'`{path}`' for path in paths)} | {text} |" for text, paths in by_text.items()
        ]
        lines.append("")
    return "\n".join(lines)


def compatibility_page() -> str:
    """Return the text of the page."""
    return INTRODUCTION + "\n".join(table(peer) for peer in PEERS).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(compatibility_page())
