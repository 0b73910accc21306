// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Settings that a driver stores and returns: core dumps, the log, synchronous memory operations, atomic capabilities of
// devices. Also batches of 3-D copies.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "capture_rig.hpp"
#include "cases.hpp"

namespace conf {

namespace {

void add_coredump_cases(Cases& cases) {
    cases.alone("coredump/defaults", [](Record& r) {
        for (int which = 0; which <= 8; ++which) {
            const std::string label = "setting " + std::to_string(which);
            const auto setting = static_cast<CUcoredumpSettings>(which);
            size_t size = 77, global = 77;
            r(label + " size", drv.cuCoredumpGetAttribute(setting, nullptr, &size));
            r(label + " is", size);
            r(label + " global size", drv.cuCoredumpGetAttributeGlobal(setting, nullptr, &global));
            r(label + " global is", global);
            if (global == 77) continue;
            char value[2048] = {};
            if (size != 77) {
                r(label + " get", drv.cuCoredumpGetAttribute(setting, value, &size));
                r(label + " value", static_cast<int>(value[0]));
                r(label + " text", std::string(value).substr(0, 12).size());
            }
            r(label + " get global", drv.cuCoredumpGetAttributeGlobal(setting, value, &global));
            r(label + " global value", static_cast<int>(value[0]));
        }
    });
    cases.alone("coredump/set", [](Record& r) {
        bool yes = true;
        size_t size = sizeof yes;
        r("enable", drv.cuCoredumpSetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &yes, &size));
        r("lightweight", drv.cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, &yes, &size));
        bool got = false;
        size = sizeof got;
        r("get lightweight", drv.cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &got, &size));
        r("is", got);
        size = sizeof got;
        r("get global", drv.cuCoredumpGetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &got, &size));
        r("global is", got);
        char name[] = "dump.of.ours";
        size = sizeof name;
        r("file", drv.cuCoredumpSetAttribute(CU_COREDUMP_FILE, name, &size));
        char back[1024] = {};
        size = sizeof back;
        r("get file", drv.cuCoredumpGetAttribute(CU_COREDUMP_FILE, back, &size));
        r("file is", std::string(back));
        r("file size", size);
        size = 4;
        r("get file, too small", drv.cuCoredumpGetAttribute(CU_COREDUMP_FILE, back, &size));
        unsigned flags = CU_COREDUMP_SKIP_GLOBAL_MEMORY;
        size = sizeof flags;
        r("flags", drv.cuCoredumpSetAttribute(CU_COREDUMP_GENERATION_FLAGS, &flags, &size));
        flags = 0;
        r("get flags", drv.cuCoredumpGetAttribute(CU_COREDUMP_GENERATION_FLAGS, &flags, &size));
        r("flags are", flags);
        size = sizeof yes;
        r("pipe of a context", drv.cuCoredumpSetAttribute(CU_COREDUMP_PIPE, name, &size));
        size = sizeof yes;
        r("trigger of a context", drv.cuCoredumpSetAttribute(CU_COREDUMP_ENABLE_USER_TRIGGER, &yes, &size));
        r("unknown", drv.cuCoredumpSetAttribute(static_cast<CUcoredumpSettings>(99), &yes, &size));
        size = sizeof yes;
        r("null size", drv.cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, &yes, nullptr));
        size = 77;
        r("null value", drv.cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, nullptr, &size));
        r("null value size", size);
        size = 77;
        r("wrong size", drv.cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, &yes, &size));
    });
    cases.alone("coredump/set_globally", [](Record& r) {
        bool yes = true;
        size_t size = sizeof yes;
        r("lightweight", drv.cuCoredumpSetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &yes, &size));
        bool got = false;
        size = sizeof got;
        r("get", drv.cuCoredumpGetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &got, &size));
        r("is", got);
        got = false;
        size = sizeof got;
        r("get of the context", drv.cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &got, &size));
        r("of the context is", got);
        char name[] = "pipe.of.ours";
        size = sizeof name;
        r("pipe", drv.cuCoredumpSetAttributeGlobal(CU_COREDUMP_PIPE, name, &size));
        size = sizeof name;
        r("file", drv.cuCoredumpSetAttributeGlobal(CU_COREDUMP_FILE, name, &size));
        char back[1024] = {};
        size = sizeof back;
        r("get file", drv.cuCoredumpGetAttributeGlobal(CU_COREDUMP_FILE, back, &size));
        r("file is", std::string(back));
        unsigned flags = CU_COREDUMP_LIGHTWEIGHT_FLAGS;
        size = sizeof flags;
        r("flags", drv.cuCoredumpSetAttributeGlobal(CU_COREDUMP_GENERATION_FLAGS, &flags, &size));
        r("unknown", drv.cuCoredumpSetAttributeGlobal(static_cast<CUcoredumpSettings>(0), &yes, &size));
    });
}

