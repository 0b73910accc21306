# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues and eigenvectors of general 3 x 3 matrices, as functions of kernels.

The real Schur form comes from QR steps with two shifts at once (Francis, 1961; Golub and Van Loan, "Matrix
Computations", chapter 7), its eigenvectors from substitution. A complex vector is a pair of vectors, and three of them
are the rows of a pair of matrices.
"""

from __future__ import annotations

from typing import Any

from . import intrinsics as cg

__all__ = ["eig_of_three", "identity", "is_negligible", "size_of"]

MOST_STEPS = 60  # for NaN; f64 takes up to 39
OTHER_SHIFTS = 10  # steps after which another rotation breaks a cycle, and hurries slow convergence
ROUNDED = 4.0  # sums that round the errors of a step away, which small blocks never get below


@cg.func
def is_negligible(x: Any, size: Any) -> Any:
    """Return whether a sum with `size` rounds x away."""
    return abs(size) + abs(x) == abs(size)


@cg.func
def identity(m: Any) -> Any:
    """Return the identity in the type of a square matrix."""
    found = cg.zero(m)
    for i in cg.static(range(m.n)):
        found[i, i] = cg.one(m[i, i])
    return found


@cg.func
def size_of(x: Any) -> Any:
    """Return the largest number of a vector or matrix, without sign and gradient, or 1 if all are 0.

    Squares of x / size_of(x) do not overflow, and their sum is not rounded to 0.
    """
    size = cg.stop_grad(abs(x).max())
    return cg.select(size > 0, size, cg.one(size))


@cg.func
def eig_of_three(m: Any) -> Any:
    """Return (values, vectors) as cg.eig does, for a matrix of size 1."""
    real, imaginary, x, y = vectors_of(cg.stop_grad(m))
    exact_real, exact_imaginary, u, v = corrected(m, real, imaginary, x, y)
    real, imaginary = cg.replace_grad(real, exact_real), cg.replace_grad(imaginary, exact_imaginary)
    x, y = cg.replace_grad(x, u), cg.replace_grad(y, v)
    values = cg.vector((real[0], imaginary[0]), (real[1], imaginary[1]), (real[2], imaginary[2]))
    columns = cg.transpose(x), cg.transpose(y)
    return values, cg.vector(
        columns[0][0], columns[1][0], columns[0][1], columns[1][1], columns[0][2], columns[1][2]
    )


@cg.func
def vectors_of(m: Any) -> Any:
    """Return the eigenvalues and the eigenvectors, each as real and imaginary parts, without gradients."""
    t, z, low = schur(m)
    real, imaginary, x, y = cg.zero(t[0]), cg.zero(t[0]), identity(t), cg.zero(t)
    half, above, below = (t[low, low] - t[low + 1, low + 1]) * 0.5, t[low, low + 1], t[low + 1, low]
    square = half * half + above * below
    is_upper = abs(above) > abs(below)  # the larger one hides the rounding errors of `half`
    if square >= 0:
        root = half + cg.select(half < 0, -cg.sqrt(square), cg.sqrt(square))
        t, z = turned(t, z, low, low + 1, cg.select(is_upper, above, root), cg.select(is_upper, -root, below))
        x[1, 0] = -quotient(t[0, 1], t[0, 0] - t[1, 1])
        x[2, 1] = -quotient(t[1, 2], t[1, 1] - t[2, 2])
        x[2, 0] = -quotient(t[0, 1] * x[2, 1] + t[0, 2], t[0, 0] - t[2, 2])
        real[0], real[1], real[2] = t[0, 0], t[1, 1], t[2, 2]
    else:
        turn, other, none = cg.sqrt(-square), 2 - 2 * low, cg.zero(square)
        middle = t[low + 1, low + 1] + half
        real[low], real[low + 1], real[other] = middle, middle, t[other, other]
        imaginary[low], imaginary[low + 1] = turn, -turn
        p, q = cg.select(is_upper, above, half), cg.select(is_upper, -half, below)
        r, s = cg.select(is_upper, none, turn), cg.select(is_upper, turn, none)
        x[low, low], x[low, low + 1], x[low + 1, low], x[low + 1, low + 1] = p, q, p, q
        y[low, low], y[low, low + 1], y[low + 1, low], y[low + 1, low + 1] = r, s, -r, -s
        if low == 0:
            first, second = t[0], t[1]
            first[0], second[1] = t[0, 0] - t[2, 2], t[1, 1] - t[2, 2]
            swap = abs(second[0]) > abs(first[0])
            first, second = cg.select(swap, second, first), cg.select(swap, first, second)
            second -= second[0] / first[0] * first
            x[2, 1] = -quotient(second[2], second[1])
            x[2, 0] = -quotient(first[2] + first[1] * x[2, 1], first[0])
        else:
            gap = t[0, 0] - middle
            gap = cg.select(is_negligible(turn, cg.one(turn)), apart(gap), gap)
            whole = gap * gap + turn * turn
            up, down = t[0, 1] * p + t[0, 2] * q, t[0, 1] * r + t[0, 2] * s
            x[1, 0] = (turn * down - gap * up) / whole
            y[1, 0] = -(gap * down + turn * up) / whole
            x[2, 0], y[2, 0] = x[1, 0], -y[1, 0]
    x, y = normal(x @ z, y @ z)
    return real, imaginary, x, y


@cg.func
def quotient(x: Any, gap: Any) -> Any:
    """Return x / gap for a matrix of size 1, whose equal eigenvalues are taken apart by a rounding error."""
    return x / apart(gap)


@cg.func
def apart(gap: Any) -> Any:
    """Return `gap`, or a rounding error of numbers of size 1 in place of a smaller one."""
    one = cg.one(gap)
    single = is_negligible(one * 2.0**-30, one)
    unit = cg.select(single, one * 2.0**-23, one * 2.0**-52)
    return cg.select(is_negligible(gap, one), unit, gap)


@cg.func
def schur(m: Any) -> Any:
    """Return (t, z, low) with m = transpose(z) @ t @ z and a rotation z.

    Below the diagonal, t has zeros but for the place (low + 1, low).
    """
    t, z = turned(m, identity(m), 1, 2, m[1, 0], m[2, 0])
    step = 0
    floor = cg.zero(t[0, 0])
    while step < MOST_STEPS and not (is_split(t, 0, floor) or is_split(t, 1, floor)):
        gap = t[0, 0] - t[2, 2]  # differences keep their accuracy near a multiple of the identity
        b, c = t[1, 0] * gap, t[1, 0] * t[2, 1]
        a = (t[0, 0] - t[1, 1]) * gap - t[1, 2] * t[2, 1] + t[0, 1] * t[1, 0]
        if step % OTHER_SHIFTS == OTHER_SHIFTS - 1:
            a = 0.5 * a + abs(b) + abs(c)
        t, z = turned(t, z, 1, 2, b, c)
        t, z = turned(t, z, 0, 1, a, cg.sqrt(b * b + c * c))
        t, z = turned(t, z, 1, 2, t[1, 0], t[2, 0])
        step += 1
        if step > OTHER_SHIFTS:
            floor = ROUNDED * cg.one(floor)
    low = 1
    if is_split(t, 1, floor):
        low = 0
    return t, z, low


@cg.func
def is_split(t: Any, k: Any, floor: Any) -> Any:
    """Return whether the number below the diagonal in column k is negligible."""
    return is_negligible(t[k + 1, k], max(abs(t[k, k]) + abs(t[k + 1, k + 1]), floor))


@cg.func
def turned(t: Any, z: Any, p: Any, q: Any, a: Any, b: Any) -> Any:
    """Return (t, z) after the rotation of the axes p and q that turns the vector (a, b) there to (length, 0)."""
    size = max(abs(a), abs(b))
    if size > 0:
        a, b = a / size, b / size
        length = cg.sqrt(a * a + b * b)
        cosine, sine = a / length, b / length
        for k in cg.static(range(3)):
            t[p, k], t[q, k] = cosine * t[p, k] + sine * t[q, k], cosine * t[q, k] - sine * t[p, k]
        for k in cg.static(range(3)):
            t[k, p], t[k, q] = cosine * t[k, p] + sine * t[k, q], cosine * t[k, q] - sine * t[k, p]
            z[p, k], z[q, k] = cosine * z[p, k] + sine * z[q, k], cosine * z[q, k] - sine * z[p, k]
    return t, z


@cg.func
def normal(x: Any, y: Any) -> Any:
    """Return complex rows of length 1 whose largest component is real and positive."""
    for k in cg.static(range(3)):
        a, b = x[k, 0], y[k, 0]
        for i in cg.static(range(1, 3)):
            if x[k, i] * x[k, i] + y[k, i] * y[k, i] > a * a + b * b:
                a, b = x[k, i], y[k, i]
        length = cg.sqrt(a * a + b * b)
        a, b = a / length, b / length
        x[k], y[k] = (x[k] * a + y[k] * b) / length, (y[k] * a - x[k] * b) / length
        scale = 1.0 / cg.sqrt(x[k].norm_sqr() + y[k].norm_sqr())
        x[k], y[k] = x[k] * scale, y[k] * scale
    return x, y


@cg.func
def corrected(m: Any, real: Any, imaginary: Any, x: Any, y: Any) -> Any:
    """Return eigenvalues and eigenvectors of m to the first order of its difference from the matrix that has these.

    The derivative of this is that of the eigenvalues and eigenvectors. Pairs of equal eigenvalues add nothing to the
    derivatives of vectors. All derivatives are 0 where the vectors are dependent.
    """
    left, right = inverse_rows(x, y)
    a, b = (
        left @ m @ cg.transpose(x) - right @ m @ cg.transpose(y),
        left @ m @ cg.transpose(y) + right @ m @ cg.transpose(x),
    )
    u, v = x, y
    for i, k in cg.static([(i, k) for i in range(3) for k in range(3) if i != k]):
        gap, turn = real[k] - real[i], imaginary[k] - imaginary[i]
        whole = gap * gap + turn * turn
        if not is_negligible(max(abs(gap), abs(turn)) * 0.125, cg.one(gap)):
            p, q = (a[i, k] * gap + b[i, k] * turn) / whole, (b[i, k] * gap - a[i, k] * turn) / whole
            u[k] += p * x[i] - q * y[i]
            v[k] += p * y[i] + q * x[i]
    u, v = normal(u, v)
    return cg.vector(a[0, 0], a[1, 1], a[2, 2]), cg.vector(b[0, 0], b[1, 1], b[2, 2]), u, v


@cg.func
def inverse_rows(x: Any, y: Any) -> Any:
    """Return the complex rows whose products with the rows (x, y) are those of the identity; 0 for singular rows."""
    left, right = cg.zero(x), cg.zero(x)
    for k in cg.static(range(3)):
        i, j = cg.static((k + 1) % 3), cg.static((k + 2) % 3)
        left[k] = x[i].cross(x[j]) - y[i].cross(y[j])
        right[k] = x[i].cross(y[j]) + y[i].cross(x[j])
    p, q = left[0].dot(x[0]) - right[0].dot(y[0]), left[0].dot(y[0]) + right[0].dot(x[0])
    whole = p * p + q * q
    if is_negligible(whole, cg.one(whole)):
        return cg.zero(x), cg.zero(x)
    return (left * p + right * q) / whole, (right * p - left * q) / whole
