// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver's log, for callers that read it or register a callback. These calls work before cuInit, because earlier
// events are logged too. Flags "must be 0" (cuda.h), but an H200 accepts any.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/log.hpp"

using namespace cgh;

namespace {

// Returns the lines from the iterator on and moves it behind the last line. Without an iterator, returns all stored
// lines.
std::vector<std::string> take(CUlogIterator* iterator) {
    unsigned next = 0;
    std::vector<std::string> lines = Log::get().since(iterator != nullptr ? *iterator : 0, &next);
    if (iterator != nullptr) *iterator = next;
    return lines;
}

// Returns the latest lines that fit, in their order.
std::string fitting(const std::vector<std::string>& lines, std::size_t capacity) {
    std::string text;
    for (auto line = lines.rbegin(); line != lines.rend() && text.size() + line->size() + 1 <= capacity; ++line)
        text.insert(0, *line + "\n");
    return text;
}

}  // namespace

CGH_API CUresult cuLogsRegisterCallback(CUlogsCallback callbackFunc, void* userData,
                                        CUlogsCallbackHandle* callback_out) {
    return entry_anytime("cuLogsRegisterCallback", [&]() -> CUresult {
        REQUIRE(callbackFunc != nullptr, CUDA_ERROR_INVALID_VALUE);
        Log::Callback* const made = Log::get().add(callbackFunc, userData);
        if (callback_out != nullptr) *callback_out = reinterpret_cast<CUlogsCallbackHandle>(made);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback) {
    return entry_anytime("cuLogsUnregisterCallback", [&]() -> CUresult {
        const bool removed = Log::get().remove(reinterpret_cast<const Log::Callback*>(callback));
        return removed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    });
}

CGH_API CUresult cuLogsCurrent(CUlogIterator* iterator_out, unsigned int /*flags*/) {
    return entry_anytime("cuLogsCurrent", [&]() -> CUresult {
        REQUIRE(iterator_out != nullptr, CUDA_ERROR_INVALID_VALUE);
        *iterator_out = Log::get().next();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuLogsDumpToFile(CUlogIterator* iterator, const char* pathToFile, unsigned int /*flags*/) {
    return entry_anytime("cuLogsDumpToFile", [&]() -> CUresult {
        REQUIRE(pathToFile != nullptr, CUDA_ERROR_INVALID_VALUE);
        std::FILE* const file = std::fopen(pathToFile, "w");
        REQUIRE(file != nullptr, CUDA_ERROR_INVALID_VALUE);
        const std::string text = fitting(take(iterator), SIZE_MAX);
        const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
        const bool closed = std::fclose(file) == 0;
        return written && closed ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
    });
}

// cuda.h: "The driver will always null terminate the buffer"; "If the provided buffer is not large enough to hold any
// messages, *size will be set to 0 and the function will return CUDA_ERROR_INVALID_VALUE"; "The final message in buffer
// will always be the most recent log message".
CGH_API CUresult cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, size_t* size, unsigned int /*flags*/) {
    return entry_anytime("cuLogsDumpToMemory", [&]() -> CUresult {
        REQUIRE(buffer != nullptr && size != nullptr && *size != 0, CUDA_ERROR_INVALID_VALUE);
        const std::vector<std::string> lines = take(iterator);
        const std::string text = fitting(lines, *size - 1);
        std::memcpy(buffer, text.c_str(), text.size() + 1);
        *size = text.size();
        return lines.empty() || !text.empty() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    });
}
