# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of docs/architecture.md: imports point down, in Python, Cython and C++ alike, files import each other in no
circle, and each room lists the files that other rooms may import.

A package is a folder or a module directly below `cuda_graphs/`, a room is a folder in a package. `MAY_USE` says which
packages a package imports, `ORDER` says how the rooms of a package lie above each other. Both tables are complete: a
new package or room needs a line here. Imports inside functions and under TYPE_CHECKING count.
"""

import ast
import itertools
import re

BELOW_THE_BRIDGE = {"graph", "drawing", "objects", "core", "compiler", "native", "errors"}

MAY_USE = {
    "errors": set(),
    "drawing": set(),
    "native": set(),
    "compiler": {"native"},
    "hostdriver": {"native", "core/driver", "formats"},
    # The seam plugs the image loader in, and declares the C struct that both sides share.
    "core": {"errors", "hostdriver/ptx", "hostdriver/image_loader.h", "hostdriver/limited_waits.h"},
    "objects": {"errors", "drawing", "core"},
    "graph": {"errors", "drawing", "core", "objects"},
    "testing": {"core"},
    "timeline": {"graph"},
    "kernels": BELOW_THE_BRIDGE,
    "interop": {"errors", "core", "objects", "graph"},
    # Files have the code of PTX for this CPU.
    "saving": {
        "__init__",
        "errors",
        "drawing",
        "core",
        "objects",
        "graph",
        "compiler",
        "kernels",
        "hostdriver/ptx",
        "loader",
    },
    "formats": set(),
    "loader": {"core", "formats", "objects/code/include"},
    "runtime": {"core", "loader", "formats", "objects/code/include"},
    "distributed": {"errors", "core", "compiler", "graph", "interop", "kernels", "native", "objects"},
    "command_line": {
        "__init__",
        "core",
        "drawing",
        "errors",
        "graph",
        "hostdriver",
        "kernels",
        "native",
        "saving",
    },
    "compat": {"__init__", "kernels", "compiler"},
    "__main__": {"command_line"},
    "__init__": BELOW_THE_BRIDGE | {"distributed", "kernels", "interop", "saving"},
}

# Each room may use those before it. A tuple is one floor: its rooms may use each other, and files that stand directly
# in the package are named without suffix.
ORDER = {
    "errors": ["table", "__init__"],
    "drawing": [
        ("kinds", "scene", "text"),
        ("shapes", "style", "ranking"),
        ("ordering", "positions", "folding"),
        "layout",
        ("svg", "dot", "png", "table", "tree"),
        ("html", "document"),
        ("picture", "gantt"),
        "__init__",
    ],
    "core": ["__init__", ("driver", "handles"), "resources", ("graphs", "capture")],
    "objects": [
        (
            "constructors",
            "keyword_method",
            "launch_errors",
            "numbers",
            "options",
            "progress",
            "protocols",
            "source",
            "unraisable",
            "waiting",
        ),
        ("body_rules", "capture_ledger", "captured_call", "ledger_text"),
        ("device", "memory", "code"),
        "__init__",
    ],
    "graph": [
        "__init__",
        "operands",
        "nodes",
        ("analysis", "display", "executable", "flow", "profiling", "saving"),
        "definition",
        "capture",
    ],
    "native": [
        "__init__",
        (
            "access_sites",
            "conversions",
            "disk_cache",
            "function_text",
            "image",
            "library_text",
            "linker",
            "trace",
            "versions",
        ),
        ("llvm", "object_merge"),
        ("host_cpu", "loaded_code", "units"),
    ],
    "compiler": [
        "records",
        ("ir", "errors"),
        "language",
        "artifact",
        "passes",
        "codegen",
        "frontend",
        "autodiff",
        "pipeline",
        "cache",
        "__init__",
    ],
    "kernels": [
        "__init__",
        ("seeds", "shapes"),
        "targets",
        "arrays",
        "debug",
        ("specialisation", "graph"),
        ("gradients", "call"),
    ],
    "interop": [
        ("adapted", "signatures", "xla_calls"),
        "torch_calls",
        "torch_ops",
        ("cupy_kernel", "jax_function", "numba_kernel", "torch_function", "torch_graphs", "triton_kernel"),
        "__init__",
    ],
    "saving": [
        "schema",
        ("archive", "cubins", "sizes"),
        ("codes", "array_types", "text"),
        ("addresses", "loading"),
        "tables",
        "node_rows",
        "writing",
        "__init__",
    ],
    "command_line": [
        "outcome",
        ("children", "driver_report", "doctor_nodes", "script"),
        ("cache", "check", "completion", "doctor", "draw", "host", "profile", "run_file", "show"),
        "info",
        "main",
        "__init__",
    ],
    "compat": [
        "__init__",
        "program",
        "elements",
        ("absent", "array_kinds", "arrays", "levels", "scalars", "words"),
        ("complex_numbers", "data", "dispatch", "kernels"),
        "tensors",
        "math",
        "subgroups",
        ("blocks", "warp_tiles"),
        "vectors",
        "structs",
        ("ad", "decompositions", "simt", "types"),
        ("algorithms", "names", "radix_sort"),
        "scans",
        ("quadrants", "taichi"),
        "shim",
        "__main__",
    ],
    "hostdriver": [
        ("image_loader", "limited_waits", "test_hooks", "offered", "refused"),
        ("entry", "objects", "execution", "loader", "sanitizer"),
        "api",
        "ptx",
        "standin",
        ("__init__", "__main__"),
    ],
}

# Packages that must not know a CUDA library from outside.
NO_CUDA_IN = {"native", "compiler", "hostdriver/ptx", "errors"}

PACKAGE = "cuda_graphs"
CYTHON_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+c?import[ \t]+(\([^)]*\)|[^\n]*)|c?import[ \t]+([\w.]+))",
    re.MULTILINE,
)
CYTHON_EXTERN = re.compile(r"^\s*cdef\s+extern\s+from\s+[\"']([^\"'<>]+)[\"']")
INCLUDE = re.compile(r"^\s*#\s*include\s+[\"<]([^\">]+)[\">]")


def below(path, tree):
    """The path below the package, with slashes."""
    return path.relative_to(tree.root / PACKAGE).as_posix()


def package_of(name):
    return name.split("/")[0].split(".")[0]


def room_of(name):
    """The room of a file below the package, or the file's stem where it stands directly in the package's folder."""
    parts = name.split("/")
    return parts[1].split(".")[0] if len(parts) > 1 else "__init__"


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
    text = path.read_text()
    for match in CYTHON_IMPORT.finditer(text):
        source, names, plain = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if plain:
            yield plain, line
        else:
            module = absolute(source, path, tree)
            listed = re.findall(r"\w+", re.sub(r"#[^\n]*| as \w+", "", names)) or [""]
            yield from ((f"{module}.{name}", line) for name in listed)


def modules_of(tree):
    """{dotted module: its file below the package}; a .pxd and a .pyx are one module."""
    found = {}
    for path in tree.files(".pxd", ".pyx", ".py", below=PACKAGE):
        parts = path.relative_to(tree.root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = below(path, tree)
    return found


def target_of(module, modules):
    """The file below the package that `module`, or a name in it, comes from."""
    parts = module.split(".")
    while parts and ".".join(parts) not in modules:
        parts.pop()
    if ".".join(parts) in ("", PACKAGE) and module != PACKAGE:
        return "/".join(module.split(".")[1:])  # a package that is not there: the rule refuses it by name
    return modules.get(".".join(parts))


def includes(path, tree):
    """Headers of ours that a C++ or Cython file includes, as paths below the package; others in angle brackets."""
    pattern = CYTHON_EXTERN if path.suffix in (".pyx", ".pxd") else INCLUDE
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := pattern.match(line):
            for start in (path.parent, tree.root / PACKAGE, tree.root):
                target = (start / match[1]).resolve()
                if target.is_file() and target.is_relative_to(tree.root / PACKAGE):
                    yield below(target, tree), number
                    break
            else:
                yield f"<{match[1]}>", number


def used_files(path, tree, modules):
    """(file of ours below the package, or an outside name in angle brackets; line) for all that the file uses."""
    readers = {".py": python_imports, ".pyi": python_imports, ".pyx": cython_imports, ".pxd": cython_imports}
    imports = readers.get(path.suffix)
    for module, line in imports(path, tree) if imports else ():
        if module.split(".")[0] == PACKAGE:
            found = target_of(module, modules)
            yield ("__init__.py" if found is None else found), line
        elif module.split(".")[0] == "cuda":
            yield f"<{module}>", line
    if imports is not python_imports:
        yield from includes(path, tree)


def floor_of(package, room):
    for number, floor in enumerate(ORDER.get(package, ())):
        if room == floor or (isinstance(floor, tuple) and room in floor):
            return number
    return None


def breach(name, used):
    """Why the file `name` may not use `used`, or None."""
    package, room = package_of(name), room_of(name)
    if used.startswith("<"):
        no_cuda = package in NO_CUDA_IN or f"{package}/{room}" in NO_CUDA_IN
        return f"{package} may not use {used}" if used.startswith("<cuda.") and no_cuda else None
    if package_of(used) != package:
        allowed = MAY_USE[package]
        steps = used.split("/")
        spelled = {"/".join(steps[:n]) for n in range(1, len(steps) + 1)} | {package_of(used)}
        return None if spelled & allowed else f"{package} may not use {used}"
    mine, theirs = floor_of(package, room), floor_of(package, room_of(used))
    if package not in ORDER or theirs is None or mine >= theirs:
        return None
    return f"{package}/{room} is below {package}/{room_of(used)} and may not use {used}"


def violations(tree):
    found, modules = [], modules_of(tree)
    # Stubs are left out: they name types of the packages above, and no module imports a stub. Only `__init__.py` reads
    # its stub, and imports what stands there.
    for path in tree.files(".py", ".pyx", ".pxd", ".hpp", ".cpp", ".h", "__init__.pyi", below=PACKAGE):
        name = below(path, tree)
        package, room = package_of(name), room_of(name)
        if package not in MAY_USE:
            found.append(f"{tree.name(path)}: the package {package!r} is not in MAY_USE")
        elif package in ORDER and floor_of(package, room) is None:
            found.append(f"{tree.name(path)}: the room {room!r} is not in ORDER[{package!r}]")
        else:
            uses = ((breach(name, used), line) for used, line in used_files(path, tree, modules))
            found += [f"{tree.name(path)}:{line}: {why}" for why, line in uses if why]
    return found


def cycles(tree):
    """Groups of modules that import each other, directly or through others: strongly connected components (Tarjan)."""
    modules = modules_of(tree)
    edges = {}
    for path in tree.files(".py", ".pyx", ".pxd", below=PACKAGE):
        name = modules_name = path.relative_to(tree.root).with_suffix("").as_posix().removesuffix("/__init__")
        targets = (
            target for target, _ in used_files(path, tree, modules) if "." in target and target[0] != "<"
        )
        steps = {
            f"{PACKAGE}/{t.rpartition('.')[0]}".removesuffix("/__init__") for t in targets if t[-2:] != "pp"
        }
        edges.setdefault(modules_name, set()).update(steps - {name})
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in edges.get(node, ()):
            if target not in index:
                visit(target)
            if target in stack:
                low[node] = min(low[node], low[target])
        if low[node] == index[node]:
            group = [stack.pop()]
            while group[-1] != node:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(sorted(group))

    for node in edges:
        if node not in index:
            visit(node)
    return sorted(found)


def files_with_python_h(tree, below_package):
    return [
        tree.name(path)
        for path in tree.files(".hpp", ".cpp", ".h", below=f"{PACKAGE}/{below_package}")
        if "<Python.h>" in (used for used, _ in includes(path, tree))
    ]


def test_imports_point_down_only(tree):
    assert violations(tree) == []


def test_modules_import_each_other_in_no_circle(tree):
    assert cycles(tree) == []


# The docstring of a room's `__init__` has a section that begins with this line. Each entry has four spaces, the stem of
# a file or the name of a folder whose files are all open, two or more spaces, and a description.
SECTION = "Other rooms may import:"


def listed_in(path):
    """The names that the `__init__` file `path` opens to other rooms, or None if it has no such section."""
    lines = (ast.get_docstring(ast.parse(path.read_text())) or "").splitlines()
    if SECTION not in lines:
        return None
    entries = itertools.takewhile(lambda line: line.startswith("    "), lines[lines.index(SECTION) + 1 :])
    return [line[4:].partition("  ")[0] for line in entries if line[4] != " "]


def doors(tree):
    """{folder: the names that its `__init__` lists, or None} of all packages, rooms and folders in them."""
    folders = [path.parent for path in tree.files("__init__.py", below=PACKAGE)]
    return {below(each, tree): listed_in(each / "__init__.py") for each in folders if each.name != PACKAGE}


def imports_from_outside(tree):
    """{folder: {file or folder in it: the first file outside of the folder that imports it}}"""
    users, modules = {}, modules_of(tree)
    for path in tree.files(".py", ".pyx", ".pxd", ".hpp", ".cpp", ".h", "__init__.pyi", below=PACKAGE):
        name = below(path, tree)
        for used, _ in used_files(path, tree, modules):
            steps = used.partition(".")[0].split("/")
            for depth in range(1, len(steps)):
                folder = "/".join(steps[:depth])
                if not name.startswith(f"{folder}/"):
                    users.setdefault(folder, {}).setdefault(steps[depth], name)
    return users


def rooms_without_doors(tree, users):
    """Rooms, and packages without rooms, that other rooms import although they have no section."""
    found = doors(tree)
    divided = {folder.partition("/")[0] for folder in found if "/" in folder}
    rooms = [folder for folder in found if folder.count("/") == (folder.partition("/")[0] in divided)]
    return {folder for folder in rooms if found[folder] is None and folder in users}


def breaches_of_doors(tree, users):
    found = []
    for folder, listed in doors(tree).items():
        if listed is not None:
            used = users.get(folder, {})
            there = {path.name.partition(".")[0] for path in (tree.root / PACKAGE / folder).iterdir()}
            found += [
                f"{used[name]} imports {folder}/{name}, which is not listed" for name in used.keys() - listed
            ]
            found += [
                f"{folder} lists {name}, which no other room imports" for name in listed if name not in used
            ]
            found += [f"{folder} lists {name}, which is not there" for name in listed if name not in there]
    return sorted(found)


def test_rooms_import_only_files_that_other_rooms_open(tree):
    users = imports_from_outside(tree)
    assert breaches_of_doors(tree, users) == []
    assert rooms_without_doors(tree, users) == set()


def test_each_breach_of_a_door_is_reported(empty_tree):
    root = empty_tree.root / PACKAGE
    section = (
        f"{SECTION}\n    open     The first\n             shape.\n    inner    Others.\n    gone     Nothing."
    )
    for name, text in {
        "graph/__init__.py": "",
        "graph/nodes/__init__.py": f'"""Shapes.\n\n{section}\n"""\n',
        "graph/nodes/open.pyx": "from cuda_graphs.graph.nodes.closed import x\n",
        "graph/nodes/closed.pyx": "",
        "graph/nodes/inner/__init__.py": "",
        "graph/nodes/inner/a.py": "",
        "graph/display/__init__.py": "from cuda_graphs.graph.nodes import open, closed\n",
        "graph/display/dot.py": "from cuda_graphs.graph.nodes.inner.a import x\n",
        "graph/definition.pyx": "from cuda_graphs.graph.display import dot\nfrom cuda_graphs.errors import x\n",
        "errors/__init__.py": "",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    users = imports_from_outside(empty_tree)
    assert breaches_of_doors(empty_tree, users) == [
        "graph/display/__init__.py imports graph/nodes/closed, which is not listed",
        "graph/nodes lists gone, which is not there",
        "graph/nodes lists gone, which no other room imports",
    ]
    assert rooms_without_doors(empty_tree, users) == {"graph/display", "errors"}


def test_the_host_driver_knows_nothing_of_python(tree):
    assert files_with_python_h(tree, "hostdriver") == []
    assert list(tree.files(".pyx", ".pxd", below=f"{PACKAGE}/hostdriver")) == []


def test_exactly_one_file_of_the_core_sees_python(tree):
    assert files_with_python_h(tree, "core") == ["cuda_graphs/core/handles/gil.cpp"]


def test_every_package_of_the_rule_may_use_only_packages_of_the_rule():
    for package, allowed in MAY_USE.items():
        assert {name.split("/")[0] for name in allowed} <= set(MAY_USE), package
    assert set(ORDER) <= set(MAY_USE)


OFFENCES = {
    "compiler/ir/ir.py": ("import cuda_graphs.errors\n", "compiler may not use errors/__init__.py"),
    "compiler/frontend/late.py": (
        "def f():\n    from cuda.bindings import driver\n",
        "compiler may not use <cuda.bindings.driver>",
    ),
    "compiler/passes/up.py": (
        "from cuda_graphs.compiler.frontend import late\n",
        "compiler/passes is below compiler/frontend and may not use compiler/frontend/late.py",
    ),
    "hostdriver/ptx/parser.py": ("from cuda_graphs.graph import x\n", "hostdriver may not use graph/x"),
    "objects/device/stream.pyx": (
        "from cuda_graphs.graph.node cimport GraphNode\n",
        "objects may not use graph/node/GraphNode",
    ),
    "objects/device/event.pyx": ("from ...graph cimport node\n", "objects may not use graph/node"),
    "graph/nodes/node.pxd": (
        'cdef extern from "../../hostdriver/objects/x.hpp" nogil:\n',
        "graph may not use hostdriver/objects/x.hpp",
    ),
    "hostdriver/objects/x.hpp": (
        '#include "core/handles/h.hpp"\n',
        "hostdriver may not use core/handles/h.hpp",
    ),
    "core/handles/h.hpp": (
        '#include "cuda_graphs/hostdriver/objects/x.hpp"\n',
        "core may not use hostdriver/objects/x.hpp",
    ),
    "__init__.pyi": ("from cuda_graphs.testing import x as x\n", "__init__ may not use testing/x"),
    "tools/a.py": ("", "the package 'tools' is not in MAY_USE"),
    "kernels/odd/a.py": ("", "the room 'odd' is not in ORDER['kernels']"),
}


def test_each_kind_of_offence_is_reported(empty_tree):
    (empty_tree.root / PACKAGE / "errors").mkdir(parents=True)
    (empty_tree.root / PACKAGE / "errors/__init__.py").write_text("")
    for name, (text, _) in OFFENCES.items():
        path = empty_tree.root / PACKAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = violations(empty_tree)
    for name, (_, message) in OFFENCES.items():
        assert any(name in line and line.endswith(message) for line in found), (name, found)
    assert len(found) == len(OFFENCES)


def test_imports_that_the_rule_allows_are_not_reported(empty_tree):
    root = empty_tree.root / PACKAGE
    for name, text in {
        "core/driver/functions.def": "",
        "core/driver/table.hpp": "#include <cuda.h>\n",
        "hostdriver/api/a.cpp": '#include <cuda.h>\n#include "core/driver/functions.def"\n#include "own.hpp"\n',
        "hostdriver/api/own.hpp": "#include <vector>\n",
        "core/graphs/h.cpp": '#include "core/driver/table.hpp"\n#include <Python.h>\n',
        "graph/nodes/node.pyx": "from cuda_graphs.objects.device cimport Stream\nimport numpy\n",
        "objects/device/__init__.py": "",
        "__init__.py": "from cuda_graphs.graph.nodes.node import GraphNode\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    assert violations(empty_tree) == []
    assert files_with_python_h(empty_tree, "core") == ["cuda_graphs/core/graphs/h.cpp"]


def test_circles_are_found_through_lazy_imports_and_folders(empty_tree):
    root = empty_tree.root / PACKAGE / "compiler"
    (root / "ir").mkdir(parents=True)
    (root / "ir/a.py").write_text("def f():\n    from cuda_graphs.compiler import b\n")
    (root / "b.py").write_text("from .c import x\n")
    (root / "c.py").write_text("from cuda_graphs.compiler.ir.a import y\n")
    (root / "d.py").write_text("from .c import x\n")
    assert cycles(empty_tree) == [
        ["cuda_graphs/compiler/b", "cuda_graphs/compiler/c", "cuda_graphs/compiler/ir/a"]
    ]
