# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the functions of CUDA's mathematics library stay within the errors that the CUDA C++ Programming Guide states.
They give C's results at NaN, the infinities, the zeros and subnormals, and the results of an H200 on every driver.

The truth is the long double of the C library, whose significand has 64 bits: through NumPy, or, where NumPy lacks the
function, through ctypes, which rounds it to double.
"""

import ctypes
import ctypes.util
import hashlib
import math
import platform
from pathlib import Path

import numpy as np
import pytest

import cuda_graphs as cg
from tests.conformance.ptx_differential import Bench

pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason=f"long double is no wider than double on {platform.machine()}"
)
N = 2048
BLOCK = 128
KINDS = ("float", "double")
PI = np.longdouble("3.14159265358979323846264338327950288")


LIBM = ctypes.CDLL(ctypes.util.find_library("m"))


def of_libm(name):
    """A function of the C library, element by element."""
    function = getattr(LIBM, f"{name}l")
    function.argtypes, function.restype = [ctypes.c_longdouble], ctypes.c_longdouble
    return lambda x: np.array([function(value) for value in x.astype(np.float64).tolist()])


def greater(x, y):
    """-0 is less than +0."""
    return np.where((x == 0) & (y == 0), x + y, np.fmax(x, y))


def by_half_turns(function, quarter):
    """sin(pi x), cos(pi x): what is left of the nearest half turn is exact."""

    def compute(x):
        x = x.astype(np.longdouble)
        turns = np.rint(2 * x)
        rest = (x - turns / 2) * PI
        k = np.mod(turns + quarter, 4)
        value = np.where(k % 2 == 0, np.sin(rest), np.cos(rest))
        value = np.where(k >= 2, -value, value)
        # An exact zero has the sign of x (sin) or + (cos).
        return np.where(value == 0, np.copysign(0, x) if function == "sin" else 0.0, value)

    return compute


def half_away(x):
    whole = np.trunc(x)
    return np.copysign(whole + np.copysign(np.abs(x - whole) >= 0.5, x), x)


# name -> (truth, ulps of float, ulps of double, range of arguments)
ONE = {
    "sin": (np.sin, 2, 2, (-1e5, 1e5)),
    "cos": (np.cos, 2, 2, (-1e5, 1e5)),
    "tan": (np.tan, 4, 2, (-1e5, 1e5)),
    "asin": (np.arcsin, 4, 2, (-1, 1)),
    "acos": (np.arccos, 2, 2, (-1, 1)),
    "atan": (np.arctan, 2, 2, (-50, 50)),
    "sinh": (np.sinh, 3, 2, (-80, 80)),
    "cosh": (np.cosh, 2, 2, (-80, 80)),
    "tanh": (np.tanh, 2, 2, (-10, 10)),
    "asinh": (np.arcsinh, 3, 3, (-1e6, 1e6)),
    "acosh": (np.arccosh, 4, 3, (1, 1e6)),
    "atanh": (np.arctanh, 3, 2, (-1, 1)),
    "exp": (np.exp, 2, 1, (-80, 80)),
    "exp2": (np.exp2, 2, 1, (-120, 120)),
    "exp10": (lambda x: np.power(np.longdouble(10), x), 2, 1, (-37, 37)),
    "expm1": (np.expm1, 1, 1, (-5, 80)),
    "log": (np.log, 1, 1, (1e-30, 1e30)),
    "log2": (np.log2, 1, 1, (1e-30, 1e30)),
    "log10": (np.log10, 2, 1, (1e-30, 1e30)),
    "log1p": (np.log1p, 1, 1, (-0.999, 1e5)),
    "sqrt": (np.sqrt, 0, 0, (0, 1e30)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 2, 1, (1e-30, 1e30)),
    "cbrt": (np.cbrt, 1, 1, (-1e10, 1e10)),
    "rcbrt": (lambda x: 1 / np.cbrt(x), 1, 1, (-1e10, 1e10)),
    "sinpi": (by_half_turns("sin", 0), 1, 2, (-1e4, 1e4)),
    "cospi": (by_half_turns("cos", 1), 1, 2, (-1e4, 1e4)),
    "erf": (of_libm("erf"), 2, 2, (-5, 5)),
    "erfc": (of_libm("erfc"), 4, 5, (-5, 9)),
    "tgamma": (of_libm("tgamma"), 5, 10, (0.1, 30)),
    "lgamma": (of_libm("lgamma"), 6, 4, (3, 1e5)),
    "floor": (np.floor, 0, 0, (-1e4, 1e4)),
    "ceil": (np.ceil, 0, 0, (-1e4, 1e4)),
    "trunc": (np.trunc, 0, 0, (-1e4, 1e4)),
    "rint": (np.rint, 0, 0, (-1e4, 1e4)),
    "round": (half_away, 0, 0, (-1e4, 1e4)),
    "fabs": (np.abs, 0, 0, (-1e4, 1e4)),
}
TWO = {
    "atan2": (np.arctan2, 3, 2, (-10, 10), (-10, 10)),
    "pow": (np.power, 4, 2, (0.01, 100), (-8, 8)),
    "hypot": (np.hypot, 3, 2, (-1e10, 1e10), (-1e10, 1e10)),
    "fmod": (np.fmod, 0, 0, (-1e6, 1e6), (-30, 30)),
    "fdim": (lambda x, y: np.where(x <= y, 0, x - y), 0, 0, (-10, 10), (-10, 10)),
    "copysign": (np.copysign, 0, 0, (-10, 10), (-10, 10)),
    "fmax": (greater, 0, 0, (-10, 10), (-10, 10)),
    "fmin": (lambda x, y: -greater(-x, -y), 0, 0, (-10, 10), (-10, 10)),
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 2.5, np.inf, -np.inf, np.nan]


def name_of(function, kind):
    return function + ("f" if kind == "float" else "")


def source():
    text = []
    for kind in KINDS:
        for function in (*ONE, *TWO):
            call = f"{name_of(function, kind)}(x[i]{', y[i]' if function in TWO else ''})"
            text.append(
                f'extern "C" __global__ void k_{kind}_{function}(const {kind}* x, const {kind}* y, {kind}* z, int n)\n'
                f"{{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) z[i] = {call}; }}\n"
            )
    return "".join(text)


@pytest.fixture(scope="module")
def module(session_device):
    found = cg.Program(source(), code_type="c++").compile("cubin")
    assert found.handle  # loads it here, as it outlives the first test that uses it
    return found


def results(bench, module, kind, function, x, y):
    config = cg.LaunchConfig(grid=-(-len(x) // BLOCK), block=BLOCK)
    kernel = module.get_kernel(f"k_{kind}_{function}")
    return bench.run(config, kernel, [x, y, np.zeros_like(x)], len(x))[-1]


@pytest.fixture
def bench(device):
    return Bench(device)


@pytest.fixture
def compute(bench, module):
    return lambda *what: results(bench, module, *what)


def numbers(kind, span, seed, count, specials):
    """Made by arithmetic that is exact or rounded once, so that they are the same on every machine."""
    low, high = span
    random = np.random.default_rng(seed)
    x = random.uniform(low, high, count)
    if low > 0 and high / low > 1e6:
        (_, first), (_, last) = math.frexp(low), math.frexp(high)
        x = np.ldexp(random.uniform(0.5, 1, count), random.integers(first, last, count, endpoint=True))
    else:  # half of them small, where relative errors show
        x[: count // 2] = np.ldexp(x[: count // 2], random.integers(-17, 0, count // 2, endpoint=True))
    x = np.clip(x, low, high)
    x = x.astype(np.float32 if kind == "float" else np.float64)
    tiny = np.finfo(x.dtype)
    # The float below 1/2 is what a careless `round` rounds up.
    subnormal = [
        tiny.smallest_subnormal,
        -tiny.smallest_subnormal,
        tiny.tiny / 2,
        np.nextafter(x.dtype.type(0.5), 0),
    ]
    values = np.array([*SPECIAL, *subnormal], x.dtype)
    return np.concatenate([x, values[specials(len(values))]])


def arguments(kind, function, count=N):
    """`count` random ones, then the special ones."""
    if function in ONE:
        x = numbers(kind, ONE[function][-1], 1, count, np.arange)
        return x, x
    first, second = TWO[function][-2:]
    x = numbers(kind, first, 1, count, lambda n: np.arange(n * n) // n)
    return x, numbers(kind, second, 2, count, lambda n: np.arange(n * n) % n)


RECORD = Path(__file__).with_name("mathematics_h200.npz")
MANY = 1 << 18  # arguments of which a digest of the results is recorded
EVERY = 8  # of N random ones the result itself is recorded, and of all special ones


@pytest.fixture(scope="module")
def recorded():
    with np.load(RECORD) as stored:
        return dict(stored)


def kept(values):
    return np.concatenate([values[:N:EVERY], values[N:]])


def digest(values):
    """Returns a hash of the bits in which all NaNs are equal."""
    canonical = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
    return np.frombuffer(hashlib.sha256(canonical.tobytes()).digest(), np.uint8)


def units_off(found, truth):
    """Error in units of the last place; NaN, infinities and zeros must be those of the truth."""
    with np.errstate(all="ignore"):
        rounded = truth.astype(found.dtype)
        error = np.abs(found - truth) / np.spacing(np.abs(rounded))
    special = ~np.isfinite(rounded) | (rounded == 0)
    same = (found == rounded) & (np.signbit(found) == np.signbit(rounded))
    same |= np.isnan(found) & np.isnan(rounded)
    return np.where(special, np.where(same, 0, np.inf), np.where(np.isfinite(found), error, np.inf)).astype(
        float
    )


def worst(function, found, truth, inputs, ulps):
    error = units_off(found, np.asarray(truth, np.longdouble))
    at = error.argmax()
    where = ", ".join(repr(x[at]) for x in inputs)
    return error[at] <= ulps, f"{function}({where}) = {found[at]!r}, not {truth[at]!r}: {error[at]} ulp"


@pytest.fixture(scope="module")
def recorded_module(session_device, recorded):
    found = cg.ObjectCode.from_ptx(recorded["ptx"].tobytes())
    assert found.handle
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", [*ONE, *TWO])
def test_functions_give_the_bits_of_an_h200(bench, recorded_module, recorded, kind, function):
    """mathematics_h200.npz: mathematics_record.py wrote it there, and the PTX of NVRTC 13.0, as the functions of later
    ones are not all the same."""
    name = name_of(function, kind)
    x, y = arguments(kind, function)
    found, truth = kept(results(bench, recorded_module, kind, function, x, y)), recorded[name]
    bits = f"u{found.itemsize}"
    same = (found.view(bits) == truth.view(bits)) | (np.isnan(found) & np.isnan(truth))
    at = same.argmin()
    assert same.all(), f"{name}({kept(x)[at]!r}, {kept(y)[at]!r}) = {found[at]!r}, on an H200 {truth[at]!r}"
    many = results(bench, recorded_module, kind, function, *arguments(kind, function, MANY))
    assert (digest(many) == recorded[f"{name} of many"]).all(), f"{name} differs among {MANY} other arguments"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", [*ONE, *TWO])
def test_functions_of_any_nvrtc_are_within_one_unit_of_it(compute, recorded, kind, function):
    x, y = arguments(kind, function)
    name = name_of(function, kind)
    good, text = worst(name, kept(compute(kind, function, x, y)), recorded[name], [kept(x), kept(y)], 1)
    assert good, text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", ONE)
def test_functions_of_one_number(compute, kind, function):
    truth, float_ulps, double_ulps, _ = ONE[function]
    x, _ = arguments(kind, function)
    found = compute(kind, function, x, x)
    with np.errstate(all="ignore"):
        expected = truth(x.astype(np.longdouble))
    ulps = float_ulps if kind == "float" else double_ulps
    # Rounding to double leaves the reference up to half a unit off.
    allowance = 1 if function in ("erf", "erfc", "tgamma", "lgamma") else 0.5
    good, text = worst(name_of(function, kind), found, expected, [x], ulps + allowance)
    assert good, text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", TWO)
def test_functions_of_two_numbers(compute, kind, function):
    truth, float_ulps, double_ulps, *_ = TWO[function]
    x, y = arguments(kind, function)
    found = compute(kind, function, x, y)
    with np.errstate(all="ignore"):
        expected = truth(x.astype(np.longdouble), y.astype(np.longdouble))
    good, text = worst(
        name_of(function, kind),
        found,
        expected,
        [x, y],
        (float_ulps if kind == "float" else double_ulps) + 0.5,
    )
    assert good, text
