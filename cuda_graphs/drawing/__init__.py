# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of graphs. This package knows neither CUDA nor the classes of graphs: it draws a Scene.

A Scene (scene.py) says what is drawn: boxes, links, frames and lanes. `folding` replaces repeated patterns by one box,
`layout` places everything, and the writers (`svg`, `png`, `dot`, `tree`) read the result. `graph/display/` makes the
Scene of a definition.

Other rooms may import:
    gantt    charts of what ran when
    kinds    tables of kinds, colours and links
    picture  a Scene in all formats
    ranking  a topological order near the order of the numbers
    scene    the parts of a picture
    table    tables for notebooks
    text     sizes in words
"""
