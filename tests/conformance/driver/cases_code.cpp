// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Code: libraries, modules, kernels, parameter info, launches, occupancy.
#include <algorithm>

#include "cases.hpp"
#include "kernels.hpp"

namespace conf {

namespace {

CUkernel kernel_handle(const char* name) {
    return reinterpret_cast<CUkernel>(kernel(name));
}

CUresult launch(CUfunction function, unsigned grid, unsigned block, unsigned shared, CUstream stream,
                void** arguments) {
    return drv.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, arguments, nullptr);
}

// Loads a text as a library (which libcuda translates at the first use) and as a module (which it translates at once).
void record_image(Record& r, const std::string& label, const char* text) {
    CUlibrary loaded = nullptr;
    r(label, drv.cuLibraryLoadData(&loaded, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    if (loaded != nullptr) {
        CUkernel found = nullptr;
        CUmodule module = nullptr;
        unsigned count = 99;
        r(label + " kernel", drv.cuLibraryGetKernel(&found, loaded, "k"));
        r(label + " count", drv.cuLibraryGetKernelCount(&count, loaded));
        r(label + " module", drv.cuLibraryGetModule(&module, loaded));
        if (found != nullptr) {
            CUfunction function = nullptr;
            r(label + " function", drv.cuKernelGetFunction(&function, found));
        }
        r(label + " unload", drv.cuLibraryUnload(loaded));
    }
    CUmodule module = nullptr;
    r(label + " as module", drv.cuModuleLoadData(&module, text));
    if (module != nullptr) drv.cuModuleUnload(module);
}

void add_image_cases(Cases& cases) {
    const auto image = [&](const std::string& name, const std::string& text) {
        cases.add("image/" + name, [text](Record& r) { record_image(r, "load", text.c_str()); });
    };
    const std::string head = ".version 8.0\n.target sm_70\n.address_size 64\n",
                      kernel_k = ".visible .entry k() { ret; }\n";
    image("words", "this is no image");
    image("empty_text", "");
    image("header_only", head);
    image("syntax_error", head + ".visible .entry k() { no_such_instruction; }\n");
    image("target_of_the_future", ".version 8.0\n.target sm_999\n.address_size 64\n" + kernel_k);
    image("version_of_the_future", ".version 99.0\n.target sm_70\n.address_size 64\n" + kernel_k);
    image("unknown_extern",
          head + ".extern .func nobody_has_this();\n.visible .entry k() { call nobody_has_this; ret; }\n");
    cases.add("image/arguments", [](Record& r) {
        CUlibrary loaded = nullptr;
        CUmodule module = nullptr;
        const auto load = [](CUlibrary* out, const void* text) {
            return drv.cuLibraryLoadData(out, text, nullptr, nullptr, 0, nullptr, nullptr, 0);
        };
        const auto file = [&](const char* path) {
            return drv.cuLibraryLoadFromFile(&loaded, path, nullptr, nullptr, 0, nullptr, nullptr, 0);
        };
        r("null output", load(nullptr, kPtx));
        r("file missing", file("/nonexistent/x.ptx"));
        r("file null", file(nullptr));
        r("unload null", drv.cuLibraryUnload(nullptr));
        r("module unload null", drv.cuModuleUnload(nullptr));
        r("null", load(&loaded, nullptr));
        r("module null", drv.cuModuleLoadData(&module, nullptr));
    });
    cases.add("library/kernels", [](Record& r) {
        CUkernel found = nullptr;
        r("unknown name", drv.cuLibraryGetKernel(&found, library(), "nobody"));
        r("null name", drv.cuLibraryGetKernel(&found, library(), nullptr));
        r("null output", drv.cuLibraryGetKernel(nullptr, library(), "empty"));
        r("null library", drv.cuLibraryGetKernel(&found, nullptr, "empty"));
        r("same handle twice", kernel("empty") == kernel("empty"));
        unsigned count = 0;
        r("count", drv.cuLibraryGetKernelCount(&count, library()));
        r("count value", count);
        CUkernel list[32] = {};
        r("list", drv.cuLibraryEnumerateKernels(list, 32, library()));
        r("has empty", std::find(list, list + 32, kernel_handle("empty")) != list + 32);
        CUlibrary owner = nullptr;
        r("owner", drv.cuKernelGetLibrary(&owner, kernel_handle("empty")));
        r("owner is it", owner == library());
        const char* name = nullptr;
        r("name", drv.cuKernelGetName(&name, kernel_handle("empty")));
        r("name text", name == nullptr ? "" : name);
        CUmodule module = nullptr;
        r("module", drv.cuLibraryGetModule(&module, library()));
        CUfunction function = nullptr;
        r("function", drv.cuKernelGetFunction(&function, kernel_handle("empty")));
        r("function is another handle", function != kernel("empty"));
        CUfunction of_module = nullptr;
        r("function of module", drv.cuModuleGetFunction(&of_module, module, "empty"));
        r("same function", of_module == function);
        r("function name", drv.cuFuncGetName(&name, function));
        r("function name of a CUkernel", drv.cuFuncGetName(&name, kernel("empty")));
        CUmodule back = nullptr;
        r("function module", drv.cuFuncGetModule(&back, function));
        r("module is same", back == module);
        r("function of null kernel", drv.cuKernelGetFunction(&function, nullptr));
    });
    cases.add("library/globals", [](Record& r) {
        CUdeviceptr address = 0;
        size_t size = 0;
        r("global", drv.cuLibraryGetGlobal(&address, &size, library(), "counter_global"));
        r("size", size);
        int value = 0;
        r("read", drv.cuMemcpyDtoH(&value, address, 4));
        r("value", value);
        unsigned type = 99;
        r("type", drv.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
        r("type value", type);
        r("const", drv.cuLibraryGetGlobal(&address, &size, library(), "table_const"));
        r("const size", size);
        r("unknown", drv.cuLibraryGetGlobal(&address, &size, library(), "nobody"));
        r("null outputs", drv.cuLibraryGetGlobal(nullptr, nullptr, library(), "counter_global"));
        r("only size", drv.cuLibraryGetGlobal(nullptr, &size, library(), "counter_global"));
    });
    cases.add("module/load_and_use", [](Record& r) {
        CUmodule one = nullptr, two = nullptr;
        r("load", drv.cuModuleLoadData(&one, kPtx));
        r("load again", drv.cuModuleLoadDataEx(&two, kPtx, 0, nullptr, nullptr));
        CUfunction function = nullptr;
        r("unknown function", drv.cuModuleGetFunction(&function, one, "nobody"));
        r("null name", drv.cuModuleGetFunction(&function, one, nullptr));
        r("function", drv.cuModuleGetFunction(&function, one, "empty"));
        r("launch", launch(function, 1, 1, 0, nullptr, nullptr));
        CUdeviceptr first = 0, second = 0;
        size_t size = 0;
        r("global", drv.cuModuleGetGlobal(&first, &size, one, "counter_global"));
        r("global of two", drv.cuModuleGetGlobal(&second, &size, two, "counter_global"));
        r("are apart", first != second);
        r("unknown global", drv.cuModuleGetGlobal(&first, &size, one, "nobody"));
        r("sync", drv.cuCtxSynchronize());
        r("unload", drv.cuModuleUnload(one));
        r("unload", drv.cuModuleUnload(two));
    });
}

void add_kernel_cases(Cases& cases) {
    cases.add("kernel/param_info", [](Record& r) {
        const CUkernel many = kernel_handle("many_params");
        for (size_t i = 0; i < 7; ++i) {
            size_t offset = 99, size = 99;
            r("get " + std::to_string(i), drv.cuKernelGetParamInfo(many, i, &offset, &size));
            r("place", std::to_string(offset) + "+" + std::to_string(size));
        }
        size_t offset = 99, size = 99;
        r("past the end", drv.cuKernelGetParamInfo(many, 7, &offset, &size));
        r("far past the end", drv.cuKernelGetParamInfo(many, 1000, &offset, &size));
        r("of a kernel without", drv.cuKernelGetParamInfo(kernel_handle("empty"), 0, &offset, &size));
        r("null size", drv.cuKernelGetParamInfo(many, 0, &offset, nullptr));
        r("null offset", drv.cuKernelGetParamInfo(many, 0, nullptr, &size));
        r("null kernel", drv.cuKernelGetParamInfo(nullptr, 0, &offset, &size));
        CUfunction function = nullptr;
        must(drv.cuKernelGetFunction(&function, many), "function");
        r("of a function", drv.cuFuncGetParamInfo(function, 1, &offset, &size));
        r("place", std::to_string(offset) + "+" + std::to_string(size));
    });
    cases.add("kernel/null_handles", [](Record& r) {
        const CUkernel kernel = kernel_handle("many_params");
        CUfunction function = nullptr;
        must(drv.cuKernelGetFunction(&function, kernel), "function");
        const char* name = nullptr;
        CUlibrary of_library = nullptr;
        CUmodule of_module = nullptr;
        size_t offset = 0, size = 0;
        int value = 0;
        r("kernel name of null", drv.cuKernelGetName(&name, nullptr));
        r("kernel name into null", drv.cuKernelGetName(nullptr, kernel));
        r("function name of null", drv.cuFuncGetName(&name, nullptr));
        r("function name into null", drv.cuFuncGetName(nullptr, function));
        r("library of null", drv.cuKernelGetLibrary(&of_library, nullptr));
        r("library into null", drv.cuKernelGetLibrary(nullptr, kernel));
        r("module of null", drv.cuFuncGetModule(&of_module, nullptr));
        r("module into null", drv.cuFuncGetModule(nullptr, function));
        r("attribute of null", drv.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr));
        r("function parameter of null", drv.cuFuncGetParamInfo(nullptr, 0, &offset, &size));
        r("function parameter into null", drv.cuFuncGetParamInfo(function, 0, nullptr, &size));
        unsigned count = 0;
        r("kernel count of null", drv.cuLibraryGetKernelCount(&count, nullptr));
        r("kernel count into null", drv.cuLibraryGetKernelCount(nullptr, library()));
    });
    cases.add("kernel/without_context", [](Record& r) {
        const CUkernel kernel = kernel_handle("many_params");
        CUfunction function = nullptr;
        must(drv.cuKernelGetFunction(&function, kernel), "function");
        must(drv.cuCtxSetCurrent(nullptr), "set");
        const char* name = nullptr;
        CUlibrary of_library = nullptr;
        CUmodule of_module = nullptr;
        size_t offset = 99, size = 99;
        int value = 0;
        r("kernel parameter", drv.cuKernelGetParamInfo(kernel, 1, &offset, &size));
        r("place", std::to_string(offset) + "+" + std::to_string(size));
        r("kernel parameter past the end", drv.cuKernelGetParamInfo(kernel, 7, &offset, &size));
        r("kernel parameter of null", drv.cuKernelGetParamInfo(nullptr, 0, &offset, &size));
        r("kernel name", drv.cuKernelGetName(&name, kernel));
        r("kernel library", drv.cuKernelGetLibrary(&of_library, kernel));
        r("kernel attribute", drv.cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0));
        r("function parameter", drv.cuFuncGetParamInfo(function, 1, &offset, &size));
        r("function name", drv.cuFuncGetName(&name, function));
        r("function module", drv.cuFuncGetModule(&of_module, function));
        r("function attribute", drv.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
        must(drv.cuCtxSetCurrent(context()), "set back");
    });
    cases.add("kernel/attributes", [](Record& r) {
        const auto tell = [&](const char* name) {
            for (const auto attribute :
                 {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                  CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_PTX_VERSION,
                  CU_FUNC_ATTRIBUTE_BINARY_VERSION, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                  CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
                  CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED}) {
                int value = -99;
                const CUresult result = drv.cuKernelGetAttribute(&value, attribute, kernel_handle(name), device());
                if (result != CUDA_SUCCESS) r(std::string(name) + " get", result);
                r(std::string(name) + " " + std::to_string(attribute), value);
            }
        };
        tell("empty");
        tell("shared_user");
        tell("at_most_64");
        tell("exactly_32");
        int registers = 0;
        r("registers",
          drv.cuKernelGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel_handle("empty"), device()));
        r("registers are positive", registers > 0);
        int value = 0;
        r("unknown",
          drv.cuKernelGetAttribute(&value, static_cast<CUfunction_attribute>(999), kernel_handle("empty"), device()));
        r("device 999", drv.cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel_handle("empty"), 999));
        r("null output",
          drv.cuKernelGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel_handle("empty"), device()));
        r("function get", drv.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel("empty")));
        r("function get null", drv.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr));
    });
    cases.add("kernel/set_attributes", [](Record& r) {
        const CUkernel used = kernel_handle("shared_user");
        const auto set = [&](CUfunction_attribute attribute, int value) {
            return drv.cuKernelSetAttribute(attribute, value, used, device());
        };
        r("dynamic 100000", set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
        int value = 0;
        must(drv.cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, used, device()), "get");
        r("value", value);
        Ints out;
        CUdeviceptr address = out;
        void* arguments[] = {&address};
        r("launch with 100000", launch(kernel("shared_user"), 1, 1, 100000, nullptr, arguments));
        r("launch with 100001", launch(kernel("shared_user"), 1, 1, 100001, nullptr, arguments));
        r("opt-in maximum", set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448 - 1024));
        r("one more", set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448 - 1023));
        r("negative", set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1));
        r("read only", set(CU_FUNC_ATTRIBUTE_NUM_REGS, 10));
        r("carveout 50", set(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
        r("carveout 101", set(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101));
        r("function set",
          drv.cuFuncSetAttribute(kernel("empty"), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1000));
        r("back", set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0));
        drv.cuCtxSynchronize();
    });
}

