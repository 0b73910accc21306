# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a unit is compiled if and only if nothing has compiled the same text for the same target before. Its name is no
part of that. Units compiled at the same time are those compiled one by one."""

import pytest

from cuda_graphs.native import disk_cache, llvm, units
from cuda_graphs.native.units import Code, Unit, codes_of, joined, units_of

TEXT = "define i32 @{name}(i32 %x) {{\n  %y = add i32 %x, {number}\n  ret i32 %y\n}}\n"


def unit(name, number):
    return Unit(name, TEXT.format(name=name, number=number))


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """The numbers of the units that are compiled. The disk is empty."""
    monkeypatch.setenv("CUDA_GRAPHS_CACHE_DIR", str(tmp_path / "folder"))
    monkeypatch.setenv("CUDA_GRAPHS_CACHE", "1")
    return []


def codes(given, compiled, target=("this",)):
    def compile_all(texts):
        compiled.extend(text.partition("%x, ")[2].split()[0] for text in texts)
        return [text.encode() for text in texts]

    return codes_of(given, target, compile_all)


def test_the_units_of_a_program_are_those_that_were_joined():
    given = [unit("a", 1), unit("b", 2), Unit("c", "")]
    assert units_of(joined(given)) == given
    assert units_of("declare void @f()\n") == [Unit("", "declare void @f()\n")]


def test_a_changed_unit_is_compiled_alone(compiled):
    first = [unit(name, number) for number, name in enumerate("abcd")]
    codes(first, compiled)
    changed = [*first[:2], unit("c", 9), first[3]]
    found = codes(changed, compiled)
    assert compiled == ["0", "1", "2", "3", "9"]
    assert found == [Code(each.name, each.text.encode()) for each in changed]


def test_a_unit_is_the_same_under_another_name(compiled):
    codes([unit("a", 1), unit("b", 2)], compiled)
    found = codes([unit("new", 7), unit("b", 1), unit("c", 2)], compiled)
    assert compiled == ["1", "2", "7"]
    assert [each.name for each in found] == ["new", "a", "b"]


def test_equal_units_of_a_program_are_compiled_once(compiled):
    found = codes([unit(name, 5) for name in "abc"], compiled)
    assert compiled == ["5"]
    assert [each.name for each in found] == ["a"] * 3


def test_all_that_decides_the_code_is_in_the_key(compiled, monkeypatch):
    one = [unit("a", 1)]
    codes(one, compiled)
    codes(one, compiled, target=("other",))
    codes(one, compiled, target=("this", "more"))
    with monkeypatch.context() as patch:
        patch.setattr(units, "source", lambda: "changed")
        codes(one, compiled)
    with monkeypatch.context() as patch:
        patch.setattr(units, "llvm_version", lambda: "23")
        codes(one, compiled)
    assert len(compiled) == 5
    codes(one, compiled)
    assert len(compiled) == 5


def test_a_damaged_unit_is_reported_and_compiled_again(compiled, tmp_path):
    codes([unit("a", 1)], compiled)
    (file,) = (tmp_path / "folder").iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.warns(RuntimeWarning, match="damaged"):
        codes([unit("a", 1)], compiled)
    codes([unit("a", 1)], compiled)
    assert compiled == ["1", "1"]


def test_without_a_disk_each_unit_is_compiled(compiled, monkeypatch):
    monkeypatch.setenv("CUDA_GRAPHS_CACHE", "0")
    for _ in range(2):
        codes([unit("a", 1)], compiled)
    assert compiled == ["1", "1"]


def test_debug_output_of_passes_compiles_each_unit(compiled, monkeypatch, tmp_path):
    monkeypatch.setenv("CUDA_GRAPHS_DEBUG", "2")
    codes([unit("a", 1)], compiled)
    assert compiled == ["1"]
    assert not (tmp_path / "folder").exists()


def test_a_disk_that_cannot_be_written_is_reported_by_the_whole_program_alone(compiled, monkeypatch):
    monkeypatch.setattr(disk_cache.tempfile, "mkstemp", refused)
    codes([unit("a", 1), unit("b", 2)], compiled)  # warnings are errors
    with pytest.warns(RuntimeWarning, match="cannot write"):
        disk_cache.write("kernel", "name", b"")


def refused(**options):
    raise OSError(28, "No space left on device")


def test_units_compiled_at_the_same_time_are_those_compiled_one_by_one():
    texts = [unit("f", number).text for number in range(20)]
    assert llvm.object_codes(texts) == [llvm.object_code(text) for text in texts]


def test_results_are_in_the_order_of_the_texts_and_the_longest_comes_first(monkeypatch):
    texts = ["x" * (n * 7 % 200) for n in range(200)]
    assert llvm.in_parallel(len, texts) == [len(each) for each in texts]
    assert llvm.in_parallel(len, []) == []
    assert llvm.in_parallel(len, ["abc"]) == [3]
    monkeypatch.setattr(llvm.os, "sched_getaffinity", lambda _: {0})
    taken = []
    llvm.in_parallel(lambda text: taken.append(len(text)), texts)
    assert taken == sorted(taken, reverse=True)


def test_the_error_of_the_longest_text_that_fails_is_raised():
    def fail(text):
        if len(text) % 7 == 3:
            raise ValueError(len(text))
        return text

    for _ in range(20):
        with pytest.raises(ValueError, match=r"^45$"):
            llvm.in_parallel(fail, ["x" * n for n in range(50)])


def test_text_that_llvm_refuses_is_an_error_of_any_thread():
    texts = [unit("f", 1).text, "define i32 @g( {", unit("h", 2).text]
    with pytest.raises(llvm.InvalidIR):
        llvm.object_codes(texts)
