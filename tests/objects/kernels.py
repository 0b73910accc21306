# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that the tests of this folder launch."""

SOURCE = r"""
extern "C" __global__ void fill(int* x, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = value;
}

extern "C" __global__ void nothing() {}

extern "C" __global__ void shape(unsigned* out) {
    out[0] = gridDim.x; out[1] = gridDim.y; out[2] = gridDim.z;
    out[3] = blockDim.x; out[4] = blockDim.y; out[5] = blockDim.z;
}

struct Pair { double x; int n; };
extern "C" __global__ void take_pair(Pair pair, double* out) { out[0] = pair.x; out[1] = pair.n; }

extern "C" __global__ void spin(volatile int* flag) { while (*flag == 0) {} }

template <class T> __global__ void take(T value, T* out) { *out = value; }

template <class T> struct Complex { T re, im; };
struct Half { unsigned short bits; };

extern "C" __global__ void shared(int* out) {
    extern __shared__ int part[];
    part[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void many(long long* out, int a0, int a1, int a2, int a3, int a4, int a5, int a6, int a7, int a8,
    int a9, int a10, int a11, int a12, int a13, int a14, int a15, int a16, int a17, int a18, int a19, int a20, int a21,
    int a22, int a23, int a24, int a25, int a26, int a27, int a28, int a29, int a30, int a31, int a32, int a33, int a34,
    int a35, int a36, int a37, int a38, int a39) {
    int all[40] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21,
        a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39};
    long long sum = 0;
    for (int i = 0; i < 40; ++i) sum += (long long)all[i] * (i + 1);
    *out = sum;
}
"""

TYPES = {
    "i1": "signed char",
    "u1": "unsigned char",
    "i2": "short",
    "u2": "unsigned short",
    "i4": "int",
    "u4": "unsigned int",
    "i8": "long long",
    "u8": "unsigned long long",
    "f2": "Half",
    "f4": "float",
    "f8": "double",
    "c8": "Complex<float>",
    "c16": "Complex<double>",
    "?": "bool",
}
"""NumPy's name of a type -> how C++ calls it in `take`."""