struct Heard {
    int messages = 0;
    CUlogLevel level = CU_LOG_LEVEL_WARNING;
    bool length_is_that_of_the_text = true;
};

void hear(void* data, CUlogLevel level, char* message, size_t length) {
    auto* const heard = static_cast<Heard*>(data);
    ++heard->messages;
    heard->level = level;
    heard->length_is_that_of_the_text &= std::strlen(message) == length;
}

void do_something_wrong() {
    drv.cuMemcpyDtoH(nullptr, kGarbage, 4);
    CUmodule module = nullptr;
    drv.cuModuleLoadData(&module, ".version 8.0\n.target sm_90\n.address_size 64\nnonsense");
    drv.cuCtxSynchronize();
}

void add_log_cases(Cases& cases) {
    cases.alone("logs/callbacks", [](Record& r) {
        Heard heard;
        CUlogsCallbackHandle handle = nullptr;
        r("register", drv.cuLogsRegisterCallback(hear, &heard, &handle));
        r("has a handle", handle != nullptr);
        do_something_wrong();
        r("heard something", heard.messages != 0);
        r("level", heard.level);
        r("lengths", heard.length_is_that_of_the_text);
        r("unregister", drv.cuLogsUnregisterCallback(handle));
        heard.messages = 0;
        do_something_wrong();
        r("heard after", heard.messages);
    });
    cases.alone("logs/dumps", [](Record& r) {
        CUlogIterator at = 0;
        r("current", drv.cuLogsCurrent(&at, 0));
        r("current flags", drv.cuLogsCurrent(&at, 1));
        r("current null", drv.cuLogsCurrent(nullptr, 0));
        char text[25600] = {'x'};
        size_t size = sizeof text;
        r("nothing yet", drv.cuLogsDumpToMemory(&at, text, &size, 0));
        r("nothing size", size);
        do_something_wrong();
        size = sizeof text;
        r("dump", drv.cuLogsDumpToMemory(&at, text, &size, 0));
        r("dump has text", size != 0);
        r("dump length", size == std::strlen(text));
        r("dump ends a line", size != 0 && text[size - 1] == '\n');
        size = sizeof text;
        r("dump goes on", drv.cuLogsDumpToMemory(&at, text, &size, 0));
        r("goes on size", size);
        size = sizeof text;
        r("dump all", drv.cuLogsDumpToMemory(nullptr, text, &size, 0));
        r("all has text", size != 0);
        size = 2;
        r("too small", drv.cuLogsDumpToMemory(nullptr, text, &size, 0));
        r("too small size", size);
        size = sizeof text;
        r("null buffer", drv.cuLogsDumpToMemory(nullptr, nullptr, &size, 0));
        r("null size", drv.cuLogsDumpToMemory(nullptr, text, nullptr, 0));
        r("flags", drv.cuLogsDumpToMemory(nullptr, text, &size, 1));
        r("to a file", drv.cuLogsDumpToFile(nullptr, "/tmp/conformance_log.txt", 0));
        std::FILE* const file = std::fopen("/tmp/conformance_log.txt", "r");
        r("file is there", file != nullptr);
        if (file != nullptr) {
            r("file has text", std::fgetc(file) != EOF);
            std::fclose(file);
            std::remove("/tmp/conformance_log.txt");
        }
        r("to no file", drv.cuLogsDumpToFile(nullptr, nullptr, 0));
        r("to a folder", drv.cuLogsDumpToFile(nullptr, "/tmp", 0));
    });
}