void add_launch_cases(Cases& cases) {
    cases.add("launch_kernel/bad_shape", [](Record& r) {
        const CUfunction f = kernel("empty");
        const Stream stream = new_stream();
        r("grid 0", launch(f, 0, 1, 0, stream, nullptr));
        r("block 0", launch(f, 1, 0, 0, stream, nullptr));
        r("block 1025", launch(f, 1, 1025, 0, stream, nullptr));
        r("grid x 2^31", launch(f, 0x80000000u, 1, 0, stream, nullptr));
        r("grid y 65536", drv.cuLaunchKernel(f, 1, 65536, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
        r("grid z 65536", drv.cuLaunchKernel(f, 1, 1, 65536, 1, 1, 1, 0, stream, nullptr, nullptr));
        r("block z 65", drv.cuLaunchKernel(f, 1, 1, 1, 1, 1, 65, 0, stream, nullptr, nullptr));
        r("block 32x64", drv.cuLaunchKernel(f, 1, 1, 1, 32, 64, 1, 0, stream, nullptr, nullptr));
        r("shared 48K", launch(f, 1, 1, 49152, stream, nullptr));
        r("shared 48K+1", launch(f, 1, 1, 49153, stream, nullptr));
        r("shared 400000", launch(f, 1, 1, 400000, stream, nullptr));
        r("128 of at most 64", launch(kernel("at_most_64"), 1, 128, 0, stream, nullptr));
        r("64 of at most 64", launch(kernel("at_most_64"), 1, 64, 0, stream, nullptr));
        r("16 of exactly 32", launch(kernel("exactly_32"), 1, 16, 0, stream, nullptr));
        r("32 of exactly 32", launch(kernel("exactly_32"), 1, 32, 0, stream, nullptr));
        r("null function", launch(nullptr, 1, 1, 0, stream, nullptr));
        r("arguments missing", launch(kernel("set_int"), 1, 1, 0, stream, nullptr));
        r("sync", drv.cuStreamSynchronize(stream));
    });
    cases.add("launch_kernel/extra", [](Record& r) {
        Ints out;
        struct {
            CUdeviceptr p;
            int v;
        } packed = {out, 5};
        size_t size = 12;
        void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                         CU_LAUNCH_PARAM_END};
        const CUfunction f = kernel("set_int");
        r("launch", drv.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
        r("out", out.get());
        size = 16;
        r("larger buffer", drv.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
        size = 8;
        r("smaller buffer", drv.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
        void* arguments[] = {&packed.p, &packed.v};
        size = 12;
        r("both", drv.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, extra));
        drv.cuCtxSynchronize();
    });
    cases.add("launch_kernel/ex", [](Record& r) {
        const Stream stream = new_stream();
        CUlaunchConfig config{};
        config.gridDimX = config.gridDimY = config.gridDimZ = 1;
        config.blockDimX = config.blockDimY = config.blockDimZ = 1;
        config.hStream = stream;
        const CUfunction f = kernel("empty");
        r("plain", drv.cuLaunchKernelEx(&config, f, nullptr, nullptr));
        r("null config", drv.cuLaunchKernelEx(nullptr, f, nullptr, nullptr));
        r("null function", drv.cuLaunchKernelEx(&config, nullptr, nullptr, nullptr));
        CUlaunchAttribute attribute{};
        config.attrs = &attribute;
        config.numAttrs = 1;
        attribute.id = CU_LAUNCH_ATTRIBUTE_IGNORE;
        r("ignore", drv.cuLaunchKernelEx(&config, f, nullptr, nullptr));
        attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        attribute.value.cooperative = 1;
        r("cooperative", drv.cuLaunchKernelEx(&config, f, nullptr, nullptr));
        config.gridDimX = 1u << 20;
        r("cooperative too large", drv.cuLaunchKernelEx(&config, f, nullptr, nullptr));
        r("cooperative call too large",
          drv.cuLaunchCooperativeKernel(f, 1u << 20, 1, 1, 1024, 1, 1, 0, stream, nullptr));
        config.gridDimX = 8;
        attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attribute.value = {};
        attribute.value.clusterDim.x = 2;
        attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
        r("cluster 2", drv.cuLaunchKernelEx(&config, f, nullptr, nullptr));
        attribute.value.clusterDim.x = 3;
        r("cluster 3 of grid 8", drv.cuLaunchKernelEx(&config, f, nullptr, nullptr));
        attribute.value.clusterDim.x = 16;
        config.gridDimX = 16;
        r("cluster 16", drv.cuLaunchKernelEx(&config, f, nullptr, nullptr));
        attribute.value.clusterDim.x = 0;
        r("cluster 0", drv.cuLaunchKernelEx(&config, f, nullptr, nullptr));
        attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
        attribute.value = {};
        attribute.value.priority = -99;
        r("priority -99", drv.cuLaunchKernelEx(&config, f, nullptr, nullptr));
        attribute.id = static_cast<CUlaunchAttributeID>(500);
        r("unknown attribute", drv.cuLaunchKernelEx(&config, f, nullptr, nullptr));
        config.attrs = nullptr;
        r("attributes missing", drv.cuLaunchKernelEx(&config, f, nullptr, nullptr));
        r("sync", drv.cuStreamSynchronize(stream));
    });
    cases.add("occupancy/answers", [](Record& r) {
        const CUfunction f = kernel("empty");
        int blocks = 99, grid = 99, block = 99, processors = 1;
        must(drv.cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device()), "processors");
        r("blocks of 1024", drv.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 1024, 0));
        r("value", blocks);
        r("blocks of 32", drv.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 32, 0));
        r("value", blocks);
        r("blocks of 256 with 40000", drv.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 256, 40000));
        r("value", blocks);
        r("block 0", drv.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 0, 0));
        r("block -1", drv.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, -1, 0));
        r("block 2048", drv.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 2048, 0));
        r("value", blocks);
        r("shared 400000", drv.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 32, 400000));
        r("value", blocks);
        r("128 of at most 64", drv.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel("at_most_64"), 128, 0));
        r("value", blocks);
        r("null output", drv.cuOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, f, 32, 0));
        r("null function", drv.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nullptr, 32, 0));
        r("flags 1", drv.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, f, 32, 0, 1));
        r("flags 8", drv.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, f, 32, 0, 8));
        r("potential", drv.cuOccupancyMaxPotentialBlockSize(&grid, &block, f, nullptr, 0, 0));
        r("grid a multiprocessor x block", std::to_string(grid / processors) + " x " + std::to_string(block));
        r("potential limit 100", drv.cuOccupancyMaxPotentialBlockSize(&grid, &block, f, nullptr, 0, 100));
        r("grid a multiprocessor x block", std::to_string(grid / processors) + " x " + std::to_string(block));
        r("potential of at most 64",
          drv.cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel("at_most_64"), nullptr, 0, 0));
        r("grid a multiprocessor x block", std::to_string(grid / processors) + " x " + std::to_string(block));
        r("potential null", drv.cuOccupancyMaxPotentialBlockSize(nullptr, &block, f, nullptr, 0, 0));
        size_t bytes = 99;
        r("available 1 block of 32", drv.cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 1, 32));
        r("bytes", bytes);
        r("available 2 blocks of 512", drv.cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 2, 512));
        r("bytes", bytes);
        r("available 0 blocks", drv.cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 0, 32));
        r("available 999 blocks", drv.cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 999, 32));
    });
}

}  // namespace

void add_code_cases(Cases& cases) {
    add_image_cases(cases);
    add_kernel_cases(cases);
    add_launch_cases(cases);
}

}  // namespace conf
