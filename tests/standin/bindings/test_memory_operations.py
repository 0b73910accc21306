# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: memory operations of streams order programs of cuda.bindings, as calls, in batches, captured and as nodes."""

import pytest

from tests.standin.bindings.answers import INVALID_VALUE, OK, d, ok

NOT_READY = d.CUresult.CUDA_ERROR_NOT_READY
GEQ = d.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_GEQ
EQ = d.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_EQ


@pytest.fixture
def streams(primary):
    streams = [ok(d.cuStreamCreate(1)) for _ in range(3)]
    yield streams
    for stream in streams:
        ok(d.cuStreamDestroy(stream))


def address_of(words, index=0):
    return words.ctypes.data + 4 * index


def write(address, value):
    made = d.CUstreamBatchMemOpParams()
    made.writeValue.operation = d.CUstreamBatchMemOpType.CU_STREAM_MEM_OP_WRITE_VALUE_32
    made.writeValue.address = address
    made.writeValue.value = value
    return made


def wait(address, value):
    made = d.CUstreamBatchMemOpParams()
    made.waitValue.operation = d.CUstreamBatchMemOpType.CU_STREAM_MEM_OP_WAIT_VALUE_32
    made.waitValue.address = address
    made.waitValue.value = value
    made.waitValue.flags = EQ
    return made


def parameters(primary, *operations):
    made = d.CUDA_BATCH_MEM_OP_NODE_PARAMS()
    made.ctx = primary
    made.count = len(operations)
    made.paramArray = list(operations)
    return made


def test_the_device_says_that_it_has_them(primary):
    attribute = d.CUdevice_attribute
    for which in (
        attribute.CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS,
        attribute.CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR,
    ):
        assert ok(d.cuDeviceGetAttribute(which, ok(d.cuDeviceGet(0)))) == 1


def test_a_stream_waits_for_the_host_and_for_another_stream(streams, words):
    first, second, third = streams
    ok(d.cuStreamWaitValue32(first, address_of(words), 3, GEQ))
    ok(d.cuStreamWriteValue32(first, address_of(words, 1), 1, 0))
    ok(d.cuStreamWaitValue32(second, address_of(words, 1), 1, EQ))
    ok(d.cuStreamWriteValue64(second, address_of(words, 2), 5 << 32 | 7, 0))
    assert d.cuStreamQuery(second) == (NOT_READY,)
    ok(d.cuStreamWriteValue32(third, address_of(words), 4, 0))
    ok(d.cuStreamSynchronize(second))
    assert list(words[:4]) == [4, 1, 7, 5]


def test_a_batch_is_one_after_another(streams, words):
    batch = [write(address_of(words), 1), wait(address_of(words, 1), 1), write(address_of(words), 2)]
    ok(d.cuStreamBatchMemOp(streams[0], len(batch), batch, 0))
    ok(d.cuStreamWaitValue32(streams[1], address_of(words), 1, EQ))
    ok(d.cuStreamWriteValue32(streams[1], address_of(words, 1), 1, 0))
    ok(d.cuStreamSynchronize(streams[0]))
    assert list(words[:2]) == [2, 1]


def test_captured_ones_are_nodes_that_can_be_read_and_changed(primary, streams, words):
    stream = streams[0]
    ok(d.cuStreamBeginCapture(stream, d.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED))
    ok(d.cuStreamWriteValue32(stream, address_of(words), 6, 0))
    ok(d.cuStreamWaitValue32(stream, address_of(words), 6, EQ))
    graph = ok(d.cuStreamEndCapture(stream))
    count = ok(d.cuGraphGetNodes(graph))[1]
    nodes = ok(d.cuGraphGetNodes(graph, count))[0]
    assert len(nodes) == 2
    batch = d.CUgraphNodeType.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP
    assert {ok(d.cuGraphNodeGetType(node)) for node in nodes} == {batch}
    back = ok(d.cuGraphBatchMemOpNodeGetParams(nodes[0]))
    assert (back.count, int(back.ctx)) == (1, int(primary))
    exec_ = ok(d.cuGraphInstantiate(graph, 0))
    ok(d.cuGraphLaunch(exec_, stream))
    ok(d.cuStreamSynchronize(stream))
    assert words[0] == 6
    ok(
        d.cuGraphExecBatchMemOpNodeSetParams(
            exec_, nodes[0], parameters(primary, write(address_of(words, 5), 9))
        )
    )
    ok(d.cuGraphLaunch(exec_, stream))
    ok(d.cuStreamSynchronize(stream))
    assert (words[0], words[5]) == (6, 9)
    ok(d.cuGraphExecDestroy(exec_))
    ok(d.cuGraphDestroy(graph))


def test_a_graph_with_a_wait_lets_others_run(primary, streams, words):
    graph = ok(d.cuGraphCreate(0))
    waits = ok(d.cuGraphAddBatchMemOpNode(graph, [], 0, parameters(primary, wait(address_of(words), 1))))
    ok(d.cuGraphAddBatchMemOpNode(graph, [waits], 1, parameters(primary, write(address_of(words, 1), 2))))
    exec_ = ok(d.cuGraphInstantiate(graph, 0))
    ok(d.cuGraphLaunch(exec_, streams[0]))
    assert d.cuStreamQuery(streams[0]) == (NOT_READY,)
    ok(d.cuStreamWriteValue32(streams[1], address_of(words), 1, 0))
    ok(d.cuStreamSynchronize(streams[0]))
    assert words[1] == 2
    ok(d.cuGraphExecDestroy(exec_))
    ok(d.cuGraphDestroy(graph))


def test_wrong_addresses_and_flags_are_refused(streams, words):
    stream = streams[0]
    assert d.cuStreamWriteValue32(stream, address_of(words) + 2, 1, 0) == (INVALID_VALUE,)
    assert d.cuStreamWriteValue64(stream, address_of(words, 1), 1, 0) == (INVALID_VALUE,)
    assert d.cuStreamWaitValue32(stream, 0, 1, 0) == (INVALID_VALUE,)
    assert d.cuStreamWaitValue32(stream, address_of(words), 1, 7) == (INVALID_VALUE,)
    assert d.cuStreamSynchronize(stream) == (OK,)
    assert not words.any()
