# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Examples for the language reference, by their keys in the frontend's tables. The frontend accepts each example,
except those in REFUSED. language_page.py combines the examples with the tables.

All examples use the same names. a, b and c are f32 parameters. n and k are i32. v and w are vec3, p and q vec4. m is a
mat(3, 3). x is an array of f32, counts an array of i32, and flag an array of i32 without dimensions. plane is an array
of f32 with two dimensions, and points an array of vec3. ball is a dataclass with radius and at (a vec3). SIZE is the
template 3, and area a function; cube and steps are functions that are called.
"""

import ast

import cuda_graphs as cg

STATEMENTS = {
    ast.Assign: (
        "t = a + b",
        "the first value decides the type, unless it is a number of the source: see [types of names](#types-of-names); "
        "also `t, u = u, t` and `t = u = 0`",
    ),
    ast.AnnAssign: ("t: cg.f64 = a", "converts; an existing variable keeps its type"),
    ast.AugAssign: ("for i in x:\n    x[i] += a", "atomic or not: see below"),
    ast.If: (
        "if n > 0:\n    k_ = 1\nelif n < 0:\n    k_ = 2\nelse:\n    pass",
        "conditions are integers or `bool`",
    ),
    ast.While: ("t = n\nwhile t > 0:\n    t -= 1", "no `else`"),
    ast.For: ("for i in range(n):\n    pass", "see [loops](#loops); no `else`"),
    ast.Break: ("for i in x:\n    for j in range(n):\n        break", "not in a parallel loop"),
    ast.Continue: ("for i in x:\n    continue", "in every loop"),
    ast.Return: (
        "return",
        "also in branches and loops, but not in a parallel loop, or before one; kernels return numbers, vectors and "
        "dataclasses: `-> cg.vec3`, `-> tuple[cg.f32, cg.i32]`",
    ),
    ast.Expr: ("cg.atomic_add(x[0], a)", "calls only"),
    ast.Assert: ('assert n > 0, f"n is {n}"', 'checked with `debug=True`; `"n is %d" % n` too'),
    ast.Pass: ("pass", ""),
    ast.FunctionDef: (
        "def twice(r):\n    return r * 2\nt = twice(a)",
        "inlined at each call; reads the names around it and assigns to its own; no decorators",
    ),
    ast.With: (
        "with cg.graph_parallel():\n    with cg.graph_section():\n        x[0] = a",
        "only [sections and checkpoints](#control-flow-between-tasks)",
    ),
    ast.Match: (
        "match cg.graph_switch(n):\n    case 0:\n        t = a",
        "`cg.graph_switch` only: see [control flow between tasks](#control-flow-between-tasks)",
    ),
}

EXPRESSIONS = {
    ast.Name: (
        "t = a",
        "globals and variables around the function are constants; a name that the function assigns is a variable, and "
        "one that is first assigned in an `if` or a loop exists only in it",
    ),
    ast.Constant: (
        "t = 1.5",
        "an integer is an `i32`, a float an `f32`, `True` a `bool`; `cg.i64(1)`, `cg.f64(1.0)`, each of its kind; "
        "a conversion takes arithmetic on numbers as Python computes it, `cg.i64(2**40)`, or refuses it",
    ),
    ast.Attribute: (
        "t = ball.radius + v.x + x.shape[0]",
        "members, components, `shape`, `dtype` and `grad` of arrays",
    ),
    ast.Subscript: (
        "t = plane[n, k] + v[n] + m[0, 1]",
        "a slice of a vector or matrix is a vector: `m[:, 1]`; one of an array is a view, `part = x[a:b, k]`, with a "
        "`shape`, a `len`, slices of its own, and indices that count from its beginning",
    ),
    ast.BinOp: ("t = a * b", "component by component for vectors; `@` for matrices and vectors"),
    ast.UnaryOp: ("t = -a", "`-`, `+`, `~`, `not`"),
    ast.Compare: (
        "t = 0 < n < k",
        "a chain is a conjunction; the middle operand is evaluated once; by component for vectors; also "
        "`n in (1, 2)`, `x is None`, and `==` and `!=` of texts, which are known when compiling",
    ),
    ast.IfExp: (
        "t = a if n > 0 else b",
        "only the selected operand is evaluated; also vectors, tuples and structures; a number beside a vector stands "
        "for all components; a condition that is known at compile time removes the other operand and its type",
    ),
    ast.BoolOp: (
        "t = n > 0 and counts[n] > 0",
        "evaluation stops at the deciding operand; for integers it is the result; of vectors all operands are "
        "evaluated, and the result is a vector of bools",
    ),
    ast.Tuple: (
        "t, u = a, n",
        "the length is known at compile time, the elements need not be; also `(*v, a)`",
    ),
    ast.List: (
        "t = ([a, b] * 2 + [c])[1]",
        "a tuple, also of a slice, `t[1:]`; a run-time index chooses one of at most 64 numbers; `t.append(a)`, "
        "`extend`, `insert` and `pop` change the list of a name, where no run-time value decides whether they run",
    ),
    ast.Dict: (
        't = {"low": 1, "high": 2}["low"]',
        "the key of `t[key]` is known when compiling; also `{**options}`; `for key, u in d.items():` is unrolled; also "
        "`keys()`, `values()`, `get(key)`; it keeps its items",
    ),
    ast.ListComp: (
        "t = [a * i + j for i in range(3) for j in (1, 2)][1]",
        "unrolled; over `cg.static`, ranges of known length, tuples and vectors",
    ),
    ast.DictComp: ("t = {i: a * i for i in range(3) if i != 1}[2]", "a dict, unrolled as a list is"),
    ast.GeneratorExp: (
        "t = sum(v[i] * i for i in range(3)) + max(a * i for i in (1, 2))",
        "a tuple; for `sum`, `any`, `all`, `min` and `max`",
    ),
    ast.NamedExpr: ("t = (u := a) + u", ""),
    ast.Call: (
        "t = area(a)",
        "of functions of Python with a run-time argument and of `@cg.func`s, which are inlined, of functions that "
        "are [called](#functions-that-are-called), and of what stands below; where all arguments of a function of "
        "Python are known when compiling, it runs then, with a `CompileWarning`; `f(*v, **options)` passes the parts "
        "of a tuple, vector or dict",
    ),
    ast.Lambda: (
        "f = lambda r: r * a\nt = f(b) + f(c)",
        "inlined at each call; sees the names around it; an argument of other functions",
    ),
}

REFUSED = {
    "Try": "try:\n    pass\nfinally:\n    pass",
    "Raise": "raise ValueError",
    "ClassDef": "class T:\n    pass",
    "Import": "import math",
    "ImportFrom": "from math import pi",
    "Delete": "del a",
    "Yield": "t = yield a",
    "YieldFrom": "t = yield from ()",
    "Global": "global t",
    "Match": "match n:\n    case 1:\n        pass",
    "With": "with x:\n    pass",
    "Set": "t = {1, 2}",
    "SetComp": "t = {i for i in range(3)}",
    "Starred": "print(*v)",
    "keyword": "print(n, **{})",
    "JoinedStr": 't = f"{n}"',
    "Slice": "t = {0: a}[0:1]",
}

LOOPS = (
    (
        "for i in range(1, n, 2):\n    pass",
        "one to three integers of any types; a step that is known at compile time makes better code",
    ),
    (
        "for i, j in cg.ndrange(n, (1, k)):\n    pass",
        "the indices of a box: each extent is `n` or `(begin, end)`; `axes=(1, 0)` orders the loops, the outermost "
        "first",
    ),
    ("for i, j in plane:\n    pass", "the indices of an array or field; one, `()`, without dimensions"),
    ("for I in cg.grouped(plane):\n    t = plane[I] + I.x", "the index as one vector; also for an `ndrange`"),
    (
        "for i, j in cg.blocks(n, 256):\n    pass",
        "`n` blocks of 256 threads, which may cooperate: see [below](#blocks-and-warps); also `(k, n)`, `(16, 16)`",
    ),
    (
        "for i, t in cg.static(enumerate((a, x[n]))):\n    u = t * i",
        "unrolled: `i` is known at compile time; items of tuples need not be",
    ),
    (
        "for t, u in zip(v, (a, b, c)):\n    x[n] += t * u",
        "over tuples and vectors, and their `enumerate`, `zip` and `reversed`: unrolled",
    ),
)

# Examples in a loop of blocks. Rows of collectives.py have their examples there.
BLOCKS = {
    cg.block.shared_array: "tile = cg.block.shared_array(cg.f32, (8, 8))",
    cg.block.sync: "cg.block.sync()",
    cg.block.index: "t = cg.block.index()",
    cg.block.thread: "t = cg.block.thread()",
    cg.block.dim: "t = cg.block.dim()",
    cg.warp.sync: "cg.warp.sync()",
    cg.warp.lane: "t = cg.warp.lane()",
    cg.warp.index: "t = cg.warp.index()",
}

# Examples in graph kernels.
GRAPH_FLOW = {
    cg.graph_do_while: "while cg.graph_do_while(flag):\n    for i in x:\n        x[i] += a\n    flag[()] -= 1",
    cg.graph_while: "while cg.graph_while(x[0] > 1):\n    for i in x:\n        x[i] /= 2",
    cg.graph_if: "if cg.graph_if(n > 0):\n    for i in x:\n        x[i] = a\nelse:\n    x[0] = b",
    cg.graph_switch: (
        "match cg.graph_switch(n):\n    case 0:\n        x[0] = a\n    case 1:\n        for i in x:\n"
        "            x[i] = b"
    ),
    cg.graph_parallel: (
        "with cg.graph_parallel():\n    with cg.graph_section():\n        x[0] = a\n    with cg.graph_section():\n"
        "        plane[0, 0] = b"
    ),
    cg.checkpoint: "with cg.checkpoint(1, yield_on=flag):\n    for i in x:\n        x[i] = a",
    cg.graph_section: "with cg.graph_parallel():\n    with cg.graph_section():\n        x[0] = a",
}

# Calls of functions that are not rows of the op table.
CALLS = {
    cg.blocks: "for row, column, i, j in cg.blocks((n, k), (8, 8)):\n    pass",
    cg.static: "t = cg.static(SIZE * 2)",
    cg.static_assert: 'cg.static_assert(SIZE < 4, "too large")',
    cg.static_print: "cg.static_print(a)",
    cg.cast: "t = cg.cast(a, cg.i32)",
    cg.bit_cast: "t = cg.bit_cast(a, cg.u32)",
    cg.select: "t = cg.select(n > 0, a, b)",
    cg.zero: "t = cg.zero(v)",
    cg.one: "t = cg.one(v)",
    cg.stop_grad: "t = cg.stop_grad(a)\ncg.stop_grad(x)",
    cg.fence: "cg.fence()",
    cg.random: "t = cg.random() + cg.random(cg.i32)",
    cg.random_normal: "t = cg.random_normal() + cg.random_normal(cg.f64)",
    cg.random_integer: "t = cg.random_integer(0, n)",
    cg.vector: "t = cg.vector(a, b, c)\nu = cg.vector(v, a) + cg.vec4(v, 1.0)",
    cg.types.vec: "t = cg.types.vec(3, cg.f64)(a, b, c)",
    cg.types.mat: "t = cg.types.mat(2, 2)((a, b), (b, c))",
    cg.set_condition: "cg.set_condition(again, x[0] > a)",
    cg.loop_config: 'cg.loop_config(block_dim=256, parallelize=8, name="fill")\nfor i in x:\n    x[i] = a',
    cg.grouped: "for I in cg.grouped(cg.ndrange(n, k)):\n    t = I.x",
    cg.ndrange: "for i, j in cg.ndrange(n, k):\n    t = i",
    range: "for i in range(n):\n    t = i",
    len: "t = len(x) + len(v)",
    print: 'print("a is", a, f"{b:.3f}", sep=": ")',
    min: "t = min(a, b, c)",
    max: "t = max(a, b, c)",
    pow: "t = pow(a, n)",
    abs: "t = abs(a)",
    int: "t = int(a)",
    float: "t = float(n)",
    bool: "t = bool(n)",
}

VECTORS = {
    "dot": "t = cg.dot(v, w)",
    "cross": "t = cg.cross(v, w)",
    "outer": "t = cg.outer(v, w)",
    "norm": "t = cg.norm(v)",
    "length": "t = cg.length(v)",
    "normalized": "t = cg.normalized(v)",
    "normalize": "t = cg.normalize(v)",
    "reflect": "t = cg.reflect(v, w)",
    "distance": "t = cg.distance(v, w)",
    "transpose": "t = cg.transpose(m)",
    "determinant": "t = cg.determinant(m)",
    "inverse": "t = cg.inverse(m)",
    "trace": "t = cg.trace(m)",
}

DECOMPOSITIONS = {
    "eig": "t, u = cg.eig(m)",
    "polar_decompose": "t, u = cg.polar_decompose(m)",
    "qr": "t, u = cg.qr(m)",
    "solve": "t = cg.solve(m, v)",
    "svd": "t, u, s = cg.svd(m)",
    "sym_eig": "t, u = cg.sym_eig(m)",
}

QUATERNIONS = {
    "quat_conjugate": "t = cg.quat_conjugate(q)",
    "quat_from_axis_angle": "t = cg.quat_from_axis_angle(v, a)",
    "quat_from_matrix": "t = cg.quat_from_matrix(m)",
    "quat_identity": "t = cg.quat_identity()",
    "quat_inverse": "t = cg.quat_inverse(q)",
    "quat_mul": "t = cg.quat_mul(p, q)",
    "quat_rotate": "t = cg.quat_rotate(q, v)",
    "quat_slerp": "t = cg.quat_slerp(p, q, a)",
    "quat_to_matrix": "t = cg.quat_to_matrix(q)",
}

STRUCTURES = (
    (
        "t = Ball(a, at=v)",
        "a new structure; its members are converted as they are declared, and may have defaults",
    ),
    (
        "t = SimpleNamespace(low=a, at=v)",
        "a structure without a class, `types.SimpleNamespace`; becomes one of a class that has its members",
    ),
    ("t = ball\nt.radius += a", "a copy; members of variables can change"),
    ("t = ball['radius']", "a member by its name, a text that is known when compiling"),
    ("t = ball.area()", "methods are inlined, and may change the members of their `self`"),
    (
        "t = ball == balls[n]",
        "members are compared; other operators, `[]`, `()`, `abs` and `len` are the special methods of the class, such "
        "as `__add__`. `s[i] = t` calls `s.__setitem__(i, t)`, and `x[a:b] = s` calls `s.store_to(x[a:b])`",
    ),
    ("balls[n] = Ball(a, v)", "of an array or field; one member after the other, not as one atomic step"),
    ("balls[n].at.x += a", "a member of an element; atomic as an element is"),
    ("t = balls.at[n] + balls.radius.shape[0]", "the array of a member"),
    ("for i in balls:\n    balls[i].radius = a", "also `len(balls)`, `balls.shape` and `cg.grouped(balls)`"),
)

CALLED = (
    (
        "t = cube(a) + cube(n)",
        "of `@cg.func(inline=False)`; each signature is compiled once in each unit of code",
    ),
    (
        "t = steps(n)",
        "of `@cg.func(inline=False, max_depth=64)`, which calls itself, and declares what it returns",
    ),
)

# Constant expressions, which the frontend folds.
VALUES = (
    "-7 // 2", "7 // -2", "-7 % 3", "7 % -3", "1 // 0", "1 % 0", "1 / 2", "1 / 0", "-7.5 % 2.0", "-7.5 // 2.0",
    "cg.raw_div(-7, 2)", "cg.raw_mod(-7, 2)", "2147483647 + 1", "cg.i32(65536) * 65536", "cg.u8(250) + cg.u8(10)",
    "1 << 31", "-8 >> 1", "cg.bit_shr(-8, 1)", "(-2) ** 3", "0 ** 0", "2.0 ** -1", "True + True", "True & False",
    "2 and 1", "0 or 5", "cg.i32(-1) < cg.u32(1)", "cg.cast(2.9, cg.i32)", "cg.cast(-2.9, cg.i32)",
    "cg.cast(300.0, cg.u8)", "cg.cast(-1.0, cg.u8)", "cg.cast(-1, cg.u64)",
    "cg.cast(300, cg.u8)", "cg.bit_cast(1.0, cg.i32)", "cg.round(2.5)", "cg.round(-0.5)", "abs(-2147483648)",
    "cg.i64(65536 * 65536)", "cg.u32(1 << 31)",
    "cg.clz(0)", "cg.clz(1)", "cg.popcnt(-1)", "cg.ffs(8)", "cg.sign(-0.5)", "cg.sqrt(2)",
)  # fmt: skip
