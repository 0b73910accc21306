# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Twelve whole programs for whole_programs.py, a file each, with our version and that of each peer.

A file has these names:

    SIZES                    size -> parameters of `data`
    TOLERANCE                largest difference of two results, divided by the largest magnitude of the wanted one
    data(...)                the arrays and numbers of a run, a dictionary
    truth(...)               the result of NumPy for these data
    work(done, ...)          Work: the bytes or operations that a run needs at least, from the parameters of a size;
                             `done` is the number of iterations if the program decides it, and 0 for others
    smallest(done, size)     parameters with as many launches as those of a size, and next to no work
    with_PEER(kit, ...)      Run: the program through a library, whose arrays `kit` makes (kits.py)

A version of a peer follows an example of its makers, linked above it, and is written anew. A peer without a version is
absent. Imports of a library stand in its function, because each contestant is a process of its own. lattice.py has what
the two lattices share, arrays.py the loops of array libraries, kits.py their arrays, limits.py the limits.
"""

PROGRAMS = {
    "jacobi": "2-D Jacobi to a tolerance",
    "cg_3d": "3-D conjugate gradients to a tolerance",
    "lattice_d2q9": "lattice Boltzmann D2Q9",
    "lattice_d3q19": "lattice Boltzmann D3Q19",
    "mpm": "MLS-MPM",
    "fdtd": "FDTD",
    "n_body": "n-body leapfrog",
    "small_odes": "10^5 small ODEs",
    "springs": "mass-spring with gradient",
    "attention": "attention block",
    "page_rank": "sparse PageRank",
    "equalise": "histogram equalisation",
}
"""File -> title, in the order of tables."""