void add_device_cases(Cases& cases) {
    cases.add("device/luid", [](Record& r) {
        char luid[8] = {};
        unsigned mask = 0;
        r("get", drv.cuDeviceGetLuid(luid, &mask, device()));
        r("null", drv.cuDeviceGetLuid(nullptr, nullptr, device()));
        r("device 99", drv.cuDeviceGetLuid(luid, &mask, 99));
    });
    cases.add("device/atomics_of_the_host", [](Record& r) {
        std::vector<CUatomicOperation> all;
        for (int i = 0; i < CU_ATOMIC_OPERATION_MAX; ++i) all.push_back(static_cast<CUatomicOperation>(i));
        std::vector<unsigned> able(all.size(), 77);
        const auto count = static_cast<unsigned>(all.size());
        r("get", drv.cuDeviceGetHostAtomicCapabilities(able.data(), all.data(), count, device()));
        for (size_t i = 0; i < able.size(); ++i) r("operation " + std::to_string(i), able[i]);
        r("none", drv.cuDeviceGetHostAtomicCapabilities(able.data(), all.data(), 0, device()));
        r("null output", drv.cuDeviceGetHostAtomicCapabilities(nullptr, all.data(), 1, device()));
        r("null input", drv.cuDeviceGetHostAtomicCapabilities(able.data(), nullptr, 1, device()));
        r("device 99", drv.cuDeviceGetHostAtomicCapabilities(able.data(), all.data(), 1, 99));
        all[0] = static_cast<CUatomicOperation>(99);
        r("operation 99", drv.cuDeviceGetHostAtomicCapabilities(able.data(), all.data(), 1, device()));
        all[0] = CU_ATOMIC_OPERATION_CAS;
        r("of one device", drv.cuDeviceGetP2PAtomicCapabilities(able.data(), all.data(), 1, device(), device()));
        r("of device 99", drv.cuDeviceGetP2PAtomicCapabilities(able.data(), all.data(), 1, device(), 99));
    });
    cases.add("device/width_of_linear_textures", [](Record& r) {
        size_t width = 77;
        const auto format = CU_AD_FORMAT_FLOAT;
        r("get", drv.cuDeviceGetTexture1DLinearMaxWidth(&width, format, 1, device()));
        r("width", width);
        r("four channels", drv.cuDeviceGetTexture1DLinearMaxWidth(&width, format, 4, device()));
        r("width of four", width);
        r("three channels", drv.cuDeviceGetTexture1DLinearMaxWidth(&width, format, 3, device()));
        r("null", drv.cuDeviceGetTexture1DLinearMaxWidth(nullptr, format, 1, device()));
        r("device 99", drv.cuDeviceGetTexture1DLinearMaxWidth(&width, format, 1, 99));
        r("format 99", drv.cuDeviceGetTexture1DLinearMaxWidth(&width, static_cast<CUarray_format>(99), 1, device()));
    });
}

CUresult sync_memops(CUdeviceptr at, unsigned* out) {
    return drv.cuPointerGetAttribute(out, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at);
}

void add_pointer_cases(Cases& cases) {
    cases.add("pointer/synchronous_operations", [](Record& r) {
        Ints words(4);
        unsigned value = 9;
        r("get", sync_memops(words, &value));
        r("is", value);
        const unsigned yes = 1, no = 0, two = 2;
        r("set", drv.cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, words));
        r("get again", sync_memops(words, &value));
        r("is again", value);
        r("of an inner address", sync_memops(words + 8, &value));
        r("inner is", value);
        r("two", drv.cuPointerSetAttribute(&two, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, words));
        r("get two", sync_memops(words, &value));
        r("is two", value);
        r("clear", drv.cuPointerSetAttribute(&no, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, words));
        r("get cleared", sync_memops(words, &value));
        r("is cleared", value);
        r("null value", drv.cuPointerSetAttribute(nullptr, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, words));
        r("another attribute", drv.cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_BUFFER_ID, words));
        r("garbage", drv.cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, kGarbage));
        r("null pointer", drv.cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0));
        Pinned pinned;
        r("pinned", drv.cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, pinned.address()));
        CUdeviceptr managed = 0;
        must(drv.cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL), "managed");
        r("managed", drv.cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, managed));
        must(drv.cuMemFree(managed), "free");
        const Stream stream = new_stream();
        CUdeviceptr pooled = 0;
        must(drv.cuMemAllocAsync(&pooled, 64, stream), "pool");
        r("pooled", drv.cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, pooled));
        r("get pooled", sync_memops(pooled, &value));
        must(drv.cuMemFreeAsync(pooled, stream), "free");
        must(drv.cuStreamSynchronize(stream), "sync");
    });
}

