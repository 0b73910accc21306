# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: on the host driver a test can make the nth call of any driver function fail, and count all calls; with the
block everything is as before. On another driver the block raises an error."""

import threading

import pytest

import cuda_graphs as cg
from cuda_graphs import testing


@pytest.fixture
def host(driver, device):
    if driver.kind != "host":
        pytest.skip("the host driver's own")
    return device


@pytest.mark.cuda
@pytest.mark.parametrize(
    "start",
    [lambda: testing.fail("cuMemAlloc"), testing.calls, testing.objects],
    ids=["fail", "calls", "objects"],
)
def test_another_driver_is_refused(start):
    with pytest.raises(RuntimeError, match=r"host driver only.*CUDA_GRAPHS_DRIVER=host"):
        start()


@pytest.mark.parametrize("nth", [1, 2, 5])
def test_only_the_nth_call_fails(host, nth):
    made = []
    with testing.fail("cuEventCreate", nth) as failure:
        for _ in range(nth - 1):
            made.append(host.create_event())
        assert not failure.happened
        with pytest.raises(cg.CUDAOutOfMemoryError, match="CUDA_ERROR_OUT_OF_MEMORY"):
            host.create_event()
        assert failure.happened
        made.append(host.create_event())
    assert len(made) == nth


@pytest.mark.parametrize("code", ["CUDA_ERROR_ECC_UNCORRECTABLE", 214, "214"])
def test_the_code_is_a_name_or_a_number(host, code):
    with (
        testing.fail("cuStreamCreateWithPriority", code=code),
        pytest.raises(cg.CUDAError, match="CUDA_ERROR_ECC_UNCORRECTABLE"),
    ):
        host.create_stream()


def test_a_failure_that_did_not_happen_is_taken_back(host):
    with testing.fail("cuEventCreate", 2) as failure:
        host.create_event()
    assert not failure.happened
    for _ in range(3):
        host.create_event()
    assert not failure.happened


def test_failures_of_several_functions_stand_side_by_side(host):
    with testing.fail("cuEventCreate") as event, testing.fail("cuStreamCreateWithPriority") as stream:
        with pytest.raises(cg.CUDAOutOfMemoryError):
            host.create_stream()
        assert (event.happened, stream.happened) == (False, True)
        with pytest.raises(cg.CUDAOutOfMemoryError):
            host.create_event()
        assert event.happened


def test_the_last_wish_for_a_function_counts(host):
    with testing.fail("cuEventCreate", 1), testing.fail("cuEventCreate", 2, "CUDA_ERROR_UNKNOWN"):
        host.create_event()
        with pytest.raises(cg.CUDAError, match="CUDA_ERROR_UNKNOWN"):
            host.create_event()


def test_a_call_that_fails_does_nothing(host, stream):
    buffer = cg.PinnedMemoryResource().allocate(4)
    buffer.fill(7, stream=stream)
    stream.sync()
    with testing.fail("cuMemsetD8Async") as failure, pytest.raises(cg.CUDAError):
        buffer.fill(9, stream=stream)
    assert failure.happened
    stream.sync()
    assert bytes(memoryview(np_view(buffer))) == b"\x07" * 4


def np_view(buffer):
    import numpy as np

    return np.from_dlpack(buffer)


def test_a_call_can_pretend_to_succeed(host, stream):
    event = host.create_event()
    stream.record(event)
    stream.sync()
    with testing.fail("cuStreamSynchronize", code=0) as failure:
        stream.sync()
    assert failure.happened


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("cuMemAloc",), ValueError, "no function 'cuMemAloc'; did you mean cuMemAlloc"),
        (("xyz",), ValueError, "no function 'xyz'$"),
        (("cuMemAlloc", 0), ValueError, "nth counts calls from 1, got 0"),
        (("cuMemAlloc", "1"), TypeError, "nth must be an int, got str"),
        (("cuMemAlloc", True), TypeError, "nth must be an int, got bool"),
        (
            ("cuMemAlloc", 1, "CUDA_ERROR_BAD_LUCK"),
            ValueError,
            "does not know the status 'CUDA_ERROR_BAD_LUCK'",
        ),
        (("cuMemAlloc", 1, 12345), ValueError, "does not know the status 12345"),
    ],
)
def test_a_failure_that_cannot_be_is_refused(host, arguments, error, text):
    with pytest.raises(error, match=text):
        testing.fail(*arguments)
    host.create_event()


def test_calls_are_counted_by_name(host):
    with testing.calls() as calls:
        events = [host.create_event() for _ in range(3)]
        assert calls["cuEventCreate"] == 3
        assert calls["cuEventQuery"] == 0
        del events
        with pytest.raises(KeyError):
            calls["cuNothing"]
    counted = dict(calls)
    host.create_event()
    assert dict(calls) == counted
    assert counted["cuEventDestroy"] == 3
    assert "cuEventQuery" not in calls


def test_calls_of_blocks_inside_each_other_are_counted_in_both(host):
    with testing.calls() as outer:
        host.create_event()
        with testing.calls() as inner:
            host.create_event()
        host.create_event()
    assert (outer["cuEventCreate"], inner["cuEventCreate"]) == (3, 1)


def test_calls_of_every_thread_are_counted(host):
    def work():
        host.set_current()
        for _ in range(50):
            host.create_event()

    threads = [threading.Thread(target=work) for _ in range(4)]
    with testing.calls() as calls, testing.fail("cuStreamDestroy", 10**9):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert calls["cuEventCreate"] == 200


def test_a_failed_call_is_counted(host):
    with testing.calls() as calls, testing.fail("cuEventCreate"), pytest.raises(cg.CUDAError):
        host.create_event()
    assert calls["cuEventCreate"] == 1


def test_objects_of_the_driver_are_counted_by_kind(host):
    before = testing.objects()
    event, stream, g = host.create_event(), host.create_stream(), cg.GraphDef()
    body = g.if_then(g.create_condition(0)).then
    body.join()
    builder = stream.create_graph_builder().begin_building()
    more = {kind: n - before[kind] for kind, n in testing.objects().items() if n != before[kind]}
    assert more == {"event": 1, "stream": 1, "graph": 3, "node": 2, "capture": 1}
    builder.close()
    del event, stream, g, body, builder
    assert testing.objects() == before


CREATE = """
import cuda_graphs as cg
device = cg.Device(); device.set_current()
for i in range(3):
    try: device.create_event()
    except cg.CUDAError as error: print(i, str(error).split(":")[0])
    try: device.create_stream()
    except cg.CUDAError as error: print(i, str(error).split(":")[0])
