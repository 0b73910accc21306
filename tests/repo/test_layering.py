# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: dependencies point down only (docs/architecture.md), in Python, Cython and C++ alike.

A layer is a folder or a top-level module of the package. `MAY_USE` is the whole rule; what is not named is refused,
a new folder included.
"""

import ast
import re

ALL_BELOW_THE_BRIDGE = {"graph", "_objects", "_handles", "_driver", "compiler", "errors"}

MAY_USE = {
    "error_table": set(),
    "errors": {"error_table"},
    "compiler": set(),
    "_ptx": {"compiler"},  # the folder on disk that both keep code in: compiler/disk.py
    "_hostdriver": {"_driver/functions.def"},
    # Two leaf headers of the shared library, one side each: gil.hpp is the only door to Python, through which the image
    # loader's callback comes in; error.hpp holds what a failed C++ call noted, of which the seam makes the exception.
    "_driver": {
        "errors",
        "_ptx",
        "_hostdriver/image_loader.h",
        "_handles/gil.hpp",
        "_handles/error.hpp",
        "_handles/lost.hpp",
    },
    "_handles": {"errors", "_driver"},
    "_objects": {"errors", "_driver", "_handles"},
    "graph": {"errors", "_driver", "_handles", "_objects"},
    "testing": {"_driver"},
    "hostdriver": {"_driver", "_standin"},
    "timeline": {"_driver"},
    "_standin": set(),  # the host driver under another name; only hostdriver.py loads it
    "kernels": ALL_BELOW_THE_BRIDGE,
    "interop": {"errors", "_driver", "_handles", "_objects", "graph"},
    "viz": {"errors", "_driver", "_handles", "_objects", "graph"},
    "__init__": ALL_BELOW_THE_BRIDGE | {"kernels", "interop", "viz"},
}

# Layers that must not know a CUDA library from outside either.
NO_CUDA_IN = {"compiler", "_ptx", "errors", "error_table"}

PACKAGE = "cuda_graphs"
CYTHON_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+c?import\s+\(?(.*)|c?import\s+([\w.]+))")
CYTHON_EXTERN = re.compile(r"^\s*cdef\s+extern\s+from\s+[\"']([^\"'<>]+)[\"']")
INCLUDE = re.compile(r"^\s*#\s*include\s+[\"<]([^\">]+)[\">]")


def layer_of(path, tree):
    parts = path.relative_to(tree.root / PACKAGE).parts
    return parts[0] if len(parts) > 1 else parts[0].split(".")[0]


def absolute(module, path, tree):
    """The module that a relative import in `path` means."""
    dots = len(module) - len(module.lstrip("."))
    if not dots:
        return module
    package = path.relative_to(tree.root).parts[:-dots]
    return ".".join([*package, *module[dots:].split(".")]).rstrip(".")


def python_imports(path, tree):
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = absolute("." * node.level + (node.module or ""), path, tree)
            yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names)


def cython_imports(path, tree):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := CYTHON_IMPORT.match(line):
            source, names, plain = match.groups()
            if plain:
                yield plain, number
            else:
                module = absolute(source, path, tree)
                listed = re.findall(r"\w+", names.split("#")[0]) or [""]
                yield from ((f"{module}.{name}", number) for name in listed)


def includes(path, tree):
    """Our own headers that a C++ or Cython file includes, as paths in the package; others as they stand."""
    pattern = CYTHON_EXTERN if path.suffix in (".pyx", ".pxd") else INCLUDE
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := pattern.match(line):
            for start in (path.parent, tree.root / PACKAGE, tree.root):
                target = (start / match[1]).resolve()
                if target.is_file() and target.is_relative_to(tree.root / PACKAGE):
                    yield target.relative_to(tree.root / PACKAGE).as_posix(), number
                    break
            else:
                yield f"<{match[1]}>", number


def used_layers(path, tree):
    """(what of ours the file uses as "layer" or "layer/file", line)."""
    if path.suffix in (".py", ".pyi"):
        modules = python_imports(path, tree)
    elif path.suffix in (".pyx", ".pxd"):
        modules = cython_imports(path, tree)
    else:
        modules = ()
    for module, line in modules:
        first, _, rest = module.partition(".")
        if first == PACKAGE:
            yield rest.split(".")[0] or "__init__", line
        elif first == "cuda":
            yield f"<{module}>", line
    if path.suffix not in (".py", ".pyi"):
        yield from includes(path, tree)


def violations(tree):
    found = []
    # Not stubs: they name types of layers above, and nothing comes to depend on these.
    for path in tree.files(".py", ".pyx", ".pxd", ".hpp", ".cpp", ".h", below=PACKAGE):
        layer = layer_of(path, tree)
        allowed = MAY_USE.get(layer)
        if allowed is None:
            found.append(f"{tree.name(path)}: the layer {layer!r} is not in the rule")
            continue
        for used, line in used_layers(path, tree):
            if used.startswith("<"):
                bad = used.startswith("<cuda.") and layer in NO_CUDA_IN
            else:
                bad = (
                    used.split("/")[0] != layer and used not in allowed and used.split("/")[0] not in allowed
                )
            if bad:
                found.append(f"{tree.name(path)}:{line}: {layer} may not use {used}")
    return found


def files_with_python_h(tree, below):
    return [
        tree.name(path)
        for path in tree.files(".hpp", ".cpp", ".h", below=f"{PACKAGE}/{below}")
        if "<Python.h>" in (used for used, _ in includes(path, tree))
    ]


def test_dependencies_point_down_only(tree):
    assert violations(tree) == []


def test_the_host_driver_knows_nothing_of_python(tree):
    assert files_with_python_h(tree, "_hostdriver") == []
    assert list(tree.files(".pyx", ".pxd", below=f"{PACKAGE}/_hostdriver")) == []


def test_exactly_one_file_of_the_handles_sees_python(tree):
    assert len(files_with_python_h(tree, "_handles")) == 1
    assert files_with_python_h(tree, "_driver") == []


def test_every_layer_of_the_rule_may_use_only_layers_of_the_rule():
    for layer, allowed in MAY_USE.items():
        assert {name.split("/")[0] for name in allowed} <= set(MAY_USE), layer


OFFENCES = {
    "compiler/ir.py": ("import cuda_graphs.errors\n", "compiler may not use errors"),
    "compiler/late.py": (
        "def f():\n    from cuda.bindings import driver\n",
        "compiler may not use <cuda.bindings.driver>",
    ),
    "_ptx/parser.py": ("from .._driver import table\n", "_ptx may not use _driver"),
    "_objects/stream.pyx": ("from cuda_graphs.graph.node cimport GraphNode\n", "_objects may not use graph"),
    "_objects/event.pyx": ("from ..graph cimport node\n", "_objects may not use graph"),
    "graph/node.pxd": (
        'cdef extern from "../_hostdriver/x.hpp" nogil:\n',
        "graph may not use _hostdriver/x.hpp",
    ),
    "graph/load.py": ("from cuda_graphs import _ptx\n", "graph may not use _ptx"),
    "_hostdriver/x.hpp": ('#include "_handles/h.hpp"\n', "_hostdriver may not use _handles/h.hpp"),
    "_hostdriver/y.cpp": ('#include "../_driver/table.hpp"\n', "_hostdriver may not use _driver/table.hpp"),
    "_handles/h.hpp": (
        '#include "cuda_graphs/_hostdriver/x.hpp"\n',
        "_handles may not use _hostdriver/x.hpp",
    ),
    "tools/a.py": ("", "the layer 'tools' is not in the rule"),
}


def test_each_kind_of_offence_is_noticed(empty_tree):
    for name, (text, _) in OFFENCES.items():
        path = empty_tree.root / PACKAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (empty_tree.root / PACKAGE / "_driver").mkdir()
    (empty_tree.root / PACKAGE / "_driver/table.hpp").write_text("")
    found = violations(empty_tree)
    for name, (_, message) in OFFENCES.items():
        assert any(name in line and line.endswith(message) for line in found), (name, found)
    assert len(found) == len(OFFENCES)


def test_allowed_dependencies_are_not_reported(empty_tree):
    root = empty_tree.root / PACKAGE
    for name, text in {
        "_driver/functions.def": "",
        "_driver/table.hpp": "#include <cuda.h>\n",
        "_hostdriver/api.cpp": '#include <cuda.h>\n#include "_driver/functions.def"\n#include "own.hpp"\n',
        "_hostdriver/own.hpp": "#include <vector>\n",
        "_handles/h.cpp": '#include "_driver/table.hpp"\n#include <Python.h>\n',
        "graph/node.pyx": "from cuda_graphs._objects.stream cimport Stream\nimport numpy\nfrom .kinds import A\n",
        "__init__.py": "from cuda_graphs.graph import GraphDef\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    assert violations(empty_tree) == []
    assert files_with_python_h(empty_tree, "_handles") == ["cuda_graphs/_handles/h.cpp"]
