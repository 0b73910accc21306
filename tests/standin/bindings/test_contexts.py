# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: events of contexts, green contexts, logs and settings of core dumps answer programs of cuda.bindings."""

import pytest

from cuda_graphs import hostdriver
from tests.standin.bindings.answers import INVALID_HANDLE, INVALID_VALUE, OK, d, ok

NOT_READY = d.CUresult.CUDA_ERROR_NOT_READY
DESTROYED = d.CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED
EQ = d.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_EQ
SM = d.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM


@pytest.fixture
def green(primary, device):
    whole = ok(d.cuDeviceGetDevResource(device, SM))
    parts, _count, _rest = ok(d.cuDevSmResourceSplitByCount(1, whole, 0, 1))
    description = ok(d.cuDevResourceGenerateDesc(parts, 1))
    flag = d.CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM
    green = ok(d.cuGreenCtxCreate(description, device, flag))
    yield green
    ok(d.cuGreenCtxDestroy(green))


def test_an_event_stands_for_all_work_of_a_context(primary, words):
    busy, event = ok(d.cuStreamCreate(1)), ok(d.cuEventCreate(0))
    ok(d.cuStreamWaitValue32(busy, words.ctypes.data, 1, EQ))
    ok(d.cuCtxRecordEvent(primary, event))
    assert d.cuEventQuery(event) == (NOT_READY,)
    later = ok(d.cuStreamCreate(1))
    ok(d.cuCtxWaitEvent(primary, event))
    ok(d.cuStreamWriteValue32(later, words.ctypes.data + 4, 5, 0))
    assert d.cuStreamQuery(later) == (NOT_READY,)
    words[0] = 1
    ok(d.cuStreamSynchronize(later))
    assert (words[1], d.cuEventQuery(event)) == (5, (OK,))
    assert d.cuCtxRecordEvent(primary, d.CUevent(0)) == (INVALID_HANDLE,)
    for stream in (busy, later):
        ok(d.cuStreamDestroy(stream))
    ok(d.cuEventDestroy(event))


def test_a_green_context_has_streams_of_its_own(green, primary, words):
    stream = ok(d.cuGreenCtxStreamCreate(green, 1, 0))
    assert int(ok(d.cuStreamGetGreenCtx(stream))) == int(green)
    inside = ok(d.cuCtxFromGreenCtx(green))
    assert int(inside) != int(primary)
    ok(d.cuCtxSetCurrent(inside))
    memory = ok(d.cuMemAlloc(64))
    ok(d.cuMemsetD32Async(memory, 7, 16, stream))
    ok(d.cuMemcpyDtoHAsync(words.ctypes.data, memory, 64, stream))
    ok(d.cuCtxSynchronize())
    assert (words == 7).all()
    ok(d.cuMemFree(memory))
    ok(d.cuStreamDestroy(stream))
    ok(d.cuCtxSetCurrent(primary))
    assert ok(d.cuGreenCtxGetDevResource(green, SM)).sm.smCount >= 1


def test_work_outside_of_a_green_context_is_not_in_its_events(green, primary, words):
    outside, event = ok(d.cuStreamCreate(1)), ok(d.cuEventCreate(0))
    ok(d.cuStreamWaitValue32(outside, words.ctypes.data, 1, EQ))
    ok(d.cuGreenCtxRecordEvent(green, event))
    ok(d.cuEventSynchronize(event))
    assert d.cuStreamQuery(outside) == (NOT_READY,)
    words[0] = 1
    ok(d.cuStreamSynchronize(outside))
    ok(d.cuStreamDestroy(outside))
    ok(d.cuEventDestroy(event))


def test_streams_of_a_green_context_that_is_destroyed_say_so(primary, device):
    green = ok(d.cuGreenCtxCreate(0, device, d.CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM))
    stream = ok(d.cuGreenCtxStreamCreate(green, 1, 0))
    ok(d.cuGreenCtxDestroy(green))
    assert d.cuStreamQuery(stream) == (DESTROYED,)
    assert d.cuStreamDestroy(stream) == (DESTROYED,)


def test_settings_of_core_dumps_are_kept(primary):
    setting = d.CUcoredumpSettings.CU_COREDUMP_FILE
    ok(d.cuCoredumpSetAttribute(setting, b"dump.of.ours"))
    assert ok(d.cuCoredumpGetAttribute(setting)).rstrip(b"\0") == b"dump.of.ours"


def test_the_log_tells_of_refused_images(primary):
    try:
        start = ok(d.cuLogsCurrent(0))
    except RuntimeError:  # "not found": the H200's driver has no log
        if hostdriver.stands_in():
            raise
        return
    assert d.cuModuleLoadData(b".version 8.0\n.target sm_90\n.address_size 64\nnonsense\0")[0] != OK
    assert ok(d.cuLogsCurrent(0)) != start


def test_luids_are_refused_as_on_linux(device):
    assert d.cuDeviceGetLuid(device)[0] == d.CUresult.CUDA_ERROR_NOT_SUPPORTED
    assert (
        d.cuDeviceGetTexture1DLinearMaxWidth(d.CUarray_format.CU_AD_FORMAT_FLOAT, 3, device)[0]
        == INVALID_VALUE
    )
