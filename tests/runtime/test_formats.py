# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the readers of cuda_graphs/formats accept what Python's json, zlib, zipfile and hashlib accept, with the same
values, and refuse the rest."""

import hashlib
import json
import random
import zipfile
import zlib

import pytest

from tests.runtime.conftest import Answers

TEXTS = [
    "0", "-0", "1", "-1", "007", "1.", ".5", "1.5", "-0.0", "1e5", "1E+5", "1e-400", "-1e400", "1e400", "9" * 400,
    str(2**63 - 1), str(2**63), str(2**64 - 1), str(2**64), str(-(2**63)), str(-(2**63) - 1), "0.1", "1e", "+1", "--1",
    "null", "true", "false", "nul", "truefalse", "NaN", "Infinity", "-Infinity", "[]", "[1,2]", "[1,]", "[,1]", "[1 2]",
    "{}", '{"a":1}', '{"a":1,"a":[2]}', '{"a":1,}', '{a:1}', '{"a" 1}', '{1:2}', '""', '"a\\n\\t\\"\\\\\\/b"', '"\\x"',
    '"\\u0041"', '"\\u00e9"', '"\\ud83d\\ude00"', '"\\u12"', '"\\u12g4"', '"a\tb"', '"\x7f"', '"unfinished', '"é😀"',
    " [ 1 , { \"b\" : null } ] \n", "[1]x", "", " ", "[[[[[[]]]]]]", "[" * 150 + "]" * 150, "\ufeff1", "1 2",
]  # fmt: skip


def written(value):
    """A value in the form of cpp/formats.cpp."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int():
            return str(value) if -(2**63) <= value < 2**64 else "huge"
        case float():
            return value
        case str():
            return f'"{value.encode("utf-8", "surrogatepass").hex()}"'
        case list():
            return "[" + "".join(f"{written(item)}," for item in value) + "]"
        case dict():
            return "{" + "".join(f"{k.encode().hex()}:{written(v)}," for k, v in value.items()) + "}"


def refuse(text):
    raise ValueError(text)


@pytest.fixture
def formats(programs):
    with Answers(programs / "formats") as answers:
        yield answers


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_json_has_the_values_of_pythons(formats, tmp_path, text):
    (tmp_path / "x").write_bytes(text.encode())
    answer = formats.ask(f"json {tmp_path / 'x'}")
    try:
        wanted = written(json.loads(text, parse_constant=refuse))
    except ValueError:
        assert answer.startswith("! ")
        return
    if isinstance(wanted, float):
        assert float.fromhex(answer[2:].replace("inf", "inf")) == wanted
    else:
        assert answer == f"= {wanted}"


@pytest.mark.parametrize("data", [b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"\xe2\x82"'])
def test_texts_that_are_not_utf8_are_refused(formats, tmp_path, data):
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(UnicodeDecodeError):
        data.decode()
    assert formats.ask(f"json {tmp_path / 'x'}").startswith("! ")


def samples():
    chance = random.Random(3)
    yield b""
    yield bytes(range(256)) * 40
    yield b"a" * 100000
    for size in (1, 55, 56, 63, 64, 65, 119, 120, 5000, 70000):
        yield chance.randbytes(size)
        yield bytes(chance.choices(b"abcd ", k=size))


def test_hashes_are_pythons(formats, tmp_path):
    for data in samples():
        (tmp_path / "x").write_bytes(data)
        assert formats.ask(f"sha256 {tmp_path / 'x'}") == f"= {hashlib.sha256(data).hexdigest()}"


@pytest.mark.parametrize("level", [0, 1, 6, 9])
@pytest.mark.parametrize("strategy", [zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY, zlib.Z_FIXED])
def test_compressed_data_is_decompressed(formats, tmp_path, level, strategy):
    for data in samples():
        packer = zlib.compressobj(level, wbits=-15, strategy=strategy)
        (tmp_path / "x").write_bytes(packer.compress(data) + packer.flush())
        assert formats.ask(f"inflate {tmp_path / 'x'} {len(data)}") == f"= {data.hex()}".rstrip(" ").ljust(2)
        assert formats.ask(f"inflate {tmp_path / 'x'} {len(data) + 1}").startswith("! ")


def test_damaged_compressed_data_is_refused_or_read_as_by_zlib(formats, tmp_path):
    chance = random.Random(5)
    sound = zlib.compressobj(wbits=-15)
    packed = sound.compress(bytes(chance.choices(b"abcdefgh", k=3000))) + sound.flush()
    for _ in range(300):
        data = bytearray(packed)
        for _ in range(chance.choice((1, 2, 8))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        (tmp_path / "x").write_bytes(data)
        reader = zlib.decompressobj(wbits=-15)
        try:
            wanted = reader.decompress(bytes(data))
            whole = reader.eof
        except zlib.error:
            wanted, whole = b"", False
        answer = formats.ask(f"inflate {tmp_path / 'x'} {len(wanted)}")
        assert answer == f"= {wanted.hex()}" if whole else answer.startswith("! ")


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("comment", [b"", b"a comment"])
@pytest.mark.parametrize("is_large", [False, True])
def test_entries_of_zip_files_are_pythons(formats, tmp_path, method, comment, is_large):
    contents = {"a": b"", "folder/b": b"text" * 100, "c": bytes(range(256))}
    with zipfile.ZipFile(tmp_path / "x", "w", method) as archive:
        archive.comment = comment
        for name, data in contents.items():
            with archive.open(name, "w", force_zip64=is_large) as entry:
                entry.write(data)
    for name, data in contents.items():
        assert formats.ask(f"zip {tmp_path / 'x'} {name}") == f"= {data.hex()}"
    assert formats.ask(f"zip {tmp_path / 'x'} d") == "! d is missing"


def test_a_changed_byte_of_an_entry_is_found(formats, tmp_path):
    with zipfile.ZipFile(tmp_path / "x", "w") as archive:
        archive.writestr("a", b"12345678")
    data = bytearray((tmp_path / "x").read_bytes())
    data[data.index(b"12345678") + 3] ^= 1
    (tmp_path / "x").write_bytes(data)
    assert formats.ask(f"zip {tmp_path / 'x'} a") == "! a has a wrong checksum"
