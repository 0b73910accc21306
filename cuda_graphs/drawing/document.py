# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Document: a drawing that can be written to files in several formats, and that notebooks show as SVG."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from .png import write_png

__all__ = ["Document", "accept_theme"]

THEMES = ("auto", "light", "dark")


class Document:
    """A drawing in a theme: "auto", "light" or "dark"."""

    FORMATS: ClassVar[dict[str, str]] = {".svg": "svg", ".png": "png"}
    """The method that returns the content of a file, for each end of the name of a file."""

    theme: str

    @property
    def size(self) -> tuple[float, float]:
        """The width and the height of the SVG document in pixels."""
        raise NotImplementedError

    def document(self, theme: str) -> str:
        """Return the drawing as an SVG document."""
        raise NotImplementedError

    def svg(self) -> str:
        """Return the drawing as an SVG document."""
        return self.document(self.theme)

    def png(self) -> bytes:
        """Return the drawing as PNG; the theme "auto" is "light" there.

        Raises:
            ImportError: The library resvg is not installed.
        """
        return write_png(self.document("light" if self.theme == "auto" else self.theme), self.size)

    @classmethod
    def accept_file(cls, path: str | os.PathLike[str]) -> tuple[str, str]:
        """Return the path as a str, and the name of the method that returns the content of the file.

        Raises:
            TypeError: `path` is not a str or `os.PathLike`.
            ValueError: The end of the name is no format.
        """
        if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
            raise TypeError(f"path must be a str or an os.PathLike of a str, got {type(path).__name__}")
        name = os.fspath(path)
        suffix = os.path.splitext(name)[1].lower()
        if suffix not in cls.FORMATS:
            raise ValueError(f"path must end with one of {', '.join(cls.FORMATS)}, got {name!r}")
        return name, cls.FORMATS[suffix]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing to a file. The end of its name is the format, one of `FORMATS`.

        Raises:
            TypeError: `path` is not a str or `os.PathLike`.
            ValueError: The end of the name is no format.
            OSError: The file cannot be written.
            ImportError: A PNG is wanted, and the library resvg is not installed.
        """
        name, method = self.accept_file(path)
        content = getattr(self, method)()
        with open(name, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def _repr_mimebundle_(self, **types: Any) -> dict[str, str]:
        return {"image/svg+xml": self.svg(), "text/plain": repr(self)}


def accept_theme(theme: str) -> str:
    if not isinstance(theme, str):
        raise TypeError(f"theme must be a str, got {type(theme).__name__}")
    if theme not in THEMES:
        raise ValueError(f"theme must be one of {', '.join(map(repr, THEMES))}, got {theme!r}")
    return theme
