# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Good images, damaged at random. A case is a number; the same number is the same image."""

import random
import re
import struct
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
FATBIN, WRAPPED, PTX, ELF = 0xBA55ED50, 0x466243B1, 1, 2
# Numbers at which something may overflow.
NUMBERS = (
    *(
        "0",
        "1",
        "-1",
        "7",
        "31",
        "32",
        "33",
        "63",
        "64",
        "127",
        "128",
        "255",
        "256",
        "65535",
        "65536",
        "2147483647",
    ),
    *(
        "2147483648",
        "4294967295",
        "4294967296",
        "9223372036854775807",
        "18446744073709551615",
        "99999999999999999999",
    ),
    *("0x7fffffff", "0b1", "0f7FC00000", "0f00000000", "0dFFF0000000000000", "1e400", "1.5", "08", "0U"),
)
WORDS = (
    *(
        "add",
        "mov",
        "ld",
        "st",
        "bra",
        "ret",
        "bar.sync",
        "call",
        "shfl.sync",
        "atom",
        "cvt",
        "mad",
        "setp",
        "exit",
    ),
    *(
        ".u32",
        ".s64",
        ".f32",
        ".f16x2",
        ".b128",
        ".pred",
        ".b8",
        ".v4",
        ".shared",
        ".global",
        ".param",
        ".local",
    ),
    *(
        ".reg",
        ".align",
        ".extern",
        ".visible",
        ".entry",
        ".func",
        ".rn",
        ".sat",
        ".ftz",
        ".cluster",
        ".relaxed",
    ),
    *(
        "%r1",
        "%rd1",
        "%p1",
        "%tid.x",
        "%laneid",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ";",
        ",",
        ":",
        "|",
        "!",
        "@",
        "+",
        "<",
        "_",
    ),
)
TOKEN = re.compile(r"\s+|[\w$%.]+|.", re.DOTALL)


