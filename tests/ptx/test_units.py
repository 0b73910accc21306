# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: linked texts are one module, however often they were linked; tests/standin/bindings/test_linker.py has what any
driver does."""

import numpy as np
import pytest

from cuda_graphs.hostdriver.ptx import units
from cuda_graphs.hostdriver.ptx.errors import ImageError
from tests.ptx.rig import HEADER, load

CALLED = HEADER + ".visible .func (.param .b32 r) seven() { st.param.b32 [r], 7; ret; }\n"
CALLER = (
    HEADER
    + """
.extern .func (.param .b32 r) seven();
.visible .entry %s(.param .u64 p) {
  .reg .b64 %%rd; .reg .b32 %%r; .param .b32 y;
  .global .u32 calls = 10;
  ld.param.u64 %%rd, [p]; call (y), seven; ld.param.b32 %%r, [y];
  st.global.u32 [%%rd], %%r; ld.global.u32 %%r, [calls]; st.global.u32 [%%rd+4], %%r; ret;
}
"""
)


def linked(*texts, aim="whole"):
    lengths = " ".join(str(len(text.encode())) for text in texts)
    return f"{units.HEAD}{aim} {lengths}\n" + "".join(texts)


def test_linked_text_can_be_linked_again():
    inner = linked(CALLER % "one", CALLED)
    program = load(linked(CALLER % "two", inner))
    for name in ("one", "two"):
        out = np.zeros(2, np.uint32)
        program.launch(name, 1, 1, out)
        assert out.tolist() == [7, 10]


def test_files_and_their_lines_stay_together():
    def text(name, file):
        return f'{HEADER}.file 1 "{file}"\n.visible .entry {name}() {{ .loc 1 5 0\nret; }}\n'

    module = units.parse(linked(text("one", "a.cu"), text("two", "b.cu")))
    places = {name: module.functions[name].body[0].location for name in ("one", "two")}
    assert {name: module.files[number] for name, (number, _) in places.items()} == {
        "one": "a.cu",
        "two": "b.cu",
    }
    assert [line for _, line in places.values()] == [5, 5]


def test_the_newest_version_and_target_count():
    old, new = (
        HEADER.replace("9.0", version).replace("sm_90", target)
        for version, target in (("8.0", "sm_50"), ("8.8", "sm_120a"))
    )
    module = units.parse(linked(new, old))
    assert (module.version, module.target) == ((8, 8), "sm_120a")


HEADS = [
    "whole",
    "whole 5",
    "whole -1",
    "some 3",
    "whole x",
    "",
    "whole 3 99999",
    "parts 4",
    "whole " + "9" * 5000,
]


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head[:20])
def test_a_head_that_the_linker_does_not_write_is_refused(head):
    with pytest.raises(ImageError, match="line 1"):
        units.parse(f"{units.HEAD}{head}\n{CALLED}")


def test_a_length_that_ends_inside_of_a_character_is_refused():
    text = f"{CALLED}// \N{MICRO SIGN}"
    cut = len(text.encode()) - 1
    with pytest.raises(ImageError, match="inside a character"):
        units.parse(f"{units.HEAD}whole {cut} 1\n{text}")
