# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A photograph becomes a drawing: kernels in Python on a picture of vectors, as one graph.

A bilateral filter smooths similar colours and keeps edges: each pixel becomes the mean of its neighbours, weighted by
their distance and by the difference of their colours. A few passes leave areas of one colour. Then the gradient of the
brightness (Sobel) draws outlines. The width of the colour weights is a parameter of the graph, so each launch can use
another width. The result is compared with NumPy.

The picture is the portrait of Grace Hopper that matplotlib ships, or any file that matplotlib reads (--input file.png).

    python examples/image_filter.py [--input file.png] [--passes 3] [--output picture.png]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import cuda_graphs as cg

RADIUS = 3  # radius of the neighbourhood, in pixels
NEAR = 2.0  # width of the weights of distance, in pixels
FAINT, STRONG = 0.35, 1.0  # gradients of brightness between which outlines appear

Picture = cg.Array2[cg.vec3]  # red, green, blue from 0 to 1: an array of shape (rows, columns, 3)


@cg.func
def pixel(picture: Picture, i: cg.i32, j: cg.i32) -> cg.vec3:
    """Return the pixel, or the nearest pixel of the rim."""
    rows, columns = picture.shape
    return picture[cg.clamp(i, 0, rows - 1), cg.clamp(j, 0, columns - 1)]


@cg.func
def brightness(picture: Picture, i: cg.i32, j: cg.i32) -> cg.f32:
    return cg.dot(pixel(picture, i, j), cg.vec3(0.299, 0.587, 0.114))


@cg.kernel
def smooth(source: Picture, target: Picture, alike: cg.f32) -> None:
    for i, j in source:
        here = source[i, j]
        total, weights = cg.vec3(0.0), 0.0
        for di, dj in cg.ndrange((-RADIUS, RADIUS + 1), (-RADIUS, RADIUS + 1)):
            there = pixel(source, i + di, j + dj)
            change = there - here
            far = (di * di + dj * dj) / (2.0 * NEAR * NEAR)
            weight = cg.exp(-far - cg.dot(change, change) / (2.0 * alike * alike))
            total += weight * there
            weights += weight
        target[i, j] = total / weights


@cg.kernel
def outline(source: Picture, target: Picture) -> None:
    for i, j in source:
        across, down = 0.0, 0.0
        for k in cg.static(range(-1, 2)):
            across += (2.0 - abs(k)) * (brightness(source, i + k, j + 1) - brightness(source, i + k, j - 1))
            down += (2.0 - abs(k)) * (brightness(source, i + 1, j + k) - brightness(source, i - 1, j + k))
        ink = cg.smoothstep(FAINT, STRONG, cg.sqrt(across * across + down * down))
        target[i, j] = source[i, j] * (1.0 - ink)


def draw_on_device(photo: np.ndarray, passes: int, widths: list[float]) -> tuple[list[np.ndarray], float]:
    """Return the drawing for each width of the colour weights, and the seconds of a launch and its transfer."""
    device = cg.Device()
    device.set_current()
    stream = device.create_stream()
    original, a, b = (cg.ndarray(cg.vec3, photo.shape[:2]) for _ in range(3))
    original.from_numpy(photo)

    g = cg.GraphDef()
    alike = g.param("alike", cg.f32)
    node, source, target = g, original, a
    for i in range(passes):
        node = node.call(smooth, source, target, alike, name=f"smooth {i}")
        source, target = target, b if target is a else a
    node.call(outline, source, target, name="outline")
    graph = g.instantiate()
    graph.upload(stream)
    stream.sync()

    drawings, start = [], time.perf_counter()
    for width in widths:
        graph.launch(stream, alike=width)
        drawings.append(target.to_numpy())
    return drawings, (time.perf_counter() - start) / len(widths)


def draw_in_numpy(photo: np.ndarray, passes: int, alike: float) -> np.ndarray:
    """Return the same drawing, computed by NumPy in double precision."""
    rows, columns, _ = photo.shape

    def moved(z: np.ndarray, di: int, dj: int) -> np.ndarray:
        i, j = np.clip(np.arange(rows) + di, 0, rows - 1), np.clip(np.arange(columns) + dj, 0, columns - 1)
        return z[i[:, None], j]

    z, near = photo.astype(np.float64), range(-RADIUS, RADIUS + 1)
    for _ in range(passes):
        total, weights = np.zeros_like(z), np.zeros((rows, columns, 1))
        for di, dj in [(di, dj) for di in near for dj in near]:
            there = moved(z, di, dj)
            change = ((there - z) ** 2).sum(axis=2, keepdims=True)
            weight = np.exp(-(di * di + dj * dj) / (2 * NEAR**2) - change / (2 * alike**2))
            total += weight * there
            weights += weight
        z = total / weights
    bright = z @ [0.299, 0.587, 0.114]
    across = sum((2 - abs(k)) * (moved(bright, k, 1) - moved(bright, k, -1)) for k in (-1, 0, 1))
    down = sum((2 - abs(k)) * (moved(bright, 1, k) - moved(bright, -1, k)) for k in (-1, 0, 1))
    t = np.clip((np.hypot(across, down) - FAINT) / (STRONG - FAINT), 0, 1)
    return np.asarray(z * (1 - t * t * (3 - 2 * t))[..., None])


def load(path: Path | None) -> np.ndarray:
    """Return a picture as float32 from 0 to 1, of shape (rows, columns, 3)."""
    from matplotlib.cbook import get_sample_data
    from matplotlib.image import imread

    photo = imread(path or get_sample_data("grace_hopper.jpg", asfileobj=False))
    if photo.ndim != 3 or photo.shape[2] < 3:
        raise SystemExit(f"{path} holds an array of shape {photo.shape}; a picture here has colours")
    scale = np.float32(255 if photo.dtype == np.uint8 else 1)
    return np.ascontiguousarray(photo[..., :3], np.float32) / scale


def save(path: Path, pictures: dict[str, np.ndarray]) -> None:
    """Write all pictures side by side into one file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4 * len(pictures), 5), layout="constrained")
    for axes, (title, picture) in zip(figure.subplots(1, len(pictures)), pictures.items(), strict=True):
        axes.imshow(np.clip(picture, 0, 1))
        axes.set(title=title)
        axes.axis("off")
    figure.savefig(path, dpi=100)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "--input", type=Path, help="a picture with colours, in a format that matplotlib reads"
    )
    parser.add_argument("--passes", type=int, default=3, help="of the bilateral filter, 1 or more")
    parser.add_argument("--output", type=Path, default=Path("image_filter.png"), help="the picture to write")
    options = parser.parse_args()
    if options.passes < 1:
        raise SystemExit("--passes must be 1 or more")

    photo = load(options.input)
    print(f"{cg.driver_info()}\npicture: {photo.shape[0]} x {photo.shape[1]} pixels")
    widths = [0.05, 0.15]
    drawings, seconds = draw_on_device(photo, options.passes, widths)
    print(
        f"graph of {options.passes + 1} kernels: {seconds * 1e3:.1f} ms a launch, with the copy to the host"
    )

    start = time.perf_counter()
    expected = draw_in_numpy(photo, options.passes, widths[0])
    print(f"NumPy: {(time.perf_counter() - start) * 1e3:.1f} ms")
    difference = float(np.abs(drawings[0] - expected).max())
    print(f"largest difference: {difference:.1e}")
    if difference > 1e-3:
        raise SystemExit("the graph and NumPy disagree")

    titles = [f"colours within {width}" for width in widths]
    save(options.output, {"photograph": photo, **dict(zip(titles, drawings))})
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()
