# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a CUDA C++ program gives what the same algorithm gives in Python, on every driver. The programs are
chosen for what they ask of a compiler: deep loops, barriers in loops, recursion, tables, carries, atomics, odd
parameters.
"""

import hashlib
import zlib

import numpy as np
import pytest

import cuda_graphs as cg
from tests.conformance.ptx_differential import Bench

U32 = (1 << 32) - 1


@pytest.fixture
def run(device):
    """run(source, grid, block, arrays, *values): what the arrays hold after kernel `k`."""
    bench = Bench(device)

    def run(source, grid, block, arrays, *values, shared=0, options=None, name="k"):
        code = cg.Program(source, code_type="c++", options=options).compile("cubin")
        config = cg.LaunchConfig(grid=grid, block=block, shmem_size=shared)
        return bench.run(config, code.get_kernel(name), arrays, *values)

    return run


def words(n, seed=1, dtype=np.uint32):
    return np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, n, dtype, endpoint=True)


def test_crc32_with_a_table_in_constant_memory(run):
    entries = []
    for k in range(256):
        for _ in range(8):
            k = k >> 1 ^ (0xEDB88320 if k & 1 else 0)
        entries.append(k)
    table = ", ".join(f"{k}u" for k in entries)
    source = (
        f"__constant__ unsigned table[256] = {{{table}}};"
        + r"""
    extern "C" __global__ void k(const unsigned char* data, unsigned* out, int length, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        unsigned c = ~0u;
        for (int j = 0; j < length; ++j) c = table[(c ^ data[i * length + j]) & 255] ^ (c >> 8);
        out[i] = ~c;
    }"""
    )
    n, length = 100, 61
    data = words(n * length, dtype=np.uint8)
    _, out = run(source, 4, 32, [data, np.zeros(n, np.uint32)], length, n)
    assert out.tolist() == [zlib.crc32(row.tobytes()) for row in data.reshape(n, length)]


def test_sha256_of_many_blocks(run):
    constants = ", ".join(f"{cube_root_bits(prime)}u" for prime in primes(64))
    source = (
        f"__constant__ unsigned K[64] = {{{constants}}};"
        + r"""
    __device__ __forceinline__ unsigned rotate(unsigned x, int n) { return x >> n | x << (32 - n); }
    extern "C" __global__ void k(const unsigned* message, unsigned* out) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        unsigned w[64], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
        for (int t = 0; t < 8; ++t) w[t] = __byte_perm(message[8 * i + t], 0, 0x0123);
        for (int t = 8; t < 16; ++t) w[t] = t == 8 ? 0x80000000 : t == 15 ? 256 : 0;
        for (int t = 16; t < 64; ++t) {
            unsigned a = w[t - 15], b = w[t - 2];
            w[t] = w[t - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3);
            w[t] += w[t - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
        }
        unsigned s[8];
        for (int t = 0; t < 8; ++t) s[t] = h[t];
        for (int t = 0; t < 64; ++t) {
            unsigned e = s[4], a = s[0];
            unsigned one = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & s[5]) ^ (~e & s[6]));
            one += K[t] + w[t];
            unsigned two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
            for (int j = 7; j > 0; --j) s[j] = s[j - 1];
            s[4] += one;
            s[0] = one + two;
        }
        for (int t = 0; t < 8; ++t) out[8 * i + t] = __byte_perm(h[t] + s[t], 0, 0x0123);
    }"""
    )
    message = words(64 * 8)
    _, out = run(source, 2, 32, [message, np.zeros(64 * 8, np.uint32)])
    for given, found in zip(message.reshape(64, 8), out.reshape(64, 8), strict=True):
        assert found.tobytes() == hashlib.sha256(given.tobytes()).digest()


def primes(count):
    found = []
    while len(found) < count:
        candidate = found[-1] + 1 if found else 2
        while any(candidate % p == 0 for p in found):
            candidate += 1
        found.append(candidate)
    return found


def cube_root_bits(n):
    """The first 32 bits of the fraction of the cube root, by integers."""
    low, high = 0, n << 33
    while low < high:
        middle = (low + high + 1) // 2
        if middle**3 <= n << 96:
            low = middle
        else:
            high = middle - 1
    return low & U32


def test_bitonic_sort_in_shared_memory(run):
    source = r"""
    template <typename T> __device__ void order(T& a, T& b, bool up) { if ((a > b) == up) { T t = a; a = b; b = t; } }
    extern "C" __global__ void k(int* x) {
        extern __shared__ int part[];
        int t = threadIdx.x, n = 2 * blockDim.x;
        int* mine = x + blockIdx.x * n;
        part[t] = mine[t];
        part[t + blockDim.x] = mine[t + blockDim.x];
        for (int size = 2; size <= n; size *= 2)
            for (int stride = size / 2; stride > 0; stride /= 2) {
                __syncthreads();
                int at = 2 * t - (t & (stride - 1));
                order(part[at], part[at + stride], (at & size) == 0);
            }
        __syncthreads();
        mine[t] = part[t];
        mine[t + blockDim.x] = part[t + blockDim.x];
    }"""
    x = words(5 * 512, dtype=np.int32)
    (out,) = run(source, 5, 256, [x], shared=2048)
    assert (out.reshape(5, 512) == np.sort(x.reshape(5, 512), axis=1)).all()


@pytest.mark.parametrize("shape", [(33, 17, 50), (16, 16, 16), (1, 40, 3)])
def test_tiled_matrix_product(run, shape):
    m, inner, n = shape
    source = r"""
    extern "C" __global__ void k(const int* a, const int* b, int* c, int m, int inner, int n) {
        __shared__ int ta[8][9], tb[8][9];
        int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, column = blockIdx.x * 8 + x, sum = 0;
        for (int at = 0; at < inner; at += 8) {
            ta[y][x] = row < m && at + x < inner ? a[row * inner + at + x] : 0;
            tb[y][x] = at + y < inner && column < n ? b[(at + y) * n + column] : 0;
            __syncthreads();
            #pragma unroll
            for (int j = 0; j < 8; ++j) sum += ta[y][j] * tb[j][x];
            __syncthreads();
        }
        if (row < m && column < n) c[row * n + column] = sum;
    }"""
    a, b = words((m, inner), 1, np.int32), words((inner, n), 2, np.int32)
    *_, c = run(source, (-(-n // 8), -(-m // 8)), (8, 8), [a, b, np.zeros((m, n), np.int32)], m, inner, n)
    with np.errstate(over="ignore"):
        assert (c == a @ b).all()


def test_histogram_with_shared_and_global_atomics(run):
    source = r"""
    extern "C" __global__ void k(const unsigned char* data, unsigned* bins, int n) {
        __shared__ unsigned mine[256];
        for (int b = threadIdx.x; b < 256; b += blockDim.x) mine[b] = 0;
        __syncthreads();
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
            atomicAdd(&mine[data[i]], 1u);
        __syncthreads();
        for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], mine[b]);
    }"""
    data = words(20000, dtype=np.uint8) & words(20000, 2, np.uint8)
    _, bins = run(source, 7, 96, [data, np.zeros(256, np.uint32)], len(data))
    assert (bins == np.bincount(data, minlength=256)).all()


def test_mandelbrot_escapes_at_the_same_step(run):
    source = r"""
    extern "C" __global__ void k(int* out, int width, int height, int limit) {
        int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
        if (px >= width || py >= height) return;
        double cx = -2.0 + px * (3.0 / width), cy = -1.5 + py * (3.0 / height), x = 0, y = 0;
        int n = 0;
        while (n < limit && x * x + y * y <= 4.0) { double t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; ++n; }
        out[py * width + px] = n;
    }"""
    width, height, limit = 61, 47, 80
    options = cg.ProgramOptions(fma=False)
    (out,) = run(
        source, (4, 6), (16, 8), [np.zeros((height, width), np.int32)], width, height, limit, options=options
    )
    cy, cx = np.mgrid[0:height, 0:width] * np.array([3.0 / height, 3.0 / width]).reshape(2, 1, 1)
    cx, cy = -2.0 + cx, -1.5 + cy
    x, y, steps = np.zeros_like(cx), np.zeros_like(cx), np.zeros(cx.shape, int)
    for _ in range(limit):
        inside = x * x + y * y <= 4.0
        x, y = np.where(inside, x * x - y * y + cx, x), np.where(inside, 2 * x * y + cy, y)
        steps += inside
    assert (out == steps).all()


def test_recursion_counts_the_queens(run):
    source = r"""
    __device__ __noinline__ int place(int n, unsigned columns, unsigned left, unsigned right) {
        if (columns == (1u << n) - 1) return 1;
        int count = 0;
        for (unsigned free = ~(columns | left | right) & ((1u << n) - 1); free; free &= free - 1) {
            unsigned bit = free & -free;
            count += place(n, columns | bit, (left | bit) << 1, (right | bit) >> 1);
        }
        return count;
    }
    extern "C" __global__ void k(int* out) { out[threadIdx.x] = place(threadIdx.x + 1, 0, 0, 0); }"""
    (out,) = run(source, 1, 8, [np.zeros(8, np.int32)])
    assert out.tolist() == [1, 0, 0, 2, 10, 4, 40, 92]


def test_a_quicksort_with_its_stack_in_local_memory(run):
    source = r"""
    extern "C" __global__ void k(short* x, int n) {
        short* a = x + (blockIdx.x * blockDim.x + threadIdx.x) * n;
        int stack[40], top = 0;
        stack[top++] = 0; stack[top++] = n - 1;
        while (top) {
            int high = stack[--top], low = stack[--top];
            if (low >= high) continue;
            short pivot = a[(low + high) / 2];
            int i = low - 1, j = high + 1;
            for (;;) {
                do ++i; while (a[i] < pivot);
                do --j; while (a[j] > pivot);
                if (i >= j) break;
                short t = a[i]; a[i] = a[j]; a[j] = t;
            }
            bool left_is_small = j - low < high - j;  // the smaller part last, so that the stack stays short
            int parts[4] = {low, j, j + 1, high};
            for (int p = 0; p < 4; ++p) stack[top++] = parts[left_is_small ? p ^ 2 : p];
        }
    }"""
    x = words((40, 101), dtype=np.int16)
    (out,) = run(source, 5, 8, [x], 101)
    assert (out == np.sort(x, axis=1)).all()


OPERATIONS = {
    0: ("a = a + b", lambda a, b: (a + b, b)),
    1: ("a = a - b", lambda a, b: (a - b, b)),
    2: ("a = a * 3 + 1", lambda a, b: (a * 3 + 1, b)),
    3: ("b ^= a", lambda a, b: (a, b ^ a)),
    4: ("a = a << 5 | a >> 27", lambda a, b: (a << 5 | a >> 27, b)),
    5: ("b += 77", lambda a, b: (a, b + 77)),
    6: ("a = ~a", lambda a, b: (~a, b)),
    7: ("{ unsigned t = a; a = b; b = t; }", lambda a, b: (b, a)),
    9: ("b = b / 7", lambda a, b: (a, b // 7)),
    11: ("a = a % 1000003", lambda a, b: (a % 1000003, b)),
    12: ("a &= b | 0xff", lambda a, b: (a & (b | 0xFF), b)),
    14: ("b = b * a", lambda a, b: (a, b * a)),
}


def test_an_interpreter_jumps_by_a_table(run):
    cases = "".join(f"case {k}: {text}; break;" for k, (text, _) in OPERATIONS.items())
    source = (
        r"""
    extern "C" __global__ void k(const unsigned char* program, unsigned* out, int length) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        unsigned a = i, b = 12345;
        for (int at = 0; at < length; ++at) switch (program[(at + i) % length]) {"""
        + cases
        + "default: b -= 1; } out[2 * i] = a; out[2 * i + 1] = b; }"
    )
    program = words(50, dtype=np.uint8) % 16
    _, out = run(source, 2, 40, [program, np.zeros(160, np.uint32)], 50)
    for i, found in enumerate(out.reshape(-1, 2).tolist()):
        a, b = i, 12345
        for at in range(50):
            code = int(program[(at + i) % 50])
            a, b = OPERATIONS[code][1](a, b) if code in OPERATIONS else (a, b - 1)
            a, b = a & U32, b & U32
        assert found == [a, b], i


def test_powers_modulo_64_bit_primes_by_128_bit_products(run):
    source = r"""
    typedef unsigned __int128 wide;
    extern "C" __global__ void k(const unsigned long long* base, const unsigned long long* exponent,
                                 const unsigned long long* modulus, unsigned long long* out) {
        int i = threadIdx.x;
        unsigned long long r = 1, b = base[i] % modulus[i];
        for (unsigned long long e = exponent[i]; e; e >>= 1) {
            if (e & 1) r = (wide)r * b % modulus[i];
            b = (wide)b * b % modulus[i];
        }
        out[i] = r;
    }"""
    base, exponent = words(32, 1, np.uint64), words(32, 2, np.uint64)
    modulus = words(32, 3, np.uint64) | np.uint64(1 << 63)
    options = cg.ProgramOptions(options=["--device-int128"])
    *_, out = run(source, 1, 32, [base, exponent, modulus, np.zeros(32, np.uint64)], options=options)
    expected = [
        pow(*values) for values in zip(base.tolist(), exponent.tolist(), modulus.tolist(), strict=True)
    ]
    assert out.tolist() == expected


def test_integer_intrinsics(run):
    calls = {
        "__brev(x)": lambda x, y: int(f"{x:032b}"[::-1], 2),
        "__popc(x)": lambda x, y: x.bit_count(),
        "__clz(x)": lambda x, y: 32 - x.bit_length(),
        "__ffs(x)": lambda x, y: (x & -x).bit_length(),
        "__umulhi(x, y)": lambda x, y: x * y >> 32,
        "__mulhi((int)x, (int)y)": lambda x, y: signed(x) * signed(y) >> 32,
        "__byte_perm(x, y, 0x5147)": lambda x, y: byte_perm(x, y, 0x5147),
        "__funnelshift_l(x, y, 13)": lambda x, y: (y << 32 | x) << 13 >> 32,
        "__funnelshift_rc(x, y, 40)": lambda x, y: y,
        "__usad(x, y, 7u)": lambda x, y: abs(x - y) + 7,
        "__uhadd(x, y)": lambda x, y: x + y >> 1,
        "__urhadd(x, y)": lambda x, y: x + y + 1 >> 1,
        "__umul24(x, y)": lambda x, y: (x & 0xFFFFFF) * (y & 0xFFFFFF),
        "__dp4a(x, y, 5u)": lambda x, y: 5 + sum((x >> k & 255) * (y >> k & 255) for k in (0, 8, 16, 24)),
        "__vadd2(x, y)": lambda x, y: (x + y & 0xFFFF) | ((x >> 16) + (y >> 16) & 0xFFFF) << 16,
        "__popcll((unsigned long long)x * y)": lambda x, y: (x * y).bit_count(),
        "(unsigned)(__umul64hi((unsigned long long)x << 32, (unsigned long long)y << 20) >> 4)": lambda x, y: (
            (x << 32) * (y << 20) >> 68
        ),
    }
    stores = "".join(f"out[{k} * n + i] = {call};" for k, call in enumerate(calls))
    source = (
        'extern "C" __global__ void k(const unsigned* a, const unsigned* b, unsigned* out, int n) {'
        f"int i = blockIdx.x * blockDim.x + threadIdx.x; unsigned x = a[i], y = b[i]; {stores} }}"
    )
    a, b = words(256, 1), words(256, 2)
    a[:9], b[:9] = [0, 0, 1, U32, U32, 1 << 31, 1 << 31, 255, 1], [0, U32, 0, U32, 1, 1 << 31, 1, 256, 1]
    *_, out = run(source, 4, 64, [a, b, np.zeros((len(calls), 256), np.uint32)], 256)
    for (call, truth), found in zip(calls.items(), out.tolist(), strict=True):
        assert found == [truth(x, y) & U32 for x, y in zip(a.tolist(), b.tolist(), strict=True)], call


def signed(x):
    return x - (1 << 32) if x >> 31 else x


def byte_perm(x, y, selector):
    both = y << 32 | x
    return sum((both >> 8 * (selector >> 4 * k & 7) & 255) << 8 * k for k in range(4))


def test_parameters_of_every_size_and_alignment(run):
    source = r"""
    struct Small { char a; short b; };
    struct Mixed { char a; double b; short c[3]; float d; };
    struct Large { int values[300]; };
    extern "C" __global__ void k(double* out, bool flag, signed char c, unsigned short s, long long l, float f,
                                 double d, Small small, Mixed mixed, Large large, unsigned char last) {
        double sum = 0;
        for (int v : large.values) sum += v;
        double found[] = {(double)flag, (double)c, (double)s, (double)l, f, d, (double)small.a, (double)small.b,
                          (double)mixed.a, mixed.b, (double)mixed.c[0], (double)mixed.c[2], mixed.d, sum, (double)last};
        for (int i = 0; i < 15; ++i) out[i] = found[i];
    }"""
    small = np.array((-7, -300), np.dtype([("a", "i1"), ("b", "<i2")], align=True))
    mixed = np.array(
        (5, 2.5, [10, 20, -30], 0.125),
        np.dtype([("a", "i1"), ("b", "<f8"), ("c", "<i2", 3), ("d", "<f4")], align=True),
    )
    large = np.array((np.arange(300),), np.dtype([("values", "<i4", 300)]))
    (out,) = run(
        source,
        1,
        1,
        [np.zeros(15)],
        *(np.bool_(True), np.int8(-3), np.uint16(65535), np.int64(-(2**40)), np.float32(1.5), 0.1),
        *(small[()], mixed[()], large[()], np.uint8(200)),
    )
    assert out.tolist() == [1, -3, 65535, -(2**40), 1.5, 0.1, -7, -300, 5, 2.5, 10, -30, 0.125, 44850, 200]


def test_a_device_variable_keeps_its_value_between_launches(device):
    source = r"""
    __device__ int counter = 5;
    __device__ float weights[3] = {0.5f, 0.25f, 2.0f};
    extern "C" __global__ void k(float* out) { out[atomicAdd(&counter, 1) - 5] = weights[threadIdx.x % 3]++; }"""
    bench = Bench(device)
    kernel = cg.Program(source, code_type="c++").compile("cubin").get_kernel("k")
    config = cg.LaunchConfig(grid=1, block=3)
    (first,) = bench.run(config, kernel, [np.zeros(9, np.float32)])
    (second,) = bench.run(config, kernel, [np.zeros(9, np.float32)])
    assert sorted(first[:3]) == [0.25, 0.5, 2.0]
    assert sorted(second[3:6]) == [1.25, 1.5, 3.0]
    assert not first[3:].any() and not second[:3].any()


def test_compare_and_swap_loops_make_any_operation_atomic(run):
    source = r"""
    extern "C" __global__ void k(const double* x, double* greatest, unsigned long long* product, float* exchanged) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        auto* bits = (unsigned long long*)greatest;
        unsigned long long seen = *bits, old;
        do { old = seen; if (__longlong_as_double(old) >= x[i]) break;
             seen = atomicCAS(bits, old, __double_as_longlong(x[i])); } while (seen != old);
        unsigned long long p = *product;
        while (true) { unsigned long long q = atomicCAS(product, p, p * (2 * i + 1)); if (q == p) break; p = q; }
        exchanged[i] = atomicExch(&exchanged[1024], (float)i);
    }"""
    x = np.random.default_rng(3).normal(size=1024)
    arrays = [x, np.array([-np.inf]), np.array([1], np.uint64), np.full(1025, -1, np.float32)]
    _, greatest, product, exchanged = run(source, 8, 128, arrays)
    assert greatest[0] == x.max()
    expected = 1
    for i in range(1024):
        expected = expected * (2 * i + 1) % (1 << 64)
    assert int(product[0]) == expected
    assert sorted(exchanged.tolist()) == [
        -1.0,
        *map(float, range(1024)),
    ]  # each value was seen by exactly one


def test_life_on_a_torus_through_many_launches(device):
    source = r"""
    extern "C" __global__ void k(const unsigned char* from, unsigned char* to, int n) {
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, count = 0;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
                if (dx || dy) count += from[(y + dy + n) % n * n + (x + dx + n) % n];
        to[y * n + x] = count == 3 || (count == 2 && from[y * n + x]);
    }"""
    n, steps = 32, 20
    kernel = cg.Program(source, code_type="c++").compile("cubin").get_kernel("k")
    bench, config = Bench(device), cg.LaunchConfig(grid=(4, 8), block=(8, 4))
    field = expected = (words(n * n, dtype=np.uint8) & 1).reshape(n, n)
    for _ in range(steps):
        _, field = bench.run(config, kernel, [field, np.zeros_like(field)], n)
        around = sum(np.roll(expected, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)) - expected
        expected = ((around == 3) | ((around == 2) & (expected == 1))).astype(np.uint8)
        assert (field == expected).all()


def test_scan_over_blocks_waits_for_the_block_before(run):
    """Blocks hand their sum on through global memory (the order of blocks is that of a ticket, not of their index)."""
    source = r"""
    extern "C" __global__ void k(const unsigned* x, unsigned* out, volatile unsigned* sums, volatile unsigned* ready,
                                 unsigned* ticket) {
        __shared__ unsigned part[128], before, block;
        int t = threadIdx.x;
        if (t == 0) block = atomicAdd(ticket, 1);
        __syncthreads();
        unsigned mine = x[block * 128 + t];
        part[t] = mine;
        for (int step = 1; step < 128; step *= 2) {
            __syncthreads();
            unsigned add = t >= step ? part[t - step] : 0;
            __syncthreads();
            part[t] += add;
        }
        __syncthreads();
        if (t == 127) {
            if (block == 0) before = 0;
            else { while (!ready[block - 1]) {} __threadfence(); before = sums[block - 1]; }
            sums[block] = before + part[127];
            __threadfence();
            ready[block] = 1;
        }
        __syncthreads();
        out[block * 128 + t] = before + part[t];
    }"""
    x = words(40 * 128)
    arrays = [x, np.zeros_like(x), np.zeros(40, np.uint32), np.zeros(40, np.uint32), np.zeros(1, np.uint32)]
    _, out, *_ = run(source, 40, 128, arrays)
    assert (out == np.cumsum(x, dtype=np.uint32)).all()


CHILD = r'''
import cuda_graphs as cg
device = cg.Device()
device.set_current()
stream = device.create_stream()
kernel = cg.Program(r"""{source}""", code_type="c++").compile("cubin").get_kernel("k")
cg.launch(stream, cg.LaunchConfig(grid={grid}, block={block}), kernel)
try:
    stream.sync()
except cg.CUDAError as error:
    print("name:", error.name)
'''


def test_printf_formats_as_c_does(run_child):
    source = r"""
    extern "C" __global__ void k() {
        printf("%d %5.2f [%-6s] %c %#x %lld %e %% %08u|%+d\n", -42, 3.14159, "ab", 'z', 255, -(1ll << 40), 12345.678,
               77u, 5);
        printf("no arguments\n");
    }"""
    child = run_child(CHILD.format(source=source, grid=1, block=1))
    assert child.returncode == 0, child.stderr
    assert (
        child.stdout == "-42  3.14 [ab    ] z 0xff -1099511627776 1.234568e+04 % 00000077|+5\nno arguments\n"
    )


def test_a_failed_assertion_is_an_error_with_its_place(run_child):
    source = r"""
    extern "C" __global__ void k() { assert(threadIdx.x + blockIdx.x != 3 && "too far"); }"""
    child = run_child(CHILD.format(source=source, grid=2, block=3))
    assert "name: CUDA_ERROR_ASSERT" in child.stdout, child.stderr
    assert "threadIdx.x + blockIdx.x != 3" in child.stdout + child.stderr
    assert "block: [1,0,0], thread: [2,0,0]" in child.stdout + child.stderr


def test_a_trap_is_an_error(run_child):
    child = run_child(CHILD.format(source='extern "C" __global__ void k() { __trap(); }', grid=1, block=1))
    assert (
        "name: CUDA_ERROR_LAUNCH_FAILED" in child.stdout
        or "name: CUDA_ERROR_ILLEGAL_INSTRUCTION" in child.stdout
    )


@pytest.mark.parametrize("threads", [1, 64])
def test_nanosleep_waits_about_as_long_as_it_is_asked_to(run, threads):
    """By the GPU's own clock. All threads of a block sleep at the same time. PTX ISA: "in the range [0, 2*t]"."""
    source = r"""
    extern "C" __global__ void k(unsigned long long* took, int times) {
        unsigned long long begin, end;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
        for (int i = 0; i < times; ++i) __nanosleep(1000000);
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
        took[threadIdx.x] = end - begin;
    }"""
    times = 20
    (took,) = run(source, 1, threads, [np.zeros(threads, np.uint64)], times)
    assert (took > times * 500_000).all()
    assert (took < times * 20_000_000).all()  # 64 threads one after the other: 64 ms a turn
