# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The pages of the API: one for each public class, and one for the functions and values of each group.

The texts are the docstrings. The groups are those of docs/names_page.py.
"""

import dataclasses
import enum
import inspect
from collections.abc import Iterator
from types import ModuleType

import cuda_graphs as cg
from docs.names_page import MODULES, call, errors, groups, members, split
from docs.site.docstrings import markdown

HEAD = """\
# API

Each page has the docstrings of one public class, or of the functions of one group. [Names](../names.md) has all public
names in a sentence each, and [the language of kernels](../language.md) has examples of the operations.

"""
FUNCTIONS = "functions"


def directive(kind: str, name: str, signature: str, text: str, *, colons: int = 3) -> str:
    """Return a directive of Sphinx's domain of Python, which is found by the search and in the index."""
    fence = ":" * colons
    return f"{fence}{{py:{kind}}} {name}{signature}\n\n{text}\n{fence}\n"


def doc(thing: object) -> str:
    return markdown(split(thing)[1].strip())


def member(cls: type, name: str) -> str:
    value = inspect.getattr_static(cls, name, None)
    found = getattr(cls, name, None)
    fields = {field.name for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
    if name in fields or (issubclass(cls, tuple) and name in getattr(cls, "_fields", ())):
        return directive("attribute", name, "", "")
    if isinstance(value, staticmethod):
        return directive("staticmethod", name, call(found), doc(found))
    if isinstance(value, classmethod):
        return directive("classmethod", name, call(found), doc(found))
    if callable(found):
        return directive("method", name, call(found), doc(found))
    return directive("property", name, "", doc(found))


def values(cls: type) -> Iterator[str]:
    """Yield the members of an enumeration, or the annotations of DeviceProperties."""
    if issubclass(cls, enum.Enum):
        yield from (directive("attribute", each.name, "", f"= {each.value}") for each in cls)
    elif cls is cg.DeviceProperties:
        yield from (directive("attribute", name, "", "") for name in inspect.get_annotations(cls))


def parameters(cls: type) -> str:
    try:
        return call(cls)
    except (TypeError, ValueError):
        return ""  # made by methods only: Python knows no signature


def bases(cls: type) -> str:
    """Return a line with the public base classes, whose members the page does not repeat."""
    names = [base.__name__ for base in cls.__mro__[1:] if getattr(cg, base.__name__, None) is base]
    if not names:
        return ""
    return "Members of its bases: " + ", ".join(f"[{n}]({n}.md)" for n in names) + ".\n"


def class_page(name: str) -> str:
    """Return the page of a public class."""
    cls = getattr(cg, name)
    kind = "exception" if issubclass(cls, BaseException) else "class"
    inside = "\n".join([*values(cls), *(member(cls, each) for each, _ in members(name, cls))])
    text = f"{doc(cls)}\n\n{bases(cls)}\n{inside}"
    return f"# {name}\n\n:::{{py:currentmodule}} cuda_graphs\n:::\n\n" + directive(
        kind, name, parameters(cls), text, colons=4
    )


def is_class(name: str) -> bool:
    return isinstance(getattr(cg, name), type)


def function(name: str, thing: object, prefix: str = "") -> str:
    if isinstance(thing, type) or callable(thing):
        return directive("function", prefix + name, parameters(thing), doc(thing))
    text = doc(thing) if isinstance(thing, ModuleType) else f"A `{type(thing).__name__}`."
    return directive("data", prefix + name, "", text)


def functions_page(title: str, names: list[str]) -> str:
    """Return a page with the functions, modules and values of `names`."""
    lines = [f"# {title}\n", ":::{py:currentmodule} cuda_graphs\n:::\n"]
    for name in names:
        thing = getattr(cg, name)
        lines.append(function(name, thing))
        if name in MODULES:
            lines += [function(each, getattr(thing, each), f"{name}.") for each in thing.__all__]
    return "\n".join(lines)


def toctree(pages: list[str], *options: str) -> str:
    body = "\n".join([*options, "", *pages])
    return f"```{{toctree}}\n{body}\n```\n"


def title_of(group: str) -> str:
    return "Functions and values" if group == "More" else f"{group}: functions and values"


def api_pages() -> dict[str, str]:
    """Return the text of each page below api/ by its file name."""
    found, index = {}, [HEAD]
    for group, names in (groups() | {"Errors": tuple(errors())}).items():
        classes = [name for name in names if is_class(name)]
        others = [name for name in names if not is_class(name)]
        found |= {f"{name}.md": class_page(name) for name in classes}
        listed = list(classes)
        if others:
            page = f"{FUNCTIONS}-{group.lower().replace(' ', '-').replace(',', '')}"
            found[f"{page}.md"] = functions_page(title_of(group), others)
            listed.append(page)
        index += [
            f"## {'Arrays, kernels and their language' if group == 'More' else group}\n",
            toctree(listed),
        ]
    found["index.md"] = "\n".join(index)
    return found
