# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A picture as PNG, by the library resvg (the extra `png`)."""

from __future__ import annotations

__all__ = ["write_png"]

ZOOM = 2  # pixels of the PNG for each pixel of the SVG
MOST_PIXELS = 12_000  # of a side; larger pictures get fewer pixels


def write_png(svg: str, size: tuple[float, float]) -> bytes:
    """Return the PNG of an SVG document of one theme, whose width and height are `size`.

    Raises:
        ImportError: The library resvg is not installed.
    """
    try:
        from resvg_py import svg_to_bytes
    except ImportError as error:
        raise ImportError(
            "a PNG needs the library resvg: pip install 'cuda-graphs[png]' (SVG, HTML and DOT need no library)"
        ) from error
    zoom = min(ZOOM, MOST_PIXELS / max(size))
    return bytes(svg_to_bytes(svg_string=svg, width=round(size[0] * zoom), height=round(size[1] * zoom)))
