# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The table of PTX instructions under test: its rows, the kernel around an instruction, the comparison of results.

Every row is one kernel of one shape: thread i loads a[i], b[i], c[i], executes the instruction, stores d[i]. The rows
are in rows_*.py, one file a family; `all_rows` reads them. A row says what NumPy or exact arithmetic expects of its
inputs, so any driver can be asked.

    op("add.sat.s32", "s32 s32 -> s32", lambda a, b: np.clip(wide(a) + wide(b), LOW, HIGH))
    op("two results", "u32 u32 -> u32", expect, body="mul.hi.u32 %t, %a, %b;", regs=".reg .b32 %t;")
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from tests.ptx import hazards
from tests.ptx.hazards import DTYPES

FAMILIES = (
    *("integer", "carry", "bits", "packed", "predicates", "convert", "float", "approximate"),
    *("move", "memory", "atomics", "control", "special", "warp"),
)

BLOCK = 64
COUNT = hazards.COUNT
GRID = COUNT // BLOCK
PREDICATE_OUT = "selp.u32 %d, 1, 0, %q;"


@dataclass(frozen=True, repr=False)
class Row:
    """A row, with `lanes` results a thread. A float result may differ by `ulps` units in the last place of the exact
    value, or by `absolute`, or by `relative` times it. If all are 0 the bits are equal, except that all NaNs are
    equal."""

    id: str
    family: str
    ptx: str  # the kernel, named `{entry}`
    inputs: tuple[np.ndarray, ...]
    out: str  # type of the result
    lanes: int
    expect: Callable[..., np.ndarray]
    ulps: float
    absolute: float
    relative: float
    version: str
    same_nan: bool  # NaN payloads count too
    prepare: np.ndarray | None  # what the output holds before
    outputs: int  # elements of the output

    def __repr__(self) -> str:
        return self.id

    @property
    def exact(self) -> bool:
        return self.ulps == self.absolute == self.relative == 0

    def entry(self, number: int) -> str:
        return f"row{number}"

    def kernel(self, number: int) -> str:
        return self.ptx.replace("{entry}", self.entry(number))

    def expected(self) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.ascontiguousarray(self.expect(*self.inputs))

    def output(self) -> np.ndarray:
        """Returns the output array to launch with: the row's own, or a pattern that no instruction leaves by
        accident."""
        if self.prepare is not None:
            return self.prepare.copy()
        return np.full(self.outputs * DTYPES[self.out].itemsize, 0xA5, np.uint8).view(DTYPES[self.out])


_rows: list[Row] = []
_family = ""

REGISTERS = {1: ".b16", 2: ".b16", 4: ".b32", 8: ".b64"}


def register(kind: str) -> str:
    return f".{kind}" if kind in ("f32", "f64", "pred") else REGISTERS[DTYPES[kind].itemsize]


def memory_type(kind: str) -> str:
    """Returns the type with which a value is loaded and stored."""
    if kind == "pred":
        return "u32"
    return (
        kind
        if (kind[0] in "su" and "x" not in kind) or kind in ("f32", "f64")
        else f"b{8 * DTYPES[kind].itemsize}"
    )


HEAD = """.visible .entry {entry}(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd, .param .u32 pn)
{
  .reg .pred %past, %q;
  .reg .b32 %i, %block, %size, %n;
  .reg .b64 %at, %pa, %pb, %pc, %pd;
"""

BEGIN = """
  mov.u32 %i, %tid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %size, %ntid.x;
  mad.lo.u32 %i, %block, %size, %i;
  ld.param.u32 %n, [pn];
  setp.ge.u32 %past, %i, %n;
  @%past bra END;
"""

TAIL = """END:
  ret;
}
"""


def _address(name: str, size: int) -> str:
    return (
        f"  ld.param.u64 %p{name}, [p{name}];\n  cvta.to.global.u64 %p{name}, %p{name};\n"
        f"  mul.wide.u32 %at, %i, {size};\n  add.u64 %p{name}, %p{name}, %at;\n"
    )


