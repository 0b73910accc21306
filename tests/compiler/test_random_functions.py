# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: random integers and normal numbers are the same on all targets, and so are vectors and structures as results."""

from dataclasses import dataclass

import numpy as np

from tests.compiler.rig import cg, run_all


def integers(x: cg.ndarray(cg.i32, 1), y: cg.ndarray(cg.u64, 1)):
    for i in x:
        x[i] = cg.random_integer(-i, i)
        y[i] = cg.random_integer(cg.u64(7), cg.u64(2**63))


def test_random_integers_are_the_same_on_all_targets():
    found = run_all(integers, x=np.zeros(50, "i4"), y=np.zeros(50, "u8"))
    i = np.arange(50)
    assert found["x"][0] == 0 and (found["x"] >= -i).all() and (found["x"][1:] < i[1:]).all()
    assert len(set(found["y"].tolist())) == 50


def normals(x: cg.ndarray(cg.f32, 1), y: cg.ndarray(cg.f64, 1)):
    for i in x:
        x[i] = cg.random_normal()
        y[i] = cg.random_normal(cg.f64)


def test_normal_numbers_are_alike_on_all_targets():
    found = run_all(normals, exact=False, x=np.zeros(50, "f4"), y=np.zeros(50))
    assert np.isfinite(found["x"]).all() and len(set(found["y"].tolist())) == 50


@dataclass
class Pair:
    at: cg.vec2
    count: cg.i64


def returned(x: cg.f32) -> tuple[Pair, cg.mat2, cg.f64]:
    return Pair((x, 2), 3), cg.mat2(x, 0, 0, 1), 0.1


def test_results_are_the_same_on_all_targets():
    assert run_all(returned, x=1.5) == (1.5, 2, 3, 1.5, 0, 0, 1, 0.1)