CUDA_MEMCPY3D_BATCH_OP solid(CUdeviceptr dst, CUdeviceptr src, size_t width, size_t height, size_t depth) {
    CUDA_MEMCPY3D_BATCH_OP made{};
    made.src.type = made.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    made.src.op.ptr.ptr = src;
    made.dst.op.ptr.ptr = dst;
    made.extent = {width, height, depth};
    made.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    return made;
}

void add_batch_cases(Cases& cases) {
    cases.add("copy_batch/solids", [](Record& r) {
        const Stream stream = new_stream();
        Ints from(64, 7), to(64);
        CUDA_MEMCPY3D_BATCH_OP ops[2] = {solid(to, from, 8, 2, 2), solid(to + 128, from, 4, 2, 1)};
        ops[1].dst.op.ptr.rowLength = 16;
        r("batch", drv.cuMemcpy3DBatchAsync(2, ops, 0, stream));
        r("sync", drv.cuStreamSynchronize(stream));
        r("first", to.get(7));
        r("past the first", to.get(8));
        r("row 0", to.get(32));
        r("between rows", to.get(33));
        r("row 1", to.get(36));
        ops[0] = solid(to, from, 8, 2, 2);
        ops[0].dst.op.ptr.layerHeight = 4;
        r("layers", drv.cuMemcpy3DBatchAsync(1, ops, 0, stream));
    });
    cases.add("copy_batch/bad_solids", [](Record& r) {
        const Stream stream = new_stream();
        Ints from(64, 7), to(64);
        const auto ask = [&](const std::string& label, const CUDA_MEMCPY3D_BATCH_OP& op) {
            CUDA_MEMCPY3D_BATCH_OP one = op;
            r(label, drv.cuMemcpy3DBatchAsync(1, &one, 0, stream));
        };
        CUDA_MEMCPY3D_BATCH_OP good = solid(to, from, 8, 2, 2);
        r("none", drv.cuMemcpy3DBatchAsync(0, &good, 0, stream));
        r("null", drv.cuMemcpy3DBatchAsync(1, nullptr, 0, stream));
        r("flags", drv.cuMemcpy3DBatchAsync(1, &good, 1, stream));
        r("legacy stream", drv.cuMemcpy3DBatchAsync(1, &good, 0, nullptr));
        r("own stream", drv.cuMemcpy3DBatchAsync(1, &good, 0, CU_STREAM_PER_THREAD));
        ask("width 0", solid(to, from, 0, 2, 2));
        ask("height 0", solid(to, from, 8, 0, 2));
        ask("depth 0", solid(to, from, 8, 2, 0));
        ask("null source", solid(to, 0, 8, 2, 2));
        ask("null destination", solid(0, from, 8, 2, 2));
        CUDA_MEMCPY3D_BATCH_OP odd = good;
        odd.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
        ask("no order", odd);
        odd = good;
        odd.src.op.ptr.rowLength = 4;
        ask("short rows", odd);
        odd = good;
        odd.src.op.ptr.layerHeight = 1;
        ask("low layers", odd);
        odd = good;
        odd.src.type = static_cast<CUmemcpy3DOperandType>(9);
        ask("type 9", odd);
        odd = good;
        odd.flags = 8;
        ask("flags of one", odd);
        r("sync", drv.cuStreamSynchronize(stream));
    });
}

}  // namespace

void add_setting_cases(Cases& cases) {
    add_coredump_cases(cases);
    add_log_cases(cases);
    add_device_cases(cases);
    add_pointer_cases(cases);
    add_batch_cases(cases);
}

}  // namespace conf