def kernel(ins: list[str], out: str, lanes: int, body: str, regs: str = "", store: bool = True) -> str:
    lines = [HEAD]
    size = DTYPES[out].itemsize
    for name, kind in zip("abc", ins, strict=False):
        lines.append(f"  .reg {register(kind)} %{name};\n")
    results = ["%d"] if lanes == 1 else [f"%d{k}" for k in range(lanes)]
    lines.append(f"  .reg {'.b32' if out == 'pred' else register(out)} {', '.join(results)};\n  {regs}\n")
    lines.append(BEGIN)
    for name, kind in zip("abc", ins, strict=False):
        lines.append(_address(name, DTYPES[kind].itemsize))
        lines.append(f"  ld.global.{memory_type(kind)} %{name}, [%p{name}];\n")
    lines.append(_address("d", size * lanes))
    lines.append(f"  {body}\n")
    if store:
        for k, result in enumerate(results):
            lines.append(f"  st.global.{memory_type(out)} [%pd+{k * size}], {result};\n")
    return "".join((*lines, TAIL))


def op(
    name: str,
    signature: str,
    expect: Callable[..., np.ndarray],
    *,
    body: str = "",
    regs: str = "",
    inputs: str | list[str] = "",
    ulps: float = 0,
    absolute: float = 0,
    relative: float = 0,
    version: str = "8.0",
    same_nan: bool = False,
    store: bool = True,
    module: str = "",
    prepare: np.ndarray | None = None,
    arrays: list[np.ndarray] | None = None,
) -> None:
    """Adds a row.

    Args:
        name: The row's name; also the instruction where there is no `body`.
        signature: "s32 s32 -> s64"; "-> u32*4" has four results a thread, %d0 to %d3.
        expect: Input arrays -> the output array.
        body: PTX with %a, %b, %c and %d; %q and %i are free to use.
        regs: Declarations that the body needs.
        inputs: Generators of hazards.py: one for all, or one an operand.
        store: The kernel stores %d; a body that stores itself says False.
        module: Declarations at module scope; "{entry}" in them is the kernel's name.
        prepare: The output before the launch.
        arrays: The inputs themselves, instead of generators.
    """
    left, _, right = signature.partition("->")
    ins = left.split()
    out, _, lanes_text = right.strip().partition("*")
    lanes = int(lanes_text or 1)
    if not body:
        body = (
            f"{name} {', '.join(['%q' if out == 'pred' else '%d', *(f'%{x}' for x, _ in zip('abc', ins))])};"
        )
    if out == "pred" and store:
        body += f"\n  {PREDICATE_OUT}"
    if arrays is None:
        arrays = hazards.operands(inputs or [hazards.usual(kind) for kind in ins], ins)
    text = f"{module}\n{kernel(ins, out, lanes, body, regs, store)}"
    outputs = COUNT * lanes if prepare is None else len(prepare)
    _rows.append(
        Row(
            *(
                name,
                _family,
                text,
                tuple(arrays),
                out,
                lanes,
                expect,
                ulps,
                absolute,
                relative,
                version,
                same_nan,
            ),
            *(prepare, outputs),
        )
    )


def all_rows() -> tuple[Row, ...]:
    """Every row, in the order of FAMILIES."""
    global _family
    if not _rows:
        for _family in FAMILIES:
            import_module(f"tests.ptx.rows_{_family}")
        names = [row.id for row in _rows]
        assert len(set(names)) == len(names), {name for name in names if names.count(name) > 1}
    return tuple(_rows)


def module_text(rows: list[tuple[int, Row]]) -> str:
    """One module of many kernels. `rows` are (number in the table, row)."""
    version = max((row.version for _, row in rows), key=lambda v: tuple(map(int, v.split("."))))
    head = f".version {version}\n.target sm_90\n.address_size 64\n\n"
    return head + "\n".join(row.kernel(number) for number, row in rows)