"""


def test_the_variable_fails_calls_of_a_whole_process(run_child):
    child = run_child(
        CREATE,
        CUDA_GRAPHS_DRIVER="host",
        CUDA_GRAPHS_HOST_FAIL="cuEventCreate:2,cuStreamCreateWithPriority:3:CUDA_ERROR_NOT_PERMITTED",
    )
    assert child.stderr == ""
    assert child.stdout.split("\n")[:-1] == ["1 CUDA_ERROR_OUT_OF_MEMORY", "2 CUDA_ERROR_NOT_PERMITTED"]


def test_the_variable_can_fail_the_first_call_of_all(run_child):
    code = (
        "import cuda_graphs as cg\ntry: print(cg.driver_info().kind)\nexcept Exception as error: print(error)"
    )
    child = run_child(code, CUDA_GRAPHS_DRIVER="host", CUDA_GRAPHS_HOST_FAIL="cuInit:1:999")
    assert child.stderr == ""
    assert "CUDA_ERROR_UNKNOWN" in child.stdout


@pytest.mark.parametrize(
    "value",
    [
        "cuEventCreate", "cuNo:1", "cuEventCreate:0", "cuEventCreate:x", "cuEventCreate:-1", "cuEventCreate: 1",
        "cuEventCreate:1x", f"cuEventCreate:{2**64 + 1}", "cuEventCreate:1:no", "cuEventCreate:1:",
        "cuEventCreate:1:-2", "cuEventCreate:1:12345", "cuEventCreate:1:2:3", "cuEventCreate:1,,cuEventDestroy:1", " ",
    ],
)  # fmt: skip
def test_wrong_variable_is_reported_and_no_program_starts(run_child, value):
    child = run_child(CREATE, CUDA_GRAPHS_DRIVER="host", CUDA_GRAPHS_HOST_FAIL=value)
    assert child.returncode != 0
    assert child.stdout == ""
    assert "DriverNotFoundError: The host driver does not start" in child.stderr
    assert f"CUDA_GRAPHS_HOST_FAIL is {value!r}; expected <driver function>:<nth call" in child.stderr
    wrong = "" if ",," in value else value
    assert (
        f"CUDA_GRAPHS_HOST_FAIL: invalid entry {wrong}; expected <driver function>:<nth call" in child.stderr
    )
