# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Decompositions of small matrices, and linear equations, in the language itself.

All of them use plane rotations. Eigenvectors come from Jacobi's method, singular vectors from its one-sided form by
Hestenes: rotations make the columns orthogonal, and a QR decomposition of them follows. One rotation is exact for a
matrix of 2 x 2. For 3 x 3, sweeps over all pairs of columns converge quadratically.

Gradients come from the equations that the results satisfy, by cg.replace_grad, and not from the rotations. A pair of
vectors whose values are equal has no derivative of its own: their rotation in their plane counts as constant.
"""

from __future__ import annotations

from typing import Any

from . import intrinsics as cg
from .general_eigenvectors import eig_of_three, identity, is_negligible, size_of

__all__ = ["eig", "polar_decompose", "qr", "solve", "svd", "sym_eig"]

# For each number of rows: the pairs of columns.
PAIRS = {2: ((0, 1),), 3: ((0, 1), (0, 2), (1, 2))}
MOST_SWEEPS = 15  # for NaN; f32 takes 3 to 5, f64 up to 7


@cg.func
def solve(a: Any, b: Any) -> Any:
    """Return x with `a @ x = b`, for a matrix up to 4 x 4 and a vector or matrix. Singular matrices give inf or NaN."""
    for k in cg.static(range(a.n)):
        for i in cg.static(range(k + 1, a.n)):  # the largest pivot
            larger = abs(a[i, k]) > abs(a[k, k])
            a[k], a[i] = cg.select(larger, a[i], a[k]), cg.select(larger, a[k], a[i])
            b[k], b[i] = cg.select(larger, b[i], b[k]), cg.select(larger, b[k], b[i])
        for i in cg.static(range(k + 1, a.n)):
            factor = a[i, k] / a[k, k]
            a[i] -= factor * a[k]
            b[i] -= factor * b[k]
    for k in cg.static(range(a.n - 1, -1, -1)):
        for j in cg.static(range(k + 1, a.n)):
            b[k] -= a[k, j] * b[j]
        b[k] /= a[k, k]
    return b


@cg.func
def sym_eig(m: Any) -> Any:
    """Return the ascending eigenvalues, and the eigenvectors as columns, of the symmetric part of a matrix."""
    symmetric = (m + cg.transpose(m)) * 0.5
    w, v = eigenvectors(cg.stop_grad(symmetric))
    size = max(abs(w[0]), abs(w[m.n - 1]))
    change = cg.transpose(v) @ symmetric @ v
    turn = cg.zero(m)
    exact = cg.zero(w)
    for i in cg.static(range(m.n)):
        exact[i] = change[i, i]
    for p, q in cg.static(PAIRS[m.n]):
        gap = w[q] - w[p]
        if not is_negligible(gap * 0.125, size):
            turn[p, q] = change[p, q] / gap
            turn[q, p] = -turn[p, q]
    return cg.replace_grad(w, exact), cg.replace_grad(v, v @ turn)


@cg.func
def svd(m: Any) -> Any:
    """Return (u, s, v) with m = u @ s @ transpose(v): rotations u and v, and a diagonal matrix s in descending order.

    The last singular value has the sign of the determinant.
    """
    u, s, v = singular_vectors(cg.stop_grad(m))
    change = cg.transpose(u) @ m @ v
    values, left, right = cg.zero(m), cg.zero(m), cg.zero(m)
    for i in cg.static(range(m.n)):
        values[i, i] = change[i, i]
    for p, q in cg.static(PAIRS[m.n]):
        total, gap = s[q, q] + s[p, p], s[q, q] - s[p, p]
        if not is_negligible(min(abs(total), abs(gap)) * 0.125, s[0, 0]):
            left[p, q] = (s[q, q] * change[p, q] + s[p, p] * change[q, p]) / total / gap
            right[p, q] = (s[p, p] * change[p, q] + s[q, q] * change[q, p]) / total / gap
            left[q, p], right[q, p] = -left[p, q], -right[p, q]
    return cg.replace_grad(u, u @ left), cg.replace_grad(s, values), cg.replace_grad(v, v @ right)


@cg.func
def polar_decompose(m: Any) -> Any:
    """Return (r, p) with m = r @ p: the rotation that is nearest to a matrix, and a symmetric matrix."""
    u, s, v = singular_vectors(cg.stop_grad(m))
    change = cg.transpose(u) @ m @ v
    turn = cg.zero(m)
    for p, q in cg.static(PAIRS[m.n]):
        total = s[p, p] + s[q, q]
        if not is_negligible(total * 0.125, s[0, 0]):
            turn[p, q] = (change[p, q] - change[q, p]) / total
            turn[q, p] = -turn[p, q]
    rotation = u @ cg.transpose(v)
    rotation = cg.replace_grad(rotation, u @ turn @ cg.transpose(v))
    stretch = cg.transpose(rotation) @ m
    return rotation, (stretch + cg.transpose(stretch)) * 0.5


@cg.func
def qr(m: Any) -> Any:
    """Return (q, r) with m = q @ r: a rotation, and an upper triangular matrix.

    The diagonal of r is not negative, but its last number has the sign of the determinant.
    """
    q, r = triangular(cg.stop_grad(m))
    change = cg.transpose(q) @ m @ cg.inverse(r)
    turn = cg.zero(m)
    for i, j in cg.static(PAIRS[m.n]):
        turn[i, j], turn[j, i] = -change[j, i], change[j, i]
    q = cg.replace_grad(q, q @ turn)
    upper = cg.transpose(q) @ m
    for i, j in cg.static(PAIRS[m.n]):
        upper[j, i] *= 0.0
    return q, cg.replace_grad(r, upper)


@cg.func
def eig(m: Any) -> Any:
    """Return the eigenvalues and eigenvectors of a matrix as complex numbers.

    Row i of the values is the real and the imaginary part of eigenvalue i. The vectors are a 4 x 2 or a 6 x 3 matrix:
    column i is eigenvector i, of length 1, with the real and the imaginary part of each component in turn.
    """
    size = size_of(m)
    if cg.static(m.n == 3):
        values, vectors = eig_of_three(m / size)
    else:
        values, vectors = eig_of_two(m / size)
    return values * size, vectors


@cg.func
def eig_of_two(m: Any) -> Any:
    """Return (values, vectors) as eig does, for a matrix of 2 x 2 of size 1."""
    half, product = (m[0, 0] - m[1, 1]) * 0.5, m[0, 1] * m[1, 0]
    square = half * half + product
    values = cg.zero(m)
    first, second, imaginary = cg.zero(m[0]), cg.zero(m[0]), cg.zero(half)
    if square < 0:
        imaginary = cg.sqrt(-square)
        first[0], first[1] = half, m[1, 0]
        second[0], second[1] = half, m[1, 0]
        values[0, 0], values[1, 0] = m[1, 1] + half, m[1, 1] + half
        values[0, 1], values[1, 1] = imaginary, -imaginary
    else:
        root = half + cg.select(half < 0, -cg.sqrt(square), cg.sqrt(square))  # the larger of the two
        values[0, 0], values[1, 0] = m[1, 1] + root, m[1, 1]
        if root != 0:
            values[1, 0] -= product / root
        first[0], first[1] = root, m[1, 0]
        second[0], second[1] = m[0, 1], -root
        if first.norm_sqr() == 0:
            first[0], first[1] = cg.select(m[0, 1] == 0, cg.one(root), m[0, 1]), root
        if second.norm_sqr() == 0:
            second[0], second[1] = root, cg.select(m[1, 0] == 0, cg.one(root), m[1, 0])
    size = cg.stop_grad(max(size_of(first), imaginary))
    first, second, turn = (
        first / size,
        second / cg.stop_grad(max(size_of(second), imaginary)),
        imaginary / size,
    )
    scale = 1.0 / cg.sqrt(first.norm_sqr() + turn * turn)
    first, second, turn = first * scale, second / cg.sqrt(second.norm_sqr() + turn * turn), turn * scale
    none = cg.zero(turn)
    return values, cg.vector((first.x, second.x), (turn, -turn), (first.y, second.y), (none, none))


@cg.func
def rotation_of(difference: Any, twice: Any) -> Any:
    """Return the cosine and the sine of the smaller angle t with tan(2 t) = twice / difference."""
    ratio = difference / twice
    size = 1.0 / (abs(ratio) + cg.sqrt(ratio * ratio + 1.0))
    tangent = cg.select(ratio < 0.0, -size, size)
    cosine = 1.0 / cg.sqrt(tangent * tangent + 1.0)
    return cosine, tangent * cosine


@cg.func
def eigenvectors(a: Any) -> Any:
    """Return the eigenvalues, ascending, and the eigenvectors as columns, of a symmetric matrix."""
    v, busy = identity(a), True  # rows are vectors
    if cg.static(a.n == 2):
        a, v, busy = rotate_symmetric(a, v)
    else:
        sweep = 0
        while busy and sweep < MOST_SWEEPS:
            a, v, busy = rotate_symmetric(a, v)
            sweep += 1
    w = cg.zero(a[0])
    for i in cg.static(range(a.n)):
        w[i] = a[i, i]
    for p, q in cg.static(PAIRS[a.n]):
        swap = w[q] < w[p]
        w[p], w[q] = cg.select(swap, w[q], w[p]), cg.select(swap, w[p], w[q])
        v[p], v[q] = cg.select(swap, v[q], v[p]), cg.select(swap, -v[p], v[q])
    return w, cg.transpose(v)


@cg.func
def rotate_symmetric(a: Any, v: Any) -> Any:
    """Return a symmetric matrix and rows of vectors after one sweep of rotations, and whether there were any."""
    busy = False
    for p, q in cg.static(PAIRS[a.n]):
        if not is_negligible(a[p, q], abs(a[p, p]) + abs(a[q, q])):
            busy = True
            cosine, sine = rotation_of(a[q, q] - a[p, p], 2.0 * a[p, q])
            shift = sine / cosine * a[p, q]
            a[p, p] -= shift
            a[q, q] += shift
            a[p, q], a[q, p] = cg.zero(shift), cg.zero(shift)
            for r in cg.static([r for r in range(a.n) if r not in (p, q)]):
                a[p, r], a[q, r] = cosine * a[p, r] - sine * a[q, r], sine * a[p, r] + cosine * a[q, r]
                a[r, p], a[r, q] = a[p, r], a[q, r]
            v[p], v[q] = cosine * v[p] - sine * v[q], sine * v[p] + cosine * v[q]
    return a, v, busy


@cg.func
def singular_vectors(m: Any) -> Any:
    """Return (u, s, v) as svd does, without gradients."""
    size = size_of(m)
    b, v, busy = cg.transpose(m) / size, identity(m), True  # rows are columns of m and v
    if cg.static(m.n == 2):
        b, v, busy = rotate_columns(b, v)
    else:
        sweep = 0
        while busy and sweep < MOST_SWEEPS:
            b, v, busy = rotate_columns(b, v)
            sweep += 1
    for p, q in cg.static(PAIRS[m.n]):
        swap = b[p].norm_sqr() < b[q].norm_sqr()
        b[p], b[q] = cg.select(swap, b[q], b[p]), cg.select(swap, -b[p], b[q])
        v[p], v[q] = cg.select(swap, v[q], v[p]), cg.select(swap, -v[p], v[q])
    u, r = triangular(cg.transpose(b))
    s = cg.zero(m)
    for i in cg.static(range(m.n)):
        s[i, i] = r[i, i] * size
    return u, s, cg.transpose(v)


@cg.func
def rotate_columns(b: Any, v: Any) -> Any:
    """Return rows that are more orthogonal, and other rows in the same rotations, and whether there were any."""
    busy = False
    for p, q in cg.static(PAIRS[b.n]):
        x, y, product = b[p].norm_sqr(), b[q].norm_sqr(), b[p].dot(b[q])
        if not is_negligible(product * 0.125, cg.sqrt(x * y)):
            busy = True
            cosine, sine = rotation_of(y - x, 2.0 * product)
            b[p], b[q] = cosine * b[p] - sine * b[q], sine * b[p] + cosine * b[q]
            v[p], v[q] = cosine * v[p] - sine * v[q], sine * v[p] + cosine * v[q]
    return b, v, busy


@cg.func
def triangular(m: Any) -> Any:
    """Return (q, r) as qr does, without gradients, by Givens rotations."""
    r, q = m, identity(m)  # columns of the result are rows of q
    for i, j in cg.static(PAIRS[m.n]):
        size = max(abs(r[i, i]), abs(r[j, i]))
        size = cg.select(size > 0, size, cg.one(size))
        x, y = r[i, i] / size, r[j, i] / size
        length = cg.sqrt(x * x + y * y)
        empty = length == 0
        cosine, sine = cg.select(empty, cg.one(x), x / length), cg.select(empty, cg.zero(x), y / length)
        r[i], r[j] = cosine * r[i] + sine * r[j], cosine * r[j] - sine * r[i]
        r[j, i] = cg.zero(x)
        q[i], q[j] = cosine * q[i] + sine * q[j], cosine * q[j] - sine * q[i]
    return cg.transpose(q), r
