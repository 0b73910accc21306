# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""PTX tokens -> syntax.Module, for the statements outside function bodies. `body.py` reads the bodies.

The parser keeps the debug directives .file and .loc, for reports, and drops .section and .pragma. Unknown syntax raises
an error with its line; the parser never skips it.
"""

from cuda_graphs.hostdriver.ptx.errors import UNSUPPORTED_PTX_VERSION, ImageError, invalid_ptx

from . import limits
from .body import BodyParser
from .declarations import LINKAGE, SPACES, DeclarationParser
from .syntax import Function, Module

# The newest PTX version that the parser accepts; NVRTC 13.5 writes 9.5.
NEWEST_VERSION = (9, 9)

LIMITS = [
    ".maxntid",
    ".reqntid",
    ".minnctapersm",
    ".maxnreg",
    ".maxnctapersm",
    ".reqnctapercluster",
    ".maxclusterrank",
    ".explicitcluster",
    ".blocksareclusters",
]


class Parser(DeclarationParser):
    """The parser of a whole text."""

    def parse(self) -> Module:
        self._header()
        while self.token.kind != "end":
            self._top_level()
        return self.module

    def _header(self) -> None:
        self.expect(".version")
        text = self.next().text
        try:
            major, minor = text.split(".")
            self.module.version = (int(major), int(minor))
        except ValueError:
            raise self.fail(f"`{text}` is not a PTX version") from None
        if self.module.version > NEWEST_VERSION:
            newest = "{}.{}".format(*NEWEST_VERSION)
            raise ImageError(
                UNSUPPORTED_PTX_VERSION, f"PTX {text} is newer than {newest}, the newest supported version"
            )
        self.expect(".target")
        self.module.target = self.word()
        while self.accept(","):
            self.word()

    def _top_level(self) -> None:
        if self.accept(";"):
            return
        if self.text == ".file":
            self.file()
        elif self.text in (".loc", ".pragma"):
            self.skip_line()
        elif self.accept(".section"):
            self.section()
        elif self.text == "@":  # @@DWARF lines of old compilers
            self.skip_line()
        elif self.accept(".address_size"):
            if self.integer() != 64:
                raise self.fail("only 64-bit addresses are supported")
        elif self.accept(".alias"):
            name = self.word()
            self.expect(",")
            self.module.aliases[name] = self.word()
            self.expect(";")
        else:
            self._declaration()

    def _declaration(self) -> None:
        linkage = ""
        while word := self.accept(*LINKAGE):
            linkage = word[1:]
        if self.text in (".entry", ".func"):
            self._function(linkage)
        elif self.text in SPACES:
            for variable in self.variables(linkage):
                known = self.module.variables.get(variable.name)
                if known is None or known.linkage == "extern":
                    self.module.variables[variable.name] = variable
            self.expect(";")
        else:
            raise self.fail("unsupported directive")

    def _function(self, linkage: str) -> None:
        function = self.signature(linkage)
        while not self.accept(";"):
            if self.accept("{"):
                try:
                    BodyParser(self, function).parse()
                except ImageError as error:
                    raise invalid_ptx(f"{error}, in `{function.name}`") from None
                break
            self._function_directive(function)
        known = self.module.functions.get(function.name)
        if known is None or known.body is None:
            self.module.functions[function.name] = function

    def _function_directive(self, function: Function) -> None:
        name = self.next()
        if name.text in LIMITS:
            values = []
            if self.token.kind == "int":
                values.append(self.integer())
                while self.accept(","):
                    values.append(self.integer())
            if any(not 0 <= value <= limits.EXTENT for value in values):
                raise self.fail("the limit is out of range", name)
            function.limits[name.text[1:]] = tuple(values)
        elif name.text == ".noreturn":
            function.no_return = True
        elif name.text in (".abi_preserve", ".abi_preserve_control", ".unique"):
            self.skip_line()
        elif name.text == ".pragma":
            self.next()
            self.expect(";")
        else:
            raise self.fail("unsupported directive", name)
