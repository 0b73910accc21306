// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// 2-D and 3-D copies and fills: stored values, refusals, and possible changes of an executable. Also registered memory.
#include <algorithm>
#include <string>

#include "cases.hpp"

namespace conf {

namespace {

// Returns the parameters of a copy with `height` rows of `width` bytes in each of `depth` planes, equal on both sides.
CUDA_MEMCPY3D block_params(CUdeviceptr dst, CUdeviceptr src, size_t width, size_t height, size_t depth, size_t pitch,
                           size_t rows) {
    CUDA_MEMCPY3D params = copy_params(dst, src, width);
    params.Height = height;
    params.Depth = depth;
    params.srcPitch = params.dstPitch = pitch;
    params.srcHeight = params.dstHeight = rows;
    return params;
}

CUresult add_copy(CUgraph graph, const CUDA_MEMCPY3D& params, CUgraphNode* node = nullptr) {
    CUgraphNode unused = nullptr;
    return drv.cuGraphAddMemcpyNode(node == nullptr ? &unused : node, graph, nullptr, 0, &params, context());
}

void record_copy(Record& r, CUgraphNode node, CUdeviceptr dst, CUdeviceptr src) {
    CUDA_MEMCPY3D back{};
    r("get", drv.cuGraphMemcpyNodeGetParams(node, &back));
    r("src kept", back.srcDevice == src);
    r("dst kept", back.dstDevice == dst);
    const auto all = [&](const char* label, const std::vector<size_t>& values) {
        std::string text;
        for (const size_t value : values) text += (text.empty() ? "" : " ") + std::to_string(value);
        r(label, text);
    };
    all("extent", {back.WidthInBytes, back.Height, back.Depth});
    all("src pitch, height, x, y, z", {back.srcPitch, back.srcHeight, back.srcXInBytes, back.srcY, back.srcZ});
    all("dst pitch, height, x, y, z", {back.dstPitch, back.dstHeight, back.dstXInBytes, back.dstY, back.dstZ});
}

// A source of 0, 1, 2, ... and a target of -1, as ints.
struct Pair {
    Ints from{256}, to{256, -1};
    Pair() {
        for (size_t i = 0; i < 256; ++i) from.set(static_cast<int>(i), i);
    }
    std::string changed() const {  // returns "index=value" of every copied int
        std::string text;
        for (size_t i = 0; i < 256; ++i) {
            if (to.get(i) != -1)
                text += (text.empty() ? "" : " ") + std::to_string(i) + "=" + std::to_string(to.get(i));
        }
        return text;
    }
};

void record_and_run(Record& r, const Pair& pair, const CUDA_MEMCPY3D& params) {
    const Graph graph = new_graph();
    CUgraphNode node = nullptr;
    r("add", add_copy(graph, params, &node));
    record_copy(r, node, pair.to, pair.from);
    run_graph(graph);
    r("copied", pair.changed());
}

void add_copy_cases(Cases& cases) {
    cases.add("copy_shape/two_dimensions", [](Record& r) {
        const Pair pair;
        CUDA_MEMCPY3D params = block_params(pair.to, pair.from, 8, 3, 1, 32, 0);
        params.dstPitch = 64;
        record_and_run(r, pair, params);
    });
    cases.add("copy_shape/three_dimensions", [](Record& r) {
        const Pair pair;
        CUDA_MEMCPY3D params = block_params(pair.to, pair.from, 8, 2, 2, 16, 4);
        params.dstPitch = 32;
        params.dstHeight = 3;
        record_and_run(r, pair, params);
    });
    cases.add("copy_shape/offsets", [](Record& r) {
        const Pair pair;
        CUDA_MEMCPY3D params = block_params(pair.to, pair.from, 8, 2, 2, 32, 4);
        params.srcXInBytes = 4;
        params.srcY = 1;
        params.srcZ = 1;
        params.dstXInBytes = 8;
        params.dstY = 2;
        record_and_run(r, pair, params);
    });
    cases.add("copy_shape/one_row_of_each_plane", [](Record& r) {
        const Pair pair;
        record_and_run(r, pair, block_params(pair.to, pair.from, 8, 1, 3, 32, 2));
    });
    cases.add("copy_shape/one_byte_rows", [](Record& r) {
        const Graph graph = new_graph();
        const Pair pair;
        r("add", add_copy(graph, block_params(pair.to, pair.from, 1, 4, 1, 4, 0)));
        run_graph(graph);
        r("first", pair.to.get(0));
        r("third", pair.to.get(2));
    });
    cases.add("copy_shape/overlap", [](Record& r) {
        const Graph graph = new_graph();
        const Pair pair;
        r("add", add_copy(graph, block_params(pair.from + 32, pair.from, 8, 2, 1, 32, 0)));
        r("instantiate", [&] {
            CUgraphExec exec = nullptr;
            const CUresult made = drv.cuGraphInstantiateWithFlags(&exec, graph, 0);
            if (made == CUDA_SUCCESS) drv.cuGraphExecDestroy(exec);
            return made;
        }());
    });
    cases.add("copy_shape/pinned", [](Record& r) {
        const Graph graph = new_graph();
        const Pair pair;
        Pinned host(64);
        CUDA_MEMCPY3D params = block_params(0, pair.from, 8, 2, 1, 32, 0);
        params.dstMemoryType = CU_MEMORYTYPE_HOST;
        params.dstHost = host.data();
        r("add", add_copy(graph, params));
        run_graph(graph);
        r("values", std::to_string(host[1]) + " " + std::to_string(host[2]) + " " + std::to_string(host[9]));
    });
    cases.add("copy_shape/bad_shapes", [](Record& r) {
        const Graph graph = new_graph();
        const Pair pair;
        const auto ask = [&](const char* label, size_t width, size_t height, size_t depth, size_t pitch, size_t rows) {
            r(label, add_copy(graph, block_params(pair.to, pair.from, width, height, depth, pitch, rows)));
        };
        ask("pitch below width", 16, 2, 1, 8, 0);
        ask("pitch below width, one row", 16, 1, 1, 8, 0);
        ask("pitch below width, one row of two planes", 16, 1, 2, 8, 1);
        ask("pitch 0, one row", 16, 1, 1, 0, 0);
        ask("pitch 0, two rows", 16, 2, 1, 0, 0);
        ask("pitch is width", 16, 2, 1, 16, 0);
        ask("rows below height", 8, 4, 2, 16, 2);
        ask("rows 0, two planes", 8, 4, 2, 16, 0);
        ask("rows below height, one plane", 8, 4, 1, 16, 2);
        ask("pitch of 2 GiB", 8, 2, 1, size_t{1} << 31, 0);
        ask("pitch of 2 GiB less a byte", 8, 2, 1, (size_t{1} << 31) - 1, 0);
        ask("past the end by rows", 8, size_t{1} << 24, 1, 1024, 0);
        ask("past the end by planes", 8, 2, size_t{1} << 24, 1024, 16);
        ask("overflow by planes", 8, 2, size_t{1} << 40, 1024, size_t{1} << 40);
        ask("odd pitch", 3, 2, 1, 5, 0);
        r("nodes", node_count(graph));
    });
    cases.add("copy_shape/pitch_of_0", [](Record& r) {
        const auto with = [&](const std::string& label, const CUDA_MEMCPY3D& shape, const Pair& pair) {
            const Graph graph = new_graph();
            const CUresult added = add_copy(graph, shape);
            r(label, added);
            if (added != CUDA_SUCCESS) return;
            run_graph(graph);
            r(label + " copied", pair.changed());
        };
        const auto ask = [&](const std::string& label, size_t x, size_t width, size_t height, size_t depth,
                             size_t pitch, size_t rows, size_t dst_pitch, size_t dst_rows) {
            const Pair pair;
            CUDA_MEMCPY3D params = block_params(pair.to, pair.from, width, height, depth, pitch, rows);
            params.dstPitch = dst_pitch;
            params.dstHeight = dst_rows;
            params.srcXInBytes = x;
            with(label, params, pair);
        };
        ask("src pitch 0", 0, 8, 3, 1, 0, 0, 16, 0);
        ask("dst pitch 0", 0, 8, 3, 1, 16, 0, 0, 0);
        ask("both 0", 0, 8, 3, 1, 0, 0, 0, 0);
        ask("src pitch 0 from x 4", 4, 8, 3, 1, 0, 0, 16, 0);
        ask("src rows 0", 0, 8, 2, 2, 16, 0, 16, 4);
        ask("dst rows 0", 0, 8, 2, 2, 16, 4, 16, 0);
        ask("src pitch and rows 0", 0, 8, 2, 2, 0, 0, 16, 4);
    });
    cases.add("copy/pitch_of_0", [](Record& r) {
        const Stream stream = new_stream();
        const auto ask = [&](const std::string& label, size_t height, size_t depth, size_t pitch, size_t rows) {
            const Pair pair;
            const CUDA_MEMCPY3D solid = block_params(pair.to, pair.from, 8, height, depth, pitch, rows);
            r(label, drv.cuMemcpy3DAsync(&solid, stream));
            must(drv.cuStreamSynchronize(stream), "sync");
            r(label + " copied", pair.changed());
            if (depth > 1) return;
            const Pair other;
            CUDA_MEMCPY2D plane{};
            plane.srcMemoryType = plane.dstMemoryType = CU_MEMORYTYPE_DEVICE;
            plane.srcDevice = other.from;
            plane.dstDevice = other.to;
            plane.srcPitch = plane.dstPitch = pitch;
            plane.WidthInBytes = 8;
            plane.Height = height;
            r(label + ", 2d", drv.cuMemcpy2DAsync(&plane, stream));
            must(drv.cuStreamSynchronize(stream), "sync");
            r(label + ", 2d copied", other.changed());
        };
        ask("pitch 0, two rows", 2, 1, 0, 0);
        ask("pitch 0, one row", 1, 1, 0, 0);
        ask("pitch below width, one row", 1, 1, 4, 0);
        ask("rows 0, two planes", 2, 2, 16, 0);
        ask("rows below height, one plane", 2, 1, 16, 1);
    });
    cases.add("copy_shape/set_params", [](Record& r) {
        const Graph graph = new_graph();
        const Pair pair, other;
        const CUgraphNode node = copy_node(graph, pair.to, pair.from, 16);
        CUDA_MEMCPY3D params = block_params(other.to, pair.from, 8, 2, 1, 32, 0);
        r("1d to 2d", drv.cuGraphMemcpyNodeSetParams(node, &params));
        params = block_params(other.to, pair.from, 8, 2, 2, 16, 3);
        r("2d to 3d", drv.cuGraphMemcpyNodeSetParams(node, &params));
        params.srcPitch = 4;
        r("bad pitch", drv.cuGraphMemcpyNodeSetParams(node, &params));
        record_copy(r, node, other.to, pair.from);
        run_graph(graph);
        r("copied", other.changed());
        params = copy_params(pair.to, pair.from, 8);
        r("3d to 1d", drv.cuGraphMemcpyNodeSetParams(node, &params));
        CUgraphNodeParams any{};
        any.type = CU_GRAPH_NODE_TYPE_MEMCPY;
        any.memcpy.copyCtx = context();
        any.memcpy.copyParams = block_params(other.to, pair.from, 4, 2, 1, 64, 0);
        r("by cuGraphNodeSetParams", drv.cuGraphNodeSetParams(node, &any));
        any.memcpy.copyCtx = nullptr;
        r("without context", drv.cuGraphNodeSetParams(node, &any));
    });
    cases.add("copy_shape/set_params_in_an_executable", [](Record& r) {
        const Pair pair, other;
        const auto with = [&](const std::string& label, const CUDA_MEMCPY3D& first, const CUDA_MEMCPY3D& second) {
            const Graph graph = new_graph();
            CUgraphNode node = nullptr;
            must(add_copy(graph, first, &node), "add");
            const Exec exec = new_exec(graph);
            r(label, drv.cuGraphExecMemcpyNodeSetParams(exec, node, &second, context()));
            CUgraphNodeParams any{};
            any.type = CU_GRAPH_NODE_TYPE_MEMCPY;
            any.memcpy.copyCtx = context();
            any.memcpy.copyParams = second;
            r(label + ", by cuGraphExecNodeSetParams", drv.cuGraphExecNodeSetParams(exec, node, &any));
        };
        const CUDA_MEMCPY3D line = copy_params(pair.to, pair.from, 16);
        const CUDA_MEMCPY3D rows = block_params(pair.to, pair.from, 8, 2, 1, 32, 0);
        const CUDA_MEMCPY3D planes = block_params(pair.to, pair.from, 8, 2, 2, 32, 4);
        with("1d to 2d", line, rows);
        with("2d to 1d", rows, line);
        with("2d, same", rows, rows);
        with("2d, other addresses", rows, block_params(other.to, other.from, 8, 2, 1, 32, 0));
        with("2d, other pitch", rows, block_params(pair.to, pair.from, 8, 2, 1, 64, 0));
        with("2d, other extent", rows, block_params(pair.to, pair.from, 8, 3, 1, 32, 0));
        with("3d, same", planes, planes);
        CUDA_MEMCPY3D pitched = line;
        pitched.srcPitch = pitched.dstPitch = 32;
        with("1d with a pitch", line, pitched);
        with("1d that has a pitch", pitched, line);
        CUDA_MEMCPY3D packed = block_params(pair.to, pair.from, 8, 2, 1, 8, 0);
        with("2d without gaps to 1d", packed, line);
        with("1d to 2d without gaps", line, packed);
    });
    cases.add("copy_shape/whole_update", [](Record& r) {
        const Pair pair, other;
        const auto with = [&](const std::string& label, const CUDA_MEMCPY3D& first, const CUDA_MEMCPY3D& second) {
            const Graph graph = new_graph(), changed = new_graph();
            must(add_copy(graph, first), "add");
            must(add_copy(changed, second), "add");
            const Exec exec = new_exec(graph);
            CUgraphExecUpdateResultInfo info{};
            r(label, drv.cuGraphExecUpdate(exec, changed, &info));
            r(label + " result", info.result);
            if (info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS) run(exec);
        };
        const CUDA_MEMCPY3D rows = block_params(pair.to, pair.from, 8, 2, 1, 32, 0);
        with("2d, other addresses", rows, block_params(other.to, other.from, 8, 2, 1, 32, 0));
        r("copied", other.changed());
        with("2d, other pitch", rows, block_params(other.to, other.from, 8, 2, 1, 64, 0));
        r("copied", other.changed());
        with("2d, fewer bytes", rows, block_params(pair.to, pair.from, 4, 2, 1, 32, 0));
        with("2d, more rows", rows, block_params(pair.to, pair.from, 8, 3, 1, 32, 0));
        with("2d to 1d", rows, copy_params(pair.to, pair.from, 16));
        with("2d to 3d", rows, block_params(pair.to, pair.from, 8, 2, 2, 32, 4));
        const CUDA_MEMCPY3D planes = block_params(pair.to, pair.from, 8, 2, 2, 32, 4);
        with("3d, other addresses", planes, block_params(other.to, other.from, 8, 2, 2, 32, 4));
        with("3d, other rows", planes, block_params(other.to, other.from, 8, 2, 2, 32, 3));
    });
    cases.add("memset_shape/set_params_in_an_executable", [](Record& r) {
        Ints a(256), b(256);
        const auto with = [&](const std::string& label, const CUDA_MEMSET_NODE_PARAMS& first,
                              const CUDA_MEMSET_NODE_PARAMS& second) {
            const Graph graph = new_graph();
            CUgraphNode node = nullptr;
            must(drv.cuGraphAddMemsetNode(&node, graph, nullptr, 0, &first, context()), "add");
            const Exec exec = new_exec(graph);
            r(label, drv.cuGraphExecMemsetNodeSetParams(exec, node, &second, context()));
        };
        const CUDA_MEMSET_NODE_PARAMS rows = memset_params(a, 1, 4, 4, 2, 32);
        with("2d, same", rows, rows);
        with("2d, other address and value", rows, memset_params(b, 9, 4, 4, 2, 32));
        with("2d, other pitch", rows, memset_params(a, 1, 4, 4, 2, 64));
        with("2d, other width", rows, memset_params(a, 1, 4, 2, 2, 32));
        with("2d, other height", rows, memset_params(a, 1, 4, 4, 3, 32));
        with("2d, other element", rows, memset_params(a, 1, 2, 8, 2, 32));
        with("2d to 1d", rows, memset_params(a, 1, 4, 4));
        with("1d, other element", memset_params(a, 1, 4, 4), memset_params(a, 1, 1, 4));
    });
}

void add_operand_cases(Cases& cases) {
    cases.add("memory_type/registered_host_memory", [](Record& r) {
        static char space[1 << 16];
        char* const page = space + (4096 - reinterpret_cast<std::uintptr_t>(space) % 4096);
        const auto address = reinterpret_cast<CUdeviceptr>(page);
        unsigned type = 99;
        const auto ask = [&](const char* label, CUdeviceptr where) {
            type = 99;
            r(label, drv.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, where));
            r(std::string(label) + " type", type);
        };
        ask("before", address);
        r("register", drv.cuMemHostRegister(page, 8192, 0));
        ask("start", address);
        ask("inside", address + 8000);
        ask("after", address + 8192);
        const Graph graph = new_graph();
        Ints target(64);
        CUDA_MEMCPY3D params = copy_params(target, 0, 64);
        params.srcMemoryType = CU_MEMORYTYPE_HOST;
        params.srcHost = page;
        r("copy node", add_copy(graph, params));
        params = copy_params(target, address, 64);
        r("copy node as device memory", add_copy(graph, params));
        CUgraphNode node = nullptr;
        const CUDA_MEMSET_NODE_PARAMS fill = memset_params(address, 5);
        r("memset node", drv.cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context()));
        r("unregister", drv.cuMemHostUnregister(page));
        ask("unregistered", address);
    });
}

}  // namespace

void add_shape_cases(Cases& cases) {
    add_copy_cases(cases);
    add_operand_cases(cases);
}

}  // namespace conf