@cache
def seeds() -> tuple[bytes, ...]:
    """Small modules: of other compilers, what is rarely written, programs of random jumps, and rows of the table of
    instructions."""
    from tests.ptx import table
    from tests.ptx.test_random_programs import Program

    found = [path.read_bytes() for path in sorted((TESTS / "interop" / "code").glob("*.ptx"))]
    whole = (TESTS / "conformance" / "blocks_together.ptx").read_text()
    head, *kernels = re.split(r"(?=^\.visible \.entry)", whole, flags=re.MULTILINE)
    found += [f"{head}\n{kernel}".encode() for kernel in kernels]
    places = '.file 1 "spread.cu"\n.loc 1 12 5\n.loc 1 13 5, function_name $L__info0, inlined_at 1 12 5\n'
    found.append(re.sub(r"(?<=\.b64 ).*;\n", lambda found: found[0] + places, kernels[0]).encode())
    found[-1] = f"{head}\n{places}\n".encode() + found[-1]
    found += [text.encode() for text in odd_modules()]
    found += [Program(seed, uniform).ptx().encode() for seed in range(2) for uniform in (False, True)]
    rows = list(enumerate(table.all_rows()))
    found += [table.module_text([row]).encode() for row in rows[:: len(rows) // 60]]
    return tuple(found)


def odd_modules() -> list[str]:
    """Returns valid but unusual modules: one for each part of odd.ptx."""
    head, *parts = (TESTS / "fuzz" / "odd.ptx").read_text().split("\n// ---- ")
    return [f"{head}\n// ---- {part}" for part in parts]


def linked(texts: list[str], chance: random.Random) -> bytes:
    """Returns texts in the form of the driver's linker (hostdriver/ptx/units.py). The first line may be wrong."""
    lengths = " ".join(str(len(text.encode())) for text in texts)
    line = (
        f"// linked by the host driver of cuda_graphs: {chance.choice(('whole', 'whole', 'parts'))} {lengths}"
    )
    if chance.random() < 0.3:
        line = chance.choice((other_number, drop_token, another_token, repeat_character))(line, chance)
    return (line + "\n" + "".join(texts)).encode()


def fatbin(*entries: tuple[int, bytes]) -> bytes:
    """Returns the container that nvcc embeds: a header, and a header for each image."""
    body = b"".join(
        struct.pack("<HHIQ24xQ16x", kind, 0x101, 64, len(image), 0) + image for kind, image in entries
    )
    return struct.pack("<IHHQ", FATBIN, 1, 16, len(body)) + body


@cache
def native_code() -> bytes:
    """An object file with code, constants and variables."""
    from cuda_graphs.hostdriver.ptx import code_generation, loader

    _, ir = loader.translate((TESTS / "interop" / "code" / "numba_spread.ptx").read_text())
    return code_generation.object_code(ir)


def native(chance: random.Random) -> bytes:
    """A native image whose hash is right, as far as it is damaged before it is made."""
    from cuda_graphs.native.image import pack_image
    from cuda_graphs.native.llvm import requirements

    params = [(0, 8), (8, chance.choice((8, 0, -1)))]
    entry = {"name": chance.choice(("k.spread", "x", "")), "params": params, "shared": 0}
    description = {"triple": requirements()["triple"], "features": [], "entries": [entry]}
    code = native_code()
    if chance.random() < 0.8:
        return pack_image(description, damaged_object(code, chance))
    return damaged_bytes(pack_image(description, code), chance)


def damaged_object(code: bytes, chance: random.Random) -> bytes:
    """Mostly in its header and in its table of sections, where the numbers are."""
    data = bytearray(code)
    table = int.from_bytes(data[40:48], "little")
    for _ in range(chance.choice((1, 2, 5))):
        at = chance.choice(
            (chance.randrange(64), chance.randrange(table, len(data)), chance.randrange(len(data)))
        )
        data[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
    return bytes(data[: chance.randrange(len(data))] if chance.random() < 0.1 else data)


def case(number: int) -> bytes:
    """The image of a case."""
    chance = random.Random(number)
    if chance.random() < 0.15:
        return native(chance)
    image = chance.choice(seeds())
    if chance.random() < 0.1:
        image = fatbin((ELF, b"\x7fELF" + bytes(60)), (PTX, image + b"\0"))
        return damaged_bytes(image, chance)
    if chance.random() < 0.1:
        return damaged_bytes(image, chance)
    text = damaged_text(image.decode("utf-8"), chance)
    if chance.random() < 0.1:
        others = [chance.choice(seeds()).decode() for _ in range(chance.choice((1, 2)))]
        if chance.random() < 0.2:
            others = [linked(others, chance).decode()]
        return linked([text, *others], chance)
    return text.encode("utf-8")


def damaged_text(text: str, chance: random.Random) -> str:
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        text = chance.choice(TEXT_DAMAGES)(text, chance)
    return text


def damaged_bytes(image: bytes, chance: random.Random) -> bytes:
    data = bytearray(image)
    for _ in range(chance.choice((1, 2, 5, 20))):
        at = chance.randrange(len(data)) if chance.random() < 0.5 else chance.randrange(min(96, len(data)))
        data[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
    return bytes(data[: chance.randrange(len(data))] if chance.random() < 0.2 else data)


def _tokens(text: str, chance: random.Random) -> tuple[list[str], int]:
    tokens = TOKEN.findall(text)
    solid = [at for at, token in enumerate(tokens) if not token.isspace()]
    return tokens, chance.choice(solid) if solid else 0


def drop_token(text: str, chance: random.Random) -> str:
    tokens, at = _tokens(text, chance)
    return "".join(tokens[:at] + tokens[at + 1 :])


def other_token(text: str, chance: random.Random) -> str:
    tokens, at = _tokens(text, chance)
    choices = (chance.choice(WORDS), chance.choice(NUMBERS), chance.choice(tokens or [""]))
    return "".join([*tokens[:at], chance.choice(choices), *tokens[at + 1 :]])


def another_token(text: str, chance: random.Random) -> str:
    tokens, at = _tokens(text, chance)
    return "".join([*tokens[:at], chance.choice((*WORDS, *NUMBERS)), " ", *tokens[at:]])


def other_number(text: str, chance: random.Random) -> str:
    places = list(re.finditer(r"(?<![\w%.$])\d\w*", text))
    if not places:
        return text
    found = chance.choice(places)
    return text[: found.start()] + chance.choice(NUMBERS) + text[found.end() :]


def other_modifier(text: str, chance: random.Random) -> str:
    """Adds a modifier to an instruction, or removes one."""
    places = list(re.finditer(r"(?<=[\w])\.[a-z]\w*", text))
    if not places:
        return text
    found, other = chance.choice(places), chance.choice(places)
    put = chance.choice(("", found.group() + other.group(), other.group()))
    return text[: found.start()] + put + text[found.end() :]


def move_lines(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    at, count, to = chance.randrange(len(lines)), chance.choice((1, 1, 2, 10)), chance.randrange(len(lines))
    part = lines[at : at + count]
    if chance.random() < 0.5:
        del lines[at : at + count]
    return "\n".join(lines[:to] + part * chance.choice((1, 1, 2)) + lines[to:])


def drop_lines(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    return "\n".join(lines[:at] + lines[at + chance.choice((1, 2, 5)) :])


def cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text) + 1)]


def splice(text: str, chance: random.Random) -> str:
    other = chance.choice(seeds()).decode().split("\n")
    lines = text.split("\n")
    at, to = chance.randrange(len(other)), chance.randrange(len(lines))
    return "\n".join(lines[:to] + other[at : at + chance.choice((1, 3, 20))] + lines[to:])


def repeat_character(text: str, chance: random.Random) -> str:
    """Depth: many brackets, signs, operators or digits in a row."""
    starts = [found.start() for found in re.finditer(r"\b", text)] or [0]
    at = chance.choice((chance.randrange(len(text) + 1), chance.choice(starts)))
    return text[:at] + chance.choice('({[-~!+,;@<."/*09') * chance.choice((3, 100, 20000)) + text[at:]


def _after_a_statement(text: str, chance: random.Random) -> int:
    ends = [found.end() for found in re.finditer(r";[ \t]*\n", text)]
    return chance.choice(ends) if ends else 0


def other_register(text: str, chance: random.Random) -> str:
    """Replaces a register by another one, which is valid about half of the time."""
    places = list(re.finditer(r"%[a-z]+\d+", text))
    if not places:
        return text
    found, other = chance.choice(places), chance.choice(places)
    return text[: found.start()] + other.group() + text[found.end() :]


def one_more_statement(text: str, chance: random.Random) -> str:
    at = _after_a_statement(text, chance)
    return text[:at] + chance.choice(STATEMENTS) + "\n" + text[at:]


def guard(text: str, chance: random.Random) -> str:
    at = _after_a_statement(text, chance)
    return text[:at] + chance.choice(("@%p1 ", "@!%p1 ", "@%p ", "@!%r1 ")) + text[at:]


def many_times(text: str, chance: random.Random) -> str:
    """A statement in a row: what one costs must not grow with the others."""
    lines = text.split("\n")
    plain = [at for at, line in enumerate(lines) if line.rstrip().endswith(";") and ":" not in line]
    if not plain:
        return text
    at = chance.choice(plain)
    return "\n".join(lines[:at] + lines[at : at + 1] * chance.choice((2, 30, 200)) + lines[at + 1 :])


def twin(text: str, chance: random.Random) -> str:
    """Some of its functions, once more under other names."""
    head, *kernels = re.split(r"(?=^\.visible )", text, flags=re.MULTILINE)
    twins = [
        re.sub(r"(\.(?:entry|func)[^{]*?)(\w+)(\s*\()", r"\1\2_twin\3", each, count=1) for each in kernels
    ]
    return head + "".join(kernels + twins[: chance.choice((1, 3))])


# They stop a thread, leave it, call or jump, wherever they come to stand.
STATEMENTS = (
    *(
        "bar.sync 0;",
        "barrier.sync 1, 64;",
        "bar.arrive 3, 32;",
        "bar.warp.sync -1;",
        "exit;",
        "ret;",
        "trap;",
    ),
    *(
        "barrier.cluster.arrive;",
        "barrier.cluster.wait;",
        "griddepcontrol.wait;",
        "membar.gl;",
        "nanosleep.u32 5;",
    ),
    *("vote.sync.ballot.b32 %r1, %p1, -1;", "activemask.b32 %r1;", "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;"),
    *(
        "match.any.sync.b32 %r1, %r2, -1;",
        "redux.sync.add.u32 %r1, %r2, -1;",
        "bar.red.popc.u32 %r1, 0, %p1;",
    ),
    *("atom.global.add.u32 %r1, [%rd1], %r2;", "ld.volatile.global.u32 %r1, [%rd1];", "cp.async.wait_all;"),
    *("here_too: bra here_too;", "{ .reg .b32 %r1; mov.u32 %r1, %clock; }", '.pragma "nounroll";'),
)

TEXT_DAMAGES = (
    *(drop_token, other_token, other_token, another_token, other_number, other_number, other_modifier),
    *(move_lines, drop_lines, cut, splice, repeat_character),
    *(other_register, other_register, one_more_statement, one_more_statement, guard, many_times, twin),
)