def widened(kind: str, values: np.ndarray) -> np.ndarray:
    """Floats of any type as double."""
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        if kind == "bf16":
            return (values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        return values.astype(np.float64)


FLOAT_OF_LANES = {"f16x2": "f16", "bf16x2": "bf16"}


def mismatches(row: Row, found: np.ndarray, expected: np.ndarray, exact: bool = False) -> np.ndarray:
    """Indices at which `found` is not what the row accepts for `expected`. Float results of rows with a tolerance are
    expected as doubles, so that the tolerance is around the exact value; with `exact` as what `found` is."""
    kind = FLOAT_OF_LANES.get(row.out, row.out)
    if kind != row.out:
        found = found.view(np.uint16).view(DTYPES[kind])
        expected = expected if expected.dtype == np.float64 else expected.view(np.uint16).view(DTYPES[kind])
    bits = found.view(f"u{found.dtype.itemsize}")
    if row.exact or exact:
        wrong = bits != expected.view(bits.dtype)
    else:
        wrong = _beyond(row, kind, found, expected, row.absolute)
    if hazards.is_float(kind) and not row.same_nan:
        # Which NaN an operation makes is not part of its meaning.
        a, b = widened(kind, found), expected if expected.dtype == np.float64 else widened(kind, expected)
        wrong &= ~(np.isnan(a) & np.isnan(b))
    return np.flatnonzero(wrong)


def _beyond(row: Row, kind: str, found: np.ndarray, expected: np.ndarray, absolute: float) -> np.ndarray:
    f = hazards.FORMATS[kind]
    got = widened(kind, found)
    want = expected if expected.dtype == np.float64 else widened(kind, expected)
    with np.errstate(all="ignore"):
        _, power = np.frexp(want)
        unit = np.ldexp(1.0, np.maximum(power - f.p, f.least_exponent))
        allowed = np.maximum(np.maximum(row.ulps * unit, absolute), row.relative * np.abs(want))
        near = np.abs(got - want) <= allowed
        # Past the greatest float by no more than the tolerance, infinity is near.
        greatest = widened(kind, np.array([f.greatest], bits_of(kind)).view(DTYPES[kind]))[0]
        near |= np.isinf(got) & (np.sign(got) == np.sign(want)) & (np.abs(want) + allowed > greatest)
    return ~(near | (got == want))


def bits_of(kind: str) -> np.dtype:
    return hazards.bits_dtype(kind)


# Rows that are wrong, by driver, and why; to be emptied. A row that becomes right must leave.
NOT_YET: dict[str, dict[str, str]] = {
    "host": {},
    "cuda": {},
}


def complaint(
    row: Row, found: np.ndarray, expected: np.ndarray | None = None, exact: bool = False
) -> str | None:
    """The first wrong results of a row in bits and as numbers, or None where all are right."""
    if expected is None:
        expected = row.expected()
    wrong = mismatches(row, found, expected, exact)
    if not len(wrong):
        return None
    lanes = found.size // COUNT
    if row.out in FLOAT_OF_LANES:
        lanes, found = 2, found.view(np.uint16)
        expected = expected if expected.dtype == np.float64 else expected.view(np.uint16)
    lines = [f"{row.id}: {len(wrong)} of {found.size} wrong"]
    for at in wrong[:6]:
        ins = ", ".join(_show(a, at // max(lanes, 1)) for a in row.inputs)
        lines.append(f"  [{at}] ({ins}) -> {_show(found, at)}, expected {_show(expected, at)}")
    return "\n".join(lines)


def _show(values: np.ndarray, at: int) -> str:
    bits = values.view(f"u{values.dtype.itemsize}")[at]
    return f"{int(bits):#x} {values[at]:.9g}" if values.dtype.kind == "f" else f"{int(bits):#x}"
